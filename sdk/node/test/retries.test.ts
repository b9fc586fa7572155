import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ApiError, Client, RateLimitedError, ServerError, TimeoutError, TransportError } from 'pingpost';
import { noting, startExchange, type Scripted } from './exchange.js';

const ok: Scripted = { status: 201, body: { data: { id: 'lead_1', status: 'ACCEPTED' } } };
const broken = (status: number, headers: Record<string, string> = {}): Scripted => ({
  status,
  headers,
  body: { error: status === 429 ? 'rate_limited' : 'unavailable', message: 'later', request_id: 'req_9' },
});
const lead = { flo_campaign_id: 'c', flo_supplier_id: 's', first_name: 'Ann', last_name: 'Lee', phone: '1', email: 'e' };
const inTwoMinutes = new Date(Date.UTC(2026, 2, 2, 17, 2, 0)).toUTCString();

const table: { name: string; script: Scripted[]; slept: number[]; sent: number; fails?: (error: unknown) => void }[] = [
  { name: 'a 500 and then an answer', script: [broken(500), ok], slept: [1], sent: 2 },
  { name: 'every kind of 5xx', script: [broken(500), broken(502), broken(503), broken(504), broken(599), ok], slept: [1, 2, 4, 8, 16], sent: 6 },
  { name: 'Retry-After in seconds', script: [broken(429, { 'retry-after': '7' }), broken(503, { 'retry-after': '0' }), ok], slept: [7, 0], sent: 3 },
  { name: 'Retry-After as a date', script: [broken(429, { 'retry-after': inTwoMinutes }), ok], slept: [120], sent: 2 },
  { name: 'Retry-After of years', script: [broken(429, { 'retry-after': '999999999' }), broken(503, { 'retry-after': 'Fri, 01 Jan 2100 00:00:00 GMT' }), ok], slept: [3600, 3600], sent: 3 },
  { name: 'Retry-After that is past', script: [broken(429, { 'retry-after': 'Mon, 02 Mar 2026 16:00:00 GMT' }), ok], slept: [0], sent: 2 },
  { name: 'Retry-After that is nothing', script: [broken(429, { 'retry-after': 'soon' }), ok], slept: [1], sent: 2 },
  { name: 'a connection that breaks', script: ['cut', 'half', ok], slept: [1, 2], sent: 3 },
  { name: 'no answer in time', script: ['hang', ok], slept: [1], sent: 2 },
  {
    name: '5xx to the end',
    script: Array.from({ length: 6 }, () => broken(503)),
    slept: [1, 2, 4, 8, 16],
    sent: 6,
    fails: (error) => {
      assert.ok(error instanceof ServerError && error.status === 503 && error.requestId === 'req_9');
    },
  },
  {
    name: '429 to the end',
    script: Array.from({ length: 6 }, () => broken(429, { 'retry-after': '3' })),
    slept: [3, 3, 3, 3, 3],
    sent: 6,
    fails: (error) => {
      assert.ok(error instanceof RateLimitedError && error.retryAfter === 3);
    },
  },
  {
    name: 'a proxy’s page to the end',
    script: Array.from({ length: 6 }, () => ({ status: 502, body: '<html>Bad Gateway</html>' })),
    slept: [1, 2, 4, 8, 16],
    sent: 6,
    fails: (error) => {
      assert.ok(error instanceof ServerError && error.code === '' && error.status === 502);
    },
  },
  {
    name: 'timeouts to the end',
    script: Array.from({ length: 6 }, () => 'hang' as const),
    slept: [1, 2, 4, 8, 16],
    sent: 6,
    fails: (error) => {
      assert.ok(error instanceof TimeoutError && error instanceof TransportError);
    },
  },
  {
    name: 'an answer that is no JSON object',
    script: [{ status: 200, body: '[1]' }],
    slept: [],
    sent: 1,
    fails: (error) => {
      assert.ok(error instanceof TransportError);
    },
  },
  ...[300, 302, 400, 401, 403, 404, 405, 408, 409, 410, 413, 415, 422, 425].map((status) => ({
    name: `a ${String(status)}`,
    script: [{ status, headers: { 'retry-after': '1', location: '/elsewhere' } }],
    slept: [],
    sent: 1,
    fails: (error: unknown) => {
      assert.ok(error instanceof ApiError && error.status === status);
    },
  })),
];

for (const { name, script, slept, sent, fails } of table) {
  test(`${name}: ${String(sent)} tries, the same bytes under the same key`, async (t) => {
    const exchange = await startExchange(t, [...script]);
    const noted = noting();
    const now = (): number => Date.UTC(2026, 2, 2, 17, 0, 0);
    const client = new Client({ baseUrl: exchange.url, apiKey: 'k', sleep: noted.sleep, now, timeoutMs: script.includes('hang') ? 150 : 10_000 });
    let key: string | undefined;
    if (fails === undefined) {
      const reply = await client.ingestLead(lead);
      assert.equal(reply.data.id, 'lead_1');
      key = reply.$meta.idempotencyKey;
    } else {
      const error = await client.ingestLead(lead).then(
        () => assert.fail('it did not fail'),
        (thrown: unknown) => thrown,
      );
      fails(error);
      key = (error as ApiError).idempotencyKey;
    }
    assert.deepEqual(noted.slept, slept);
    assert.equal(exchange.sent.length, sent);
    assert.match(key ?? '', /^[0-9a-f-]{36}$/);
    for (const one of exchange.sent) {
      assert.equal(one.headers['idempotency-key'], key);
      assert.equal(one.body, exchange.sent[0]?.body);
    }
  });
}

test('nobody there: a transport error that says why, after five retries', async () => {
  const noted = noting();
  const client = new Client({ baseUrl: 'http://127.0.0.1:9', apiKey: 'k', sleep: noted.sleep });
  await assert.rejects(client.getSuppliedLead('lead_1'), (error: unknown) => error instanceof TransportError && error.message.includes('127.0.0.1:9'));
  assert.equal(noted.slept.length, 5);
});

test('no retries where none are wanted', async (t) => {
  const exchange = await startExchange(t, [broken(500)]);
  const noted = noting();
  await assert.rejects(new Client({ baseUrl: exchange.url, apiKey: 'k', maxRetries: 0, sleep: noted.sleep }).ingestLead(lead), ServerError);
  assert.deepEqual([noted.slept, exchange.sent.length], [[], 1]);
});

test('a wait is never less than it should be, and at most a tenth more', async (t) => {
  const exchange = await startExchange(t);
  exchange.otherwise = () => broken(500);
  const waits: number[] = [];
  const sleep = (milliseconds: number): Promise<void> => {
    waits.push(milliseconds / 1000);
    return Promise.resolve();
  };
  await assert.rejects(new Client({ baseUrl: exchange.url, apiKey: 'k', sleep }).ingestLead(lead));
  for (const [i, least] of [1, 2, 4, 8, 16].entries()) {
    assert.ok((waits[i] ?? 0) >= least && (waits[i] ?? 0) <= least * 1.1, `${String(waits[i])} for ${String(least)}`);
  }
});

test('the timeout of a call goes before the client’s', async (t) => {
  const exchange = await startExchange(t, ['hang']);
  const client = new Client({ baseUrl: exchange.url, apiKey: 'k', maxRetries: 0, timeoutMs: 3_600_000 });
  await assert.rejects(client.ingestLead(lead, { timeoutMs: 50 }), TimeoutError);
});

test('a caller’s signal ends a try, and ends a wait', async (t) => {
  const stopped = new Error('stopped by the caller');
  const exchange = await startExchange(t, ['hang']);
  const client = new Client({ baseUrl: exchange.url, apiKey: 'k' });
  const first = new AbortController();
  const hanging = client.ingestLead(lead, { signal: first.signal });
  while (exchange.sent.length === 0) await new Promise((resolve) => setTimeout(resolve, 5));
  first.abort(stopped);
  await assert.rejects(hanging, stopped);
  const second = new AbortController();
  exchange.otherwise = () => {
    setImmediate(() => {
      setTimeout(() => {
        second.abort(stopped);
      }, 20);
    });
    return broken(503, { 'retry-after': '3600' });
  };
  await assert.rejects(client.ingestLead(lead, { signal: second.signal }), stopped);
  await assert.rejects(client.ingestLead(lead, { signal: AbortSignal.abort(stopped) }), stopped);
  assert.equal(exchange.sent.length, 2);
});
