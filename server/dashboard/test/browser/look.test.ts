import { mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { beforeAll, describe, expect, test } from 'vitest';
import { person, send } from './exchange';
import { browse, place, signedIn, visit } from './page';

browse({ keep: true });

// Every page, and what it must show.
const pages: [string, string | RegExp][] = [
  ['', 'bid_swift'],
  ['leads', 'Search'],
  [`leads/${place.sold}`, 'buy_picky'],
  [`leads/${place.unmatched}`, 'UNMATCHED'],
  [`leads/${place.auctioned}`, 'Timeline'],
  ['auctions', 'Search'],
  ['unmatched', 'By reason'],
  ['caps', 'leads per day'],
  ['deliveries', 'fate'],
  ['returns', 'wrong number'],
  ['webhooks', 'sup_acme'],
  ['webhooks/sup_acme', 'Secrets that sign'],
  ['campaigns', 'cmp_bids'],
  ['campaigns/cmp_auto', 'exchange.yaml'],
  ['campaigns/+', 'Review changes'],
  ['buyers', 'buy_vault'],
  ['buyers/buy_vault', 'Funds'],
  ['buyers/buy_odd', 'Adapter'],
  ['suppliers', 'sup_zenith'],
  ['suppliers/sup_acme', 'Rotate the key'],
  ['suppression', 'dnc'],
  ['suppression/dnc', 'Upload'],
  ['reports', 'Rows'],
  ['reports?by=buyer&measure=bids', 'bid_swift'],
  ['statements?buyer=buy_vault', 'Entries'],
  ['bench', 'Make one up'],
  ['history', 'version'],
  ['erase', 'Review'],
  ['access', 'API tokens'],
  ['nowhere', 'no page at this address'],
  ['buyers/buy_none', 'no such thing'],
];

const sizes = { desktop: { width: 1280, height: 800 }, phone: { width: 390, height: 844 } };

const axe = readFileSync('node_modules/axe-core/axe.min.js', 'utf8');

interface Finding {
  id: string;
  impact: string | null;
  nodes: { html: string; failureSummary?: string }[];
}

// serious are the findings of axe that keep somebody out. It is run in the page's own world, so
// the page's policy holds while it looks.
async function serious(page: Page): Promise<string[]> {
  await page.evaluate(axe);
  const found = await page.evaluate(async () => {
    const { axe } = window as unknown as {
      axe: { run: (at: Document, how: object) => Promise<{ violations: Finding[] }> };
    };
    return (await axe.run(document, { resultTypes: ['violations'] })).violations;
  });
  return found
    .filter((f) => f.impact === 'serious' || f.impact === 'critical')
    .map((f) => `${f.id}: ${f.nodes.map((n) => `${n.html} ${n.failureSummary ?? ''}`).join('; ')}`);
}

describe('every page', () => {
  let page: Page;

  beforeAll(async () => {
    page = await signedIn();
  });

  test.each(pages)('%s can be read by everybody, at any size, light and dark', async (at, text) => {
    await visit(page, at);
    await page.locator('#main').getByText(text).first().waitFor({ state: 'attached' });
    for (const [name, size] of Object.entries(sizes)) {
      await page.setViewportSize(size);
      for (const colorScheme of ['light', 'dark'] as const) {
        await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' });
        expect(await serious(page), `${name}, ${colorScheme}`).toEqual([]);
      }
      const over = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
      expect(over, `${name}: wider than the window`).toBeLessThanOrEqual(0);
    }
  });

  test('the page to sign in', async () => {
    await page.context().clearCookies();
    await page.goto('/#/');
    await page.reload();
    await page.getByRole('button', { name: 'Sign in' }).waitFor();
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme });
      expect(await serious(page)).toEqual([]);
    }
  });
});

// Those in docs/screenshots, taken where SCREENSHOTS is set.
const pictures: [string, string, keyof typeof sizes, 'light' | 'dark'][] = [
  ['overview', '', 'desktop', 'light'],
  ['overview-dark', '', 'desktop', 'dark'],
  ['lead', `leads/${place.auctioned}`, 'desktop', 'light'],
  ['lead-phone', `leads/${place.auctioned}`, 'phone', 'dark'],
  ['unmatched', 'unmatched', 'desktop', 'light'],
  ['caps', 'caps', 'desktop', 'dark'],
  ['campaign', 'campaigns/+', 'desktop', 'light'],
  ['supplier', 'suppliers/sup_acme', 'desktop', 'light'],
  ['erase', 'erase', 'desktop', 'light'],
  ['overview-phone', '', 'phone', 'light'],
];

test.runIf(process.env.SCREENSHOTS)(
  'screenshots',
  async () => {
    const dir = join('..', '..', 'docs', 'screenshots');
    mkdirSync(dir, { recursive: true });
    const page = await signedIn();
    let over = false;
    const states = ['CA', 'TX', 'WA', 'OR'];
    const trade = async () => {
      for (let i = 0; !over; i++) {
        void send(place, person(i % 5 === 0 ? 'cmp_auto' : 'cmp_bids', states[i % 4] ?? 'CA')).catch(() => undefined);
        await page.waitForTimeout(150 + 100 * Math.sin(i / 12));
      }
    };
    const trading = trade();
    await page.waitForTimeout(60_000); // something to draw
    for (const [name, at, size, colorScheme] of pictures) {
      await page.setViewportSize(sizes[size]);
      await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' });
      await visit(page, at);
      if (at === 'erase') {
        await page.getByRole('textbox', { name: 'Email' }).fill('ann@example.com');
        await page.getByRole('button', { name: 'Review' }).click();
      }
      await page.locator('h1').evaluate((h: HTMLElement) => h.blur());
      await page.waitForTimeout(at === '' ? 2500 : 300); // until the chart has its points
      await page.screenshot({ path: join(dir, `${name}.png`) });
    }
    over = true;
    await trading;
  },
  180_000,
);
