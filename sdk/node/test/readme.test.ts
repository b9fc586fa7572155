import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { connect } from 'node:net';
import { test, type TestContext } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { freePort, root, runCode, secret, startReal, type Running } from './real.js';

// Runs every code block of the README, unchanged, against a real exchange.

const text = readFileSync(`${root}README.md`, 'utf8');
const blocks = [...text.matchAll(/^```(\w*)\n(.*?)^```$/gms)].map(([, language, code]) => ({ language: language ?? '', code: code ?? '' }));

function block(title: string): string {
  const found = new RegExp(`^#+ ${title}\\n.*?^\`\`\`js\\n(.*?)^\`\`\`$`, 'ms').exec(text)?.[1];
  assert.ok(found !== undefined, `no code below ${title}`);
  return found;
}

/** Starts a block that serves at a port, and waits until it does. */
async function serve(t: TestContext, title: string, env: Record<string, string>): Promise<{ url: string; server: Running }> {
  const port = await freePort();
  const server = runCode(t, block(title), { ...env, PORT: String(port) });
  for (;;) {
    const up = await new Promise<boolean>((resolve) => {
      const socket = connect(port, '127.0.0.1', () => {
        socket.destroy();
        resolve(true);
      });
      socket.on('error', () => {
        resolve(false);
      });
    });
    if (up) return { url: `http://127.0.0.1:${String(port)}`, server };
    assert.equal(server.process.exitCode, null, server.said());
    await wait(20);
  }
}

const starts = ['Sell leads', 'Buy leads'];
const tried = [...starts, 'More for suppliers', 'Webhooks', 'More for buyers'];

/** The commands that install the SDK from the repository: no registry has it. */
const { version } = JSON.parse(readFileSync(`${root}package.json`, 'utf8')) as { version: string };
const install = `(cd pingpost/sdk/node && npm ci && npm pack)\nnpm install ./pingpost/sdk/node/pingpost-${version}.tgz\n`;

test('no block of code is left out', () => {
  const code = tried.map(block);
  for (const { language, code: one } of blocks) {
    if (language === 'sh') assert.equal(one, install); // tried with the packed package
    else assert.ok(language === 'js' && code.includes(one), `nobody runs this:\n${one}`);
  }
  for (const start of starts) {
    const lines = block(start).split('\n').filter((line) => line.trim() !== '');
    assert.ok(lines.length <= 10, `${start}: ${String(lines.length)} lines are no ten-line start`);
  }
});

test('the starts: a lead is sold to the buyer, and the webhook tells of it', async (t) => {
  const hooks = await serve(t, 'Webhooks', { PINGPOST_WEBHOOK_SECRET: secret });
  const buyer = await serve(t, 'Buy leads', { BUYER_TOKEN: 'canary-buyer' });
  const url = await startReal(t, buyer.url, hooks.url);
  const env = { PINGPOST_URL: url, PINGPOST_API_KEY: 'canary-key', PINGPOST_CLIENT_ID: 'acme', PINGPOST_CLIENT_SECRET: 'canary-secret' };

  await runCode(t, block('Sell leads'), env).hear(/^ACCEPTED buy_sdk \{ amount: 10, currency: 'USD' \}$/m);
  await hooks.server.hear(/^lead\.posted lead_\w+ \{ amount: 10, currency: 'USD' \}$/m);
  const elsewhere = block('Sell leads').replace("'CA'", "'TX'");
  await runCode(t, elsewhere, env).hear(/^UNMATCHED null no_bid$/m);

  const [, sold] = await runCode(t, block('More for suppliers'), env).hear(/^sold (lead_\w+) \{ amount: 10, currency: 'USD' \} req_\w+$/m);
  await hooks.server.hear(new RegExp(`^lead\\.posted ${String(sold)} `, 'm'));
  const nobody = block('More for suppliers').replace("'CA'", "'TX'");
  await runCode(t, nobody, env).hear(/^no bid: no_bid$/m);
  const wrong = block('More for suppliers').replace('+14155550123', '12');
  await runCode(t, wrong, env).hear(/^not sold: 422 invalid_payload req_\w+ \[\s+\{\s+field: 'lead\.phone'/m);

  const forged = await fetch(hooks.url, { method: 'POST', body: '{}', headers: { 'x-pingpost-signature': 't=1,v1=00' } });
  assert.equal(forged.status, 401);
});

test('Express: a lead is sold to the buyer, and refused by it', async (t) => {
  const buyer = await serve(t, 'More for buyers', { BUYER_TOKEN: 'canary-buyer' });
  const url = await startReal(t, `${buyer.url}/leads`, 'http://127.0.0.1:9/');
  const env = { PINGPOST_URL: url, PINGPOST_API_KEY: 'canary-key' };
  await runCode(t, block('Sell leads'), env).hear(/^ACCEPTED buy_sdk \{ amount: 7\.8, currency: 'USD' \}$/m);
  const abroad = block('Sell leads').replace('+14155550123', '+442079460123');
  await runCode(t, abroad, env).hear(/^UNMATCHED null post_rejected$/m);
});
