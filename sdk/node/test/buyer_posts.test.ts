import assert from 'node:assert/strict';
import { request } from 'node:http';
import { connect } from 'node:net';
import { test } from 'node:test';
import { MemoryStore, refuse, type AnswerStore, type PostDecision, type StoredAnswer } from 'pingpost';
import { delivery, flavors, startEndpoint } from './endpoint.js';

const other = { ...delivery, auction_id: 'auc_2' };

for (const flavor of Object.keys(flavors)) {
  test(`${flavor}: a post that comes again is answered as at first, and taken once`, async (t) => {
    let calls = 0;
    const endpoint = await startEndpoint(t, { post: () => `B-${String(++calls)}` }, flavor);
    const first = await endpoint.post(delivery, { 'idempotency-key': 'k-1' });
    const again = await endpoint.post(delivery, { 'idempotency-key': 'k-1', 'x-request-id': 'req_another' });
    const quoted = await endpoint.post(delivery, { 'idempotency-key': '"k-1"' });
    assert.equal(calls, 1);
    for (const said of [again, quoted]) {
      assert.deepEqual([said.status, said.body], [201, { auction_id: 'auc_1', lead_id: 'B-1' }]);
      assert.equal(said.headers.get('x-request-id'), first.headers.get('x-request-id'));
      assert.equal(said.headers.get('idempotent-replayed'), 'true');
    }
    assert.equal(first.headers.get('idempotent-replayed'), null);
    const reused = await endpoint.post(other, { 'idempotency-key': 'k-1' });
    assert.deepEqual([reused.status, reused.body['error']], [422, 'idempotency_key_reused']);
    assert.equal((await endpoint.post(delivery, { 'idempotency-key': 'k-2' })).body['lead_id'], 'B-2');
  });
}

// A repeat that does not wait would loop forever, hence the limit.
test('repeats that come while the first is under way wait for it', { timeout: 60_000 }, async (t) => {
  let calls = 0;
  const finishers: ((decision: PostDecision) => void)[] = [];
  const endpoint = await startEndpoint(t, {
    post: () => {
      calls++;
      return new Promise<PostDecision>((resolve) => finishers.push(resolve));
    },
  });
  const first = endpoint.post(delivery, { 'idempotency-key': 'k' });
  while (calls === 0) await new Promise((resolve) => setTimeout(resolve, 5));
  const waiting = Array.from({ length: 5 }, () => endpoint.post(delivery, { 'idempotency-key': 'k' }));
  const reused = await endpoint.post(other, { 'idempotency-key': 'k' });
  assert.equal(reused.body['error'], 'idempotency_key_reused');
  for (const finish of finishers) finish(4711);
  const answers = await Promise.all([first, ...waiting]);
  assert.deepEqual(new Set(answers.map((said) => `${String(said.status)} ${String(said.body['lead_id'])}`)), new Set(['201 4711']));
  assert.deepEqual(answers.map((said) => said.headers.get('idempotent-replayed')), [null, 'true', 'true', 'true', 'true', 'true']);
  assert.equal(calls, 1);
});

test('a refusal stands; a failure does not', async (t) => {
  const decisions: (() => PostDecision)[] = [
    () => {
      throw new Error('the database is away');
    },
    () => refuse('duplicate'),
    () => 'never asked',
  ];
  const endpoint = await startEndpoint(t, { post: () => (decisions.shift() ?? (() => 'none left'))() });
  const headers = { 'idempotency-key': 'k' };
  assert.equal((await endpoint.post(delivery, headers)).status, 500);
  for (let i = 0; i < 2; i++) {
    const said = await endpoint.post(delivery, headers);
    assert.deepEqual([said.status, said.body['error'], said.body['reason']], [422, 'post_rejected', 'duplicate']);
  }
  assert.equal(decisions.length, 1);
});

test('what was refused before the function was asked uses up no key', async (t) => {
  const endpoint = await startEndpoint(t, {});
  const headers = { 'idempotency-key': 'k' };
  assert.equal((await endpoint.post({ ...delivery, lead: {} }, headers)).status, 422);
  assert.equal((await endpoint.post('{', headers)).status, 400);
  assert.equal((await endpoint.post(delivery, headers)).status, 201);
});

test('a ping’s key is no post’s', async (t) => {
  const endpoint = await startEndpoint(t, {});
  assert.equal((await endpoint.ping(undefined, { 'idempotency-key': 'k' })).status, 200);
  assert.equal((await endpoint.post(delivery, { 'idempotency-key': 'k' })).status, 201);
});

test('a store of one’s own is asked first and told last', async (t) => {
  const kept = new Map<string, StoredAnswer>();
  const store: AnswerStore = {
    get: (key) => Promise.resolve(kept.get(key)),
    put: (key, answer) => {
      kept.set(key, JSON.parse(JSON.stringify(answer)) as StoredAnswer);
      return Promise.resolve();
    },
  };
  const before = await startEndpoint(t, { store });
  await before.post(delivery, { 'idempotency-key': 'k' });
  const after = await startEndpoint(t, { store, post: () => assert.fail('it was taken before') });
  const said = await after.post(delivery, { 'idempotency-key': 'k' });
  assert.deepEqual([said.status, said.body['lead_id']], [201, 'B-1']);
});

test('a store that cannot be read takes no lead; one that cannot be written loses none', async (t) => {
  let calls = 0;
  const fail = (): never => {
    throw new Error('the store is away');
  };
  const post = (): string => `B-${String(++calls)}`;
  const unread = await startEndpoint(t, { post, store: { get: fail, put: () => undefined } });
  assert.equal((await unread.post()).status, 500);
  assert.equal(calls, 0);
  assert.deepEqual(unread.errors, [{ message: 'the store is away', in: 'store' }]);
  const unwritten = await startEndpoint(t, { post, store: { get: () => undefined, put: () => Promise.reject(new Error('full')) } });
  assert.deepEqual((await unwritten.post()).body['lead_id'], 'B-1');
  assert.deepEqual(unwritten.errors, [{ message: 'full', in: 'store' }]);
});

test('the memory’s bounds: a day, and a number', () => {
  let now = 0;
  const store = new MemoryStore({ capacity: 2, now: () => now });
  const answer = (body: string): StoredAnswer => ({ fingerprint: 'f', status: 201, requestId: 'req_1', body });
  store.put('a', answer('1'));
  store.put('b', answer('2'));
  store.put('a', answer('3'));
  store.put('c', answer('4'));
  assert.deepEqual(['a', 'b', 'c'].map((key) => store.get(key)?.body), ['3', undefined, '4']);
  now = 24 * 60 * 60 * 1000 - 1;
  assert.equal(store.get('a')?.body, '3');
  now++;
  assert.equal(store.get('a'), undefined);
});

test('a body without a length is bounded too, and one that ends early hurts nobody', async (t) => {
  let calls = 0;
  const endpoint = await startEndpoint(t, {
    post: () => {
      calls++;
      return 'B-1';
    },
  });
  const url = new URL(`${endpoint.url}/v1/post`);
  const headers = { 'content-type': 'application/json', 'idempotency-key': 'k' };
  const status = await new Promise<number | undefined>((resolve, reject) => {
    const sending = request(url, { method: 'POST', headers: { ...headers, 'transfer-encoding': 'chunked' } }, (response) => {
      response.resume();
      resolve(response.statusCode);
    });
    sending.on('error', reject);
    for (let i = 0; i < 100; i++) sending.write('x'.repeat(1024));
    sending.end();
  });
  assert.equal(status, 413);
  await new Promise<void>((resolve) => {
    const socket = connect(Number(url.port), '127.0.0.1', () => {
      socket.write(`POST /v1/post HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nIdempotency-Key: k\r\nContent-Length: 50\r\n\r\n{"auction_id"`, () => {
        socket.destroy();
        resolve();
      });
    });
  });
  assert.equal((await endpoint.post(delivery, { 'idempotency-key': 'k' })).status, 201);
  assert.equal(calls, 1);
});

test('an announced body of gigabytes is not waited for', async (t) => {
  const endpoint = await startEndpoint(t, {});
  const { port } = new URL(endpoint.url);
  const text = await new Promise<string>((resolve, reject) => {
    const socket = connect(Number(port), '127.0.0.1', () => {
      socket.write('POST /v1/post HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 4000000000\r\n\r\n{');
    });
    let heard = '';
    socket.on('data', (chunk) => (heard += chunk.toString()));
    socket.on('close', () => {
      resolve(heard);
    });
    socket.on('error', reject);
  });
  assert.match(text, /^HTTP\/1.1 413 /);
});
