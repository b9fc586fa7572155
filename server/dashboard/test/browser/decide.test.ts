import { expect, test } from 'vitest';
import { order } from './exchange';
import { browse, button, dialog, place, said, shows, signedIn, visit } from './page';

browse();

interface Deliveries {
  deliveries: { lead_id: string }[];
}

const unknown = async (): Promise<string[]> =>
  (await order<Deliveries>(place, 'GET', 'deliveries?state=unknown')).deliveries.map((d) => d.lead_id);

test('deliveries whose fate is unknown are confirmed, released, sent again', async () => {
  const page = await signedIn('deliveries');
  const [first = '', second = '', third = ''] = await unknown();
  for (const [lead, name, done] of [
    [first, 'The buyer has it', 'The sale stands.'],
    [second, 'The buyer has it not', 'The sale is undone.'],
    [third, 'Send again', 'It is being sent again.'],
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

test('a return is approved, another refused', async () => {
  const page = await signedIn('returns');
  const card = (reason: string) => page.locator('.card', { has: page.getByRole('heading', { name: reason }) });
  await card('wrong number').getByLabel('Note').fill('as agreed');
  await button(card('wrong number'), /^Approve/).click();
  await said(page, 'The return is approved.');
  await button(card('duplicate'), /^Refuse/).click();
  await button(dialog(page), 'Refuse').click();
  await said(page, 'The return is refused.');
  await shows(page.getByText('Nothing to decide'));
  expect((await order<{ total: number }>(place, 'GET', 'returns')).total).toBe(0);
});

interface Hook {
  dead: number;
  pending: number;
  off: boolean;
  secrets: { previous: boolean }[];
}

test('dead letters are resent and dropped, a webhook is switched, its secret rotated', async () => {
  const hook = () => order<Hook>(place, 'GET', 'webhooks/sup_acme');
  const page = await signedIn('webhooks');
  await shows(page.getByText('off', { exact: true }));
  await page.getByRole('link', { name: 'sup_acme' }).click();
  const before = await hook();
  expect(before.dead).toBeGreaterThan(3);
  await button(page, /^Drop evt_/)
    .first()
    .click();
  await button(dialog(page), 'Drop').click();
  await said(page, 'It is dropped.');
  expect((await hook()).dead).toBe(before.dead - 1);
  await button(page, 'Switch on the webhook of sup_acme').click();
  await said(page, 'The webhook of sup_acme is on.');
  await button(page, /^Resend evt_/)
    .first()
    .click();
  await said(page, 'It is tried again.');
  expect((await hook()).dead).toBe(before.dead - 2);
  await button(page, 'Resend all').click();
  await said(page, 'All are tried again.');
  expect(await hook()).toMatchObject({ dead: 0, off: false });

  await button(page, 'Rotate the secret').click();
  expect(await dialog(page).getByRole('textbox').inputValue()).toMatch(/^whsec_/);
  await button(dialog(page), 'I have it').click();
  await shows(page.getByText('the one before', { exact: false }));
  await button(page, 'End the one before').click();
  await button(dialog(page), 'End the one before').click();
  await said(page, 'The secret before is ended.');
  expect((await hook()).secrets.map((s) => s.previous)).toEqual([false]);
  await visit(page, 'webhooks');
  await button(page, 'Switch off the webhook of sup_acme').click();
  await said(page, 'The webhook of sup_acme is off.');
});
