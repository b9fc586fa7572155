import assert from 'node:assert/strict';
import { test } from 'node:test';
import { inspect } from 'node:util';
import { ApiError, Buyer, Client, noBid, UsageError, type ClientOptions } from 'pingpost';
import { startExchange } from './exchange.js';

const baseUrl = 'https://exchange.example.com';

const wrong: Record<string, Partial<ClientOptions>> = {
  'no credential': {},
  'a client without its secret': { clientId: 'canary' },
  'a secret without its client': { clientSecret: 'canary' },
  'two bearer tokens': { token: 'canary', clientId: 'a', clientSecret: 'canary' },
  'a key and a token': { apiKey: 'canary', token: 'canary' },
  'an empty key': { apiKey: '' },
  'a key with an end of line': { apiKey: 'canary\n' },
  'a token with a space': { token: 'canary canary' },
  'no address': { apiKey: 'k', baseUrl: 'canary' },
  'an address of a file': { apiKey: 'k', baseUrl: 'file:///canary' },
  'an address with a password': { apiKey: 'k', baseUrl: 'https://user:canary@exchange.example.com' },
  'an address with a query': { apiKey: 'k', baseUrl: 'https://exchange.example.com?key=canary' },
  'an address for tokens that is none': { apiKey: 'k', authUrl: 'canary' },
  'no time at all': { apiKey: 'k', timeoutMs: 0 },
  'half a retry': { apiKey: 'k', maxRetries: 0.5 },
  'fewer than no retries': { apiKey: 'k', maxRetries: -1 },
  'a user agent that breaks headers': { apiKey: 'k', userAgent: 'a\r\nb' },
};

for (const [name, options] of Object.entries(wrong)) {
  test(`no client of ${name}`, () => {
    assert.throws(
      () => new Client({ baseUrl, ...options }),
      (error: unknown) => error instanceof UsageError && !String(error.stack).includes('canary'),
    );
  });
}

test('what a client cannot do is told before anything is sent', async (t) => {
  const exchange = await startExchange(t);
  const keyed = new Client({ baseUrl: exchange.url, apiKey: 'k' });
  const tokened = new Client({ baseUrl: exchange.url, token: 't' });
  const lead = { flo_campaign_id: 'c', flo_supplier_id: 's', first_name: 'Ann', last_name: 'Lee', phone: '1', email: 'e' };
  for (const call of [
    () => keyed.getLead('lead_1'),
    () => tokened.ingestLead(lead),
    () => keyed.getSuppliedLead(''),
    () => keyed.getSuppliedLead('..'),
    () => keyed.ingestLead(lead, { idempotencyKey: 'two words' }),
    () => keyed.ingestLead(lead, { idempotencyKey: 'x'.repeat(256) }),
    () => keyed.ingestLead(lead, { idempotencyKey: '' }),
    () => keyed.ingestLead(lead, { timeoutMs: -1 }),
    () => tokened.reportStatus('lead_1', { status: 'sold' }, { test: true } as object),
    () => tokened.getLead('lead_1', { idempotencyKey: 'k' } as object),
  ]) {
    await assert.rejects(call, UsageError);
  }
  assert.deepEqual(exchange.sent, []);
});

test('no inspection of a client or a buyer shows a secret', () => {
  const clients = [new Client({ baseUrl, apiKey: 'canary-1' }), new Client({ baseUrl, clientId: 'acme', clientSecret: 'canary-2' })];
  const buyer = new Buyer({ bid: () => noBid('x'), post: () => 'x', credential: { bearer: 'canary-3' } });
  for (const one of [...clients, buyer]) {
    assert.ok(!`${inspect(one, { depth: 10, showHidden: true })}${JSON.stringify(one)}`.includes('canary'));
  }
});

test('no error shows a secret or the lead, whatever the way it failed', async (t) => {
  const exchange = await startExchange(t, ['cut', 'half', { status: 500, body: 'oops' }, { status: 200, body: 'x' }, 'hang']);
  const client = new Client({ baseUrl: exchange.url, apiKey: 'canary-key', maxRetries: 0, timeoutMs: 300 });
  const lead = { flo_campaign_id: 'c', flo_supplier_id: 's', first_name: 'canary', last_name: 'canary', phone: '+14155550123', email: 'canary@example.com' };
  for (let i = 0; i < 5; i++) {
    const error: unknown = await client.ingestLead(lead).then(
      () => assert.fail('it did not fail'),
      (thrown: unknown) => thrown,
    );
    assert.ok(!/canary|4155550123/.test(inspect(error, { depth: 10 })), inspect(error));
  }
});

test('an error tells what is wrong with what, and where to ask', () => {
  const error = new ApiError({
    status: 422,
    code: 'invalid_payload',
    explanation: 'Two members are wrong.',
    requestId: 'req_1',
    fieldErrors: [
      { field: 'phone', code: 'invalid_format', expected: 'a phone number' },
      { field: 'lead.email', code: 'missing_required', expected: 'an email address' },
    ],
  });
  assert.equal(error.message, '422 invalid_payload: Two members are wrong. (req_1): phone: invalid_format, expected a phone number; lead.email: missing_required, expected an email address');
  assert.equal(new ApiError({ status: 502, code: '', explanation: '' }).message, '502 without a code: no explanation');
});
