import type { Locator, Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { order } from './exchange';
import { browse, button, dialog, hasCount, place, said, settled, shows, signedIn, visit } from './page';

browse();

const field = (of: Page | Locator, name: string): Locator => of.getByRole('textbox', { name, exact: false });

const entry = (page: Page, name: string): Locator => page.getByRole('group', { name, exact: true });

async function save(page: Page, change: string | RegExp): Promise<void> {
  await button(page, 'Review changes').click();
  await shows(dialog(page).getByText(change));
  await button(dialog(page), 'Save').click();
  await said(page, 'is saved and in force.');
}

test('a buyer is made, changed, seen in the history, and removed', async () => {
  const page = await signedIn('buyers');
  await page.getByRole('link', { name: 'New buyer' }).click();
  await field(page, 'Id (required)').fill('buy_new');
  await field(page, 'Name').first().fill('New one');
  await field(page, 'States').fill('CA, XX');
  await button(page, 'Review changes').click();
  const states = page.locator('.field.wrong', { hasText: 'States' });
  await shows(states.getByText(/is not a US state/));
  expect(await states.getByRole('textbox').getAttribute('aria-invalid')).toBe('true');
  await field(page, 'States').fill('CA, NV');
  await save(page, /buy_new/);
  await shows(page.getByRole('heading', { name: 'New one' }));

  await page.getByRole('link', { name: 'Caps' }).click();
  await page.locator('form').getByText('Caps (none)').click();
  await button(page, 'Add a cap').click();
  await field(entry(page, 'cap 1'), 'Leads').fill('-3');
  await button(page, 'Review changes').click();
  await shows(entry(page, 'cap 1').locator('.field.wrong', { hasText: 'Leads' }).locator('.error'));
  await field(entry(page, 'cap 1'), 'Leads').fill('7');
  await save(page, /caps/);
  await shows(page.getByRole('meter', { name: /buy_new leads per day/ }));
  await visit(page, 'buyers/buy_new/settings');
  await shows(page.locator('.history').getByText('Caps 1: Per: day; Leads: 7'));
  const made = await order<{ document: { caps: object[]; states: string[] }; owner: string }>(
    place,
    'GET',
    'config/buyers/buy_new',
  );
  expect(made.owner).toBe('api');
  expect(made.document.caps[0]).toMatchObject({ per: 'day', count: 7 });
  expect(made.document.states).toEqual(['CA', 'NV']);

  await button(page, 'Remove').click();
  await button(dialog(page), 'Remove').click();
  await said(page, 'buy_new is removed.');
  await expect(order(place, 'GET', 'config/buyers/buy_new')).rejects.toThrow('404');
});

test('two operators who change the same entry merge both versions', async () => {
  const at = 'config/suppliers/sup_two';
  await order(place, 'PUT', at, { id: 'sup_two', name: 'Two' }, { 'If-None-Match': '*' });
  const rename = async (name: string) => {
    const { etag, document } = await order<{ etag: string; document: object }>(place, 'GET', at);
    await order(place, 'PUT', at, { ...document, name }, { 'If-Match': `"${etag}"` });
  };
  const page = await signedIn('suppliers/sup_two/settings');
  await field(page, 'Leads a second').fill('50');
  await rename('Renamed');
  await button(page, 'Review changes').click();
  const both = dialog(page);
  await shows(both.getByText('Another operator has changed this entry'));
  await shows(both.getByRole('row', { name: /Renamed.*Two/ }));
  await shows(both.getByRole('row', { name: /ingest_rate.*100.*50/ }));
  await button(both, 'Use the saved version').click();
  expect(await field(page, 'Name').first().inputValue()).toBe('Renamed');

  await field(page, 'Leads a second').fill('60');
  await rename('Renamed again');
  await button(page, 'Review changes').click();
  expect(await both.getByRole('radio', { name: 'name: saved' }).isChecked()).toBe(true);
  expect(await both.getByRole('radio', { name: 'ingest_rate: yours' }).isChecked()).toBe(true);
  await button(both, 'Merge and review').click();
  await save(page, /ingest_rate/);
  const now = await order<{ document: { name: string; ingest_rate: number }; etag: string }>(place, 'GET', at);
  expect([now.document.name, now.document.ingest_rate]).toEqual(['Renamed again', 60]);
  await order(place, 'DELETE', at, undefined, { 'If-Match': `"${now.etag}"` });
});

test('what somebody else has removed is left so, or made anew of what was written', async () => {
  const at = 'config/suppliers/sup_gone';
  const make = () => order<{ etag: string }>(place, 'PUT', at, { id: 'sup_gone' }, { 'If-None-Match': '*' });
  const remove = (etag: string) => order(place, 'DELETE', at, undefined, { 'If-Match': `"${etag}"` });
  const page = await signedIn();
  const meet = async () => {
    const { etag } = await make();
    await visit(page, 'suppliers/sup_gone/settings');
    await field(page, 'Leads a second').fill('50');
    await remove(etag);
    await button(page, 'Review changes').click();
    await shows(dialog(page).getByText('Another operator has removed this entry'));
  };
  await meet();
  await button(dialog(page), 'Leave it removed').click();
  await shows(page.getByRole('heading', { name: 'Suppliers' }));
  await hasCount(page.getByRole('link', { name: 'sup_gone' }), 0);
  await expect(order(place, 'GET', at)).rejects.toThrow('404');

  await meet();
  await button(dialog(page), 'Create it again, and review').click();
  await said(page, 'Your version is kept.');
  await save(page, /sup_gone/);
  const made = await order<{ document: { ingest_rate: number }; etag: string }>(place, 'GET', at);
  expect(made.document.ingest_rate).toBe(50);
  await remove(made.etag);
});

test('what a file has the word on is shown, and cannot be changed', async () => {
  const page = await signedIn('campaigns/cmp_auto/rules');
  await shows(page.getByText('exchange.yaml'));
  expect(await page.locator('#main input, #main select').count()).toBe(0);
  expect(await button(page, 'Review changes').count()).toBe(0);
});

test('a campaign is put together of what there is, and what is in use is not removed', async () => {
  await order(place, 'PUT', 'config/buyers/buy_used', { id: 'buy_used' }, { 'If-None-Match': '*' });
  const page = await signedIn('campaigns/+');
  await field(page, 'Name').first().fill('New');
  await entry(page, 'Suppliers').getByLabel('Acme Leads').check();
  await button(page, 'Buyers').click();
  await page.getByRole('checkbox', { name: 'buy_used' }).check();
  await page.getByLabel('Price of buy_used').fill('3.25');
  await button(page, 'Review').click();
  await shows(page.getByText('buy_used buys for $3.25.'));
  await button(page, 'Create campaign').click();
  await said(page, 'cmp_new is saved and in force.');
  const made = await order<{ document: { suppliers: string[]; buyers: object[] }; etag: string }>(
    place,
    'GET',
    'config/campaigns/cmp_new',
  );
  expect(made.document.suppliers).toEqual(['sup_acme']);
  expect(made.document.buyers[0]).toMatchObject({ buyer: 'buy_used', price: 3.25 });

  await visit(page, 'buyers/buy_used/settings');
  await button(page, 'Remove').click();
  await button(dialog(page), 'Remove').click();
  await shows(
    dialog(page)
      .getByRole('alert')
      .getByText(/cmp_new/),
  );
  await button(dialog(page), 'Cancel').click();
  await visit(page, 'history');
  await shows(page.locator('.history').getByText('Campaign New:'));
  await order(place, 'DELETE', 'config/campaigns/cmp_new', undefined, { 'If-Match': `"${made.etag}"` });
});

test('a campaign form shows the defaults in force, before and after saving', async () => {
  const page = await signedIn('campaigns/+');
  const summary = (label: string) => page.locator('form summary').filter({ hasText: label }).first().textContent();
  await field(page, 'Name').first().fill('usual');
  await expect.poll(() => field(page, 'Share of the price').getAttribute('placeholder')).toBe('1');
  await page.getByText('More settings').click();
  expect(await field(page, 'Ping timeout').count()).toBe(0);
  await page.getByLabel('Method').selectOption('ping_post');
  expect(await field(page, 'Ping timeout').first().getAttribute('placeholder')).toBe('2s');
  await page.getByLabel('Method').selectOption('waterfall');
  await button(page, 'Rules').click();
  expect(await summary('Duplicates')).toContain('Window: 30 days');
  expect(await summary('Returns')).toContain('Window: 14 days');
  expect(await summary('Caps')).toContain('(none)');
  await button(page, 'Review').click();
  await shows(page.getByText('A person can be sold again after 30 days.'));
  await button(page, 'Create campaign').click();
  await said(page, 'cmp_usual is saved and in force.');
  const made = await order<{ document: object; etag: string }>(place, 'GET', 'config/campaigns/cmp_usual');
  expect(made.document).toMatchObject({
    payout: { share: 1 },
    duplicates: { window: '30d' },
    returns: { window: '14d', reverse_payout: true },
    bid_timeout: '2s',
  });
  await visit(page, 'campaigns/cmp_usual/settings');
  await settled(page);
  expect(await field(page, 'Share of the price').first().inputValue()).toBe('1');
  await order(place, 'DELETE', 'config/campaigns/cmp_usual', undefined, { 'If-Match': `"${made.etag}"` });
});

test('nothing is put into force that was not seen before', async () => {
  const page = await signedIn('suppression/+');
  await field(page, 'Id (required)').fill('list_new');
  await button(page, 'Review changes').click();
  await shows(dialog(page).getByText(/list_new/));
  await button(dialog(page), 'Back').click();
  await expect(order(place, 'GET', 'config/suppression_lists/list_new')).rejects.toThrow('404');
});
