// Walks the operators' workflows as a person does, and counts clicks and fields. Each count has
// the limit of the console's design.

import type { Page } from 'playwright-core';
import { afterAll, describe, expect, test } from 'vitest';
import { openSeeded, order, person, report, send } from './exchange';
import { browse, button, dialog, newPage, place, said, settled, shows, signedIn, signIn } from './page';
import { printWalks, Walk } from './walk';

browse();
afterAll(printWalks);

test('a ping-post campaign with filters, caps and payout', async () => {
  const page = await signedIn();
  const walk = new Walk(page);
  await walk.menu('Campaigns');
  await walk.click(page.getByRole('link', { name: 'New campaign' }));
  await walk.fill(page.getByLabel('Name', { exact: false }).first(), 'Solar west');
  await walk.choose(page.getByLabel('Template'), 'solar');
  await walk.fill(page.getByLabel('Share of the price'), '0.75');
  await walk.fill(page.getByLabel('Minimum bid'), '2');
  await walk.click(button(page, 'Buyers'));
  await walk.check(page.getByRole('checkbox', { name: 'Swift' }));
  await walk.check(page.getByRole('checkbox', { name: 'Slow and rich' }));
  await walk.fill(page.getByLabel('Daily cap of Swift'), '50');
  await walk.fill(page.getByLabel('States of Swift'), 'CA, NV');
  await walk.click(button(page, 'Rules'));
  await walk.click(page.locator('summary').getByText('Filters'));
  await walk.click(button(page, 'Add a filter'));
  const filter = page.getByRole('group', { name: 'filter 1', exact: true });
  await walk.fill(filter.getByLabel('Field', { exact: false }).first(), 'electric_bill');
  await walk.fill(filter.getByLabel('At least', { exact: true }), '1');
  await walk.click(button(page, 'Review'));
  await shows(page.getByText('Swift bids in CA and NV, at most 50 leads per day.'));
  await shows(page.getByText('Only leads are accepted in which electric bill is at least 1.'));
  await shows(page.getByText('The supplier gets 75% of the price.'));
  await walk.click(button(page, 'Create campaign'));
  await said(page, 'cmp_solar_west is saved and in force.');
  walk.ends('ping-post campaign', { clicks: 8, fields: 12 });
  const at = 'config/campaigns/cmp_solar_west';
  const made = await order<{ document: object; etag: string }>(place, 'GET', at);
  expect(made.document).toMatchObject({
    method: 'ping_post',
    vertical: 'solar',
    floor: 2,
    payout: { share: 0.75 },
    filters: [{ field: 'electric_bill', min: 1 }],
    buyers: [{ buyer: 'bid_swift', states: ['CA', 'NV'], caps: [{ per: 'day', count: 50 }] }, { buyer: 'bid_slow' }],
  });

  await button(page, 'Pause cmp_solar_west').waitFor();
  await page.getByRole('link', { name: 'Clone' }).click();
  await shows(page.getByRole('heading', { name: 'New campaign from Solar west' }));
  await expect.poll(() => page.getByLabel('Minimum bid').inputValue()).toBe('2');
  await order(place, 'DELETE', at, undefined, { 'If-Match': `"${made.etag}"` });
});

test('a supplier with a key that is shown once', async () => {
  const page = await signedIn();
  const walk = new Walk(page);
  await walk.menu('Suppliers');
  await walk.click(page.getByRole('link', { name: 'New supplier' }));
  await walk.fill(page.getByLabel('Name', { exact: false }).first(), 'North Media');
  await walk.click(button(page, 'Create supplier and API key'));
  const key = await dialog(page).getByRole('textbox').inputValue();
  walk.ends('supplier with key', { clicks: 3, fields: 2 });
  await shows(dialog(page).getByText('Copy it now. It is shown once.'));
  await button(dialog(page), 'Done').click();
  await shows(page.getByRole('heading', { name: 'North Media' }));
  const lead = { ...person('cmp_auto', 'NY'), flo_supplier_id: 'sup_north_media' };
  expect((await send(place, lead, key)).status).toBe(201);
  const { etag } = await order<{ etag: string }>(place, 'GET', 'config/suppliers/sup_north_media');
  await order(place, 'DELETE', 'config/suppliers/sup_north_media', undefined, { 'If-Match': `"${etag}"` });
});

test('why a lead did not sell', async () => {
  const page = await signedIn('leads?status=UNMATCHED&campaign=cmp_auto&reason=no_state_match');
  await settled(page);
  const walk = new Walk(page);
  await walk.click(page.locator('td a.mono').first());
  const table = page.getByRole('region', { name: 'Buyers in campaign' });
  await shows(table.getByText('wrong state').first());
  walk.ends('why a lead did not sell', { clicks: 2, fields: 0 });
});

test('a price of an entry from the configuration file', async () => {
  const exchange = await openSeeded(
    'buyers: [{id: buy_blue}]\ncampaigns: [{id: cmp_file, method: waterfall, buyers: [{buyer: buy_blue, price: 6}]}]\n',
  );
  try {
    const page = await newPage({ baseURL: exchange.admin });
    await page.goto('/');
    await signIn(page, 'op', exchange.password);
    const walk = new Walk(page);
    await walk.menu('Campaigns');
    await walk.click(page.getByRole('link', { name: 'cmp_file' }).first());
    await walk.click(page.locator('#main').getByRole('link', { name: 'Buyers', exact: true }));
    await walk.fill(page.locator('form').getByRole('textbox', { name: 'Price' }).first(), '7');
    await walk.click(button(page, 'Review changes'));
    await walk.click(button(dialog(page), 'Save'));
    await said(page, 'cmp_file is saved and in force.');
    walk.ends('edit a price of an entry from the file', { clicks: 5, fields: 1 });
  } finally {
    await exchange.close();
  }
});

test('a lead by its phone number', async () => {
  const { data } = await send(place, person('cmp_bids', 'CA', { phone: '(628) 555-0790', vehicle_count: 1 }));
  const page = await signedIn();
  const walk = new Walk(page);
  await page.keyboard.press('Control+k');
  await walk.fill(page.getByRole('combobox', { name: /Search/ }), '628 555 0790');
  await walk.click(page.getByRole('option', { name: /Find the leads with this phone number/ }));
  const found = page.getByRole('region', { name: 'Leads of the person' });
  await shows(found.getByRole('link', { name: String(data?.id) }));
  walk.ends('find a lead by phone', { clicks: 1, fields: 1 });
});

test('an alert of a buyer’s timeouts', async () => {
  const page = await signedIn();
  const walk = new Walk(page);
  await walk.menu('Settings');
  await walk.click(page.locator('#main').getByRole('link', { name: 'Alerts', exact: true }));
  await walk.click(button(page, 'Add rule'));
  await walk.fill(dialog(page).getByLabel('Name (required)', { exact: true }), 'Mute fails');
  await walk.choose(dialog(page).getByLabel('Measures'), 'buyer_failures');
  await walk.fill(dialog(page).getByLabel('Fires at or above'), '90');
  await walk.click(button(dialog(page), 'Save rule'));
  await said(page, 'Mute fails is saved.');
  walk.ends('add an alert', { clicks: 4, fields: 3 });
  const { etag } = await order<{ etag: string }>(place, 'GET', 'alerts/rules/mute_fails');
  await order(place, 'DELETE', 'alerts/rules/mute_fails', undefined, { 'If-Match': etag });
});

interface Invitation {
  id: string;
  status: string;
}

test('an invitation of a teammate', async () => {
  const page = await signedIn();
  const walk = new Walk(page);
  await walk.menu('Settings');
  await walk.click(page.locator('#main').getByRole('link', { name: 'Team', exact: true }));
  await walk.click(button(page, 'Invite'));
  await shows(dialog(page).getByText('Copy it now. It is shown once.'));
  walk.ends('invite a teammate', { clicks: 3, fields: 0 });
  const { invitations } = await order<{ invitations: Invitation[] }>(place, 'GET', 'invitations');
  for (const { id, status } of invitations) if (status === 'open') await order(place, 'DELETE', `invitations/${id}`);
});

test('an export of leads as CSV', async () => {
  const page = await signedIn('leads?campaign=cmp_auto');
  await settled(page);
  const walk = new Walk(page);
  const [file] = await Promise.all([
    page.waitForEvent('download'),
    walk.click(page.getByRole('link', { name: 'Export CSV' })),
  ]);
  expect(file.suggestedFilename()).toMatch(/\.csv$/);
  walk.ends('export leads as CSV', { clicks: 1, fields: 0 });
});

// leadOfPicky sends leads until buy_picky, which refuses some, has bought one.
async function leadOfPicky(): Promise<string> {
  for (let i = 0; i < 10; i++) {
    const { data } = await send(place, person('cmp_auto', 'TX'));
    if (data?.status === 'ACCEPTED') return data.id;
  }
  throw new Error('buy_picky bought none of 10 leads');
}

test('the approval of a return', async () => {
  const lead = await leadOfPicky();
  await report(place, lead, { status: 'returned', reason: 'wrong number' });
  const page = await signedIn();
  const walk = new Walk(page);
  await walk.menu(/^Review/);
  await walk.check(page.getByRole('row', { name: new RegExp(lead) }).getByRole('checkbox'));
  await walk.click(button(page, 'Approve selected'));
  await said(page, '1 return approved.');
  walk.ends('approve a return', { clicks: 2, fields: 1 });
});

// askedForYesterday waits for the report of yesterday by buyer, and for a page that says so.
async function askedForYesterday(page: Page, asked: string[]): Promise<void> {
  await shows(page.getByRole('heading', { name: 'Reports' }));
  await shows(page.getByLabel('Period: Yesterday, UTC'));
  await shows(page.getByRole('group', { name: 'Period' }).getByRole('button', { name: 'Yesterday', pressed: true }));
  const day = new Date(Date.now() - 86_400_000).toISOString().slice(0, 10);
  const of = (url: string) => new URL(url).searchParams;
  const isIt = (url: string) => of(url).get('from') === day && of(url).get('by') === 'buyer';
  await expect.poll(() => asked.some(isIt)).toBe(true);
}

test('yesterday’s revenue by buyer', async () => {
  const page = await signedIn();
  const asked: string[] = [];
  page.on('request', (r) => {
    if (r.url().includes('/report?')) asked.push(r.url());
  });
  const walk = new Walk(page);
  await walk.click(page.getByRole('link', { name: 'Yesterday: revenue by buyer' }));
  await askedForYesterday(page, asked);
  walk.ends('yesterday’s revenue by buyer', { clicks: 1, fields: 0 });

  // A filter keeps the period of the address. A preset replaces it.
  await page.locator('summary').getByText('Filters').click();
  await page.getByLabel('Campaign').selectOption('cmp_bids');
  await page.waitForURL(/preset=yesterday.*campaign=cmp_bids/);
  await button(page.getByRole('group', { name: 'Period' }), 'This month').click();
  await shows(page.getByLabel('Period: This month, UTC'));
  expect(page.url()).not.toContain('preset');
  expect(page.url()).toContain('campaign=cmp_bids');
});

test('yesterday’s revenue by buyer, on the report', async () => {
  const page = await signedIn('reports/buyers');
  const asked: string[] = [];
  page.on('request', (r) => {
    if (r.url().includes('/report?')) asked.push(r.url());
  });
  const walk = new Walk(page);
  await walk.click(button(page.getByRole('group', { name: 'Period' }), 'Yesterday'));
  await askedForYesterday(page, asked);
  walk.ends('yesterday’s revenue by buyer, on the report', { clicks: 1, fields: 0 });
});

test('a rotation shows the last use of the key first', async () => {
  await order(place, 'PUT', 'config/suppliers/sup_turn', { id: 'sup_turn' }, { 'If-None-Match': '*' });
  const { hint } = await order<{ hint: string }>(place, 'POST', 'suppliers/sup_turn/keys');
  const page = await signedIn('suppliers/sup_turn/keys');
  const walk = new Walk(page);
  await walk.click(button(page, 'Rotate the key'));
  await shows(dialog(page).getByText(`${hint}…`));
  await shows(dialog(page).getByText('Last use', { exact: false }));
  const keys = () => order<{ keys: object[] }>(place, 'GET', 'suppliers/sup_turn/keys').then((k) => k.keys.length);
  expect(await keys()).toBe(1);
  await walk.click(button(dialog(page), 'Rotate the key'));
  await shows(dialog(page).getByText('It is shown once', { exact: false }));
  expect(await keys()).toBe(2);
  walk.ends('rotate a key', { clicks: 3, fields: 0 });
  const { etag } = await order<{ etag: string }>(place, 'GET', 'config/suppliers/sup_turn');
  await order(place, 'DELETE', 'config/suppliers/sup_turn', undefined, { 'If-Match': `"${etag}"` });
});

test('a lost connection says since when, and goes away by itself', async () => {
  const page = await signedIn('leads');
  await settled(page);
  await page.route('**/admin/v1/**', (route) => route.abort());
  await page.getByRole('link', { name: 'Auctions' }).click();
  await shows(page.getByText(/No connection to the exchange since \d\d:\d\d:\d\d/));
  await page.unroute('**/admin/v1/**');
  await page.getByText(/No connection to the exchange/).waitFor({ state: 'detached' });
});

test('shortcuts lead to pages, rows and help', async () => {
  const page = await signedIn();
  await page.keyboard.press('g');
  await page.keyboard.press('l');
  await shows(page.getByRole('heading', { name: 'Leads' }));
  await settled(page);
  const links = page.locator('tbody a.mono');
  await links.first().focus();
  await page.keyboard.press('ArrowDown');
  expect(await links.nth(1).evaluate((e) => e === document.activeElement)).toBe(true);
  await page.keyboard.press('?');
  await shows(dialog(page).getByText('g l', { exact: true }));
  await page.keyboard.press('Escape');
  await page.keyboard.press('/');
  const search = page.getByRole('searchbox', { name: 'Id, phone or email' });
  await expect.poll(() => search.evaluate((e) => e === document.activeElement)).toBe(true);
  await page.keyboard.press('Control+k');
  await page.getByRole('combobox', { name: /Search/ }).fill('swift');
  await page.keyboard.press('Enter');
  await shows(page.getByRole('heading', { name: 'Swift' }));
});

describe('an empty exchange', () => {
  test('shows the way to the first lead', async () => {
    const exchange = await openSeeded('report: {keep: 30d}\n');
    try {
      const page = await newPage({ baseURL: exchange.admin });
      await page.goto('/');
      await signIn(page, 'op', exchange.password);
      const list = page.getByRole('region', { name: 'Get started' });
      await shows(list.getByText('0 of 5 done'));
      await list.getByRole('link', { name: 'Add a buyer' }).click();
      await page.getByLabel('Id (required)').fill('buy_first');
      await button(page, 'Review changes').click();
      await button(dialog(page), 'Save').click();
      await said(page, 'buy_first is saved and in force.');
      await page.getByRole('link', { name: 'Home', exact: true }).click();
      await shows(list.getByText('1 of 5 done'));
      await shows(list.getByRole('link', { name: 'Add a supplier' }));
    } finally {
      await exchange.close();
    }
  });
});
