// Reads api/openapi.yaml and api/errors.yaml, and finds parts of them.
import { readFileSync } from 'node:fs';
import { parse } from 'yaml';

const read = (name) => readFileSync(new URL(`../${name}`, import.meta.url), 'utf8');

/** The document as it was written. */
export const text = read('openapi.yaml');

/** The document. */
export const document = parse(text);

/** The codes of errors: {errors, fields}. */
export const codes = parse(read('errors.yaml'));

/** What a reference leads to, or the thing itself where it is none. */
export function follow(thing) {
  while (thing?.$ref !== undefined) {
    const names = thing.$ref.split('/');
    if (names.shift() !== '#') throw new Error(`${thing.$ref} leads out of the document`);
    const from = thing.$ref;
    thing = names.reduce((at, name) => at?.[name], document);
    if (thing === undefined) throw new Error(`the document has nothing at ${from}`);
  }
  return thing;
}

const methods = ['get', 'put', 'post', 'delete', 'patch', 'head', 'options'];

function* operationsOf(places, webhook) {
  for (const [place, item] of Object.entries(places ?? {})) {
    for (const method of methods) {
      if (item[method]) yield { place, webhook, method: method.toUpperCase(), ...item[method] };
    }
  }
}

/** Every operation, those of webhooks too: as in the document, with place, method and webhook beside. */
export const operations = [...operationsOf(document.paths, false), ...operationsOf(document.webhooks, true)];

/** The operation of this id. */
export function operation(id) {
  const found = operations.find((o) => o.operationId === id);
  if (!found) throw new Error(`the document has no operation ${id}`);
  return found;
}

/** The examples of a media type: {name: {summary, value}}. */
export function examplesOf(content) {
  return Object.fromEntries(Object.entries(content?.examples ?? {}).map(([name, example]) => [name, follow(example)]));
}
