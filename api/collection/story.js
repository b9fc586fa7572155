// Reads the story: story/*.yaml, one folder for each file, in the order of the file names.
// story/README.md describes the keys.
import { readFileSync, readdirSync } from 'node:fs';
import { parse } from 'yaml';

const place = new URL('story/', import.meta.url);
const files = readdirSync(place).filter((name) => /^\d.*\.yaml$/.test(name)).sort();

const keys = new Set(['name', 'operation', 'about', 'at', 'method', 'path', 'auth', 'example', 'headers', 'body', 'without',
  'raw', 'form', 'status', 'error', 'field_errors', 'as', 'replays', 'keep', 'fetched', 'drop', 'tests', 'before', 'after', 'id', 'again']);

/** The folders: {folder, about, before, requests}, each request with the folder that it stands in. */
export function readStory() {
  return files.map((file) => {
    const folder = read(file);
    for (const request of folder.requests) {
      const at = `story/${file}: ${request.name}`;
      for (const key of Object.keys(request)) {
        if (!keys.has(key)) throw new Error(`${at}: there is no key ${key}`);
      }
      if (!request.about) throw new Error(`${at}: about is missing: say what the request is good for`);
      if (!request.status && !request.error) throw new Error(`${at}: say which status, or which error, is to come`);
      request.where = at;
    }
    return folder;
  });
}

/** What is to be filled in: {about, variables: [{name, value, secret, about}]}. */
export const environment = read('environment.yaml');
for (const variable of environment.variables) {
  for (const key of Object.keys(variable)) {
    if (!['name', 'value', 'secret', 'about'].includes(key)) throw new Error(`story/environment.yaml: ${variable.name}: there is no key ${key}`);
  }
}

function read(file) {
  try {
    return parse(readFileSync(new URL(file, place), 'utf8'));
  } catch (error) {
    throw new Error(`story/${file}: ${error.message}`);
  }
}
