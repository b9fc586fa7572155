// Shows for each buyer why it did not get a lead, before and after the lead is sent.

import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import type { Page, Response } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { order, person, send } from './exchange';
import { browse, button, place, settled, shows, signedIn, visit } from './page';

browse();

// The entries of a market in which each buyer has a reason of its own.
const entries: [string, object][] = [
  ['suppression_lists/no_call', { field: 'phone' }],
  ['buyers/buy_one_a_day', { name: 'One a day', caps: [{ per: 'day', count: 1 }] }],
  ['buyers/buy_cars', {}],
  ['buyers/buy_texas', {}],
  [
    'campaigns/cmp_why',
    {
      method: 'waterfall',
      suppression: ['no_call'],
      fields: [{ name: 'vehicle_count', type: 'integer' }],
      buyers: [
        { buyer: 'buy_one_a_day', price: 3 },
        { buyer: 'buy_cars', price: 4, filters: [{ field: 'vehicle_count', min: 1 }] },
        { buyer: 'buy_texas', price: 5, states: ['TX'] },
      ],
    },
  ],
  [
    'campaigns/cmp_never',
    {
      method: 'waterfall',
      fields: [{ name: 'vehicle_count', type: 'integer', max: 3 }],
      buyers: [{ buyer: 'buy_cars', price: 4, filters: [{ field: 'vehicle_count', min: 5 }] }],
    },
  ],
];

let [sold, capped, twice, listed] = ['', '', '', ''];

beforeAll(async () => {
  for (const [at, document] of entries) {
    const body = { id: at.split('/')[1], ...document };
    await order(place, 'PUT', `config/${at}`, body, { 'If-None-Match': '*' });
  }
  const list = await fetch(`${place.admin}/admin/v1/suppression/no_call`, {
    method: 'PUT',
    headers: { Authorization: `Basic ${Buffer.from(`op:${place.password}`).toString('base64')}` },
    body: '+16505550711\n',
  });
  expect(list.status).toBeLessThan(300);
  const lead = async (more: object) => String((await send(place, person('cmp_why', 'CA', more))).data?.id);
  const who = { phone: '(650) 555-0710', email: 'twice@example.com' };
  sold = await lead(who);
  capped = await lead({});
  twice = await lead(who);
  listed = await lead({ phone: '(650) 555-0711' });
});

afterAll(async () => {
  for (const [at] of entries.toReversed()) {
    const { etag } = await order<{ etag: string }>(place, 'GET', `config/${at}`);
    await order(place, 'DELETE', `config/${at}`, undefined, { 'If-Match': `"${etag}"` });
  }
});

const table = (page: Page) => page.getByRole('region', { name: 'Buyers in campaign' });
const rowOf = (page: Page, buyer: string) => table(page).getByRole('row').filter({ hasText: buyer });

test('each buyer has its rule, on the summary, on the timeline and on the command line', async () => {
  const page = await signedIn(`leads/${capped}`);
  // The page has the names of buyers and fields, the command line their ids.
  const cap = ': required at most 1 leads per day, got 1 used and 1 needed';
  const texts: [string, string, string][] = [
    ['buy_one_a_day', `cap of buyer One a day (buy_one_a_day)${cap}`, `cap of buyer buy_one_a_day${cap}`],
    ['buy_cars', 'Vehicle count: required >= 1, got none', 'vehicle_count: required >= 1, got none'],
    ['buy_texas', 'State: required one of TX, got CA', 'state: required one of TX, got CA'],
  ];
  for (const [buyer, text] of texts) await shows(rowOf(page, buyer).getByText(text));
  await shows(rowOf(page, 'buy_one_a_day').getByText('(worked out from the log)'));
  const gauge = rowOf(page, 'buy_one_a_day').getByRole('meter');
  expect(await gauge.getAttribute('aria-valuetext')).toBe('1 of 1');
  await page.getByRole('link', { name: 'Auction' }).last().click();
  for (const [buyer, text] of texts) await shows(page.locator('.lane', { hasText: buyer }).getByText(text));
  await shows(page.locator('.lane').getByRole('meter'));

  const args = ['explain', capped, '--admin', place.admin];
  const env = { ...process.env, PINGPOST_ADMIN_PASSWORD: place.password };
  const { stdout } = await promisify(execFile)(String(process.env.PINGPOST_PROGRAM), args, { env });
  const printed = stdout.replace(/\s+/g, ' ');
  for (const [, , text] of texts) expect(printed).toContain(text);
});

test('the campaign’s own rule links to the earlier lead and to the list', async () => {
  const page = await signedIn(`leads/${listed}`);
  await shows(page.locator('.note', { hasText: 'suppression list' }));
  await page.locator('.note').getByRole('link', { name: 'no_call' }).click();
  await shows(page.getByRole('heading', { name: 'no_call' }));
  await visit(page, `leads/${twice}`);
  await shows(page.getByText('duplicate: the campaign already has', { exact: false }));
  await page.locator('.note').getByRole('link', { name: sold }).click();
  await shows(page.getByRole('heading', { name: sold }));
  await shows(page.getByText('Sold to One a day for', { exact: false }));
});

test('a value that is no longer known is marked', async () => {
  const page = await signedIn();
  await page.route('**/admin/v1/explain/*', async (route) => {
    const answer = await route.fetch();
    const told = (await answer.json()) as { candidates: { rule?: { basis?: string } }[] };
    for (const c of told.candidates) if (c.rule) c.rule.basis = 'unknown';
    await route.fulfill({ response: answer, json: told });
  });
  await visit(page, `leads/${capped}`);
  await shows(rowOf(page, 'buy_cars').getByText('(no longer known)'));
});

test('a dry run shows the decision about each buyer and sends nothing', async () => {
  const page = await signedIn('test');
  await page.getByLabel('Campaign').selectOption('cmp_why');
  await button(page, 'Generate sample').click();
  const lead = page.getByRole('textbox', { name: 'Lead' });
  await expect.poll(() => lead.inputValue()).toContain('"phone"');
  expect(await page.getByLabel('Supplier').inputValue()).not.toBe('');
  await shows(page.getByText('accept the sample', { exact: false }));
  await lead.fill(JSON.stringify({ ...JSON.parse(await lead.inputValue()), state: 'TX', vehicle_count: 0 }));
  const sent: { dry_run?: boolean }[] = [];
  page.on('request', (r) => {
    if (r.url().endsWith('/bench')) sent.push(r.postDataJSON());
  });
  const answers: Response[] = [];
  page.on('response', (r) => {
    if (r.url().endsWith('/bench')) answers.push(r);
  });
  await button(page, 'Dry run').click();
  await shows(page.getByText('Nothing was sent.'));
  const decided = page.getByRole('region', { name: 'Decision about each buyer' });
  await shows(
    decided.getByRole('row').filter({ hasText: 'buy_cars' }).getByText('Vehicle count: required >= 1, got 0'),
  );
  await shows(page.getByText('The lead would go to', { exact: false }));
  expect(sent.map((s) => s.dry_run)).toEqual([true]);
  expect(await answers[0]?.json()).toMatchObject({ lead: null, dry_run: { decision: 'sold' } });

  await page.getByLabel('Campaign').selectOption('cmp_bids');
  await button(page, 'Dry run').click();
  await shows(page.getByText(/\d buyers? would get a ping/));
  await lead.fill('{"state": 7}');
  await button(page, 'Dry run').click();
  await shows(page.getByText('HTTP 422'));
  await shows(page.locator('li', { hasText: 'state' }));
});

test('a sample of a campaign that can sell no lead names the contradiction', async () => {
  const page = await signedIn('test');
  await page.getByLabel('Campaign').selectOption('cmp_never');
  await button(page, 'Generate sample').click();
  const note = page.locator('.note', { hasText: 'No buyer of this campaign can accept any lead' });
  await shows(note.getByText('vehicle_count', { exact: false }));
  await settled(page);
});
