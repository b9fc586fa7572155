import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { test, type TestContext } from 'node:test';
import { Buyer, Client, ConflictError, InvalidRequestError, nodeHandler, NotFoundError, refuse, UnauthorizedError } from 'pingpost';
import { startReal } from './real.js';

async function startBuyer(t: TestContext): Promise<string> {
  const buyer = new Buyer({
    credential: { bearer: 'canary-buyer' },
    bid: () => ({ amount: 12.345679, currency: 'USD' }),
    post: ({ lead }) => (lead.last_name === 'No' ? refuse('duplicate') : `B-${lead.lead_uuid}`),
  });
  const server = createServer(nodeHandler(buyer));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.after(() => {
    server.close();
    server.closeAllConnections();
  });
  return `http://127.0.0.1:${String((server.address() as AddressInfo).port)}`;
}

const person = { first_name: 'Ann', last_name: 'Lee', phone: '+14155550123', email: 'ann.lee@example.com' };
const ours = { flo_campaign_id: 'cmp_auto', flo_supplier_id: 'sup_acme' };

test('every method against a real exchange, and both sides of a sale', async (t) => {
  const baseUrl = await startReal(t, await startBuyer(t), 'http://127.0.0.1:9/');
  const keyed = new Client({ baseUrl, apiKey: 'canary-key' });
  const supplier = new Client({ baseUrl, clientId: 'acme', clientSecret: 'canary-secret', scopes: ['ping', 'post'] });
  const buyer = new Client({ baseUrl, clientId: 'blue', clientSecret: 'canary-blue' });

  await t.test('ingestLead, getSuppliedLead', async () => {
    const idempotencyKey = randomUUID();
    const sent = await keyed.ingestLead({ ...ours, ...person, state: 'CA' }, { idempotencyKey });
    assert.deepEqual([sent.data.status, sent.data.buyer_id, sent.data.price], ['ACCEPTED', 'buy_sdk', { amount: 9.876543, currency: 'USD' }]);
    assert.ok((sent.$meta.rateLimit?.limit ?? 0) > 0);
    const again = await keyed.ingestLead({ ...ours, ...person, state: 'CA' }, { idempotencyKey });
    assert.deepEqual([again.data.id, again.$meta.replayed, again.$meta.requestId], [sent.data.id, true, sent.$meta.requestId]);
    const lead = await keyed.getSuppliedLead(sent.data.id);
    assert.deepEqual([lead.data.delivery, lead.data.reason], ['delivered', null]);
    const refused = await keyed.ingestLead({ ...ours, ...person, last_name: 'No', state: 'CA' });
    assert.deepEqual([refused.data.status, refused.data.reason], ['UNMATCHED', 'post_rejected']);
  });

  await t.test('checkAvailability, and the buyer that it offered', async () => {
    const { data } = await keyed.checkAvailability({ ...ours, state: 'CA' });
    const [offer] = data.buyers;
    assert.ok(data.accepted && offer !== undefined);
    const sold = await keyed.ingestLead({ ...ours, ...person, flo_ping_id: data.ping_id, flo_buyer_id: offer.buyer_id });
    assert.equal(sold.data.price?.amount, offer.amount);
  });

  await t.test('sendPing, sendPost, getLead, reportStatus, reportStatuses', async () => {
    const sale = async (): Promise<string> => {
      const auction_id = randomUUID();
      const { bid } = await supplier.sendPing({ auction_id, vertical: 'auto_insurance', state: 'CA', tcpa_consent: true, pets: 2 });
      assert.ok(bid !== null);
      const sold = await supplier.sendPost({ auction_id, bid_token: bid.bid_token, lead: { lead_uuid: auction_id, ...person } });
      assert.match(sold.lead_id ?? '', /^B-lead_/);
      await assert.rejects(supplier.sendPost({ auction_id, bid_token: bid.bid_token, lead: { lead_uuid: auction_id, ...person } }), (error: unknown) => error instanceof ConflictError && error.code === 'already_sold');
      return sold.id;
    };
    const [first, second] = [await sale(), await sale()];
    assert.equal((await supplier.getLead(first)).price?.amount, 9.876543);
    assert.equal((await buyer.getLead(first)).price?.amount, 12.345679);
    assert.equal((await buyer.reportStatus(first, { status: 'contacted' })).status, 'contacted');
    const batch = await buyer.reportStatuses({ changes: [{ lead_id: second, status: 'sold' }, { lead_id: 'lead_none', status: 'sold' }] });
    assert.deepEqual(batch.results.map((result) => result.status ?? result.error), ['sold', 'not_found']);
    await assert.rejects(buyer.reportStatus(second, { status: 'contacted' }), (error: unknown) => error instanceof ConflictError && error.code === 'invalid_transition');
  });

  await t.test('seedLeads, createToken', async () => {
    const seeded = await new Client({ baseUrl, token: 'canary-token' }).seedLeads({ count: 100, vertical: 'auto_insurance', state: 'CA', seed: 7 });
    assert.equal(seeded.leads.length, 100);
    const token = await supplier.createToken();
    assert.deepEqual([token.token_type, token.scope], ['Bearer', 'ping post']);
    const own = await new Client({ baseUrl, token: token.access_token }).sendPing({ auction_id: randomUUID(), vertical: 'boats', state: 'CA', tcpa_consent: true });
    assert.deepEqual([own.bid, own.reject_reason], [null, 'no_campaign']);
  });

  await t.test('errors are what they are, and tell nothing', async () => {
    const invalid = await keyed.ingestLead({ ...ours, ...person, email: 'canary@', phone: '1' }).catch((error: unknown) => error);
    assert.ok(invalid instanceof InvalidRequestError);
    assert.deepEqual(invalid.fieldErrors.map(({ field, code }) => `${field} ${code}`).sort(), ['email invalid_format', 'phone invalid_format']);
    assert.match(invalid.message, /^422 invalid_payload: .*\(req_\w+\): .*phone: invalid_format/);
    await assert.rejects(supplier.getLead('lead_none'), NotFoundError);
    const stranger = await new Client({ baseUrl, clientId: 'acme', clientSecret: 'canary-wrong' }).getLead('lead_1').catch((error: unknown) => error);
    assert.ok(stranger instanceof UnauthorizedError && stranger.code === 'invalid_client' && stranger.errorDescription !== undefined);
    for (const error of [invalid, stranger]) {
      assert.ok(!`${String(error.stack)} ${JSON.stringify(error)}`.includes('canary'));
    }
  });
});
