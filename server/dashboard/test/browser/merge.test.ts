import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { order } from './exchange';
import { browse, button, dialog, place, said, shows, signedIn } from './page';

browse();

interface Campaign {
  floor: number;
  duplicates: { window: string };
  buyers: { buyer: string; price: number }[];
}

const at = 'config/campaigns/cmp_both';

const read = () => order<{ etag: string; document: Campaign }>(place, 'GET', at);

// change is a change by the other operator, through the API.
async function change(to: (before: Campaign) => Partial<Campaign>): Promise<void> {
  const { etag, document } = await read();
  await order(place, 'PUT', at, { ...document, ...to(document) }, { 'If-Match': `"${etag}"` });
}

const price = (page: Page) => page.locator('form').getByRole('textbox', { name: 'Price' }).first();

const chosen = (page: Page, name: string) => dialog(page).getByRole('radio', { name }).isChecked();

test('a merge keeps the changes of both operators, and asks only about a conflict', async () => {
  const buyers = [{ buyer: 'buy_vault', price: 6 }];
  const first = { id: 'cmp_both', method: 'waterfall', floor: 2, duplicates: { window: '9d' }, buyers };
  await order(place, 'PUT', at, first, { 'If-None-Match': '*' });
  const page = await signedIn('campaigns/cmp_both/buyers');
  await price(page).fill('7');
  await change(() => ({ floor: 3, duplicates: { window: '11d' } }));
  await button(page, 'Review changes').click();
  await shows(dialog(page).getByRole('row', { name: /floor.*Other operator.*3.*2/ }));
  for (const name of ['floor: saved', 'duplicates.window: saved', 'buyers[0].price: yours'])
    expect([name, await chosen(page, name)]).toEqual([name, true]);
  await button(dialog(page), 'Merge and review').click();
  await said(page, 'Both versions are merged.');

  await change(({ buyers }) => ({ floor: 4, buyers: buyers.map((b) => ({ ...b, price: 8 })) }));
  await button(page, 'Review changes').click();
  await shows(dialog(page).getByRole('row', { name: /buyers\[0\]\.price.*Both.*8.*7/ }));
  expect(await chosen(page, 'floor: saved')).toBe(true);
  for (const name of ['buyers[0].price: saved', 'buyers[0].price: yours'])
    expect([name, await chosen(page, name)]).toEqual([name, false]);
  expect(await button(dialog(page), 'Merge and review').isDisabled()).toBe(true);
  await dialog(page).getByRole('radio', { name: 'buyers[0].price: yours' }).check();
  await button(dialog(page), 'Merge and review').click();
  await button(page, 'Review changes').click();
  await shows(dialog(page).getByText(/price/));
  expect(
    await dialog(page)
      .getByText(/floor|window/)
      .count(),
  ).toBe(0);
  await button(dialog(page), 'Save').click();
  await said(page, 'is saved and in force.');
  const now = await read();
  expect(now.document).toMatchObject({ floor: 4, duplicates: { window: '11d' }, buyers: [{ price: 7 }] });
  await order(place, 'DELETE', at, undefined, { 'If-Match': `"${now.etag}"` });
});
