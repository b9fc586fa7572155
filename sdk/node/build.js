// Builds dist/esm and dist/cjs from src: the same code in both module formats, with types.
import { execFileSync } from 'node:child_process';
import { rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';

const root = new URL('.', import.meta.url);
const tsc = createRequire(import.meta.url).resolve('typescript/bin/tsc');
rmSync(new URL('dist', root), { recursive: true, force: true });
for (const [project, folder, type] of [
  ['tsconfig.json', 'esm', 'module'],
  ['tsconfig.cjs.json', 'cjs', 'commonjs'],
]) {
  execFileSync(process.execPath, [tsc, '-p', project], { cwd: fileURLToPath(root), stdio: 'inherit' });
  // Without this file, Node uses the module type of the package for all files below.
  writeFileSync(new URL(`dist/${folder}/package.json`, root), `{ "type": "${type}" }\n`);
}
