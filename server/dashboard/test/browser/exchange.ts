// A real exchange with real buyers, and what happens in it before anybody looks.

import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Program } from './program';

const drawn = () => randomBytes(16).toString('hex');

// Place is an exchange as tests know it. It can be handed from one process to another.
export interface Place {
  admin: string; // address of the page
  listen: string; // of suppliers and buyers
  password: string; // the configuration's
  apiKey: string; // of sup_acme
  reporter: string; // the secret of buy_picky's client
  sold: string; // a lead that has a buyer
  unmatched: string; // one that has none
  auctioned: string; // one that was sold in an auction
  auction: string; // its auction
}

const program = process.env.PINGPOST_PROGRAM ?? '';

// serving finds the addresses in the line that an exchange prints when it serves.
function serving(line: string): { listen: string; admin: string } | undefined {
  if (!line.startsWith('{') || !line.includes('"msg":"serving"')) return undefined;
  const said = JSON.parse(line) as { listen: string; admin: string };
  return { listen: `http://${said.listen}`, admin: `http://${said.admin}` };
}

// openSeeded starts an exchange that owns the entries of its file. write replaces the file. admin
// has further settings of the admin address.
export async function openSeeded(
  entries: string,
  admin = '',
): Promise<{
  admin: string;
  password: string;
  write: (entries: string) => void;
  close: () => Promise<void>;
}> {
  const [dir, password] = [mkdtempSync(join(tmpdir(), 'dashboard-seeded-')), drawn()];
  const file = join(dir, 'exchange.yaml');
  const head = `data_dir: ${join(dir, 'data')}\nlisten: 127.0.0.1:0\nadmin: {listen: "127.0.0.1:0", password: "${password}"${admin && `, ${admin}`}}\n`;
  const write = (text: string) => writeFileSync(file, head + text);
  write(entries);
  const { program: one, found } = await Program.start(
    program,
    ['serve', '--log-format', 'json', '-c', file],
    {},
    serving,
  );
  const close = async () => {
    await one.stop();
    rmSync(dir, { recursive: true, force: true });
  };
  return { admin: found.admin, password, write, close };
}

const addressOf = (line: string) => /^reference \w+ on (http:\S+)$/.exec(line)?.[1];

interface Secrets {
  password: string;
  apiKey: string;
  buyers: string;
  reporter: string;
}

function configuration(dir: string, at: { [name: string]: string }, secret: Secrets): string {
  return `
data_dir: ${join(dir, 'data')}
provisioning: enforce
listen: 127.0.0.1:0
admin: {listen: "127.0.0.1:0", password: "${secret.password}"}
tenant: demo
sandbox: true
report: {keep: 90d}
trusted_networks: [127.0.0.0/8]
suppliers:
  - id: sup_acme
    name: Acme Leads
    api_key: ${secret.apiKey}
    ingest_rate: 100000
    webhook: {url: "${at.gone}/hooks", secret: "whsec_${Buffer.from('dashboard').toString('base64')}"}
  - {id: sup_zenith, name: Zenith, oauth_clients: [{client_id: zenith, client_secret: ${drawn()}}]}
suppression_lists:
  - {id: dnc, field: phone}
buyers:
  - {id: bid_swift, name: Swift, endpoint: "${at.swift}", test_endpoint: "${at.swift}", ping_rate: 100000, auth: {bearer: ${secret.buyers}}}
  - {id: bid_slow, name: Slow and rich, endpoint: "${at.slow}", test_endpoint: "${at.slow}", ping_rate: 100000, auth: {bearer: ${secret.buyers}}}
  - {id: bid_west, name: West, endpoint: "${at.swift}", ping_rate: 100000, states: [WA, OR], auth: {bearer: ${secret.buyers}}}
  - {id: bid_mute, name: Mute, endpoint: "${at.mute}", ping_rate: 100000, auth: {bearer: ${secret.buyers}}}
  - id: buy_odd
    adapter:
      post: {format: json, body: '{"id": {{lead_id}}}', answer: {accepted: ok, yes: ["true"]}}
    ping_url: "${at.odd}/ping"
    post_url: "${at.odd}/post"
  - id: buy_picky
    endpoint: "${at.picky}"
    auth: {bearer: ${secret.buyers}}
    states: [CA, TX]
    caps: [{per: day, count: 8}, {per: month, money: 2000}]
    oauth_clients: [{client_id: picky, client_secret: ${secret.reporter}}]
  - {id: buy_vault, funds: {balance: 500}}
campaigns:
  - id: cmp_bids
    vertical: auto_insurance
    method: ping_post
    floor: 2
    payout: {share: 0.8}
    duplicates: {window: 0s}
    fields: [{name: vehicle_count, type: integer, min: 0, max: 20, ping: true}]
    buyers: [{buyer: bid_swift}, {buyer: bid_slow}, {buyer: bid_west}, {buyer: bid_mute}]
  - id: cmp_auto
    method: waterfall
    payout: {share: 0.7}
    suppression: [dnc]
    duplicates: {window: 30d}
    caps: [{per: day, count: 40}]
    returns: {approval: manual, reasons: [wrong number, duplicate]}
    buyers: [{buyer: buy_picky, price: 12.5}, {buyer: buy_vault, price: 6, states: [CA, NV]}]
  - {id: cmp_odd, method: waterfall, duplicates: {window: 0s}, buyers: [{buyer: buy_odd, price: 4}]}
`;
}

let number = 100;

export function person(campaign: string, state: string, more: object = {}): object {
  number++;
  return {
    flo_campaign_id: campaign,
    flo_supplier_id: 'sup_acme',
    first_name: 'Ann',
    last_name: 'Lee',
    phone: `(415) 555-0${number}`,
    email: `ann${number}@example.com`,
    state,
    source: number % 3 === 0 ? 'search' : 'partner',
    ...more,
  };
}

// open starts one, has things happen in it, and says how to end it.
export async function open(): Promise<{ place: Place; close: () => Promise<void> }> {
  const secret = { password: drawn(), apiKey: drawn(), buyers: drawn(), reporter: drawn() };
  const dir = mkdtempSync(join(tmpdir(), 'dashboard-exchange-'));
  const programs: Program[] = [];
  const odd = await hangingUp();
  const leave = () => {
    for (const one of programs) one.kill();
    rmSync(dir, { recursive: true, force: true });
  };
  process.once('exit', leave);
  const close = async () => {
    process.off('exit', leave);
    for (const one of programs.reverse()) await one.stop();
    odd.close();
    rmSync(dir, { recursive: true, force: true });
  };
  const buyer = async (...flags: string[]): Promise<string> => {
    const args = ['buyer', '--listen', '127.0.0.1:0', '--token', secret.buyers, ...flags];
    const { program: one, found } = await Program.start(program, args, {}, addressOf);
    programs.push(one);
    return found;
  };
  try {
    const at = {
      swift: await buyer('--bid', '3-9', '--latency', '5ms-30ms'),
      slow: await buyer('--bid', '8-14', '--latency', '200ms-400ms', '--reject-rate', '0.2'),
      mute: await buyer('--latency', '30s'),
      picky: await buyer('--reject-rate', '0.25', '--latency', '20ms'),
      odd: `http://127.0.0.1:${(odd.address() as AddressInfo).port}`,
      gone: 'http://127.0.0.1:9',
    };
    const file = join(dir, 'exchange.yaml');
    writeFileSync(file, configuration(dir, at, secret));
    const backup = ['--backup-to', join(dir, 'backup'), '--backup-unencrypted'];
    const args = ['serve', '--log-format', 'json', '-c', file, ...backup];
    const { program: one, found } = await Program.start(program, args, {}, serving);
    programs.push(one);
    const { password, apiKey, reporter } = secret;
    return { place: await happen({ ...found, password, apiKey, reporter }), close };
  } catch (problem) {
    await close();
    throw problem;
  }
}

// hangingUp is a buyer of whom nobody knows whether it took a lead.
async function hangingUp(): Promise<Server> {
  const server = createServer((request) => {
    request.resume();
    request.on('end', () => request.socket.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return server;
}

type Here = Pick<Place, 'admin' | 'listen' | 'password' | 'apiKey' | 'reporter'>;

export interface Told {
  status: number;
  data?: { id: string; status: string; reason?: string };
}

// send sends a lead as its supplier does.
export async function send(to: Here, lead: object, key = to.apiKey): Promise<Told> {
  const answer = await fetch(`${to.listen}/api/v1/ingest`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', 'x-api-key': key },
    body: JSON.stringify(lead),
  });
  return { status: answer.status, ...((await answer.json()) as object) };
}

// order asks the admin API with the configuration's password.
export async function order<T>(to: Here, method: string, path: string, body?: unknown, headers = {}): Promise<T> {
  const answer = await fetch(`${to.admin}/admin/v1/${path}`, {
    method,
    headers: { Authorization: `Basic ${Buffer.from(`op:${to.password}`).toString('base64')}`, ...headers },
    body: body === undefined ? undefined : JSON.stringify(body),
  });
  const text = await answer.text();
  if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${text}`);
  return (text === '' ? undefined : JSON.parse(text)) as T;
}

// report has the buyer picky tell something of a lead.
export async function report(to: Here, lead: string, body: object): Promise<void> {
  const given = await fetch(`${to.listen}/oauth/token`, {
    method: 'POST',
    headers: {
      Authorization: `Basic ${Buffer.from(`picky:${to.reporter}`).toString('base64')}`,
      'Content-Type': 'application/x-www-form-urlencoded',
    },
    body: 'grant_type=client_credentials',
  });
  const { access_token: token } = (await given.json()) as { access_token: string };
  const answer = await fetch(`${to.listen}/v1/leads/${lead}/status`, {
    method: 'POST',
    headers: { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json', 'Idempotency-Key': drawn() },
    body: JSON.stringify(body),
  });
  if (!answer.ok) throw new Error(`a report on ${lead}: ${answer.status} ${await answer.text()}`);
}

const states = ['CA', 'TX', 'WA', 'NY', 'OR', 'NV', 'FL'];
const some = (i: number): string => states[i % states.length] ?? 'CA';

// happen has leads come and be sold, refused, lost and given back.
async function happen(x: Here): Promise<Place> {
  const bought: string[] = [];
  let [unmatched, auctioned] = ['', ''];
  // Some states nobody buys in; then as many as it takes until picky has taken three.
  for (let i = 0; i < 14 || (bought.length < 3 && i < 40); i++) {
    const { data } = await send(x, person('cmp_auto', i < 14 ? some(i) : 'TX'));
    if (data?.status === 'UNMATCHED') unmatched = data.id;
    else if (data && (await boughtBy(x, data.id)) === 'buy_picky') bought.push(data.id);
  }
  const auctions = Array.from({ length: 12 }, (_, i) => send(x, person('cmp_bids', some(i), { vehicle_count: i % 4 })));
  for (const { data } of await Promise.all(auctions)) if (data?.status === 'ACCEPTED') auctioned = data.id;
  await Promise.all([1, 2, 3].map(() => send(x, person('cmp_odd', 'CA'))));
  const [sold = '', first = '', second = ''] = bought;
  await report(x, first, { status: 'returned', reason: 'wrong number' });
  await report(x, second, { status: 'returned', reason: 'duplicate' });
  await order(x, 'POST', 'webhooks/sup_acme/off');
  const { auction_id: auction } = await order<{ auction_id: string }>(x, 'GET', `explain/${auctioned}`);
  return { ...x, sold, unmatched, auctioned, auction };
}

async function boughtBy(x: Here, lead: string): Promise<string | undefined> {
  return (await order<{ buyer_id?: string }>(x, 'GET', `explain/${lead}`)).buyer_id;
}
