// The programs of an exchange, each a process of its own: started, heard, stopped.

import { type ChildProcess, spawn } from 'node:child_process';
import { createInterface } from 'node:readline';

export class Program {
  readonly said: string[] = [];
  private constructor(
    private readonly process: ChildProcess,
    private readonly ended: Promise<number | null>,
  ) {}

  // start runs it until find finds something in a line of what it says.
  static async start<T>(
    file: string,
    args: string[],
    env: { [name: string]: string },
    find: (line: string) => T | undefined,
  ): Promise<{ program: Program; found: T }> {
    const child = spawn(file, args, { env: { PATH: process.env.PATH, ...env }, stdio: ['ignore', 'pipe', 'pipe'] });
    const ended = new Promise<number | null>((resolve) => child.once('close', resolve));
    const program = new Program(child, ended);
    const failed = new Promise<never>((_, reject) => child.once('error', reject));
    const heard = new Promise<T>((resolve) => {
      for (const stream of [child.stdout, child.stderr]) {
        createInterface({ input: stream }).on('line', (line) => {
          program.said.push(line);
          if (program.said.length > 500) program.said.shift();
          const found = find(line);
          if (found !== undefined) resolve(found);
        });
      }
    });
    const over = ended.then((code) => {
      throw new Error(`${args[0]} ended by itself, with ${code}:\n${program.said.join('\n')}`);
    });
    over.catch(() => undefined); // heard of where it is waited for
    failed.catch(() => undefined);
    return { program, found: await Promise.race([heard, failed, over]) };
  }

  async stop(): Promise<void> {
    if (this.process.exitCode === null) this.process.kill('SIGTERM');
    await this.ended;
  }

  kill(): void {
    this.process.kill('SIGKILL');
  }
}
