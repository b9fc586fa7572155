// Checks the story. It must contain all operations, webhooks and errors of the document. Each
// variable must have a source, and each name must be unique.
import { codes } from './document.js';
import { keptBy } from './script.js';
import { absent } from './absent.js';

/** Throws every fault that it finds, together. */
export function judge({ made, operations, environment }) {
  const faults = [...sameNames(made), ...forgotten(made, operations), ...uncaused(made), ...unknown(made, environment)];
  if (faults.length > 0) throw new Error(`the story is not whole:\n  ${faults.join('\n  ')}`);
}

function sameNames(made) {
  const names = made.map(({ told }) => told.name);
  return names.filter((name, at) => names.indexOf(name) !== at).map((name) => `${name}: there are two of this name`);
}

/** Operations, and statuses that are no error, of which no request tells. */
function forgotten(made, operations) {
  const told = new Set(made.map((one) => one.told.operation));
  return operations.map(({ operationId }) => operationId).filter((id) => !told.has(id)).map((id) => `${id}: no request has this operation`);
}

/** Codes for which there is neither a request nor a reason why not. */
function uncaused(made) {
  const caused = new Set(made.map(({ told }) => told.error));
  const fields = new Set(made.flatMap(({ told }) => (told.field_errors ?? []).map(([, code]) => code)));
  const open = codes.errors.filter(({ where }) => where !== 'admin');
  return [
    ...open.filter(({ code }) => caused.has(code) === code in absent).map(({ code }) => (code in absent
      ? `${code}: absent.js says that no request can cause it, and one does` : `${code}: no request causes this error`)),
    ...Object.keys(absent).filter((code) => !open.some((error) => error.code === code)).map((code) => `${code}: absent.js names it, and there is none`),
    ...codes.fields.filter(({ code }) => !fields.has(code)).map(({ code }) => `${code}: no request has this in its field_errors`),
  ];
}

/** Variables that nobody fills in, gives or sets. */
function unknown(made, environment) {
  const given = new Set([
    ...environment.variables.map(({ name }) => name),
    ...made.flatMap(({ told }) => Object.keys(keptBy(told))),
  ]);
  const used = new Set();
  const faults = [];
  for (const { told, request, folderBefore } of made) {
    const { description, ...sent } = request;
    const own = [...`${told.before ?? ''}\n${folderBefore ?? ''}`.matchAll(/pm\.variables\.set\('(\w+)'/g)].map((match) => match[1]);
    const carried = [...JSON.stringify([told.tests, told.replays]).matchAll(/carried\('(\w+)'\)/g)].map((match) => match[1]);
    for (const [, name] of JSON.stringify(sent).matchAll(/{{([^{}$]+)}}/g)) {
      used.add(name);
      if (!given.has(name) && !own.includes(name)) faults.push(`${told.where}: nobody gives {{${name}}}`);
    }
    for (const name of carried) if (!given.has(name)) faults.push(`${told.where}: nobody gives ${name}, which a test reads`);
    for (const text of [told.before, folderBefore]) for (const [, name] of (text ?? '').matchAll(/get\('(\w+)'\)/g)) used.add(name);
  }
  const unread = environment.variables.filter(({ name }) => !used.has(name) && !/sandbox_token$/.test(name));
  return [...faults, ...unread.map(({ name }) => `story/environment.yaml: no request uses ${name}`)];
}
