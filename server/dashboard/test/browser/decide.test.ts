import { expect, test } from 'vitest';
import { order } from './exchange';
import { browse, button, dialog, hasCount, place, said, settled, shows, signedIn } from './page';

browse();

interface Deliveries {
  deliveries: { lead_id: string }[];
}

const unknown = async (): Promise<string[]> =>
  (await order<Deliveries>(place, 'GET', 'deliveries?state=unknown')).deliveries.map((d) => d.lead_id);

test('unconfirmed deliveries are confirmed, undone, sent again', async () => {
  const page = await signedIn('deliveries');
  const [first = '', second = '', third = ''] = await unknown();
  for (const [lead, name, done] of [
    [first, 'Confirm sale', 'Sale confirmed.'],
    [second, 'Undo sale', 'Sale undone.'],
    [third, 'Send again', 'The lead is sent again.'],
  ] as const) {
    expect(lead).not.toBe('');
    await button(page, `${name}: ${lead}`).click();
    await shows(dialog(page).getByText(lead));
    await button(dialog(page), name).click();
    await said(page, done);
  }
  const status = async (lead: string) =>
    await order<{ status: string; delivery: string }>(place, 'GET', `explain/${lead}`);
  expect(await status(first)).toMatchObject({ status: 'ACCEPTED', delivery: 'confirmed' });
  expect(await status(second)).toMatchObject({ delivery: 'released' });
  await page.getByRole('link', { name: 'All open' }).click();
  expect(page.url()).toContain('state=all');
});

test('a return is approved, another denied, together with a note', async () => {
  const page = await signedIn('review');
  const row = (reason: string) => page.getByRole('row', { name: new RegExp(reason) });
  await shows(row('wrong number').getByText(/%/));
  await button(row('wrong number'), /^Show contact of lead_/).click();
  await dialog(page).getByLabel('Reason').fill('Return check');
  await button(dialog(page), 'Show contact').click();
  await shows(row('wrong number').getByText('Ann Lee'));
  await shows(row('wrong number').getByText(/^ann\d+@example\.com$/));
  await hasCount(button(row('wrong number'), /^Show contact/), 0);
  await row('wrong number').getByRole('checkbox').check();
  await page.getByLabel('Note').fill('as agreed');
  await button(page, 'Approve selected').click();
  await said(page, '1 return approved.');
  await button(row('duplicate'), /^Deny/).click();
  await button(dialog(page), 'Deny').click();
  await said(page, '1 return denied.');
  await shows(page.getByText('No return requests'));
  expect((await order<{ total: number }>(place, 'GET', 'returns')).total).toBe(0);
});

interface Hook {
  dead: number;
  pending: number;
  off: boolean;
  secrets: { previous: boolean }[];
}

test('failed events are resent and dropped, a webhook is switched, its secret rotated', async () => {
  const hook = () => order<Hook>(place, 'GET', 'webhooks/sup_acme');
  const page = await signedIn('webhooks');
  await shows(page.getByText('off', { exact: true }));
  const before = await hook();
  expect(before.dead).toBeGreaterThan(3);
  await button(page, /^Drop evt_/)
    .first()
    .click();
  await button(dialog(page), 'Drop').click();
  await said(page, 'Dropped.');
  expect((await hook()).dead).toBe(before.dead - 1);
  await button(page, 'Switch on the webhook of sup_acme').click();
  await said(page, 'The webhook of sup_acme is on.');
  await settled(page);
  for (const i of [0, 1])
    await page
      .getByLabel(/^Select evt_/)
      .nth(i)
      .check();
  await button(page, 'Resend selected').click();
  await said(page, 'Sending again.');
  expect((await hook()).dead).toBe(before.dead - 3);
  await settled(page);
  await button(page, 'Resend all').click();
  await said(page, 'All are sent again.');
  expect(await hook()).toMatchObject({ dead: 0, off: false });
  await shows(page.getByText('No failed events'));

  await page.getByRole('link', { name: 'Webhook of sup_acme' }).click();
  await button(page, 'Rotate the secret').click();
  await button(dialog(page), 'Rotate the secret').click();
  expect(await dialog(page).getByRole('textbox').inputValue()).toMatch(/^whsec_/);
  await button(dialog(page), 'Done').click();
  await shows(page.getByText('previous', { exact: false }));
  await button(page, 'Revoke the previous one').click();
  await button(dialog(page), 'Revoke the previous one').click();
  await said(page, 'The previous secret is revoked.');
  expect((await hook()).secrets.map((s) => s.previous)).toEqual([false]);
  await button(page, 'Switch off the webhook of sup_acme').click();
  await said(page, 'The webhook of sup_acme is off.');
});
