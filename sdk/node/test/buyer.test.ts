import assert from 'node:assert/strict';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { test } from 'node:test';
import express from 'express';
import { Buyer, noBid, refuse, UsageError, type BidDecision, type PingContext } from 'pingpost';
import { expressBuyer } from 'pingpost/express';
import { delivery, flavors, mounts, ping, startEndpoint, type Endpoint, type Said } from './endpoint.js';

function isError(said: Said, status: number, code: string): void {
  assert.deepEqual([said.status, said.body['error']], [status, code]);
  assert.equal(typeof said.body['message'], 'string');
  assert.match(String(said.body['request_id']), /^req_[0-9a-z]+$/);
  assert.equal(said.headers.get('x-request-id'), said.body['request_id']);
  assert.equal(said.headers.get('content-type'), 'application/json');
}

const fields = (said: Said): string[] => (said.body['field_errors'] as { field: string; code: string }[]).map(({ field, code }) => `${field} ${code}`);

for (const flavor of Object.keys(flavors)) {
  test(`${flavor}: a bid, a no-bid, a sale and a refusal`, async (t) => {
    const seen: { ping?: unknown; delivery?: unknown } = {};
    const endpoint = await startEndpoint(
      t,
      {
        bid: (given) => {
          seen.ping = given;
          return given.state === 'CA' ? { amount: 12.5, currency: 'USD', bid_token: 'tok_1', valid_until: '2026-03-02T17:04:12Z' } : noBid('state', 'Only CA.');
        },
        post: (given) => {
          seen.delivery = given;
          return given.lead.first_name === 'Ann' ? 'B-1' : refuse('duplicate', 'Known already.');
        },
      },
      flavor,
    );
    const withMore = { ...ping, zip3: '941', tomorrow: { news: [1, null] }, score: 0.1 };
    const bid = await endpoint.ping(withMore);
    assert.equal(bid.status, 200);
    assert.deepEqual(bid.body, { auction_id: 'auc_1', bid: { amount: 12.5, currency: 'USD', bid_token: 'tok_1', valid_until: '2026-03-02T17:04:12Z' } });
    assert.deepEqual(seen.ping, withMore, 'members that nobody named come through');
    assert.match(bid.headers.get('x-request-id') ?? '', /^req_/);
    const none = await endpoint.ping({ ...ping, state: 'TX' });
    assert.deepEqual([none.status, none.body], [200, { auction_id: 'auc_1', bid: null, reject_reason: 'state', reject_detail: 'Only CA.' }]);
    const sale = await endpoint.post({ ...delivery, lead: { ...delivery.lead, owns_home: true } });
    assert.deepEqual([sale.status, sale.body], [201, { auction_id: 'auc_1', lead_id: 'B-1' }]);
    assert.deepEqual(seen.delivery, { ...delivery, lead: { ...delivery.lead, owns_home: true } });
    const refused = await endpoint.post({ ...delivery, lead: { ...delivery.lead, first_name: 'Bob' } });
    isError(refused, 422, 'post_rejected');
    assert.equal(refused.body['reason'], 'duplicate');
    assert.equal(refused.body['message'], 'Known already.');
    assert.deepEqual(endpoint.errors, []);
  });

  test(`${flavor}: what is no ping and no post`, async (t) => {
    const endpoint = await startEndpoint(t, { credential: { bearer: 'good-1' } }, flavor);
    const authorization = 'Bearer good-1';
    const wrong = await endpoint.ask('/v1/ping', { method: 'GET' });
    isError(wrong, 405, 'method_not_allowed');
    assert.equal(wrong.headers.get('allow'), 'POST');
    isError(await endpoint.ping(ping), 401, 'unauthorized');
    const impostor = await endpoint.ping(ping, { authorization: 'Bearer good-2' });
    isError(impostor, 401, 'unauthorized');
    assert.equal(impostor.headers.get('www-authenticate'), 'Bearer');
    const huge = `{"a":"${'x'.repeat(64 * 1024)}"}`;
    isError(await endpoint.post(huge, { authorization }), 413, 'payload_too_large');
    isError(await endpoint.ping(ping, { authorization, 'content-type': 'text/plain' }), 415, 'unsupported_media_type');
    isError(await endpoint.ping({}, { authorization }), 422, 'invalid_payload');
    assert.equal((await endpoint.ping(ping, { authorization, 'content-type': 'Application/JSON; charset=utf-8' })).status, 200);
    isError(await endpoint.ask('/v1/other', { method: 'POST' }), 404, 'not_found');
    if (mounts[flavor] !== undefined) {
      assert.equal((await fetch(endpoint.url.replace(/\/leads$/, '/v1/ping'), { method: 'POST' })).status, 404);
    }
  });
}

test('bodies that two readers could read in two ways are no JSON', async (t) => {
  const endpoint = await startEndpoint(t, {});
  const text = JSON.stringify(ping);
  const deep = (levels: number): string => text.replace('}', `,"deep":${'['.repeat(levels)}${']'.repeat(levels)}}`);
  for (const body of [
    '',
    '{',
    '[]',
    'null',
    '"{}"',
    `${text}{}`,
    `\uFEFF${text}`,
    text.replace('}', ',"state":"TX"}'),
    text.replace('}', ',"st\\u0061te":"TX"}'),
    text.replace('}', ',"more":[{"a":1,"a":2}]}'),
    text.replace('}', ',"more":[{"a"   \n\t :1,"a":2}]}'),
    text.replace('CA', 'C\nA'),
    deep(32),
    deep(20_000),
    Buffer.concat([Buffer.from(text.slice(0, -1)), Buffer.from([0x2c, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d])]),
  ]) {
    isError(await endpoint.ping(body), 400, 'malformed_json');
  }
  for (const body of [deep(31), text.replace('}', ',"a":{"b":{"a":1,"b":"a"},"c":"a:"},"b":["a","a"]}'), text.replace('}', ',"__proto__":{"x":1},"a\\"b":"}{:"}')]) {
    assert.equal((await endpoint.ping(body)).status, 200, body.slice(0, 200));
  }
});

test('every member at fault is named', async (t) => {
  const endpoint = await startEndpoint(t, {});
  const said = await endpoint.ping({ auction_id: ' ', vertical: null, state: 7, vehicle_count: 1.5, expires_at: 'soon', zip3: null });
  isError(said, 422, 'invalid_payload');
  assert.deepEqual(fields(said), [
    'auction_id missing_required',
    'vertical missing_required',
    'state wrong_type',
    'tcpa_consent missing_required',
    'vehicle_count wrong_type',
    'expires_at invalid_format',
  ]);
  assert.deepEqual(fields(await endpoint.post({ auction_id: 'a', lead: 'Ann' })), ['lead wrong_type']);
  assert.deepEqual(fields(await endpoint.post({})), ['auction_id missing_required', 'lead missing_required']);
  const { email, ...rest } = delivery.lead;
  assert.deepEqual(fields(await endpoint.post({ ...delivery, bid_token: 1, lead: { ...rest, phone: 4155550123, address: { zip: 94105 }, tcpa: [] } })), [
    'bid_token wrong_type',
    'lead.email missing_required',
    'lead.phone wrong_type',
    'lead.address.zip wrong_type',
    'lead.tcpa wrong_type',
  ]);
  assert.ok(!JSON.stringify(said.body).includes(email));
});

test('an Idempotency-Key is needed, as a header should be', async (t) => {
  const endpoint = await startEndpoint(t, {});
  for (const path of ['/v1/ping', '/v1/post']) {
    const bare = await endpoint.ask(path, { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(path === '/v1/ping' ? ping : delivery) });
    isError(bare, 422, 'invalid_payload');
    assert.deepEqual(fields(bare), ['Idempotency-Key missing_required']);
  }
  for (const key of ['two words', 'x'.repeat(256), 'k\u00e9y']) {
    assert.deepEqual(fields(await endpoint.ping(ping, { 'idempotency-key': key })), ['Idempotency-Key invalid_format']);
  }
  assert.deepEqual(fields(await endpoint.ping(ping, { 'x-pingpost-test': 'yes' })), ['X-Pingpost-Test not_allowed_value']);
});

test('either credential is good, and each of several', async (t) => {
  const endpoint = await startEndpoint(t, { credential: { bearer: ['new-1', 'old-1'], apiKey: 'key-1' } });
  const status = async (headers: Record<string, string>): Promise<number> => (await endpoint.ping(ping, headers)).status;
  assert.equal(await status({ authorization: 'Bearer new-1' }), 200);
  assert.equal(await status({ authorization: 'bearer old-1' }), 200);
  assert.equal(await status({ 'x-api-key': 'key-1' }), 200);
  for (const headers of [{}, { authorization: 'Bearer key-1' }, { authorization: 'Basic new-1' }, { authorization: 'Bearer ' }, { 'x-api-key': 'new-1' }, { 'x-api-key': '' }]) {
    assert.equal(await status(headers as Record<string, string>), 401, JSON.stringify(headers));
  }
  for (const credential of [{}, { bearer: [] }, { bearer: '' }, { apiKey: 'a b' }]) {
    assert.throws(() => new Buyer({ bid: () => noBid('x'), post: () => 'x', credential }), UsageError);
  }
});

test('what a function is told beside the body', async (t) => {
  const told: PingContext[] = [];
  const endpoint = await startEndpoint(t, {
    bid: (_, context) => {
      told.push(context);
      return noBid('x');
    },
  });
  const expires = new Date(Date.now() + 4000).toISOString();
  await endpoint.ping({ ...ping, expires_at: expires }, { 'idempotency-key': '"k-1"', 'x-pingpost-test': '1', 'x-request-id': 'req_theirs1' });
  const said = await endpoint.ping({ ...ping, expires_at: new Date(Date.now() + 3_600_000).toISOString() }, { 'x-request-id': 'not <ours>' });
  const [first, second] = told;
  assert.deepEqual([first?.idempotencyKey, first?.test, first?.requestId, first?.expiresAt.toISOString()], ['k-1', true, 'req_theirs1', expires]);
  assert.equal(second?.test, false);
  assert.ok(second.expiresAt.getTime() <= Date.now() + 5000, 'nobody listens for more than five seconds');
  assert.match(said.headers.get('x-request-id') ?? '', /^req_[0-9a-z]{26}$/);
});

test('what a bid leaves out is made', async (t) => {
  let decision: BidDecision = { amount: 0.000001 };
  const endpoint = await startEndpoint(t, { bid: () => decision });
  const bids = [await endpoint.ping(), await endpoint.ping()].map((said) => said.body['bid'] as Record<string, string>);
  for (const bid of bids) {
    assert.deepEqual(Object.keys(bid), ['amount', 'bid_token', 'valid_until']);
    assert.match(bid['bid_token'] ?? '', /^bid_[0-9a-z]{26}$/);
    const left = Date.parse(bid['valid_until'] ?? '') - Date.now();
    assert.ok(left > 0 && left <= 5000, String(left));
  }
  assert.notEqual(bids[0]?.['bid_token'], bids[1]?.['bid_token']);
  decision = { amount: 3.123456, valid_until: new Date(Date.UTC(2026, 0, 1)), buyer_filters_passed: ['state'] };
  const { body } = await endpoint.ping();
  assert.deepEqual(body['buyer_filters_passed'], ['state']);
  assert.deepEqual([(body['bid'] as { amount: number }).amount, (body['bid'] as { valid_until: string }).valid_until], [3.123456, '2026-01-01T00:00:00.000Z']);
  decision = noBid('budget');
  assert.equal(typeof (await endpoint.ping()).body['reject_detail'], 'string');
});

test('functions that fail, or return nonsense, are a 500 that says nothing of it', async (t) => {
  let act: () => unknown = () => undefined;
  const endpoint = await startEndpoint(t, { bid: () => act() as never, post: () => act() as never });
  const acts: (() => unknown)[] = [
    () => {
      throw new Error('canary ann.lee@example.com');
    },
    () => Promise.reject(new Error('canary')),
    () => undefined,
    () => null,
    () => ({ amount: NaN }),
    () => ({ amount: -1 }),
    () => ({ amount: 0 }),
    () => ({ amount: 0.0000009 }),
    () => ({ amount: 1_000_000.01 }),
    () => ({ amount: '12' }),
    () => ({ amount: 1, currency: 'usd' }),
    () => ({ amount: 1, bid_token: 'a b' }),
    () => ({ amount: 1, valid_until: 'tomorrow' }),
    () => ({ amount: 1, valid_until: new Date(NaN) }),
  ];
  for (act of acts) {
    for (const said of [await endpoint.ping(), await endpoint.post()]) {
      isError(said, 500, 'internal');
      assert.ok(!JSON.stringify(said.body).includes('canary'));
    }
  }
  assert.equal(endpoint.errors.length, 2 * acts.length);
  assert.deepEqual(new Set(endpoint.errors.map((error) => error.in)), new Set(['bid', 'post']));
});

test('a bid that is late is a no-bid, and its function is told to stop', async (t) => {
  let stopped = false;
  const late = async (endpoint: Endpoint, milliseconds: number): Promise<void> => {
    const said = await endpoint.ping({ ...ping, expires_at: new Date(Date.now() + milliseconds).toISOString() });
    assert.deepEqual([said.status, said.body['bid'], said.body['reject_reason']], [200, null, 'timeout']);
  };
  const slow = await startEndpoint(t, {
    bid: (_, { signal }) =>
      new Promise((_resolve, reject) => {
        signal.addEventListener('abort', () => {
          stopped = true;
          reject(new Error('stopped'));
        });
      }),
  });
  await late(slow, 200);
  assert.ok(stopped);
  const busy = await startEndpoint(t, {
    bid: () => {
      for (const end = Date.now() + 150; Date.now() < end; );
      return { amount: 1 };
    },
  });
  await late(busy, 100);
  let called = false;
  const past = await startEndpoint(t, {
    bid: () => {
      called = true;
      return { amount: 1 };
    },
  });
  await late(past, -1);
  assert.ok(!called, 'nobody waits for the bid any more');
});

test('Express goes on to what comes next, where it is told so', async (t) => {
  const buyer = new Buyer({ bid: () => ({ amount: 1 }), post: () => 'B-1' });
  const server = express()
    .use(expressBuyer(buyer, { passOn: true }))
    .get('/v1/other', (_, response) => response.send('the app’s own'))
    .listen(0, '127.0.0.1');
  t.after(() => server.close());
  await once(server, 'listening');
  const url = `http://127.0.0.1:${String((server.address() as AddressInfo).port)}`;
  assert.equal(await (await fetch(`${url}/v1/other`)).text(), 'the app’s own');
  assert.equal((await fetch(`${url}/v1/ping`)).status, 405);
});

test('a listener that fails changes no answer', async (t) => {
  const endpoint = await startEndpoint(t, {
    bid: () => {
      throw new Error('x');
    },
    onError: () => {
      throw new Error('y');
    },
  });
  isError(await endpoint.ping(), 500, 'internal');
});
