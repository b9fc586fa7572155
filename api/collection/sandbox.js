// Starts a sandbox: `pingpost serve` with sandbox.yaml, `pingpost buyer` and `pingpost receiver`,
// with new random secrets.
import { randomBytes } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Program } from './program.js';

const place = (name) => fileURLToPath(new URL(name, import.meta.url));
const reference = (line) => /^reference \w+ on (http:\S+)$/.exec(line)?.[1];
const secret = () => randomBytes(24).toString('hex');

function serving(line) {
  const said = /^\{.*"msg":"serving"/.test(line) && JSON.parse(line);
  return said && `http://${said.listen}`;
}

/** Starts one; ports: where each listens, free ones where nothing is said. */
export async function openSandbox(program, ports = {}) {
  const data = mkdtempSync(join(tmpdir(), 'pingpost-sandbox-'));
  const secrets = {
    SANDBOX_API_KEY: secret(), SANDBOX_CLIENT_SECRET: secret(), SANDBOX_TOKEN: secret(), SANDBOX_SLOW_API_KEY: secret(),
    SANDBOX_BUYER_CREDENTIAL: secret(), SANDBOX_BUYER_SECRET: secret(), SANDBOX_WEBHOOK_SECRET: `whsec_${randomBytes(24).toString('base64')}`,
  };
  const running = [];
  // Removes all files, also after an interrupt.
  const leave = () => {
    for (const one of running) one.kill();
    rmSync(data, { recursive: true, force: true });
  };
  process.once('exit', leave);
  const close = async () => {
    process.off('exit', leave);
    const ends = await Promise.allSettled(running.reverse().map((one) => one.stop()));
    rmSync(data, { recursive: true, force: true });
    for (const end of ends) if (end.status === 'rejected') throw end.reason;
  };
  const start = async (...how) => {
    running.push(await Program.start(program, ...how));
    return running.at(-1).url;
  };
  try {
    const listen = (name) => `127.0.0.1:${ports[name] ?? 0}`;
    const buyer = await start(['buyer', '--listen', listen('buyer'), '--bid', '12.50'], {
      PINGPOST_BUYER_TOKEN: secrets.SANDBOX_BUYER_CREDENTIAL,
    }, reference);
    const receiver = await start(['receiver', '--listen', listen('receiver')], {
      PINGPOST_WEBHOOK_SECRET: secrets.SANDBOX_WEBHOOK_SECRET,
    }, reference);
    const exchange = await start(['serve', '--log-format', 'json', '-c', place('sandbox.yaml')], {
      ...secrets,
      SANDBOX_DATA: join(data, 'data'),
      SANDBOX_LISTEN: listen('exchange'),
      SANDBOX_WEBHOOK_URL: `${receiver}/hooks`,
      SANDBOX_BUYER_URL: buyer,
    }, serving);
    return { buyer, receiver, exchange, values: valuesOf({ buyer, receiver, exchange, secrets }), close };
  } catch (error) {
    await close().catch(() => {});
    throw error;
  }
}

/** What is filled in of the environment. */
const valuesOf = ({ buyer, receiver, exchange, secrets }) => ({
  base_url: exchange,
  client_id: 'acme',
  client_secret: secrets.SANDBOX_CLIENT_SECRET,
  sandbox_token: secrets.SANDBOX_TOKEN,
  api_key: secrets.SANDBOX_API_KEY,
  buyer_client_id: 'blue',
  buyer_client_secret: secrets.SANDBOX_BUYER_SECRET,
  webhook_url: `${receiver}/hooks`,
  webhook_secret: secrets.SANDBOX_WEBHOOK_SECRET,
  buyer_url: buyer,
  buyer_credential: secrets.SANDBOX_BUYER_CREDENTIAL,
  slow_supplier_id: 'sup_slow',
  slow_api_key: secrets.SANDBOX_SLOW_API_KEY,
  strict_campaign_id: 'cmp_strict',
  paused_campaign_id: 'cmp_paused',
  suppressed_phone: '+14155550199',
});

/** The environment as it is kept, filled in. A value for which there is no variable is an error. */
export function environmentOf(values) {
  const environment = JSON.parse(readFileSync(place('sandbox.postman_environment.json'), 'utf8'));
  for (const [name, value] of Object.entries(values)) {
    const one = environment.values.find(({ key }) => key === name);
    if (!one) throw new Error(`the environment has no ${name}`);
    one.value = value;
  }
  return environment;
}
