// The scripts of the collection, for all requests and for single requests.
import { readFileSync } from 'node:fs';
import { Script } from 'node:vm';
import { codes } from './document.js';
import { contractOf, contractSource } from './contract.js';
import { environment } from './story.js';

// Names that clients reserve, so that scripts cannot declare them.
const taken = /^(?:const|let|var|function|class) (request|environment|globals|data|iteration|tests|cookies|response\w*|postman|pm|console)\b/m;

/** An event as the format has it. A script that is none, or cannot be run, is an error. */
export function eventOf(listen, source, where) {
  const name = taken.exec(source)?.[1];
  if (name) throw new Error(`${where}: its script declares ${name}, which clients have themselves`);
  try {
    new Script(source);
  } catch (error) {
    throw new Error(`${where}: its script is no script: ${error.message}`);
  }
  return { listen, script: { type: 'text/javascript', exec: source.trimEnd().split('\n') } };
}

const script = (name) => readFileSync(new URL(`scripts/${name}`, import.meta.url), 'utf8');

/** What follows every answer. */
export const afterAll = () => script('after.js').replace('CONTRACT', () => contractSource(contractOf()));

/** What goes before every request: givers are requests with what each of them gives. */
export function beforeAll(givers) {
  const names = environment.variables.map((variable) => variable.name);
  const toFillIn = { names, oauth: { access_token: 'client_id', buyer_access_token: 'buyer_client_id' } };
  return script('before.js').replace('TO_FILL_IN', () => JSON.stringify(toFillIn))
    .replace('GIVERS', () => ['[', ...givers.map(giverSource), ']'].join('\n'));
}

function giverSource({ told, request }) {
  const keep = keptBy(told);
  return [
    '  {',
    `    name: ${JSON.stringify(told.name)},`,
    `    gives: ${JSON.stringify(Object.keys(keep))},`,
    `    request: ${JSON.stringify(plainly(request))},`,
    `    status: ${told.status},`,
    `    keep: ({ answer, text, header, sent }) => (${objectSource(keep, '    ')}),`,
    `    drop: ${JSON.stringify(told.drop ?? [])},`,
    `    again: ({ answer }) => ${told.again ?? 'false'},`,
    '  },',
  ].join('\n');
}

/** A request as pm.sendRequest takes it: its credential is a header like others. */
function plainly({ method, url, header, body, auth }) {
  const plain = Object.fromEntries(header.filter((one) => !one.disabled).map(({ key, value }) => [key, value]));
  if (auth.type === 'bearer') plain.Authorization = `Bearer ${auth.bearer[0].value}`;
  if (auth.type === 'apikey') plain[auth.apikey[0].value] = auth.apikey[1].value;
  if (auth.type === 'basic') throw new Error('a giver cannot log in by HTTP Basic');
  const place = (url.variable ?? []).reduce((raw, { key, value }) => raw.replace(`:${key}`, value), url.raw);
  return { method, url: place, header: plain, body: body && { mode: body.mode, raw: body.raw } };
}

const objectSource = (fields, indent) => ['{', ...Object.entries(fields).map(([name, source]) => `${indent}  ${name}: ${source},`), `${indent}}`].join('\n');

/** What a request gives to those that follow: {variable: source}. */
export function keptBy(told) {
  const first = told.as && {
    [`${told.as}_key`]: 'sent.key', [`${told.as}_body`]: 'sent.body', [`${told.as}_answer`]: 'text',
    [`${told.as}_request_id`]: "header('X-Request-Id')",
  };
  return { ...told.keep, ...first };
}

/** What a request of the story holds its own answer to. */
export function testsOf(told) {
  const tests = [statusTest(told), ...errorTests(told), ...replayTests(told)];
  for (const [name, source] of Object.entries(told.tests ?? {})) tests.push(test(name, source));
  tests.push(...keeping(told));
  if (told.after) tests.push(told.after.trimEnd());
  const all = tests.join('\n');
  const plain = `${all}\n${told.again ?? ''}`.replace(/"(?:[^"\\]|\\.)*"/g, '""').replace(/'[^']*'/g, "''"); // ignores names in quotes
  const names = Object.entries({
    text: 'const text = pm.response.text();',
    answer: 'const answer = (() => { try { return pm.response.json(); } catch (_) { return {}; } })();',
    header: 'const header = name => pm.response.headers.get(name);',
    sent: "const sent = { key: pm.request.headers.get('Idempotency-Key'), body: pm.request.body && pm.request.body.raw };",
    carried: 'const carried = name => pm.collectionVariables.get(name);',
  }).filter(([name]) => new RegExp(`\\b${name}\\b`).test(plain)).map(([, source]) => source);
  return [...names, told.again ? again(told, all) : all].join('\n');
}

const asMeant = (status) => (typeof status === 'number'
  ? `pm.response.code === ${status}` : `Math.floor(pm.response.code / 100) === ${status[0]}`);

/** Keeps what the answer gives to others, and drops what it has used up. */
function keeping(told) {
  const keep = keptBy(told);
  const drop = dropping(told);
  if (Object.keys(keep).length === 0 && drop.length === 0) return [];
  if (Object.keys(keep).length === 0) return drop;
  return [[
    `if (${asMeant(told.status)}) {`,
    `  const keep = () => (${objectSource(keep, '  ')});`,
    '  try {',
    '    Object.entries(keep()).forEach(([name, value]) => pm.collectionVariables.set(name, value));',
    '  } catch (_) {',
    "    console.log(pm.info.requestName + ' gives nothing to the requests that follow: its answer has not what they need.');",
    '  }',
    ...drop.map((line) => `  ${line}`),
    '}',
  ].join('\n')];
}

const dropping = (told) => (told.drop ?? []).map((name) => `pm.collectionVariables.unset('${name}');`);

/** Where the request came at the wrong time, it is sent once more, and nothing is held against it. */
function again(told, tests) {
  return [
    "const tries = Number(pm.collectionVariables.get('tries') || 0);",
    `if (tries < 20 && (${told.again})) {`,
    "  pm.collectionVariables.set('tries', tries + 1);",
    ...dropping(told).map((line) => `  ${line}`),
    '  pm.execution.setNextRequest(pm.info.requestId);',
    '} else {',
    "  pm.collectionVariables.unset('tries');",
    ...tests.split('\n').map((line) => `  ${line}`),
    '}',
  ].join('\n');
}

function test(name, source) {
  const lines = source.trimEnd().split('\n');
  if (lines.length === 1 && !lines[0].endsWith(';')) return `pm.test(${JSON.stringify(name)}, () => ${lines[0]});`;
  return [`pm.test(${JSON.stringify(name)}, () => {`, ...lines.map((line) => `  ${line}`), '});'].join('\n');
}

const statusOf = (told) => told.status ?? errorOf(told).status;

function errorOf(told) {
  const found = codes.errors.find((error) => error.code === told.error);
  if (!found) throw new Error(`${told.where}: api/errors.yaml has no ${told.error}`);
  return found;
}

function statusTest(told) {
  const status = statusOf(told);
  return test(`the status is ${status}`, typeof status === 'number'
    ? `pm.response.to.have.status(${status})` : `pm.expect(${asMeant(status)}, String(pm.response.code)).to.equal(true)`);
}

function errorTests(told) {
  if (!told.error) return [];
  const fields = (told.field_errors ?? []).map(([field, code]) => `${field}: ${code}`);
  return [
    test(`the error is ${told.error}`, `pm.expect(answer.error).to.equal('${told.error}')`),
    test(fields.length > 0 ? 'field_errors names each member, and no other' : 'no member is named',
      `pm.expect((answer.field_errors || []).map(one => one.field + ': ' + one.code)).to.have.members(${JSON.stringify(fields)})`),
  ];
}

function replayTests({ replays }) {
  if (!replays) return [];
  return [
    test('the answer is the first one, to the byte', `pm.expect(text).to.equal(carried('${replays}_answer'))`),
    test('it says that it is', "pm.expect(header('Idempotent-Replayed')).to.equal('true')"),
    test('X-Request-Id is that of the first', `pm.expect(header('X-Request-Id')).to.equal(carried('${replays}_request_id'))`),
  ];
}
