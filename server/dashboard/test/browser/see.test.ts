import { readFileSync } from 'node:fs';
import { parquetReadObjects } from 'hyparquet';
import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';
import type { Told } from '../../src/types';
import { openSeeded, order, person, send } from './exchange';
import { browse, button, hasCount, newPage, place, settled, shows, signedIn, signIn, visit } from './page';
import { sizes } from './readable';

browse();

test('home is live, and the system health counts the log', async () => {
  const page = await signedIn();
  await shows(page.getByText('live', { exact: true }));
  await shows(page.getByRole('img', { name: /In the last ten minutes [\d,]+ leads came/ }));
  await visit(page, 'settings/health');
  const entry = () => page.locator('.facts div', { hasText: 'Log entry' }).locator('dd').textContent().then(String);
  const before = await entry();
  await send(place, person('cmp_auto', 'NV'));
  await expect.poll(entry, { timeout: 15_000 }).not.toBe(before);
});

test('home starts with money, of buyers without auctions too', async () => {
  const page = await signedIn();
  const figure = (name: string) => page.locator('.figures .card', { hasText: name }).locator('strong').first();
  const money = async (name: string) => Number((await figure(name).getAttribute('title'))?.replace(/[$,]/g, ''));
  await shows(figure('Revenue'));
  const shown = await money('Revenue');
  const rows = await report('by=buyer');
  const sum = (column: string) => rows.reduce((n, r) => n + Number(r[column] ?? 0), 0);
  expect(shown).toBeGreaterThan(0);
  expect(shown).toBeLessThanOrEqual(sum('revenue') + 0.000001);
  expect(rows.some((r) => r.buyer_id === 'buy_vault' && Number(r.revenue) > 0)).toBe(true);
  const returned = sum('credit') - sum('reversal');
  expect(await money('Revenue')).toBeCloseTo((await money('Payout')) + (await money('Margin')) + returned, 1);
  expect(await figure('Revenue').textContent()).toMatch(/^\$[\d,]+\.\d\d$/);
  await shows(page.getByRole('list', { name: 'Top buyers by revenue' }).getByText('buy_vault'));
  await shows(page.getByRole('list', { name: 'Top sources by revenue' }));
  for (const name of ['Sold rate', 'EPL', 'Payout', 'Margin']) await shows(figure(name));
});

async function report(query: string): Promise<Record<string, unknown>[]> {
  const answer = await fetch(`${place.admin}/admin/v1/report?format=ndjson&${query}`, {
    headers: { Authorization: `Basic ${Buffer.from(`op:${place.password}`).toString('base64')}` },
  });
  return (await answer.text())
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
}

test('home counts the posts and sales of buyers without auctions', async () => {
  await send(place, person('cmp_odd', 'CA'));
  expect((await send(place, person('cmp_auto', 'NV'))).data?.status).toBe('ACCEPTED');
  const page = await signedIn();
  const table = page.getByRole('region', { name: 'Buyers’ health' });
  await shows(table.getByRole('columnheader', { name: 'Sales' }));
  const heads = await table.getByRole('columnheader').allTextContents();
  const value = async (buyer: string, head: string): Promise<number> => {
    const cells = await table.getByRole('row').filter({ hasText: buyer }).getByRole('cell').allTextContents();
    return Number(cells[heads.indexOf(head)]);
  };
  await expect.poll(() => value('buy_odd', 'Posts'), { timeout: 15_000 }).toBeGreaterThan(0);
  await expect.poll(() => value('buy_vault', 'Sales'), { timeout: 15_000 }).toBeGreaterThan(0);
  expect(await value('buy_vault', 'Pings')).toBe(0);
});

for (const tag of ['en-US@posix', '']) {
  test(`the page works in a browser with the language tag "${tag}"`, async () => {
    const page = await newPage();
    await page.addInitScript((language) => {
      Object.defineProperty(Navigator.prototype, 'language', { get: () => language, configurable: true });
      Object.defineProperty(Navigator.prototype, 'languages', { get: () => [language], configurable: true });
    }, tag);
    await page.goto('/');
    await signIn(page);
    await shows(page.getByRole('img', { name: /In the last ten minutes [\d,]+ leads came/ }));
    for (const at of ['leads', 'reports', 'campaigns/cmp_auto', 'statements']) await visit(page, at);
  });
}

test('leads are searched, and one is followed to its buyer', async () => {
  const page = await signedIn('leads');
  await settled(page);
  await page.getByText('Filters').click();
  await page.getByRole('combobox', { name: 'Campaign' }).selectOption('cmp_auto');
  await page.getByRole('combobox', { name: 'Status' }).selectOption('ACCEPTED');
  await page.waitForURL(/campaign=cmp_auto&status=ACCEPTED/);
  await settled(page);
  await shows(page.getByRole('cell', { name: 'Sold' }));
  await hasCount(page.getByRole('cell', { name: 'Unsold' }), 0);
  await page.keyboard.press('Escape');
  await page.getByRole('link', { name: place.sold }).click();
  await shows(page.getByText('Sold to buy_picky', { exact: false }));
  await page.getByRole('link', { name: 'buy_picky' }).first().click();
  await shows(page.getByRole('heading', { name: 'buy_picky' }));
  await page.goBack();
  await shows(page.getByText('Sold to buy_picky', { exact: false }));
});

test('any id is found from any page', async () => {
  const page = await signedIn('caps');
  const told = await order<{ auction_id: string; request_id: string }>(place, 'GET', `explain/${place.auctioned}`);
  for (const id of [place.auctioned, told.auction_id, told.request_id]) {
    await page.keyboard.press('Control+k');
    await page.getByRole('combobox', { name: /Search/ }).fill(id);
    await page.keyboard.press('Enter');
    await shows(page.getByRole('heading', { name: id }));
    await page.getByRole('navigation', { name: 'Views' }).getByRole('link', { name: 'Auction' }).click();
    await shows(page.getByRole('region', { name: 'Timeline, by buyer' }));
  }
  for (const buyer of ['Swift', 'Slow and rich', 'West', 'Mute']) {
    await shows(page.locator('.lane', { hasText: buyer }));
  }
  await shows(page.locator('.lane', { hasText: 'Mute' }).getByText('timeout'));
});

test('auctions are searched by what a buyer came to', async () => {
  const page = await signedIn('auctions?buyer=bid_mute&outcome=timeout');
  await settled(page);
  await page.locator('td .mono').first().click();
  await shows(page.getByRole('region', { name: 'Timeline, by buyer' }));
});

test('lists have the arrival of a lead, and the sale of an auction', async () => {
  const told = await order<Told>(place, 'GET', `explain/${place.auctioned}`);
  const page = await signedIn('leads');
  const row = page.getByRole('row').filter({ has: page.locator(`[title="${place.auctioned}"]`) });
  const at = String(await row.locator('time').getAttribute('datetime'));
  expect(Math.abs(Date.parse(at) - Date.parse(told.received_at))).toBeLessThan(5);
  await visit(page, 'auctions');
  const auction = page.getByRole('row').filter({ has: page.locator(`[title="${place.auction}"]`) });
  await shows(auction.getByText('Sold', { exact: true }));
  await shows(auction.locator(`[title="${told.buyer_id}"]`));
  await visit(page, `leads/${place.auctioned}/requests`);
  const requests = page.getByRole('region', { name: 'Requests and responses' });
  const sent = await requests
    .getByRole('row')
    .filter({ hasText: 'post' })
    .locator('time')
    .first()
    .getAttribute('datetime');
  expect(Date.parse(String(sent)) - Date.parse(String(told.posts[0]?.intended_at))).toBeLessThan(50);
});

test('a report by buyer has no leads for a buyer, and names the units of outcomes', async () => {
  const page = await signedIn('reports/custom?by=buyer&measure=leads');
  const rows = page.getByRole('region', { name: 'Rows of the report' });
  await shows(rows.getByRole('columnheader', { name: 'Leads' }));
  const heads = await rows.getByRole('columnheader').allTextContents();
  const cells = await rows.getByRole('row').filter({ hasText: 'Swift' }).first().getByRole('cell').allTextContents();
  expect(cells[heads.indexOf('Leads')]).toBe('–');
  await shows(rows.getByRole('cell', { name: 'none' }));
  await hasCount(page.getByRole('list', { name: 'Leads by buyer' }).getByRole('listitem'), 1);
  const mute = await rows.getByRole('row').filter({ hasText: 'Mute' }).first().getByRole('cell').allTextContents();
  expect(mute[heads.indexOf('Ping p50 ms')]).toBe('–');
  await visit(page, 'reports/unsold');
  const buyers = page.getByRole('list', { name: 'Pings, bids and posts by buyer' });
  await shows(
    buyers
      .getByRole('listitem')
      .filter({ hasText: 'Mute' })
      .getByText(/^\d+ pings$/),
  );
});

test('unsold reasons lead down to the leads', async () => {
  const page = await signedIn('unmatched');
  await page
    .getByRole('link', { name: /cmp_auto/ })
    .first()
    .click();
  await page.waitForURL(/unsold\?campaign=cmp_auto/);
  await settled(page);
  await page
    .getByRole('link', { name: /no state match/ })
    .first()
    .click();
  await page.waitForURL(/leads\?.*reason=no_state_match/);
  await settled(page);
  await shows(page.getByRole('cell', { name: 'no state match' }));
  const link = page.locator('td a.mono').first();
  const id = String(await link.getAttribute('title'));
  await link.click();
  await shows(page.getByRole('heading', { name: id }));
  await shows(page.getByText('Unsold', { exact: true }));
});

test('caps show how full they are', async () => {
  const page = await signedIn('caps?buyer=buy_picky');
  const gauge = page.getByRole('meter', { name: /buy_picky leads per day/ });
  await shows(gauge);
  expect(Number(await gauge.getAttribute('aria-valuemax'))).toBe(8);
  expect(await gauge.getAttribute('aria-valuetext')).toMatch(/^\d+ of 8/);
});

test('a test lead is made up, sent, and drawn', async () => {
  const page = await signedIn('bench');
  await page.getByLabel('Campaign').selectOption('cmp_bids');
  await page.getByLabel('Supplier').selectOption('sup_acme');
  await button(page, 'Generate sample').click();
  const lead = page.getByRole('textbox', { name: 'Lead' });
  await page.waitForFunction(() => (document.querySelector('textarea')?.value.length ?? 0) > 20);
  await button(page, 'Send test lead').click();
  await shows(page.getByText('HTTP 201'));
  await shows(page.getByRole('region', { name: 'Timeline, by buyer' }));
  await shows(page.locator('.lane', { hasText: 'Swift' }));
  await lead.fill('{"state": 7}');
  await button(page, 'Send test lead').click();
  await shows(page.getByText('HTTP 422'));
  await shows(page.locator('li', { hasText: 'state' }));
  await lead.fill('{');
  await button(page, 'Send test lead').click();
  await shows(page.getByRole('alert').getByText('This is not JSON'));
});

async function download(page: Page, name: string): Promise<Buffer> {
  const [file] = await Promise.all([page.waitForEvent('download'), page.getByRole('link', { name }).click()]);
  return readFileSync(await file.path());
}

// parquet is what is in such a file, by a reader that shares no code with what wrote it.
async function parquet(file: Buffer): Promise<Record<string, unknown>[]> {
  return parquetReadObjects({ file: new Uint8Array(file).slice().buffer });
}

// This reader gives whole numbers in 64 bits, and decimals as a multiple of 0.000001.
const number = (_: string, value: unknown): unknown =>
  typeof value === 'bigint' ? Number(value) : typeof value === 'number' ? Number(value.toFixed(6)) : value;

test('a report is drawn, and exported whole', async () => {
  const page = await signedIn('reports?by=buyer&measure=pings');
  await settled(page);
  await shows(page.getByRole('list', { name: 'pings by buyer' }).getByText('Swift'));
  const csv = String(await download(page, 'Export CSV'));
  expect(csv).toMatch(/^buyer_id,currency,revenue,payout,/);
  expect(csv).not.toContain('total');
  const total = page.getByRole('row', { name: /^Total/ });
  const pings = String(csv)
    .trim()
    .split('\n')
    .slice(1)
    .reduce((sum, line) => sum + Number(line.split(',')[csv.split('\n')[0]?.split(',').indexOf('pings') ?? 0]), 0);
  expect(await total.locator('td[data-head="Pings"]').textContent()).toBe(String(pings));
  const rows = String(await download(page, 'Export NDJSON'))
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
  expect(rows.map((row) => row.buyer_id)).toContain('bid_swift');
  const typed = await parquet(await download(page, 'Export Parquet'));
  expect(typed.map((row) => JSON.stringify(row, number))).toEqual(rows.map((row) => JSON.stringify(row)));
  await page.getByLabel('state', { exact: true }).check();
  await button(page, 'Show').click();
  await page.waitForURL(/by=buyer%2Cstate/);
  await settled(page);
  await shows(page.getByRole('columnheader', { name: 'state' }));
  await visit(page, 'reports?from=2020-01-01&to=2020-01-02');
  await shows(page.locator('.state'));
});

test('the leads of a search are exported, with the visible columns', async () => {
  const page = await signedIn('leads?campaign=cmp_auto&status=UNMATCHED');
  await settled(page);
  const ids = (await page.locator('td a.mono').evaluateAll((all) => all.map((a) => a.getAttribute('title')))).sort();
  const lines = String(await download(page, 'Export CSV'))
    .trim()
    .split(/\r?\n/);
  expect(lines[0]).toBe('id,at,status,delivery,reason,test,campaign,supplier,source,state,buyer,price,currency,payout');
  expect(
    lines
      .slice(1)
      .map((line) => line.split(',')[0])
      .sort(),
  ).toEqual(ids);
  await page.getByText('Columns', { exact: true }).first().click();
  for (const column of ['Supplier', 'Price', 'Winning buyer'])
    await page.getByRole('checkbox', { name: column, exact: true }).uncheck();
  const rows = String(await download(page, 'Export NDJSON'))
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
  const shown = [
    'id',
    'at',
    'status',
    'delivery',
    'reason',
    'test',
    'campaign',
    'source',
    'state',
    'payout',
    'currency',
  ];
  for (const row of rows) {
    expect(Object.keys(row)).toEqual(shown);
    expect([row.campaign, row.status]).toEqual(['cmp_auto', 'UNMATCHED']);
  }
  const typed = await parquet(await download(page, 'Export Parquet'));
  expect(typed.map((row) => row.id)).toEqual(rows.map((row) => row.id));
});

test('the time zone is that of the exchange, unless the user chooses one', async () => {
  const exchange = await openSeeded('report: {keep: 30d}\ntime_zone: America/New_York\n');
  try {
    const page = await newPage({ baseURL: exchange.admin });
    const asked: string[] = [];
    page.on('request', (r) => asked.push(r.url()));
    await page.goto('/#/reports/custom');
    await signIn(page, 'op', exchange.password);
    await shows(page.getByLabel('Period: Today, America/New_York'));
    await expect.poll(() => asked.some((url) => url.includes('zone=America%2FNew_York'))).toBe(true);
    await page.getByLabel(/^Period:/).click();
    await page.getByLabel('Time zone').fill('Asia/Tokyo');
    await shows(page.getByLabel('Period: Today, Asia/Tokyo'));
    await page.reload();
    await shows(page.getByLabel('Period: Today, Asia/Tokyo'));
    await page.getByLabel(/^Period:/).click();
    await button(page, 'Use America/New_York, as the exchange').click();
    await shows(page.getByLabel('Period: Today, America/New_York'));
    await page.reload();
    await shows(page.getByLabel('Period: Today, America/New_York'));
  } finally {
    await exchange.close();
  }
});

test('colours can be chosen, and are kept', async () => {
  const page = await newPage({ colorScheme: 'light' });
  await page.goto('/');
  await signIn(page);
  const ground = () => page.evaluate(() => getComputedStyle(document.documentElement).backgroundColor);
  const light = await ground();
  await page.getByLabel(/^Account of/).click();
  await page.getByLabel('Colors').selectOption('dark');
  const dark = await ground();
  expect(dark).not.toBe(light);
  await page.reload();
  await shows(page.getByLabel(/^Account of/));
  expect(await ground()).toBe(dark);
  await page.getByLabel(/^Account of/).click();
  await page.getByLabel('Colors').selectOption('system');
  expect(await ground()).toBe(light);
});

test('the page is used by keyboard alone', async () => {
  const page = await signedIn('caps');
  await settled(page);
  const at = () => page.evaluate(() => document.activeElement?.textContent?.trim() ?? '');
  const first = page.locator('#page button, #page a, #page input, #page select').first();
  await first.focus();
  expect(await at()).toBe('Skip to content');
  expect(await page.evaluate(() => document.activeElement?.getBoundingClientRect().left ?? -1)).toBeGreaterThanOrEqual(
    0,
  );
  await page.keyboard.press('Enter');
  await expect.poll(at).toBe('Cap use');
  const returns = page.getByRole('navigation', { name: 'Pages' }).getByRole('link', { name: /^Review/ });
  await returns.focus();
  expect(await returns.evaluate((e) => getComputedStyle(e).outlineStyle)).not.toBe('none');
  await page.keyboard.press('Enter');
  await shows(page.getByRole('heading', { name: 'Needs review' }));
  await expect.poll(at).toBe('Needs review');
  await visit(page, 'buyers/bid_west/access');
  const remove = button(page, 'New token');
  await remove.focus();
  await page.keyboard.press('Enter');
  await shows(page.getByRole('dialog'));
  await page.keyboard.press('Escape');
  await hasCount(page.getByRole('dialog'), 0);
  await expect.poll(at).toBe('New token');
});

test('on a phone the menu opens and closes', async () => {
  const page = await signedIn('', { viewport: { width: 390, height: 844 } });
  const link = page.getByRole('navigation', { name: 'Pages' }).getByRole('link', { name: 'Reports' });
  expect(await link.isVisible()).toBe(false);
  await button(page, 'Menu').click();
  await link.click();
  await shows(page.getByRole('heading', { name: 'Reports' }));
  expect(await link.isVisible()).toBe(false);
});

test('on a phone the row of tabs shows the present one', async () => {
  const page = await signedIn(`leads/${place.sold}/audit`, { viewport: { width: 390, height: 844 } });
  for (const name of ['Audit', 'Summary', 'Money']) {
    await visit(page, `leads/${place.sold}/${name.toLowerCase()}`);
    const tab = page.getByRole('navigation', { name: 'Views' }).getByRole('link', { name, exact: true });
    await expect.poll(() => tab.getAttribute('aria-current')).toBe('page');
    const box = await tab.boundingBox();
    expect(box && box.x >= 0 && box.x + box.width <= 390, `${name}: ${JSON.stringify(box)}`).toBe(true);
  }
});

test.each([sizes.phone, sizes.desktop])('no field with the focus is behind the bar of a new campaign', async (size) => {
  const page = await signedIn('campaigns/+', { viewport: size });
  await page.getByLabel('Name').focus();
  const behind = () =>
    page.evaluate(() => {
      const [at, bar] = [document.activeElement, document.querySelector('.sticky')];
      if (!at || !bar || at === document.body || bar.contains(at)) return null;
      return at.getBoundingClientRect().bottom > bar.getBoundingClientRect().top;
    });
  let fields = 0;
  for (; (await behind()) !== null; fields++) {
    expect(await behind(), `field ${fields}`).toBe(false);
    await page.keyboard.press('Tab');
  }
  expect(fields).toBeGreaterThan(8);
});

test('no data, not there and not reached are told apart', async () => {
  const page = await signedIn('leads?source=none-such');
  await shows(page.getByText('No lead matches these filters'));
  await visit(page, 'buyers/buy_none');
  await shows(page.getByRole('heading', { name: 'No such buyer' }));
  expect(await page.getByRole('link', { name: 'Delivery' }).count()).toBe(0);
  await page.getByRole('link', { name: 'All buyers' }).click();
  await shows(page.getByRole('heading', { name: 'Buyers' }));
  await page.route('**/admin/v1/caps*', (route) => route.abort());
  await visit(page, 'caps');
  await shows(page.getByText('The exchange cannot be reached', { exact: false }));
  await page.unroute('**/admin/v1/caps*');
  await button(page, 'Try again').click();
  await shows(page.getByRole('meter'));
  await page.route('**/admin/v1/leads*', (route) =>
    route.fulfill({
      status: 404,
      json: { error: 'not_found', message: 'This exchange keeps no report; give report.keep a time.' },
    }),
  );
  await visit(page, 'leads');
  await shows(page.getByText('This exchange keeps no report'));
});
