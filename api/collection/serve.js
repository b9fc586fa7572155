// Runs a sandbox for the collection's requests until Ctrl-C:
//
//   node serve.js PROGRAM FILE    PROGRAM is pingpost; FILE gets the filled-in environment
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { environmentOf, openSandbox } from './sandbox.js';

const [, , program, file] = process.argv;
if (!program || !file) {
  console.error('usage: node serve.js PROGRAM FILE');
  process.exit(2);
}
const sandbox = await openSandbox(resolve(program), { exchange: 8081, buyer: 8090, receiver: 8091 });
mkdirSync(dirname(resolve(file)), { recursive: true });
writeFileSync(file, `${JSON.stringify(environmentOf(sandbox.values), null, 2)}\n`, { mode: 0o600 });
console.log(`the sandbox is at ${sandbox.exchange}, and its environment in ${file}; Ctrl-C ends it`);
for (const signal of ['SIGINT', 'SIGTERM']) {
  process.once(signal, async () => {
    await sandbox.close();
    process.exit(0);
  });
}
