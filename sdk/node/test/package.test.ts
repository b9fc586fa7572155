import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { version } from 'pingpost';
import { folder, root } from './real.js';

interface Manifest {
  name: string;
  version: string;
  dependencies?: object;
  exports: Record<string, unknown>;
}

const manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as Manifest;
const bin = (name: string): string => join(root, 'node_modules/.bin', name);

/** Runs a program, and returns what it says; where it fails, what it says is in the error. */
function say(command: string, args: readonly string[], cwd: string): string {
  try {
    return execFileSync(command, args, { cwd, encoding: 'utf8', stdio: 'pipe' });
  } catch (error) {
    const { stdout, stderr } = error as { stdout: string; stderr: string };
    throw new Error(`${command} ${args.join(' ')}:\n${stdout}\n${stderr}`, { cause: error });
  }
}

function pack(place: string): { tarball: string; files: string[] } {
  const said = say('npm', ['pack', '--json', '--ignore-scripts', '--pack-destination', place], root);
  const [packed] = JSON.parse(said) as { filename: string; files: { path: string }[] }[];
  assert.ok(packed !== undefined);
  return { tarball: join(place, packed.filename), files: packed.files.map((file) => file.path) };
}

test('the version stands in two places, and is one', () => {
  assert.equal(version, manifest.version);
  assert.equal(manifest.dependencies, undefined, 'there is nothing to depend on');
});

test('what is published: the built code with its types, and three texts', (t) => {
  const { files } = pack(folder(t));
  const outside = files.filter((file) => !/^dist\/(esm|cjs)\//.test(file));
  assert.deepEqual(outside.sort(), ['LICENSE', 'README.md', 'package.json']);
  const built = files.filter((file) => !outside.includes(file));
  for (const form of ['esm', 'cjs']) {
    for (const module of ['index', 'express', 'client', 'webhook', 'generated/index', 'buyer/buyer', 'buyer/node']) {
      for (const kind of ['js', 'd.ts']) assert.ok(built.includes(`dist/${form}/${module}.${kind}`), `${form} ${module}.${kind}`);
    }
    assert.ok(built.includes(`dist/${form}/package.json`));
  }
  const strange = built.filter((file) => !/\.js$|\.d\.ts$|\/package\.json$/.test(file));
  assert.deepEqual(strange, []);
  assert.equal(readFileSync(join(root, 'LICENSE'), 'utf8'), readFileSync(join(root, '../../LICENSE'), 'utf8'));
});

test('publint and "are the types wrong" find nothing', (t) => {
  const { tarball } = pack(folder(t));
  assert.match(say(bin('publint'), ['run', '--strict', tarball], root), /All good/);
  // Node 10 does not support exports maps, and is older than this package requires.
  say(bin('attw'), [tarball, '--profile', 'node16', '--format', 'ascii', '--no-emoji'], root);
});

const consumers: Record<string, string> = {
  'esm.mjs': `import { Client, verifyWebhook } from 'pingpost';
    import { expressBuyer } from 'pingpost/express';
    console.log(typeof Client, typeof verifyWebhook, typeof expressBuyer);`,
  'cjs.cjs': `const { Client, verifyWebhook } = require('pingpost');
    const { expressBuyer } = require('pingpost/express');
    console.log(typeof Client, typeof verifyWebhook, typeof expressBuyer);`,
};

const typed = `import { Client, Buyer, nodeHandler, noBid, type ErrorCode, type LeadEvent, type Reply, type Lead } from 'pingpost';
import { expressBuyer } from 'pingpost/express';
import { createServer } from 'node:http';
import express from 'express';
const client: Client = new Client({ baseUrl: 'https://exchange.example.com', apiKey: 'k', fetch: globalThis.fetch });
export const code: ErrorCode = 'a_code_of_tomorrow';
export const known: ErrorCode = 'invalid_payload';
export async function use(event: LeadEvent): Promise<string | null> {
  const lead: Reply<Lead> = await client.getLead(event.data.lead_id);
  // @ts-expect-error a missing required member
  await client.sendPing({ auction_id: 'a', vertical: 'auto', state: 'CA' });
  // @ts-expect-error options that this call does not accept
  await client.getLead('lead_1', { idempotencyKey: 'k' });
  // @ts-expect-error it may be null
  lead.price.amount;
  return lead.$meta.requestId ?? lead.reason;
}
const buyer = new Buyer({ bid: async (ping) => (ping['pets'] === 2 ? { amount: 1 } : noBid('state')), post: ({ lead }) => lead.lead_uuid });
createServer(nodeHandler(buyer));
express().use('/leads', expressBuyer(buyer));
`;

test('the packed package, as others have it: import, require, and their types', (t) => {
  const place = folder(t);
  const { tarball } = pack(place);
  const inside = join(place, 'node_modules/pingpost');
  mkdirSync(inside, { recursive: true });
  say('tar', ['-xzf', tarball, '-C', inside, '--strip-components=1'], place);
  for (const [name, code] of Object.entries(consumers)) {
    writeFileSync(join(place, name), code);
    // Express is optional and not installed here.
    assert.equal(say(process.execPath, [name], place), 'function function function\n');
  }
  for (const needed of ['@types', 'express', 'undici-types']) symlinkSync(join(root, 'node_modules', needed), join(place, 'node_modules', needed));
  writeFileSync(join(place, 'typed.mts'), typed);
  writeFileSync(join(place, 'typed.cts'), typed);
  const options = ['--noEmit', '--strict', '--skipLibCheck', 'false', '--target', 'es2022', '--module', 'nodenext', '--types', 'node', '--esModuleInterop'];
  say(bin('tsc'), [...options, 'typed.mts', 'typed.cts'], place);
});

test('errors of both forms are told apart by name, and their classes work in each', async () => {
  const { createRequire } = await import('node:module');
  const required = createRequire(import.meta.url)('pingpost') as typeof import('pingpost');
  const error = new required.TimeoutError('late');
  assert.ok(error instanceof required.PingpostError && error instanceof Error);
  assert.equal(error.name, 'TimeoutError');
  await assert.rejects(new required.Client({ baseUrl: 'http://127.0.0.1:9', apiKey: 'k', maxRetries: 0 }).getSuppliedLead('a'), required.TransportError);
});
