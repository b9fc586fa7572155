// The same figure on all pages, and money with its currency.

import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { browse, place, shows, signedIn, visit } from './page';

browse();

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
  expect(await mainText(page, 'leads')).toMatch(new RegExp(`${rate} sold, 3 unconfirmed`));
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
  expect(await mainText(page, 'settings/alerts')).toMatch(/below \$100\.00 for 1 m\s+at \$150\.00 or more/);
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
