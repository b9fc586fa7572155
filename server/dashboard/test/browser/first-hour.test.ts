// The first hour of an operator: mistakes, warnings, summaries and help.

import { expect, test } from 'vitest';
import { openSeeded, order } from './exchange';
import { browse, button, dialog, place, said, settled, shows, signedIn, signIn, visit } from './page';

browse();

interface Entry {
  etag: string;
}

const create = (kind: string, id: string, document: object) =>
  order<Entry>(place, 'PUT', `config/${kind}/${id}`, { id, ...document }, { 'If-None-Match': '*' });

async function remove(kind: string, id: string): Promise<void> {
  const { etag } = await order<Entry>(place, 'GET', `config/${kind}/${id}`);
  await order(place, 'DELETE', `config/${kind}/${id}`, undefined, { 'If-Match': `"${etag}"` });
}

test('a new buyer is reviewed as a list, with the warnings of the exchange', async () => {
  const page = await signedIn('buyers/+');
  await page.getByLabel('Id (required)').fill('buy_plain');
  await page.getByLabel('Endpoint', { exact: true }).fill('http://buyer.example/x');
  await page.locator('form').getByText('Caps (none)').click();
  await button(page, 'Add a cap').click();
  await button(page, 'Review changes').click();
  await shows(dialog(page).locator('dd', { hasText: '100 leads per day' }));
  await shows(dialog(page).locator('dd', { hasText: 'http://buyer.example/x' }));
  expect(await dialog(page).textContent()).not.toContain('{');
  const warning = dialog(page).locator('.note.warn li');
  await shows(warning);
  const text = String(await warning.first().textContent());
  await button(dialog(page), 'Save').click();
  await said(page, text);
  await remove('buyers', 'buy_plain');
});

test('an auction has no prices, and its buyers are described in sentences', async () => {
  await create('buyers', 'buy_blue', { name: 'Blue', endpoint: 'https://buyer.example' });
  await create('campaigns', 'cmp_auction', {
    method: 'ping_post',
    vertical: 'first_hour',
    floor: 1,
    fields: [{ name: 'cars', to: 'vehicle_count', type: 'integer', ping: true }],
    buyers: [
      {
        buyer: 'buy_blue',
        states: ['CA', 'NV'],
        filters: [{ field: 'vehicle_count', min: 1 }],
        caps: [{ per: 'total', count: 5 }],
      },
    ],
  });
  const page = await signedIn('campaigns/cmp_auction');
  await shows(page.getByText('Blue bids in CA and NV, if vehicle count is at least 1, at most 5 leads in total.'));
  await shows(page.locator('.gauges').getByText('never resets'));
  await visit(page, 'campaigns/cmp_auction/buyers');
  const table = page.getByRole('region', { name: 'Buyers in campaign' });
  await shows(table.getByText('vehicle count is at least 1'));
  await shows(table.getByText('5 leads in total'));
  const heads = await table.getByRole('columnheader').allInnerTexts();
  expect(heads).toEqual(['Buyer', 'States', 'Filters', 'Caps']);
  expect(await page.getByLabel(/^(Price|Weight)$/).count()).toBe(0);
  await page.locator('form').getByText('Filters (1)').click();
  const field = page.getByRole('combobox', { name: 'Field (required)' });
  const list = await field.getAttribute('list');
  const names = await page
    .locator(`[id="${list}"] option`)
    .evaluateAll((all) => all.map((o) => o.getAttribute('value')));
  expect(names).toEqual(expect.arrayContaining(['vehicle_count', 'state', 'zip']));
  await remove('campaigns', 'cmp_auction');
  await remove('buyers', 'buy_blue');
});

test('the review of a campaign leads to the input with the mistake', async () => {
  await create('buyers', 'buy_blue', { name: 'Blue', endpoint: 'https://buyer.example' });
  const page = await signedIn('campaigns/+');
  await page.getByLabel('Name (required)').fill('Wrong');
  await button(page, 'Buyers').click();
  await page.getByRole('checkbox', { name: 'Blue' }).check();
  await page.getByLabel('Price of Blue').fill('3,5');
  await button(page, 'Review').click();
  const alert = page.getByRole('alert');
  await shows(alert.getByText('Some fields need a change.'));
  await shows(alert.getByText('Buyers in campaign 1, Price'));
  await button(page, 'Go to Buyers').click();
  await page.waitForFunction(() => {
    const at = document.activeElement;
    return at instanceof HTMLInputElement && at.value === '3,5' && at.getAttribute('aria-invalid') === 'true';
  });
  expect(await page.getByLabel('Price', { exact: true }).isVisible()).toBe(true);
  await remove('buyers', 'buy_blue');
});

test('a channel names its wrong fields by their labels', async () => {
  const page = await signedIn('settings/alerts');
  await button(page, 'Add channel').click();
  await dialog(page).getByLabel('Name (required)').fill('Mail');
  await button(dialog(page), 'Save channel').click();
  await shows(dialog(page).getByRole('alert').getByText('Some fields need a change.'));
  await shows(dialog(page).getByRole('alert').getByText('SMTP server'));
});

test('a report without rows can be saved', async () => {
  const page = await signedIn('reports/buyers?buyer=buy_vault&source=none-such');
  await shows(page.getByText('No lead in this period'));
  await button(page, 'Save this report').click();
  await shows(dialog(page).getByText('buy_vault', { exact: false }));
});

test('the account menu and the adapter lead to the documentation', async () => {
  const page = await signedIn('buyers/+');
  await page.locator('summary[aria-label^="Account of"]').click();
  const link = page.getByRole('link', { name: 'Documentation' });
  expect(await link.getAttribute('href')).toBe('/help/docs');
  for (const path of ['/help/docs', '/docs', '/help/docs/adapters']) {
    const answer = await page.request.get(path);
    expect(answer.status(), path).toBe(200);
    expect(await answer.text(), path).toContain('<h1');
  }
  expect(await page.locator('a[href="/help/docs/adapters"]').count()).toBeGreaterThan(0);
});

test('two exchanges on one host keep their sessions apart', async () => {
  const other = await openSeeded('');
  try {
    const page = await signedIn();
    const second = await page.context().newPage();
    await second.goto(`${other.admin}/`);
    await signIn(second, 'op', other.password);
    await second.locator('nav#menu').waitFor({ state: 'attached' });
    await page.reload();
    await settled(page);
    await shows(page.locator('nav#menu'));
    await second.reload();
    await second.locator('nav#menu').waitFor({ state: 'attached' });
  } finally {
    await other.close();
  }
});
