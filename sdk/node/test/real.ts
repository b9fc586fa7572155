// Starts the real exchange as a process, and test programs that talk to it.
import { execFileSync, spawn, type ChildProcess } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { fileURLToPath } from 'node:url';

/** The folder of the package. */
export const root = fileURLToPath(new URL('../../', import.meta.url));

export const secret = 'whsec_Y2FuYXJ5LXNlY3JldC1vZi1hLXdlYmhvb2s=';

/** The exchange's program: a given one, or one that is built of the repository's source. */
function program(place: string): string {
  const given = process.env['PINGPOST_PROGRAM'];
  if (given !== undefined) return given;
  const built = join(place, 'pingpost');
  execFileSync('go', ['build', '-o', built, './cmd/pingpost'], { cwd: join(root, '../..'), stdio: 'inherit' });
  return built;
}

export function folder(t: TestContext, base = tmpdir()): string {
  const place = mkdtempSync(join(base, 'pingpost-node-'));
  t.after(() => {
    rmSync(place, { recursive: true, force: true });
  });
  return place;
}

/** A port that was free a moment ago. */
export async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}

export interface Running {
  process: ChildProcess;
  /** Both outputs so far. */
  said: () => string;
  /** What comes first and fits, or fails when the program ends before. */
  hear: (pattern: RegExp) => Promise<RegExpExecArray>;
}

export function run(t: TestContext, command: string, args: readonly string[], env: Record<string, string> = {}): Running {
  const child = spawn(command, args, { env: { ...process.env, ...env }, stdio: ['ignore', 'pipe', 'pipe'] });
  let said = '';
  let ended = false;
  let look = (): void => undefined;
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (chunk: Buffer) => {
      said += chunk.toString();
      look();
    });
  }
  child.on('close', () => {
    ended = true;
    look();
  });
  t.after(async () => {
    if (ended) return;
    const closed = new Promise((resolve) => child.once('close', resolve));
    child.kill('SIGTERM');
    await closed;
  });
  const hear = (pattern: RegExp): Promise<RegExpExecArray> =>
    new Promise((resolve, reject) => {
      look = () => {
        const found = pattern.exec(said);
        if (found !== null) resolve(found);
        else if (ended) reject(new Error(`${command} ended before it said ${String(pattern)}:\n${said}`));
      };
      look();
    });
  return { process: child, said: () => said, hear };
}

/** Starts an exchange whose one buyer, and whose supplier's webhooks, are at these addresses. */
export async function startReal(t: TestContext, buyer: string, hooks: string): Promise<string> {
  const place = folder(t);
  const yaml = fileURLToPath(new URL('../../test/exchange.yaml', import.meta.url));
  const exchange = run(t, program(place), ['serve', '--log-format', 'json', '--config', yaml], { DATA: join(place, 'data'), BUYER: buyer, HOOKS: hooks });
  const [, address] = await exchange.hear(/"msg":"serving".*?"listen":"([^"]+)"/);
  return `http://${String(address)}`;
}

/** Runs a piece of JavaScript with the package at hand, as a file of its own. */
export function runCode(t: TestContext, code: string, env: Record<string, string>): Running {
  const file = join(folder(t, join(root, '.build')), 'block.mjs');
  writeFileSync(file, code);
  return run(t, process.execPath, [file], env);
}
