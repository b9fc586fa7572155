// Runs the collection against a live sandbox:
//
//   node try.js PROGRAM           PROGRAM is the built pingpost
//
// It sends the whole collection; the sale with a static token, a supplier's requests, and requests
// after a change of the exchange; each request separately; and requests to faulty exchanges, which
// the tests must detect. Each part has its own variables. At the end it checks the requests that
// the buyer and the webhook receiver got.
import { resolve } from 'node:path';
import { environmentOf, openSandbox } from './sandbox.js';
import { faults, lateOnce, openFaulty } from './faulty.js';
import { play, readCollection, requestsOf, tell } from './play.js';

const [, , program] = process.argv;
if (!program) {
  console.error('usage: node try.js PROGRAM, where PROGRAM is pingpost');
  process.exit(2);
}

/** What came to nothing good, by the name of the check. */
const failed = [];
const note = (check, why) => {
  failed.push(check);
  console.error(`collection: ${check}:\n${why}`);
};

async function whole(sandbox, all) {
  const { sent, assertions, wrong } = await play(environmentOf(sandbox.values));
  if (wrong.length > 0) note('the whole of it', tell(wrong));
  const unsent = all.filter(({ name }) => !sent.includes(name)).map(({ name }) => name);
  if (unsent.length > 0) note('the whole of it', `  not sent: ${unsent.join(', ')}`);
  console.log(`collection: ${sent.length} requests, ${assertions} assertions, ${wrong.length} failed`);
}

async function byStaticToken(sandbox, all) {
  const folder = 'Ping and post';
  const { sent, wrong } = await play(environmentOf({ ...sandbox.values, client_id: '', client_secret: '' }), folder);
  const told = all.filter((one) => one.folder === folder).length;
  if (wrong.length > 0 || sent.length !== told) note('by a static token', `${tell(wrong)}\n  ${sent.length} of ${told} were sent`);
}

/** Who is a supplier and nothing else has no more to fill in than this. */
async function bySupplier(sandbox, all) {
  const mine = ['base_url', 'client_id', 'client_secret', 'api_key'];
  const { sent, wrong } = await play(environmentOf(Object.fromEntries(mine.map((name) => [name, sandbox.values[name]]))));
  if (wrong.length > 0) note('as a supplier alone', tell(wrong));
  for (const name of ['Post', 'Send a lead', 'Generate leads', 'already_sold']) {
    if (!sent.includes(name)) note('as a supplier alone', `  ${name} was not sent`);
  }
  for (const name of ['Return the lead', 'lead.posted', 'Receive a ping', 'rate_limited']) {
    if (sent.includes(name)) note('as a supplier alone', `  ${name} was sent`);
  }
  console.log(`collection: as a supplier alone, ${sent.length} of ${all.length} requests`);
}

/** A client keeps what a run has kept, also for the next exchange. */
async function afterAnother(sandbox) {
  const token = { access_token: 'of another exchange', access_token_until: '2999-01-01T00:00:00Z' };
  const old = { kept_under: '7', ...token, bid_token: 'bid_0', lead_id: 'lead_0' };
  const { sent, wrong } = await play(environmentOf(sandbox.values), ['Post', 'Get the lead'], old);
  if (wrong.length > 0 || sent.length !== 2) note('after another exchange', tell(wrong));
}

/** On a slow machine a bid is over before its post arrives. Another is asked for, by the post and by what needs one. */
async function late(sandbox) {
  for (const name of ['Post', 'Get the lead']) {
    const faulty = await openFaulty(sandbox.exchange, lateOnce());
    const { wrong } = await play(environmentOf({ ...sandbox.values, base_url: faulty.url }), name);
    await faulty.close();
    if (wrong.length > 0) note(`${name}, after a bid that was over`, tell(wrong));
  }
}

/** Does it with all of them, some at a time: much of it is waiting. */
async function each(all, act) {
  const left = [...all];
  const take = async () => { while (left.length > 0) await act(left.shift()); };
  await Promise.all([take(), take(), take(), take()]);
}

async function alone(sandbox, all) {
  const environment = environmentOf(sandbox.values);
  await each(all, async ({ id, name }) => {
    const { sent, wrong } = await play(environment, id);
    if (wrong.length > 0 || sent.length !== 1) note(`${name}, by itself`, tell(wrong) || '  it was not sent');
  });
  console.log(`collection: each of ${all.length} requests by itself`);
}

async function foundOut(sandbox) {
  await each(faults, async (fault) => {
    const faulty = await openFaulty(sandbox.exchange, fault);
    const parts = ['Ping and post', 'invalid_payload'];
    const { wrong } = await play(environmentOf({ ...sandbox.values, base_url: faulty.url }), parts);
    await faulty.close();
    if (!wrong.some(({ assertion }) => assertion.includes(fault.sees))) {
      note(`${fault.name} was not found out`, tell(wrong) || '  every test passed');
    }
  });
  console.log(`collection: ${faults.length} broken exchanges found out`);
}

/** What the exchange did to those that it deals with, meanwhile. */
async function neighbours(sandbox) {
  const told = await heard(sandbox.receiver);
  if (!told) note('webhooks', '  the exchange told the supplier of no lead');
  const [buyer, receiver] = await Promise.all([sandbox.buyer, sandbox.receiver].map(async (url) => (await fetch(`${url}/stats`)).json()));
  for (const [who, stats, names] of [
    ['buyer', buyer, ['double_sold', 'contact_seen']],
    ['receiver', receiver, ['bad_signatures', 'changed', 'invalid']],
  ]) {
    for (const name of names) if (stats[name] !== 0) note(`the ${who}'s ${name}`, `  is to be 0, and is ${stats[name]}`);
  }
}

/** Waits until the receiver has heard of a lead that is not the document's. */
async function heard(receiver) {
  for (let tries = 0; tries < 200; tries++) {
    const events = (await (await fetch(`${receiver}/events`)).text()).split('\n').filter(Boolean).map((line) => JSON.parse(line));
    if (events.some(({ type, lead_id }) => type === 'lead.posted' && lead_id !== 'lead_01kc8z3n5w7f2g9h4j6k8m0p3q')) return true;
    await new Promise((resolve) => { setTimeout(resolve, 100); });
  }
  return false;
}

for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.once(signal, () => process.exit(1));
const sandbox = await openSandbox(resolve(program));
try {
  const all = requestsOf(readCollection());
  // The following requests would fail for the same reason.
  for (const check of [whole, byStaticToken, bySupplier, afterAnother, late, alone, foundOut, neighbours]) {
    if (failed.length === 0) await check(sandbox, all);
  }
} finally {
  await sandbox.close();
}
if (failed.length > 0) {
  console.error(`collection: failed: ${[...new Set(failed)].join('; ')}`);
  process.exitCode = 1;
}
