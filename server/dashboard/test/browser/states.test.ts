// Checks that everybody can read the states of pages that have no address: dialogs, panels, steps,
// and the pages outside a session.

import type { Page } from 'playwright-core';
import { beforeAll, describe, expect, test, vi } from 'vitest';
import type { Told } from '../../src/types';
import { openSeeded, order, person, send } from './exchange';
import { browse, button, dialog, newPage, place, shows, signedIn, signIn, visit } from './page';
import { readable, sizes } from './readable';
import { totp } from './totp';

browse({ keep: true });

// A test looks at several states, each four times.
vi.setConfig({ testTimeout: 240_000 });

describe('in a session', () => {
  let page: Page;

  beforeAll(async () => {
    page = await signedIn();
  });

  test('a dry run, a found person, a rule with links, and shown contact data can be read too', async () => {
    await page.setViewportSize(sizes.desktop);
    await visit(page, 'test');
    await page.getByLabel('Campaign').selectOption('cmp_auto');
    await button(page, 'Generate sample').click();
    await expect.poll(() => page.getByRole('textbox', { name: 'Lead' }).inputValue()).toContain('"phone"');
    await button(page, 'Dry run').click();
    await shows(page.getByRole('region', { name: 'Decision about each buyer' }));
    await readable(page);

    const who = { email: 'looked@example.com', phone: '(628) 555-0899' };
    const lead = String((await send(place, person('cmp_bids', 'CA', who))).data?.id);
    await expect
      .poll(
        async () => (await order<{ leads: object[] }>(place, 'POST', 'leads/find', { email: who.email })).leads.length,
      )
      .toBe(1);
    await visit(page, 'find');
    await page.getByLabel('Phone or email').fill(who.email);
    await button(page, 'Find').click();
    await shows(page.getByRole('region', { name: 'Leads of the person' }));
    await readable(page);

    await page.route('**/admin/v1/explain/*', async (route) => {
      const answer = await route.fetch();
      const told = (await answer.json()) as Told;
      // Only West had no ping. Its cap then has the place of its states.
      const cap = { unit: 'count' as const, limit: '8', used: '8', needed: '1' };
      for (const c of told.candidates.filter((c) => c.outcome === 'wrong_state')) {
        c.outcome = 'capped';
        c.rule = { kind: 'cap', text: 'cap of the buyer', wanted: '8', actual: '8', basis: 'reconstructed', cap };
      }
      await route.fulfill({ response: answer, json: told });
    });
    await visit(page, `leads/${lead}`);
    await button(page, 'Show contact').click();
    await readable(page);
    await dialog(page).getByLabel('Reason').fill('Look');
    await button(dialog(page), 'Show contact').click();
    await shows(page.getByText(who.email));
    await shows(page.getByRole('meter'));
    await readable(page);
    await page.getByRole('link', { name: 'Auction', exact: true }).click();
    await shows(page.locator('.lane').getByRole('meter'));
    await readable(page);
    await page.unroute('**/admin/v1/explain/*');

    // A duplicate has no buyer, and its rule has a link.
    await page.route('**/admin/v1/explain/*', async (route) => {
      const answer = await route.fetch();
      const { buyer_id, price, payout, margin, auction, answer: _, ...told } = (await answer.json()) as Told;
      const text = `duplicate: ${place.sold} is earlier`;
      const rule = { kind: 'duplicate', text, wanted: '', actual: null, lead_id: place.sold };
      const unsold = { status: 'UNMATCHED', reason: 'duplicate', delivery: 'none', why: `${text}.`, rule };
      await route.fulfill({ response: answer, json: { ...told, ...unsold, candidates: [], posts: [] } });
    });
    await visit(page, `leads/${lead}`);
    await page.reload();
    await shows(page.locator('.note').getByRole('link', { name: place.sold }));
    await readable(page);
    await page.unroute('**/admin/v1/explain/*');
  });

  test('the dialogs of alerts', async () => {
    await visit(page, 'settings/alerts');
    for (const name of ['Add rule', 'Add channel', 'Add silence']) {
      await button(page, name).click();
      await readable(page);
      await button(page, 'Cancel').click();
    }
  });

  test('saved reports and their dialog', async () => {
    const schedule = { frequency: 'monthly', day: 31, time: '08:00', recipients: ['boss@example.com'] };
    const document = { name: 'Sales', query: { by: ['buyer'], period: 'last_month' }, schedule };
    const { id, etag } = await order<{ id: string; etag: string }>(place, 'POST', 'saved-reports', document);
    await visit(page, 'reports');
    await visit(page, 'reports/saved');
    await readable(page);
    await button(page, 'Action').click(); // the page has the size of a phone
    await button(page, 'Edit Sales').click();
    await readable(page);
    await button(page, 'Cancel').click();
    await order(place, 'DELETE', `saved-reports/${id}`, undefined, { 'If-Match': etag });
  });

  test('panels of the header and of lists, the palette, the keys, the mode of test leads', async () => {
    await page.setViewportSize(sizes.desktop);
    await visit(page, 'leads');
    for (const name of [/^Period:/, /^Account of/, /^Inbox/]) {
      const opener = page.locator('.top summary').and(page.getByLabel(name));
      await opener.click();
      await readable(page);
      await opener.click();
    }
    await page.locator('summary').getByText('Filters').click();
    await readable(page);
    await page.locator('summary').getByText('Filters').click();
    for (const key of ['Control+k', '?']) {
      await page.keyboard.press(key);
      await shows(dialog(page));
      await readable(page);
      await page.keyboard.press('Escape');
      await dialog(page).waitFor({ state: 'detached' });
    }
    await button(page, 'Test').click();
    await shows(page.getByText('Test mode: lists show test leads only.', { exact: false }));
    await readable(page);
    await button(page, 'Live').click();
  });

  test('the steps of a new campaign', async () => {
    await visit(page, 'campaigns/+');
    await page.getByLabel('Name', { exact: false }).first().fill('Solar west');
    await page.getByLabel('Template').selectOption('solar');
    for (const step of ['Fields', 'Buyers', 'Rules', 'Review']) {
      await button(page, step).first().click();
      if (step === 'Buyers') await page.getByRole('checkbox', { name: 'Swift' }).check();
      await shows(page.locator('.stepper [aria-current]').getByText(step));
      await readable(page);
    }
  });

  test('a key that is shown once, and a rotation', async () => {
    await order(place, 'PUT', 'config/suppliers/sup_look', { id: 'sup_look' }, { 'If-None-Match': '*' });
    await order(place, 'POST', 'suppliers/sup_look/keys');
    await visit(page, 'suppliers/sup_look/keys');
    await button(page, 'Rotate the key').click();
    await shows(dialog(page));
    await readable(page);
    await button(dialog(page), 'Rotate the key').click();
    await shows(dialog(page).getByText('It is shown once', { exact: false }));
    await readable(page);
    await button(dialog(page), 'Done').click();
    const { etag } = await order<{ etag: string }>(place, 'GET', 'config/suppliers/sup_look');
    await order(place, 'DELETE', 'config/suppliers/sup_look', undefined, { 'If-Match': `"${etag}"` });
  });
});

const words = 'correct horse battery';

test('a link to posting instructions, and one that has ended', async () => {
  const at = 'campaigns/cmp_bids/instructions/link';
  const { url } = await order<{ url: string }>(place, 'POST', at, { supplier: 'sup_zenith', expires_in: '1d' });
  const page = await newPage();
  await page.goto(url);
  await shows(page.getByText('vehicle_count').first());
  await readable(page);
  await order(place, 'DELETE', 'suppliers/sup_zenith/instructions/links');
  await page.reload();
  await shows(page.getByRole('heading', { name: 'This link has ended' }));
  await readable(page);
});

test('an invitation, and one that does not exist', async () => {
  const { link } = await order<{ link: string }>(place, 'POST', 'invitations', { role: 'viewer' });
  const page = await newPage();
  await page.goto(link);
  await shows(button(page, 'Open account and sign in'));
  await readable(page);
  await page.goto('/#/invite/ppi_none');
  await shows(page.getByText('There is no such invitation'));
  await readable(page);
});

test('a second factor from its secret to the sign-in with a code, and a session that has ended', async () => {
  await order(place, 'PUT', 'users/lena', { role: 'viewer', password: words });
  const page = await newPage();
  await page.goto('/#/settings/account');
  await shows(button(page, 'Sign in'));
  await readable(page);
  await signIn(page, 'lena', 'wrong password');
  await shows(page.getByRole('alert'));
  await readable(page);
  await signIn(page, 'lena', words);
  await button(page, 'Turn on').click();
  await shows(page.getByRole('img', { name: 'QR code of the secret' }));
  await readable(page);
  const secret = (await page.getByLabel('Secret', { exact: true }).innerText()).replaceAll(' ', '');
  await page.getByLabel('Code', { exact: true }).fill(totp(secret));
  await button(page, 'Confirm').click();
  await shows(page.getByText('Copy them now. They are shown once.'));
  await readable(page);
  await button(page, 'Done').click();
  await shows(button(page, 'Turn off'));
  await readable(page);
  await page.context().clearCookies();
  await page.goto('/#/leads');
  await shows(page.getByText('Your session has ended.', { exact: false }));
  await signIn(page, 'lena', words);
  await shows(page.getByText('This account has a second factor.'));
  await readable(page);
  await order(place, 'DELETE', 'users/lena');
});

test('an account that must turn on a second factor first', async () => {
  const strict = await openSeeded('', 'require_totp: true');
  try {
    await order(strict as never, 'PUT', 'users/tess', { role: 'admin', password: words });
    const page = await newPage({ baseURL: strict.admin });
    await page.goto('/');
    await signIn(page, 'tess', words);
    await shows(page.getByText('This exchange requires a second factor.', { exact: false }));
    await readable(page);
  } finally {
    await strict.close();
  }
});

test('an exchange without entries', async () => {
  const empty = await openSeeded('report: {keep: 30d}\n');
  try {
    const page = await newPage({ baseURL: empty.admin });
    await page.goto('/');
    await signIn(page, 'op', empty.password);
    await shows(page.getByRole('region', { name: 'Get started' }));
    for (const at of ['', 'leads', 'campaigns', 'buyers', 'suppliers', 'reports', 'compliance', 'settings/team']) {
      await visit(page, at);
      await readable(page);
    }
  } finally {
    await empty.close();
  }
});
