// Fails if the committed build is not what the sources produce, to the byte.

import { execFileSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const committed = '../../server/docsite/dist';
const built = mkdtempSync(join(tmpdir(), 'docs-site-'));
const stale = [];
try {
  execFileSync('node_modules/.bin/eleventy', ['--quiet', `--output=${built}`], { stdio: 'inherit' });
  const [fresh, kept] = [readdirSync(built), readdirSync(committed)];
  for (const name of new Set([...fresh, ...kept])) {
    const same = fresh.includes(name) && kept.includes(name) && readFileSync(join(built, name)).equals(readFileSync(join(committed, name)));
    if (!same) stale.push(name);
  }
} finally {
  rmSync(built, { recursive: true });
}
for (const name of stale) console.error(`server/docsite/dist/${name} is not current: run make docs, and commit it`);
process.exitCode = stale.length > 0 ? 1 : 0;
