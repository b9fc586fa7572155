// Pages show configuration, changes and requests in words, not as keys and ids.

import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { browse, settled, shows, signedIn, visit } from './page';

browse();

// fact returns the text of a labelled value.
const fact = (page: Page, label: string) =>
  page
    .locator('.facts > div')
    .filter({ has: page.locator(':scope > dt').getByText(label, { exact: true }) })
    .last()
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
  expect(await fact(page, 'Accepted')).toBe('ok');
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
