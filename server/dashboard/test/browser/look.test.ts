import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { beforeAll, describe, expect, test } from 'vitest';
import { parse, redirect } from '../../src/route';
import { areas, destinations, places } from '../../src/shell/places';
import { pageOf, pages } from './addresses';
import { person, send } from './exchange';
import { browse, place, signedIn, visit } from './page';
import { readable, sizes } from './readable';

browse({ keep: true });

describe('every page', () => {
  let page: Page;
  const linked = new Set<string>();

  beforeAll(async () => {
    page = await signedIn();
  });

  test.each(pages)('%s can be read by everybody, at any size, light and dark', async (at, text) => {
    await visit(page, at);
    await page.locator('#main').getByText(text).first().waitFor({ state: 'attached' });
    const links = await page
      .locator('a[href^="#/"]')
      .evaluateAll((all) => all.map((a) => a.getAttribute('href') ?? ''));
    for (const link of links) linked.add(pageOf(redirect(parse(link)) ?? link)); // alerts link to earlier addresses
    await readable(page);
  });

  // The tabs of a page are links, so this finds a new tab too.
  test('the list has every page of the router and every linked page', () => {
    const listed = pages.map(([at]) => pageOf(at));
    const routes = [
      ...Object.entries(places).flatMap(([path, of]) => (of.one ? [path, `${path}/*`] : [path])),
      ...areas.map((a) => a.path),
      ...destinations.map((d) => d.path.join('/')),
    ].map(pageOf);
    expect([...routes, ...linked].filter((at) => !listed.includes(at))).toEqual([]);
  });
});

// Those in docs/screenshots, taken where SCREENSHOTS is set.
const pictures: [string, string, keyof typeof sizes, 'light' | 'dark'][] = [
  ['overview', '', 'desktop', 'light'],
  ['lead', `leads/${place.auctioned}/auction`, 'desktop', 'light'],
  ['lead-phone', `leads/${place.auctioned}/auction`, 'phone', 'dark'],
  ['campaign', 'campaigns/+', 'desktop', 'light'],
  ['supplier', 'suppliers/sup_acme/keys', 'desktop', 'light'],
  ['erase', 'compliance/deletion', 'desktop', 'light'],
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
      if (name === 'erase') {
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
