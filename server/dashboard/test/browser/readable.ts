// Checks that everybody can read a page.

import { mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { expect } from 'vitest';

export const sizes = { desktop: { width: 1280, height: 800 }, phone: { width: 390, height: 844 } };

const axe = readFileSync('node_modules/axe-core/axe.min.js', 'utf8');

interface Finding {
  id: string;
  impact: string | null;
  nodes: { html: string; failureSummary?: string }[];
}

// findViolations returns all findings of axe's default rules, of every impact. It runs axe in the
// page's own world, so that the page's policy holds meanwhile.
async function findViolations(page: Page): Promise<string[]> {
  await page.evaluate(axe);
  const found = await page.evaluate(async () => {
    const plain = new CSSStyleSheet(); // axe does not judge the contrast of text over gradients
    plain.replaceSync('.table, .tabs, .drop-body, dialog, pre { background-image: none !important }');
    document.adoptedStyleSheets = [plain];
    const { axe } = window as unknown as {
      axe: { run: (at: Document, how: object) => Promise<{ violations: Finding[] }> };
    };
    const { violations } = await axe.run(document, { resultTypes: ['violations'] });
    document.adoptedStyleSheets = [];
    return violations;
  });
  return found.map(
    (f) => `${f.id} (${f.impact}): ${f.nodes.map((n) => `${n.html} ${n.failureSummary ?? ''}`).join('; ')}`,
  );
}

let pictures = 0;

// readable checks the page as it is, at each size, light and dark. With the variable PICTURES it
// also writes a picture of each into this directory.
export async function readable(page: Page): Promise<void> {
  pictures++;
  for (const [name, size] of Object.entries(sizes)) {
    await page.setViewportSize(size);
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' });
      await picture(page, `${name}-${colorScheme}`);
      expect.soft(await findViolations(page), `${name}, ${colorScheme}`).toEqual([]);
    }
    const over = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
    expect.soft(over, `${name}: wider than the window`).toBeLessThanOrEqual(0);
  }
}

async function picture(page: Page, of: string): Promise<void> {
  const dir = process.env.PICTURES;
  if (!dir) return;
  mkdirSync(dir, { recursive: true });
  const { hash, pathname } = new URL(page.url());
  const at = (hash || pathname).replace(/[^a-z0-9_+=]+/gi, '-').slice(0, 60);
  const number = String(pictures).padStart(3, '0');
  await page.screenshot({ path: join(dir, `${number}${at}-${of}.png`), fullPage: true });
}
