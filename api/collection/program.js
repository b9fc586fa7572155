// Starts, reads and stops the programs of a sandbox, each in its own process.
import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';

/** A process that has said where it listens. */
export class Program {
  /** Starts it; the first line in which find finds something says where. */
  static async start(file, args, env, find) {
    const it = new Program();
    it.said = [];
    it.process = spawn(file, args, { env: { PATH: process.env.PATH, ...env }, stdio: ['ignore', 'pipe', 'pipe'] });
    it.ended = new Promise((resolve) => it.process.once('close', (code) => resolve(code)));
    const failed = new Promise((_, reject) => it.process.once('error', reject));
    const heard = new Promise((resolve) => {
      for (const stream of [it.process.stdout, it.process.stderr]) {
        createInterface({ input: stream }).on('line', (line) => {
          it.said.push(line);
          if (it.said.length > 1000) it.said.shift();
          const found = find(line);
          if (found) resolve(found);
        });
      }
    });
    const over = it.ended.then((code) => { throw new Error(`${args[0]} ended by itself, with ${code}:\n${it.said.join('\n')}`); });
    over.catch(() => {}); // the waiting code handles the rejection
    failed.catch(() => {});
    it.url = await Promise.race([heard, failed, over]);
    return it;
  }

  /** Ends it at once. */
  kill() { this.process.kill('SIGKILL'); }

  /** Ends it in order. */
  async stop() {
    if (this.process.exitCode === null) this.process.kill('SIGTERM');
    const code = await this.ended;
    if (code !== 0) throw new Error(`it ended with ${code}:\n${this.said.join('\n')}`);
  }
}
