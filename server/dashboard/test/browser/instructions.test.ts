import { readFileSync } from 'node:fs';
import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { openSeeded, order, send } from './exchange';
import { browse, button, dialog, newPage, place, said, settled, shows, signedIn, signIn, visit } from './page';

browse();

const download = async (page: Page, name: string): Promise<Buffer> => {
  const [file] = await Promise.all([
    page.waitForEvent('download'),
    page.getByRole('link', { name: `Download ${name}` }).click(),
  ]);
  return readFileSync(await file.path());
};

test('a campaign’s instructions for a supplier are shown, downloaded, and given by a link that is revoked', async () => {
  const page = await signedIn('campaigns/cmp_bids/instructions');
  await settled(page);
  await shows(page.getByText('Set public_url', { exact: false }));
  await page.getByLabel('Supplier', { exact: true }).selectOption('sup_acme');
  const fields = page.getByRole('region', { name: 'Fields' });
  await shows(fields.getByText('vehicle_count', { exact: true }));
  await shows(fields.getByText('campaign_id', { exact: true }));
  expect(await page.locator('#main').innerText()).not.toMatch(/bid_swift|Swift/);
  expect((await download(page, 'Markdown')).toString()).toContain('vehicle_count');
  expect((await download(page, 'PDF')).subarray(0, 5).toString()).toBe('%PDF-');

  await page.getByLabel('The link works for').selectOption('1d');
  await button(page, 'Copy link for the supplier').click();
  await shows(dialog(page).getByText(/can read the instructions until \d{4}-/));
  const link = await dialog(page).getByRole('textbox').inputValue();
  await button(dialog(page), 'Done').click();
  const read = async () => (await fetch(link)).status;
  expect(await read()).toBe(200);
  await button(page, 'Revoke all links').click();
  await shows(dialog(page).getByText('All links for this supplier stop working.'));
  await button(dialog(page), 'Cancel').click();
  expect(await read()).toBe(200);
  await button(page, 'Revoke all links').click();
  await button(dialog(page), 'Revoke all links').click();
  await said(page, 'All links for this supplier have stopped working.');
  expect(await read()).not.toBe(200);
});

test('the sample request of a supplier’s page is sold as it is shown', async () => {
  const page = await signedIn('suppliers/sup_acme/instructions?campaign=cmp_auto');
  await settled(page);
  expect(await page.getByLabel('Campaign', { exact: true }).inputValue()).toBe('cmp_auto');
  await page.getByLabel('Campaign', { exact: true }).selectOption('cmp_bids');
  await page.waitForURL(/campaign=cmp_bids/);
  const found = await order<{ requests: { body: string }[] }>(
    place,
    'GET',
    'campaigns/cmp_bids/instructions?supplier=sup_acme',
  );
  const body = JSON.parse(found.requests[0]?.body ?? '{}');
  await shows(page.locator('.sample pre').getByText(body.email));
  expect((await send(place, body)).status).toBe(201);
});

test('a campaign whose filters refuse every sample says so, and a new supplier is led to its instructions', async () => {
  const seeded = await openSeeded(`
buyers: [{id: b, endpoint: "https://buyer.example.com", states: [CA]}]
campaigns:
  - id: narrow
    method: waterfall
    fields: [{name: policy, type: string, required: true, pattern: "[A-Z]{3}-(1[0-9]){4}-[a-f]+"}]
    filters: [{field: policy, in: ["XYZ-never"]}]
    buyers: [{buyer: b, price: 5}]
`);
  try {
    const page = await newPage({ baseURL: seeded.admin });
    await page.goto('/#/suppliers/+');
    await signIn(page, 'op', seeded.password);
    await shows(page.getByRole('heading', { name: 'New supplier' }));
    await page.getByRole('textbox', { name: 'Name (required)' }).fill('Acme');
    await button(page, 'Create supplier and API key').click();
    await shows(dialog(page).getByText('Copy it now. It is shown once.'));
    await button(dialog(page), 'Posting instructions').click();
    await shows(page.getByRole('heading', { name: 'Posting instructions' }));
    await shows(page.getByText('No sample passes this campaign', { exact: false }));
    await visit(page, 'campaigns/narrow/instructions');
    await shows(page.getByText('No sample passes this campaign', { exact: false }));
  } finally {
    await seeded.close();
  }
});
