// Sees that dist is what src comes to, to the byte, and that all of it is small enough.
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';

const most = 150 * 1024;
const built = mkdtempSync(join(tmpdir(), 'dashboard-'));
const list = (dir) =>
  readdirSync(dir, { recursive: true, withFileTypes: true })
    .filter((e) => e.isFile())
    .map((e) => join(e.parentPath ?? e.path, e.name).slice(dir.length + 1))
    .sort();

let sum = 0;
const wrong = [];
try {
  execFileSync('node_modules/.bin/vite', ['build', '--outDir', built, '--logLevel', 'warn'], { stdio: 'inherit' });
  const [fresh, kept] = [list(built), list('dist')];
  if (fresh.join() !== kept.join()) wrong.push(`dist has ${kept.join(', ')}; of src come ${fresh.join(', ')}`);
  for (const name of fresh) {
    const now = readFileSync(join(built, name));
    if (kept.includes(name) && !now.equals(readFileSync(join('dist', name))))
      wrong.push(`dist/${name} is not what src comes to`);
    sum += gzipSync(now, { level: 9 }).length;
  }
} finally {
  rmSync(built, { recursive: true });
}
if (sum > most) wrong.push(`${sum} bytes with gzip, at most ${most}`);
for (const what of wrong) console.error(`${what}: run make dashboard, and commit dist`);
console.log(`dist: ${sum} bytes with gzip, of ${most}`);
process.exit(wrong.length > 0 ? 1 : 0);
