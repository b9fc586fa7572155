import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { order } from './exchange';
import { browse, button, place, settled, shows, signedIn, visit } from './page';

browse();

interface Entries {
  entries: { operation: string; target: string; outcome: string }[];
}

// recorded waits until the report has an action, because it follows the log.
async function recorded(query: string): Promise<void> {
  for (;;) {
    const { entries } = await order<Entries>(place, 'GET', `audit?${query}`);
    if (entries.length > 0) return;
    await new Promise((next) => setTimeout(next, 100));
  }
}

test('a change is found by operator and target, shows before and after, and is exported', async () => {
  await order(place, 'POST', 'buyers/bid_west/pause');
  await order(place, 'POST', 'buyers/bid_west/resume');
  await recorded('target=bid_west&operation=POST%20/admin/v1/buyers/%7Bid%7D/resume');
  const page = await signedIn('settings/audit?target=bid_west&actor=op');
  await settled(page);
  const row = page.locator('#main tbody tr', { hasText: 'Paused a buyer' }).first();
  await shows(row.getByText('Shared password (name not verified)', { exact: false }));
  await shows(row.locator('del', { hasText: 'active' }));
  await shows(row.locator('ins', { hasText: 'paused' }));
  const [file] = await Promise.all([
    page.waitForEvent('download'),
    page.getByRole('link', { name: 'Export CSV' }).click(),
  ]);
  const lines = readFileSync(await file.path(), 'utf8')
    .trim()
    .split('\n');
  expect(lines.length).toBeGreaterThan(2);
  expect(lines.slice(1).every((line) => line.includes('bid_west'))).toBe(true);
  await visit(page, 'settings/audit?actor=nobody');
  await shows(page.getByText('No action is recorded here'));
  await page.getByRole('link', { name: 'Clear all' }).click();
  await shows(page.locator('#main tbody tr'));
});

test('an action whose outcome the log lacks says so, and further pages follow', async () => {
  const page = await signedIn();
  // The exchange would have to stop between two records: the answer is made here.
  await page.route('**/admin/v1/audit?*', async (route) => {
    const url = new URL(route.request().url());
    const after = url.searchParams.get('after');
    url.searchParams.delete('after');
    const answer = await (await route.fetch({ url: url.href })).json();
    const first = { ...answer.entries[0], id: `req_${after ?? 'first'}`, outcome: 'unknown', status: null };
    await route.fulfill({ json: { entries: [first], next: after ? null : 'second' } });
  });
  await visit(page, 'settings/audit');
  await shows(page.getByText('Outcome not recorded: the exchange stopped'));
  await button(page, 'More').click();
  await page.waitForFunction(() => document.querySelectorAll('#main tbody tr').length === 2);
});
