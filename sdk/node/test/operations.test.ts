import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Client, type Reply } from 'pingpost';
import { startExchange } from './exchange.js';

const limits = { 'x-ratelimit-limit': '100', 'x-ratelimit-remaining': '99', 'x-ratelimit-reset': '1772471048', 'x-request-id': 'req_1' };

interface Case {
  call: (client: Client) => Promise<Reply<object>>;
  method?: string;
  path: string;
  credential: string;
  once: boolean;
  body?: object;
}

const lead = { flo_campaign_id: 'cmp_auto', flo_supplier_id: 'sup_acme', first_name: 'Ann', last_name: 'Lee', phone: '+14155550123', email: 'ann.lee@example.com' };
const ping = { auction_id: 'a1', vertical: 'auto_insurance', state: 'CA', tcpa_consent: true, pets: 2 };
const post = { auction_id: 'a1', bid_token: 'bid_1', lead: { lead_uuid: 'u1', first_name: 'Ann', last_name: 'Lee', email: lead.email, phone: lead.phone } };

const cases: Record<string, Case> = {
  ingestLead: { call: (c) => c.ingestLead(lead), path: '/api/v1/ingest', credential: 'key', once: true, body: lead },
  checkAvailability: {
    call: (c) => c.checkAvailability({ flo_campaign_id: 'cmp_auto', flo_supplier_id: 'sup_acme', state: 'CA' }),
    path: '/api/v1/ping',
    credential: 'key',
    once: true,
    body: { flo_campaign_id: 'cmp_auto', flo_supplier_id: 'sup_acme', state: 'CA' },
  },
  getSuppliedLead: { call: (c) => c.getSuppliedLead('lead_1'), method: 'GET', path: '/api/v1/leads/lead_1', credential: 'key', once: false },
  sendPing: { call: (c) => c.sendPing(ping), path: '/v1/ping', credential: 'bearer', once: true, body: ping },
  sendPost: { call: (c) => c.sendPost(post), path: '/v1/post', credential: 'bearer', once: true, body: post },
  getLead: { call: (c) => c.getLead('a/b?c'), method: 'GET', path: '/v1/leads/a%2Fb%3Fc', credential: 'bearer', once: false },
  reportStatus: { call: (c) => c.reportStatus('lead_1', { status: 'contacted' }), path: '/v1/leads/lead_1/status', credential: 'bearer', once: true, body: { status: 'contacted' } },
  reportStatuses: {
    call: (c) => c.reportStatuses({ changes: [{ lead_id: 'lead_1', status: 'sold' }] }),
    path: '/v1/leads/status',
    credential: 'bearer',
    once: true,
    body: { changes: [{ lead_id: 'lead_1', status: 'sold' }] },
  },
  seedLeads: {
    call: (c) => c.seedLeads({ count: 100, vertical: 'auto', state: 'CA' }),
    path: '/v1/dev/seed',
    credential: 'bearer',
    once: false,
    body: { count: 100, vertical: 'auto', state: 'CA' },
  },
};

for (const [name, wanted] of Object.entries(cases)) {
  test(`${name} sends what the contract says, and returns the body with its metadata`, async (t) => {
    // Unknown members and values pass through unchanged.
    const body = { status: 'of_tomorrow', amount: 0.123456, more: { news: [null] } };
    const exchange = await startExchange(t, [{ status: 201, body, headers: limits }]);
    const client = new Client({ baseUrl: `${exchange.url}/`, ...(wanted.credential === 'key' ? { apiKey: 'key-1' } : { token: 'token-1' }) });
    const reply = await wanted.call(client);
    const [sent] = exchange.sent;
    assert.ok(sent !== undefined && exchange.sent.length === 1);
    assert.equal(sent.method, wanted.method ?? 'POST');
    assert.equal(sent.path, wanted.path);
    assert.equal(sent.headers['x-api-key'], wanted.credential === 'key' ? 'key-1' : undefined);
    assert.equal(sent.headers.authorization, wanted.credential === 'bearer' ? 'Bearer token-1' : undefined);
    assert.match(sent.headers['user-agent'] ?? '', /^pingpost-node\/\d+\.\d+\.\d+ node\//);
    assert.equal(sent.headers['x-pingpost-test'], undefined);
    assert.equal(sent.headers['content-type'], wanted.body === undefined ? undefined : 'application/json');
    assert.deepEqual(sent.body === '' ? undefined : JSON.parse(sent.body), wanted.body);
    const key = sent.headers['idempotency-key'];
    assert.equal(typeof key, wanted.once ? 'string' : 'undefined');
    assert.deepEqual(reply.$meta, {
      status: 201,
      requestId: 'req_1',
      replayed: false,
      rateLimit: { limit: 100, remaining: 99, reset: 1772471048 },
      idempotencyKey: key,
    });
    assert.equal(JSON.stringify(reply), JSON.stringify(body), 'the metadata is no part of the model');
  });
}

test('a key that is given is sent, a test says so, and a replay is told', async (t) => {
  const exchange = await startExchange(t, [{ status: 201, headers: { 'idempotent-replayed': 'true' } }]);
  const client = new Client({ baseUrl: exchange.url, apiKey: 'k' });
  const reply = await client.ingestLead(lead, { idempotencyKey: 'mine-1', test: true });
  assert.equal(exchange.sent[0]?.headers['idempotency-key'], 'mine-1');
  assert.equal(exchange.sent[0].headers['x-pingpost-test'], '1');
  assert.equal(reply.$meta.replayed, true);
  assert.equal(reply.$meta.idempotencyKey, 'mine-1');
  assert.equal(reply.$meta.rateLimit, undefined);
});

test('two calls have two keys', async (t) => {
  const exchange = await startExchange(t);
  const client = new Client({ baseUrl: exchange.url, apiKey: 'k' });
  await client.ingestLead(lead);
  await client.ingestLead(lead);
  const keys = exchange.sent.map((sent) => sent.headers['idempotency-key']);
  assert.notEqual(keys[0], keys[1]);
});

test('a base address may have a path, and a user agent be its caller’s', async (t) => {
  const exchange = await startExchange(t);
  await new Client({ baseUrl: `${exchange.url}/exchange/`, apiKey: 'k', userAgent: 'acme/2' }).getSuppliedLead('lead_1');
  assert.equal(exchange.sent[0]?.path, '/exchange/api/v1/leads/lead_1');
  assert.equal(exchange.sent[0].headers['user-agent'], 'acme/2');
});

test('a fetch of the caller’s own is used', async () => {
  const seen: string[] = [];
  const client = new Client({
    baseUrl: 'https://exchange.example.com',
    apiKey: 'k',
    fetch: (url, init) => {
      seen.push(`${init.method} ${url}`);
      return Promise.resolve(new Response('{"data":{"id":"lead_1"}}'));
    },
  });
  const reply = await client.getSuppliedLead('lead_1');
  assert.equal(reply.data.id, 'lead_1');
  assert.deepEqual(seen, ['GET https://exchange.example.com/api/v1/leads/lead_1']);
});
