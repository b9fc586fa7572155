// The same figure on all pages, and money with its currency.

import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { open, type Place } from './exchange';
import { browse, newPage, shows, signIn, visit } from './page';

browse();

// An exchange of its own, in which other tests confirm no delivery.
let place: Place;
let close: () => Promise<void>;

beforeAll(async () => {
  ({ place, close } = await open());
}, 60_000);
afterAll(() => close?.());

const signedIn = async (at = ''): Promise<Page> => {
  const page = await newPage({ baseURL: place.admin });
  await page.goto(`/#/${at}`);
  await signIn(page, 'op', place.password);
  await page.locator('nav#menu').waitFor({ state: 'attached' });
  return page;
};

const mainText = async (page: Page, at: string): Promise<string> => {
  await visit(page, at);
  return page.locator('#main').innerText();
};

// Three deliveries of buy_odd are unconfirmed: neither sold nor unsold.
test('the sold rate is the same on all pages, and unconfirmed leads are apart', async () => {
  const page = await signedIn();
  await visit(page, '');
  const figure = page.locator('.figures .card').filter({ hasText: 'Sold rate' }).locator('strong');
  await expect.poll(() => figure.innerText()).toMatch(/%/);
  const rate = await figure.innerText();
  expect(await mainText(page, 'leads')).toMatch(new RegExp(`${rate} sold\\s+3 unconfirmed`));
  const unsettled = page.getByRole('row').filter({ has: page.getByRole('link', { name: 'buy_odd' }) });
  expect(await unsettled.count()).toBe(3);
  expect(await unsettled.locator('[data-head="Status"]').allInnerTexts()).toEqual(Array(3).fill('Unconfirmed'));
  await visit(page, 'reports/unsold');
  await shows(page.getByText(`(${rate})`));
  await shows(page.getByText('Unconfirmed or in progress'));
  expect(await mainText(page, 'settings/health')).toMatch(new RegExp(`Sold rate, today\\s+${rate}`));
});

test('an unconfirmed delivery is no sale of its buyer, and not accepted', async () => {
  const page = await signedIn('reports/buyers');
  for (const at of ['reports/buyers', 'buyers', '']) {
    await visit(page, at);
    const odd = page.getByRole('row').filter({ has: page.getByRole('link', { name: 'buy_odd' }) });
    await shows(odd);
    expect(await odd.locator('[data-head="Sales"]').first().innerText()).toMatch(/^[0–]$/);
    if (at) expect(await odd.locator('[data-head="Accept rate"]').innerText()).toBe('–');
  }
});

test('all money has its currency', async () => {
  const page = await signedIn();
  expect(await mainText(page, 'buyers/buy_picky/caps')).toMatch(/\$[\d.]+ of \$2,000\.00/);
  expect(await mainText(page, 'buyers/buy_vault/billing')).toMatch(/Balance\s+\$\d+\.00/);
  expect(await mainText(page, 'settings/alerts')).toMatch(/below \$100\.00 for 1 min\s+at \$150\.00 or more/);
  expect(await mainText(page, 'campaigns/cmp_auto/settings')).toMatch(/Minimum bid\s+\$0\.00/);
  expect(await mainText(page, `leads/${place.sold}`)).toMatch(/for \$12\.50\./);
  expect(await mainText(page, 'reports/custom?by=buyer')).not.toMatch(/(?<![\d$.,])0\.00/);
});

test('a campaign shows the states in which a buyer really buys', async () => {
  const page = await signedIn('campaigns/cmp_auto/buyers');
  const row = (buyer: string) => page.getByRole('row').filter({ has: page.getByRole('link', { name: buyer }) });
  await shows(row('buy_picky').getByText('CA, TX'));
  await shows(row('buy_vault').getByText('CA, NV'));
  await visit(page, 'campaigns/cmp_bids');
  await shows(page.getByText(/West bids in (WA and OR|OR and WA)\./));
});
