// Pages show configuration, changes and requests in words, not as keys and ids.

import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { order } from './exchange';
import { browse, place, settled, shows, signedIn, visit } from './page';

browse();

const create = { 'If-None-Match': '*' };

// fact returns the text of a labelled value.
const fact = (page: Page, label: string) =>
  page
    .locator('.facts > div')
    .filter({ has: page.locator(':scope > dt').getByText(label, { exact: true }) })
    .first()
    .locator('> dd')
    .innerText();

test('the configuration that a file manages has the labels and words of the form', async () => {
  const page = await signedIn('campaigns/cmp_auto/rules');
  await settled(page);
  expect(await fact(page, 'Window')).toBe('30 days');
  expect(await fact(page, 'Match')).toBe('any of these fields');
  expect(await fact(page, 'Scope')).toBe('all leads of the campaign');
  await visit(page, 'campaigns/cmp_auto/returns');
  expect(await fact(page, 'Approval')).toBe('by an operator');
  expect(await page.getByText('Returns', { exact: true }).count()).toBe(1); // the tab alone
  await visit(page, 'suppliers/sup_acme/settings');
  expect(await fact(page, 'Leads a second')).toBe('100,000');
  expect(await fact(page, 'Bytes a second')).toMatch(/^[\d.]+ MB$/);
  await visit(page, 'buyers/buy_odd/delivery');
  expect(await fact(page, 'Answer')).toBe('Accepted when the field ok is true');
  expect(await fact(page, 'Post timeout')).toBe('10 seconds');
});

test('a summary does not repeat the table above it', async () => {
  const page = await signedIn('campaigns/cmp_bids/buyers');
  await shows(page.getByText('Managed by'));
  expect(await page.getByText('Slow and rich').count()).toBe(1);
  await visit(page, 'campaigns/cmp_bids/fields');
  const row = page.getByRole('row').filter({ hasText: 'vehicle_count' });
  await shows(row.getByText('Vehicle count'));
  await shows(row.getByText('At least: 0; At most: 20'));
  expect(await fact(page, 'Unknown fields')).toBe('drop');
  await visit(page, 'suppliers/sup_acme/webhooks');
  await settled(page);
  expect(await page.getByText('/hooks').count()).toBe(1);
  await visit(page, 'suppliers/sup_zenith/webhooks');
  await shows(page.getByText('No webhook yet'));
});

test('the history of an entry and the audit log name fields, values and entries in words', async () => {
  const buyer = { id: 'buy_words', name: 'Words Inc', caps: [{ per: 'day', count: 5 }] };
  const put = (body: object, headers: object) =>
    order<{ etag: string }>(place, 'PUT', 'config/buyers/buy_words', body, headers);
  const { etag } = await put(buyer, create);
  const changed = { ...buyer, post_timeout: '20s', caps: [{ per: 'day', count: 2000 }] };
  const after = await put(changed, { 'If-Match': `"${etag}"` });
  try {
    const page = await signedIn('buyers/buy_words/settings');
    const history = page.locator('.history');
    await shows(history.getByText('Caps 1, Leads: 5 → 2,000'));
    await shows(history.getByText('Post timeout: 10 seconds → 20 seconds'));
    await history.getByText('whole entry').click();
    expect(await fact(page, 'Caps')).toBe('5 leads per day');
    await visit(page, 'settings/history');
    await shows(history.getByText('Buyer Words Inc, Post timeout: 10 seconds → 20 seconds'));

    await expect.poll(() => audited('target=buy_words'), { timeout: 15_000 }).toBe(2);
    await visit(page, 'settings/audit?target=buy_words');
    const row = page.locator('#main tbody tr').first();
    await shows(row.getByText('Saved a buyer'));
    await shows(row.getByText('Caps 1, Leads: 5 → 2,000'));
    await visit(page, 'settings/audit?operation=POST /admin/v1/webhooks/{id}/off');
    await shows(row.getByText('Turned off a webhook'));
    await shows(page.getByRole('link', { name: 'Acme Leads' }));
    await shows(page.getByText('Webhook: on → off').first());
    expect(await page.locator('#main table').innerText()).not.toMatch(/webhooks\/|sup_acme|dead|false|true/);
  } finally {
    await order(place, 'DELETE', 'config/buyers/buy_words', undefined, { 'If-Match': `"${after.etag}"` });
  }
});

const audited = async (query: string): Promise<number> =>
  (await order<{ entries: object[] }>(place, 'GET', `audit?${query}`)).entries.length;

test('a lead shows names, its fields in words, and the limit of a missing answer', async () => {
  const page = await signedIn(`leads/${place.auctioned}/summary`);
  await shows(page.getByRole('row').filter({ hasText: 'Mute' }).getByText('No answer within 2,000 ms'));
  await visit(page, `leads/${place.auctioned}/requests`);
  await shows(page.getByRole('row').filter({ hasText: 'Mute' }).getByText('no answer within 2,000 ms'));
  expect(await page.locator('#main .card').allInnerTexts()).not.toContainEqual(expect.stringMatching(/bid_|dead/));
  await visit(page, `leads/${place.auctioned}/data`);
  expect(await fact(page, 'Vehicle count')).toMatch(/^\d$/);
});

test('an empty page names the next action', async () => {
  const page = await signedIn(`leads/${place.auctioned}/audit`);
  await shows(page.getByText('No operator has acted on this lead'));
  await shows(page.locator('.state').getByRole('link', { name: 'audit log' }));
  await order(place, 'PUT', 'config/suppression_lists/quiet', { id: 'quiet', field: 'email', hash: 'md5' }, create);
  await visit(page, 'compliance/suppression');
  await page.getByRole('link', { name: 'Upload entries of quiet' }).click();
  await shows(page.getByText('Each line has an email address or its MD5 hash.'));
  await shows(page.getByText('0: it stops no lead until you upload a file'));
  await visit(page, 'settings/account');
  await page.getByRole('link', { name: 'Invite yourself under Team' }).click();
  await shows(page.getByText('sign in with the shared password'));
  await visit(page, 'compliance/suppression/none');
  await shows(page.getByRole('heading', { name: 'No such suppression list' }));
  await visit(page, 'reports/statements?buyer=buy_vault');
  await shows(page.getByText(/^Sale/).first());
});
