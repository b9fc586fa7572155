import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { Client, ForbiddenError, ServerError, UnauthorizedError, UsageError, type ClientOptions } from 'pingpost';
import { noting, startExchange, type Exchange, type Scripted } from './exchange.js';

/** An exchange that gives token-1, token-2 and so on, and refuses those that are in `dead`. */
async function startIssuer(t: TestContext): Promise<Exchange & { dead: Set<string>; given: number; grants: Scripted[] }> {
  const exchange = await startExchange(t);
  const issuer = Object.assign(exchange, { dead: new Set<string>(), given: 0, grants: [] as Scripted[] });
  issuer.otherwise = (sent) => {
    if (sent.path === '/oauth/token') {
      const scripted = issuer.grants.shift();
      if (scripted !== undefined) return scripted;
      issuer.given++;
      return { status: 200, body: { access_token: `token-${String(issuer.given)}`, token_type: 'Bearer', expires_in: 100, scope: 'ping' } };
    }
    const token = (sent.headers.authorization ?? '').replace('Bearer ', '');
    if (issuer.dead.has(token)) return { status: 401, body: { error: 'unauthorized', message: 'The token is not one.', request_id: 'req_1' } };
    return { status: 200, body: { id: 'lead_1' } };
  };
  return issuer;
}

const login = (exchange: Exchange, more: Partial<ClientOptions> = {}): ClientOptions => ({ baseUrl: exchange.url, clientId: 'acme', clientSecret: 'canary-secret', ...more });

const shown = (exchange: Exchange): (string | undefined)[] => exchange.sent.filter((sent) => sent.path !== '/oauth/token').map((sent) => sent.headers.authorization);

test('a token is fetched at first need, once for all who ask, and kept', async (t) => {
  const exchange = await startIssuer(t);
  const client = new Client(login(exchange, { scopes: ['ping', 'post'] }));
  assert.equal(exchange.sent.length, 0);
  await Promise.all(Array.from({ length: 10 }, () => client.getLead('lead_1')));
  await client.getLead('lead_1');
  assert.equal(exchange.given, 1);
  const request = exchange.sent.find((sent) => sent.path === '/oauth/token');
  assert.deepEqual(JSON.parse(request?.body ?? ''), { grant_type: 'client_credentials', client_id: 'acme', client_secret: 'canary-secret', scope: 'ping post' });
  assert.equal(request?.headers.authorization, undefined);
  assert.deepEqual(new Set(shown(exchange)), new Set(['Bearer token-1']));
});

test('without scopes none is asked for, and authUrl is where to ask', async (t) => {
  const [exchange, auth] = [await startIssuer(t), await startIssuer(t)];
  await new Client(login(exchange, { authUrl: `${auth.url}/` })).getLead('lead_1');
  assert.deepEqual([auth.given, exchange.given], [1, 0]);
  assert.ok(!('scope' in (JSON.parse(auth.sent[0]?.body ?? '') as object)));
});

test('a token is renewed after nine tenths of its life', async (t) => {
  const exchange = await startIssuer(t);
  let now = 1_000_000;
  const client = new Client(login(exchange, { now: () => now }));
  await client.getLead('lead_1');
  now += 89_999;
  await client.getLead('lead_1');
  assert.equal(exchange.given, 1);
  now += 1;
  await Promise.all([client.getLead('lead_1'), client.getLead('lead_1')]);
  assert.equal(exchange.given, 2);
  assert.deepEqual(shown(exchange), ['Bearer token-1', 'Bearer token-1', 'Bearer token-2', 'Bearer token-2']);
});

test('a token that is refused is renewed once, by one fetch for all', async (t) => {
  const exchange = await startIssuer(t);
  const noted = noting();
  const client = new Client(login(exchange, { sleep: noted.sleep }));
  await client.getLead('lead_1');
  exchange.dead.add('token-1');
  await Promise.all(Array.from({ length: 5 }, () => client.getLead('lead_1')));
  assert.equal(exchange.given, 2);
  assert.deepEqual(noted.slept, [], 'a renewed token waits for nothing');
});

test('a second 401 is an error, and the key of the call stays the same', async (t) => {
  const exchange = await startIssuer(t);
  exchange.dead = new Set(['token-1', 'token-2', 'token-3']);
  const client = new Client(login(exchange));
  await assert.rejects(client.reportStatus('lead_1', { status: 'sold' }), (error: unknown) => error instanceof UnauthorizedError && error.idempotencyKey === exchange.sent[1]?.headers['idempotency-key']);
  assert.deepEqual(shown(exchange), ['Bearer token-1', 'Bearer token-2']);
});

test('a static token is not renewed', async (t) => {
  const exchange = await startIssuer(t);
  exchange.dead.add('static-1');
  await assert.rejects(new Client({ baseUrl: exchange.url, token: 'static-1' }).getLead('lead_1'), UnauthorizedError);
  assert.equal(exchange.sent.length, 1);
});

test('fetching a token is tried again as any other call, and its failure is every waiting call’s, with its own key', async (t) => {
  const exchange = await startIssuer(t);
  const noted = noting();
  const client = new Client(login(exchange, { sleep: noted.sleep }));
  exchange.grants = [{ status: 503, headers: { 'retry-after': '2' } }, 'cut'];
  await client.getLead('lead_1');
  assert.deepEqual(noted.slept, [2, 2]);

  const refused = { error: 'invalid_client', error_description: 'The secret is not right.', message: 'The secret is not right.', request_id: 'req_7' };
  exchange.grants = [{ status: 401, body: refused }];
  const other = new Client(login(exchange));
  const failures = await Promise.all(
    ['key-a', 'key-b'].map((idempotencyKey) =>
      other.reportStatus('lead_1', { status: 'sold' }, { idempotencyKey }).then(
        () => assert.fail('it did not fail'),
        (error: unknown) => error as UnauthorizedError,
      ),
    ),
  );
  for (const [i, error] of failures.entries()) {
    assert.ok(error instanceof UnauthorizedError);
    assert.equal(error.code, 'invalid_client');
    assert.equal(error.errorDescription, 'The secret is not right.');
    assert.equal(error.idempotencyKey, ['key-a', 'key-b'][i]);
  }
  // A failure is not cached.
  await other.getLead('lead_1');
});

test('a failed fetch is not tried again by the call that waits for it', async (t) => {
  const exchange = await startIssuer(t);
  exchange.grants = Array.from({ length: 12 }, () => ({ status: 500 }));
  const noted = noting();
  await assert.rejects(new Client(login(exchange, { sleep: noted.sleep })).getLead('lead_1'), ServerError);
  assert.equal(noted.slept.length, 5);
});

test('createToken is there for its own sake', async (t) => {
  const exchange = await startIssuer(t);
  const client = new Client(login(exchange));
  const token = await client.createToken();
  assert.deepEqual([token.access_token, token.expires_in, token.$meta.idempotencyKey], ['token-1', 100, undefined]);
  await client.createToken({ grant_type: 'client_credentials', client_id: 'other', client_secret: 's', scope: 'post' });
  assert.equal((JSON.parse(exchange.sent[1]?.body ?? '') as { client_id: string }).client_id, 'other');
  await assert.rejects(new Client({ baseUrl: exchange.url, apiKey: 'k' }).createToken(), UsageError);
});

for (const [name, body] of Object.entries({
  'no token': { expires_in: 100 },
  'a token that breaks headers': { access_token: 'a\nb', expires_in: 100 },
  'no time': { access_token: 'a' },
})) {
  test(`a grant with ${name} is no grant`, async (t) => {
    const exchange = await startIssuer(t);
    exchange.grants = [{ status: 200, body }];
    await assert.rejects(new Client(login(exchange)).getLead('lead_1'), { name: 'TransportError' });
    assert.equal(exchange.sent.length, 1);
  });
}

test('a missing scope is a 403 that is not tried again', async (t) => {
  const exchange = await startExchange(t, [{ status: 403, body: { error: 'insufficient_scope', message: 'It needs post.', request_id: 'req_2' } }]);
  await assert.rejects(new Client({ baseUrl: exchange.url, token: 't' }).getLead('lead_1'), (error: unknown) => error instanceof ForbiddenError && error.code === 'insufficient_scope');
  assert.equal(exchange.sent.length, 1);
});
