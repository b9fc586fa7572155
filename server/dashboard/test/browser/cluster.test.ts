import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { browse, button, settled, shows, signedIn, visit } from './page';
import { readable } from './readable';

browse();

const node = (id: string, more: object = {}) => ({
  id,
  address: `10.0.0.${id.charCodeAt(0) - 96}:7400`,
  role: 'follower',
  member: true,
  reachable: true,
  last_contact_ms: 12,
  entry: 18_210,
  lag_entries: 2,
  version: '1.4.0',
  error: null,
  ...more,
});

// inCluster answers for three nodes, because the exchange of these tests is a single one. A hand-over
// changes the leader.
async function inCluster(page: Page, cAnswers: boolean): Promise<string[]> {
  let leader = 'a';
  const orders: string[] = [];
  const lost = { role: 'unknown', reachable: false, lag_entries: 262, last_contact_ms: 61_250, version: null };
  await page.route('**/admin/v1/cluster', (route) =>
    route.fulfill({
      json: {
        node: 'a',
        role: leader === 'a' ? 'leader' : 'follower',
        leader,
        term: 7,
        entry: 18_212,
        nodes: ['a', 'b', 'c'].map((id) =>
          node(id, {
            ...(id === leader ? { role: 'leader', lag_entries: 0 } : {}),
            ...(id === 'c' && !cAnswers ? { ...lost, error: 'connection refused' } : {}),
          }),
        ),
      },
    }),
  );
  await page.route('**/admin/v1/cluster/handover', (route) => {
    const { to } = route.request().postDataJSON();
    orders.push(to);
    leader = to;
    return route.fulfill({ status: 204 });
  });
  return orders;
}

test('an admin sees the nodes, and hands over to another leader', async () => {
  const page = await signedIn();
  const orders = await inCluster(page, true);
  await visit(page, 'settings');
  await page.getByRole('link', { name: 'Cluster' }).click();
  await settled(page);
  const row = (id: string) => page.locator('#main tbody tr').filter({ has: page.getByText(id, { exact: true }) });
  await shows(row('a').getByText('leader', { exact: true }));
  await shows(row('b').getByText('12 ms'));
  expect(await button(page, 'Hand over to a').count()).toBe(0);
  await button(page, 'Hand over to b').click();
  await shows(page.locator('dialog').getByText('Node a finishes the requests'));
  expect(orders).toEqual([]);
  await page.locator('dialog').getByRole('button', { name: 'Hand over' }).click();
  await shows(row('b').getByText('leader', { exact: true }));
  expect(orders).toEqual(['b']);
  await readable(page);
});

test('a lost node has its reason, and no button', async () => {
  const page = await signedIn();
  await inCluster(page, false);
  await visit(page, 'settings/cluster');
  await shows(page.getByText('Node c is not reachable (connection refused).'));
  await shows(page.locator('#main tbody tr').getByText('not reachable', { exact: true }));
  expect(await button(page, 'Hand over to c').count()).toBe(0);
  await readable(page);
  if (process.env.CLUSTER_SHOT) await page.screenshot({ path: process.env.CLUSTER_SHOT, fullPage: true });
});

test('a single node has no tab for a cluster', async () => {
  const page = await signedIn('settings/health');
  await settled(page);
  expect(await page.getByRole('link', { name: 'Cluster' }).count()).toBe(0);
});
