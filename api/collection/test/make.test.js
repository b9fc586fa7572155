// What is made is the same each time, and nothing is made of a story that is not whole.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { make } from '../collection.js';
import { operations } from '../document.js';
import { readStory, environment } from '../story.js';
import { judge } from '../judge.js';
import { eventOf } from '../script.js';

test('the same bytes each time', async () => {
  assert.equal(JSON.stringify(await make()), JSON.stringify(await make()));
});

test('no two ids are the same, and none is drawn by chance', async () => {
  const made = await make();
  const ids = [...JSON.stringify(made).matchAll(/"(?:id|_postman_id)":"([0-9a-f-]{36})"/g)].map((match) => match[1]);
  assert.ok(ids.length > 60, `${ids.length} ids`);
  assert.equal(new Set(ids).size, ids.length);
  assert.deepEqual(ids.filter((id) => !/^[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-8[0-9a-f]{3}-[0-9a-f]{12}$/.test(id)), []);
});

test('the environment holds no secret', async () => {
  const { values } = (await make())['sandbox.postman_environment.json'];
  assert.ok(values.some(({ type }) => type === 'secret'));
  for (const { key, value, type } of values) {
    if (type === 'secret' || /secret|token|key|credential/.test(key)) assert.equal(value, '', key);
  }
});

/** The story as judge sees it, after a change. */
function judged(change, extra = {}) {
  const made = readStory().flatMap(({ before, requests }) => requests.map((told) => ({ told, request: { url: '', description: told.about }, folderBefore: before })));
  const changed = change(made) ?? made;
  return () => judge({ made: changed, operations, environment: { variables: environment.variables.filter(() => false) }, ...extra });
}

const naming = (name, url) => (made) => { made.find(({ told }) => told.name === name).request.url = url; };

for (const [what, change, finding] of [
  ['an operation of which nobody tells', (made) => made.filter(({ told }) => told.operation !== 'sendPing'), /sendPing: no request has this operation/],
  ['a webhook of which nobody tells', (made) => made.filter(({ told }) => told.operation !== 'leadSold'), /leadSold: no request has this operation/],
  ['an error that nobody causes', (made) => made.filter(({ told }) => told.error !== 'already_sold'), /already_sold: no request causes this error/],
  ['a code of field_errors that nobody causes', (made) => made.filter(({ told }) => told.name !== 'invalid_payload, expired'), /expired: no request has this in its field_errors/],
  ['two requests of one name', (made) => [...made, made[0]], /Get an access token: there are two of this name/],
  ['a variable that nobody gives', naming('Ping', '{{nobodys}}'), /Ping: nobody gives {{nobodys}}/],
  ['an error that is caused, and said not to be', (made) => [...made, { told: { name: 'x', error: 'internal' }, request: {} }], /internal: absent\.js says/],
]) {
  test(`refused: ${what}`, () => { assert.throws(judged(change), finding); });
}

test('the story as it is, is whole', () => { assert.doesNotThrow(judged((made) => made)); });

test('refused: a script that no client can run', () => {
  assert.throws(() => eventOf('test', 'pm.test(', 'here'), /here: its script is no script/);
  assert.throws(() => eventOf('test', 'const one = 1;\nconst request = 2;', 'here'), /here: its script declares request/);
  assert.equal(eventOf('test', 'const asked = pm.request;', 'here').script.exec.length, 1);
});
