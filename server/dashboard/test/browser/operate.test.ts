import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { order, person, send } from './exchange';
import { browse, button, dialog, hasCount, place, said, settled, shows, signedIn, visit } from './page';

browse();

const outcome = (page: Page, text: string | RegExp) => shows(page.locator('.outcome').getByText(text));

const erased = async (lead: string): Promise<boolean> =>
  (await order<{ erased?: boolean }>(place, 'GET', `explain/${lead}`)).erased ?? false;

// kept is all that a browser keeps of where it was and what was shown there.
const kept = (page: Page): Promise<string> =>
  page.evaluate(() =>
    JSON.stringify([
      location.href,
      document.title,
      history.state,
      { ...localStorage },
      { ...sessionStorage },
      document.cookie,
      document.documentElement.outerHTML,
      [...document.querySelectorAll('input, textarea')].map((e) => (e as HTMLInputElement).value),
      performance.getEntries().map((e) => e.name),
    ]),
  );

test('a person is erased by an address: told before, done, and nothing of them stays in the browser', async () => {
  const who = { email: 'zoe.quill@example.com', phone: '(415) 555-0177' };
  const leads: string[] = [];
  for (const state of ['CA', 'TX']) {
    leads.push(String((await send(place, person('cmp_bids', state, { ...who, vehicle_count: 1 }))).data?.id));
  }
  const other = String((await send(place, person('cmp_bids', 'CA', { vehicle_count: 1 }))).data?.id);
  const page = await signedIn('erase');
  const asked: string[] = [];
  page.on('request', (r) => asked.push(`${r.method()} ${r.url()} ${r.headers().referer ?? ''}`));
  const field = page.getByRole('textbox', { name: 'Email' });
  await field.fill('Zoe.Quill@EXAMPLE.com');
  await button(page, 'Review').click();
  await shows(dialog(page).getByText('Zoe.Quill@EXAMPLE.com'));
  await shows(dialog(page).getByText('This cannot be undone.', { exact: false }));
  await button(dialog(page), 'Cancel').click();
  expect(asked.filter((r) => r.startsWith('POST'))).toEqual([]);
  expect(await erased(leads[0] ?? '')).toBe(false);

  await button(page, 'Review').click();
  await button(dialog(page), 'Delete').click();
  await outcome(page, 'Data of 2 leads deleted, 0 left.');
  expect(await page.evaluate(() => document.activeElement?.className)).toBe('outcome');
  expect(await field.inputValue()).toBe('');
  for (const lead of leads) expect(await erased(lead), lead).toBe(true);
  expect(await erased(other)).toBe(false);
  for (const known of [...asked, await kept(page)]) {
    expect(known.toLowerCase()).not.toContain('quill');
    expect(known).not.toContain('5550177');
  }
  await visit(page, 'caps');
  await page.goBack();
  await shows(page.getByRole('heading', { name: 'Delete consumer data' }));
  expect(await kept(page)).not.toMatch(/quill/i);
  await hasCount(page.getByText('leads deleted'), 0);
});

test('a lead is erased from its page, which says so from then on', async () => {
  const lead = String((await send(place, person('cmp_bids', 'WA', { vehicle_count: 2 }))).data?.id);
  const page = await signedIn(`leads/${lead}`);
  await page.getByRole('link', { name: 'Delete consumer data' }).click();
  expect(await page.getByRole('textbox', { name: 'Lead' }).inputValue()).toBe(lead);
  await button(page, 'Review').click();
  await shows(dialog(page).getByText('cmp_bids'));
  await shows(dialog(page).getByText('Other leads of the same person stay', { exact: false }));
  await button(dialog(page), 'Delete').click();
  await outcome(page, 'Data of 1 lead deleted, 0 left.');
  expect(await erased(lead)).toBe(true);
  await visit(page, `leads/${lead}`);
  await shows(page.getByText('data deleted', { exact: true }));
  await hasCount(page.getByRole('link', { name: 'Delete consumer data' }), 0);
});

test('who was reviewed is erased, whatever was typed meanwhile, and an address is never looked for as a lead', async () => {
  const [shown, typed] = await Promise.all(
    ['WA', 'OR'].map(async (state) =>
      String((await send(place, person('cmp_bids', state, { vehicle_count: 2 }))).data?.id),
    ),
  );
  const page = await signedIn('erase');
  const asked: string[] = [];
  page.on('request', (r) => asked.push(r.url()));
  await page.getByLabel('Find by', { exact: true }).selectOption('lead');
  const field = page.getByRole('textbox', { name: 'Lead' });
  await field.fill('ann@example.com');
  await button(page, 'Review').click();
  await shows(page.locator('.field.wrong', { hasText: 'begins with lead_' }));
  expect(asked.filter((url) => url.includes('ann'))).toEqual([]);
  let answer: () => void = () => undefined;
  const held = new Promise<void>((go) => {
    answer = go;
  });
  await page.route('**/admin/v1/explain/*', async (route) => {
    await held;
    await route.continue();
  });
  await field.fill(String(shown));
  await button(page, 'Review').click();
  await field.fill(String(typed));
  answer();
  await shows(dialog(page).getByText(String(shown)));
  await button(dialog(page), 'Delete').click();
  await outcome(page, 'Data of 1 lead deleted, 0 left.');
  expect([await erased(String(shown)), await erased(String(typed))]).toEqual([true, false]);
  await visit(page, `erase?lead=${shown}`);
  expect(await field.inputValue()).toBe(shown);
  await visit(page, `erase?lead=${typed}`);
  expect(await field.inputValue()).toBe(typed);
  await page.getByLabel('Find by', { exact: true }).selectOption('email');
  expect(await page.getByRole('textbox', { name: 'Email' }).inputValue()).toBe('');
});

test('whom nobody knows, what is no number, and what is left are told', async () => {
  const page = await signedIn('erase');
  await page.getByLabel('Find by', { exact: true }).selectOption('phone');
  const field = page.getByRole('textbox', { name: 'Phone' });
  const erase = async (value: string) => {
    await field.fill(value);
    await button(page, 'Review').click();
    await button(dialog(page), 'Delete').click();
  };
  await erase('12');
  await shows(page.locator('.field.wrong', { hasText: 'Phone' }).getByText(/a phone number, with \+/));
  expect(await field.getAttribute('aria-invalid')).toBe('true');
  expect(await field.evaluate((e) => e === document.activeElement)).toBe(true);
  await erase('(415) 555-0199');
  await outcome(page, /^No lead in the log has this/);
  await page.getByLabel('Find by', { exact: true }).selectOption('lead');
  await page.getByRole('textbox', { name: 'Lead' }).fill('lead_0000000000000000000000none');
  await button(page, 'Review').click();
  await shows(page.getByRole('alert'));
  await hasCount(dialog(page), 0);
  // A lead is left only after half a minute of waiting for its buyer: the answer is made here.
  await page.route('**/admin/v1/erase', (route) =>
    route.fulfill({ json: { erased: 1, left: 1, left_leads: [{ lead_id: place.sold, reason: 'under_way' }] } }),
  );
  await page.getByLabel('Find by', { exact: true }).selectOption('phone');
  await erase('(415) 555-0199');
  await outcome(page, 'Data of 1 lead deleted, 1 left.');
  await shows(page.getByRole('row', { name: new RegExp(`${place.sold} It is being delivered`) }));
});

test('what was written of a person goes with the session', async () => {
  const page = await signedIn('erase');
  await page.getByRole('textbox', { name: 'Email' }).fill('zoe.quill@example.com');
  await page.context().clearCookies();
  await button(page, 'Review').click();
  await button(dialog(page), 'Delete').click();
  await shows(page.getByText('Your session has ended.', { exact: false }));
  expect(await kept(page)).not.toMatch(/quill/i);
});

test('the report is built anew, and then has all again', async () => {
  const rebuilds = async (): Promise<number> => {
    const text = await (await fetch(`${place.admin}/metrics`)).text();
    return Number(/^pingpost_report_rebuilds_total(?:\{.*\})? (\d+)$/m.exec(text)?.[1]);
  };
  const before = await rebuilds();
  const page = await signedIn('reports');
  await button(page, 'Rebuild').click();
  await button(dialog(page), 'Cancel').click();
  expect(await rebuilds()).toBe(before);
  await button(page, 'Rebuild').click();
  await button(dialog(page), 'Rebuild').click();
  await said(page, 'The report is being rebuilt.');
  await expect.poll(rebuilds, { timeout: 15_000 }).toBe(before + 1);
  const found = async () =>
    (await order<{ leads: { id: string }[] }>(place, 'GET', `leads?q=${place.sold}`)).leads.map((l) => l.id);
  await expect.poll(() => found().catch(() => []), { timeout: 15_000 }).toEqual([place.sold]);
  await visit(page, `leads?q=${place.sold}`);
  await settled(page);
  await shows(page.getByRole('link', { name: place.sold }));
});

test('a backup is made now, and has what was there', async () => {
  const page = await signedIn('settings/backups');
  await shows(page.locator('.facts div', { hasText: 'Backup' }).getByText(/behind$/));
  await send(place, person('cmp_bids', 'OR', { vehicle_count: 1 }));
  const { log } = await order<{ log: { seq: number } }>(place, 'GET', 'overview');
  const answered = page.waitForResponse((r) => r.request().method() === 'POST' && r.url().endsWith('/backup'));
  await button(page, 'Back up now').click();
  expect((await answered).status()).toBe(202);
  await said(page, 'The backup has started.');
  const shipped = async () => {
    const b = await order<{ shipped_seq: number; last_error: string | null }>(place, 'GET', 'backup');
    return b.last_error ?? b.shipped_seq;
  };
  await expect.poll(shipped, { timeout: 15_000 }).toBeGreaterThanOrEqual(log.seq);
});
