// Generates the collection and its environment from api/openapi.yaml, api/errors.yaml and the story.
//
//   node make.js            writes both files
//   node make.js --check    writes no file, and fails if one of them is stale
import { readFileSync, writeFileSync } from 'node:fs';
import { make } from './collection.js';

const check = process.argv.includes('--check');
let stale = false;
for (const [name, content] of Object.entries(await make())) {
  const place = new URL(name, import.meta.url);
  const text = `${JSON.stringify(content, null, 2)}\n`;
  if (!check) {
    writeFileSync(place, text);
    console.log(`api/collection/${name}: ${text.length} bytes`);
    continue;
  }
  const found = read(place);
  if (found === text) continue;
  stale = true;
  const [old, fresh] = [found, text].map((whole) => whole.split('\n'));
  const line = fresh.findIndex((one, at) => one !== old[at]);
  console.error(`api/collection/${name} is stale, or was edited by hand: run make collection. Line ${line + 1} is to be:\n  ${fresh[line]}`);
}
process.exitCode = stale ? 1 : 0;

function read(place) {
  try {
    return readFileSync(place, 'utf8');
  } catch (error) {
    if (error.code === 'ENOENT') return '';
    throw error;
  }
}
