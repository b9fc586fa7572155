// Builds a request of the story from the converted operation and the story's keys.
import { document, examplesOf, operation } from './document.js';

/**
 * Made of a request of the story: {method, url, header, body, auth, description}, as the format
 * has it; with all that the document says of it, or with the story's words alone.
 */
export function requestOf(told, converted, whole) {
  const of = told.operation && operation(told.operation);
  const base = told.operation ? converted[told.operation] : { header: [], url: {} };
  const method = told.method ?? base.method;
  const request = {
    method,
    header: headersOf(told, base, whole),
    url: urlOf(told, base, of, whole),
    auth: authOf(told, of),
    description: [told.about.trim(), whole && of.description].filter(Boolean).join('\n\n'),
  };
  const body = method === 'GET' ? undefined : bodyOf(told, base, of);
  if (body) request.body = body;
  return request;
}

/** The operation's headers, with those of the story. What is optional is there to be ticked. */
function headersOf(told, base, whole) {
  const mine = { ...told.headers };
  const header = [];
  for (const { key, value, disabled, description } of base.header) {
    const values = [mine[key] ?? given(key, value)].flat();
    const off = Boolean(disabled) && !(key in mine);
    if (mine[key] !== null && (whole || !off)) {
      for (const one of values) header.push({ key, value: one, ...(off && { disabled: true }), ...(whole && { description: description?.content }) });
    }
    delete mine[key];
  }
  for (const [key, value] of Object.entries(mine)) for (const one of [value].flat()) header.push({ key, value: one });
  return header;
}

// Each request gets a new key, unless the story sets one.
const given = (key, value) => (key === 'Idempotency-Key' ? '{{$guid}}' : value);

function urlOf(told, base, of, whole) {
  const at = `{{${told.at ?? 'base_url'}}}`;
  const place = told.path ?? (of.webhook ? '' : of.place.replace(/\{(.+?)\}/g, ':$1'));
  const url = { raw: at + place, host: [at] };
  if (place) url.path = place.slice(1).split('/');
  const variable = told.path ? [] : base.url.variable ?? [];
  if (variable.length > 0) {
    if (!told.id) throw new Error(`${told.where}: id is missing`);
    url.variable = variable.map(({ key, description }) => ({ key, value: told.id, ...(whole && { description: description?.content }) }));
  }
  return url;
}

/** The one that opens the operation, unless the story names another. */
function authOf(told, of) {
  const by = told.auth ?? schemeOf(of);
  if (by === 'none') return { type: 'noauth' };
  if (by.basic) return scheme('basic', { username: by.basic[0], password: by.basic[1] });
  if (by.key) return scheme('apikey', { key: 'x-api-key', value: by.key, in: 'header' });
  return scheme('bearer', { token: by.bearer });
}

const scheme = (type, values) => ({ type, [type]: Object.entries(values).map(([key, value]) => ({ key, value, type: 'string' })) });

function schemeOf(of) {
  const schemes = of?.security ?? document.security;
  const oauth = schemes.find((scheme) => scheme.oauth)?.oauth;
  if (schemes.some((scheme) => scheme.apiKey)) return { key: '{{api_key}}' };
  if (oauth) return { bearer: oauth.includes('webhook') ? '{{buyer_access_token}}' : '{{access_token}}' };
  return 'none';
}

function bodyOf(told, base, of) {
  if (told.form) {
    return { mode: 'urlencoded', urlencoded: Object.entries(told.form).map(([key, value]) => ({ key, value, type: 'text' })) };
  }
  const raw = told.raw ?? bodyText(told, base, of);
  return raw === undefined ? undefined : { mode: 'raw', raw, options: { raw: { language: 'json' } } };
}

/** The converter's body, which is the document's first example, or another one; with the changes that the story makes. */
function bodyText(told, base, of) {
  if (!base.body) return undefined;
  const example = told.example ? examplesOf(of.requestBody.content['application/json'])[told.example]?.value : JSON.parse(base.body.raw);
  if (!example) throw new Error(`${told.where}: the document has no example ${told.example} there`);
  const body = merge(structuredClone(example), told.body ?? {});
  for (const path of told.without ?? []) {
    const names = path.split('.');
    const name = names.pop();
    const from = names.reduce((at, part) => at[part], body);
    if (!(name in from)) throw new Error(`${told.where}: without ${path}, which is not there`);
    delete from[name];
  }
  return JSON.stringify(body, null, 2);
}

function merge(into, changes) {
  for (const [name, value] of Object.entries(changes)) {
    const both = [into[name], value].every((one) => one && typeof one === 'object' && !Array.isArray(one));
    into[name] = both ? merge(into[name], value) : value;
  }
  return into;
}
