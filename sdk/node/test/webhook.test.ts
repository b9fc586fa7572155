import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { test } from 'node:test';
import { SignatureError, UsageError, verifyWebhook, type WebhookHeaders } from 'pingpost';
import { Webhook } from 'standardwebhooks';

const secret = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw';
const older = `whsec_${Buffer.from('the one before').toString('base64')}`;
const at = 1772471047;
const now = new Date(at * 1000);
const body = JSON.stringify({
  id: 'evt_01kc8z3n6c3d5e7f9g1h2j4k6m',
  type: 'lead.posted',
  created_at: '2026-03-02T17:04:07Z',
  data: { lead_id: 'lead_1', status: 'ACCEPTED', price: { amount: 10, currency: 'USD' }, reason: null, buyer_id: 'büy' },
});

function own(time: number, text: string, ...secrets: string[]): string {
  const sums = secrets.map((one) => createHmac('sha256', Buffer.from(one.slice(6), 'base64')).update(`${String(time)}.${text}`).digest('hex'));
  return [`t=${String(time)}`, ...sums.map((sum) => `v1=${sum}`)].join(',');
}

/** As the library of Standard Webhooks signs it. */
function standard(time: number, text: string, ...secrets: string[]): Record<string, string> {
  const signatures = secrets.map((one) => new Webhook(one).sign('evt_1', new Date(time * 1000), text));
  return { 'webhook-id': 'evt_1', 'webhook-timestamp': String(time), 'webhook-signature': signatures.join(' ') };
}

const both = { 'X-Pingpost-Signature': own(at, body, secret), ...standard(at, body, secret) };

const good: Record<string, { headers: WebhookHeaders; secrets?: string | string[] }> = {
  'both forms': { headers: both },
  'the own form alone': { headers: { 'x-pingpost-signature': own(at, body, secret) } },
  'the standard form alone': { headers: standard(at, body, secret) },
  'names in capitals': { headers: Object.fromEntries(Object.entries(both).map(([name, value]) => [name.toUpperCase(), value])) },
  'a Headers': { headers: new Headers(both) },
  'values in lists, as some servers have them': { headers: Object.fromEntries(Object.entries(both).map(([name, value]) => [name, [value]])) },
  'two signatures of a rotation, by the new secret': { headers: { 'x-pingpost-signature': own(at, body, older, secret), ...standard(at, body, older, secret) } },
  'two signatures of a rotation, by the old secret': { headers: { 'x-pingpost-signature': own(at, body, older, secret) }, secrets: older },
  'two secrets, one signature': { headers: both, secrets: [older, secret] },
  'parts of a later version': { headers: { 'x-pingpost-signature': `${own(at, body, secret)},v2=abc` } },
  'five minutes old': { headers: { 'x-pingpost-signature': own(at - 300, body, secret), ...standard(at - 300, body, secret) } },
  'five minutes ahead': { headers: { 'x-pingpost-signature': own(at + 300, body, secret) } },
  'a secret without padding': { headers: { 'x-pingpost-signature': own(at, body, older) }, secrets: older.replace(/=+$/, '') },
};

for (const [name, { headers, secrets }] of Object.entries(good)) {
  test(`verified: ${name}`, () => {
    for (const bytes of [body, Buffer.from(body), new Uint8Array(Buffer.from(body))]) {
      const event = verifyWebhook(bytes, headers, secrets ?? secret, { now });
      assert.equal(event.type, 'lead.posted');
      assert.equal(event.data.price?.amount, 10);
      assert.equal(event.data.buyer_id, 'büy');
    }
  });
}

const altered = `${body.slice(0, -2)} }`;
const bad: Record<string, { headers: WebhookHeaders; body?: string; secrets?: string }> = {
  'no signature': { headers: { 'webhook-id': 'evt_1', 'webhook-timestamp': String(at) } },
  'another body': { headers: both, body: altered },
  'another secret': { headers: both, secrets: older },
  'the own form wrong, the standard one right': { headers: { ...both, 'X-Pingpost-Signature': own(at, altered, secret) } },
  'the standard form wrong, the own one right': { headers: { ...both, ...standard(at, altered, secret) } },
  'the standard form without its id': { headers: { ...both, 'webhook-id': undefined } },
  'the standard form without its time': { headers: { ...both, 'webhook-timestamp': undefined } },
  'another id': { headers: { ...standard(at, body, secret), 'webhook-id': 'evt_2' } },
  'too old': { headers: { 'x-pingpost-signature': own(at - 301, body, secret) } },
  'too far ahead': { headers: { 'x-pingpost-signature': own(at + 301, body, secret) } },
  'the standard form too old': { headers: standard(at - 301, body, secret) },
  'one form old, one new': { headers: { 'x-pingpost-signature': own(at, body, secret), ...standard(at - 301, body, secret) } },
  'a time of its own choice': { headers: { 'x-pingpost-signature': own(at - 9999, body, secret).replace(/t=\d+/, `t=${String(at)}`) } },
  'two times': { headers: { 'x-pingpost-signature': `t=1,${own(at, body, secret)}` } },
  'two headers of one name': { headers: [...Object.entries(both), ['x-pingpost-signature', 't=1']] as [string, string][] },
  'no time': { headers: { 'x-pingpost-signature': own(at, body, secret).replace(/t=\d+,/, '') } },
  'a time that is none': { headers: { 'x-pingpost-signature': own(at, body, secret).replace(/t=\d+/, 't=1e9') } },
  'half a signature': { headers: { 'x-pingpost-signature': own(at, body, secret).slice(0, -2) } },
  'a signature in capitals': { headers: { 'x-pingpost-signature': own(at, body, secret).replace(/v1=(.*)/, (_, sum: string) => `v1=${sum.toUpperCase()}`) } },
  'an empty header': { headers: { 'x-pingpost-signature': '' } },
  'the standard form of another version': { headers: { ...standard(at, body, secret), 'webhook-signature': standard(at, body, secret)['webhook-signature']?.replace('v1,', 'v2,') } },
  'a body that is no event': { headers: { 'x-pingpost-signature': own(at, '[]', secret) }, body: '[]' },
  'a body that is no JSON': { headers: { 'x-pingpost-signature': own(at, '{', secret) }, body: '{' },
};

for (const [name, { headers, body: sent, secrets }] of Object.entries(bad)) {
  test(`refused: ${name}`, () => {
    assert.throws(() => verifyWebhook(sent ?? body, headers, secrets ?? secret, { now }), SignatureError);
  });
}

test('the example of the Standard Webhooks libraries, and the same as OpenSSL signs it', () => {
  const headers = { 'webhook-id': 'msg_p5jXN8AQM9LWM0D4loKWxJek', 'webhook-timestamp': '1614265330', 'webhook-signature': 'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=' };
  // The example's body is no event; that it is told so means that its signature fits.
  const verify = (signed: Record<string, string>): void => {
    verifyWebhook('{"test": 2432232314}', signed, secret, { now: new Date(1614265330_000) });
  };
  assert.throws(() => {
    verify(headers);
  }, /signed, but its body is no event/);
  assert.throws(() => {
    verify({ ...headers, 'webhook-signature': 'v1,h0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=' });
  }, /does not fit/);
});

for (const wrong of ['', 'whsec_', 'whsec_====', 'whsec_-_-_', 'whsec_A', 'AAEC', 'WHSEC_AAEC', 'whsec_AAEC whatnot', 'whsec_AAECA=']) {
  test(`no secret: ${JSON.stringify(wrong)}`, () => {
    assert.throws(() => verifyWebhook(body, both, wrong, { now }), (error: unknown) => error instanceof UsageError && (wrong === '' || !error.message.includes(wrong.slice(6) || '-')));
  });
}

test('no secret at all', () => {
  assert.throws(() => verifyWebhook(body, both, [], { now }), UsageError);
});

test('a tolerance of one’s own, and the present where no time is given', () => {
  assert.equal(verifyWebhook(body, both, secret, { now: new Date((at + 3600) * 1000), toleranceSeconds: 3600 }).data.lead_id, 'lead_1');
  assert.throws(() => verifyWebhook(body, both, secret, { now: new Date((at + 2) * 1000), toleranceSeconds: 1 }), SignatureError);
  assert.throws(() => verifyWebhook(body, both, secret, { now: new Date(NaN) }), SignatureError);
  const present = Math.floor(Date.now() / 1000);
  assert.equal(verifyWebhook(body, { 'x-pingpost-signature': own(present, body, secret) }, secret).type, 'lead.posted');
});
