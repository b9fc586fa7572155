// Starts the program with an empty exchange, on free ports of this machine.

import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';

const program = process.env.PINGPOST_PROGRAM;

// startExchange returns the public address of a new exchange, and a function that stops it.
export async function startExchange() {
  if (!program) throw new Error('PINGPOST_PROGRAM must be the path of the program; make docs-test sets it');
  const dir = mkdtempSync(join(tmpdir(), 'docs-test-'));
  const file = join(dir, 'exchange.yaml');
  writeFileSync(
    file,
    `data_dir: ${join(dir, 'data')}
tenant: acme
listen: 127.0.0.1:0
admin: {listen: "127.0.0.1:0", password: "${randomBytes(16).toString('hex')}"}
limits: {documents: 1000000}
`,
  );
  const child = spawn(program, ['serve', '--log-format', 'json', '-c', file], { stdio: ['ignore', 'ignore', 'pipe'] });
  const ended = new Promise((resolve) => child.once('close', resolve));
  const stop = async () => {
    child.kill('SIGTERM');
    await ended;
    rmSync(dir, { recursive: true, force: true });
  };
  const lines = [];
  const address = new Promise((resolve, reject) => {
    createInterface({ input: child.stderr }).on('line', (line) => {
      lines.push(line);
      if (line.includes('"msg":"serving"')) resolve(`http://${JSON.parse(line).listen}`);
    });
    ended.then(() => reject(new Error(`the exchange ended:\n${lines.join('\n')}`)));
  });
  try {
    return { address: await address, stop };
  } catch (problem) {
    await stop();
    throw problem;
  }
}
