// Builds the whole collection: the story's folders with their requests, scripts and saved answers.
import { createHash } from 'node:crypto';
import { document, operations } from './document.js';
import { convert } from './converted.js';
import { environment, readStory } from './story.js';
import { requestOf } from './request.js';
import { afterAll, beforeAll, eventOf, keptBy, testsOf } from './script.js';
import { savedOf } from './saved.js';
import { judge } from './judge.js';

const schema = 'https://schema.getpostman.com/json/collection/v2.1.0/collection.json';

/** The same id for the same name, today and on every machine. */
function idOf(name) {
  const hash = createHash('sha256').update(`pingpost collection ${name}`).digest('hex');
  return [hash.slice(0, 8), hash.slice(8, 12), `8${hash.slice(13, 16)}`, `8${hash.slice(17, 20)}`, hash.slice(20, 32)].join('-');
}

/** The two files by their names: {name: object}. */
export async function make() {
  const converted = await convert();
  const folders = readStory();
  const described = new Set();
  const made = [];
  const item = folders.map(({ folder, about, before, requests }) => ({
    id: idOf(folder),
    name: folder,
    description: about.trim(),
    event: before ? [eventOf('prerequest', before, folder)] : undefined,
    item: requests.map((told) => {
      const first = told.operation && !told.error && !described.has(told.operation);
      if (first) described.add(told.operation);
      const request = requestOf(told, converted, first);
      made.push({ told, request, folderBefore: before });
      return itemOf(folder, told, request, first);
    }),
  }));
  judge({ made, operations, environment });
  const givers = made.filter(({ told }) => told.fetched !== false && Object.keys(keptBy(told)).length > 0);
  return {
    'pingpost.postman_collection.json': bare({
      info: { _postman_id: idOf('pingpost'), name: `${document.info.title} ${document.info.version}`, description: aboutAll(), schema },
      item,
      event: [eventOf('prerequest', beforeAll(givers), 'scripts/before.js'), eventOf('test', afterAll(), 'scripts/after.js')],
    }),
    'sandbox.postman_environment.json': {
      id: idOf('sandbox'),
      name: 'pingpost sandbox',
      values: environment.variables.map(({ name, value, secret }) => ({ key: name, value, type: secret ? 'secret' : 'default', enabled: true })),
      _postman_variable_scope: 'environment',
    },
  };
}

function itemOf(folder, told, request, whole) {
  const where = `${folder}: ${told.name}`;
  return {
    id: idOf(where),
    name: told.name,
    event: [told.before && eventOf('prerequest', told.before, where), eventOf('test', testsOf(told), where)].filter(Boolean),
    request,
    response: savedOf(told, request, whole).map((saved) => ({ id: idOf(`${where}: ${saved.name}`), ...saved })),
  };
}

function aboutAll() {
  const rows = environment.variables.map(({ name, about }) => `| \`${name}\` | ${about} |`);
  return [environment.about.trim(), '', '| variable | |', '|---|---|', ...rows].join('\n');
}

// Removes undefined members.
const bare = (thing) => JSON.parse(JSON.stringify(thing));
