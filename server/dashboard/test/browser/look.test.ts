import { mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { beforeAll, describe, expect, test } from 'vitest';
import { order, person, send } from './exchange';
import { browse, button, dialog, newPage, place, shows, signedIn, signIn, visit } from './page';

browse({ keep: true });

// Every page, and what it must show.
const pages: [string, string | RegExp][] = [
  ['', 'Hourly revenue'],
  ['leads', 'Winning buyer'],
  [`leads/${place.sold}`, 'buy_picky'],
  [`leads/${place.unmatched}`, 'Unsold'],
  [`leads/${place.auctioned}/auction`, 'Timeline'],
  [`leads/${place.auctioned}/data`, 'Lead data'],
  [`leads/${place.auctioned}/requests`, 'Event log'],
  [`leads/${place.auctioned}/money`, 'Buyer pays'],
  ['auctions', 'Pinged'],
  [`leads/${place.auctioned}/audit`, 'Audit log of this lead'],
  ['find', 'Phone or email'],
  ['test', 'Generate sample'],
  ['campaigns', 'cmp_bids'],
  ['campaigns/cmp_auto', 'How it works'],
  ['campaigns/cmp_bids/fields', 'vehicle_count'],
  ['campaigns/cmp_auto/buyers', 'buy_vault'],
  ['campaigns/cmp_auto/rules', 'exchange.yaml'],
  ['campaigns/cmp_auto/caps', 'leads per day'],
  ['campaigns/cmp_auto/returns', 'wrong number'],
  ['campaigns/cmp_bids/instructions', 'Download PDF'],
  ['campaigns/cmp_auto/settings', 'version'],
  ['campaigns/+', 'Next'],
  ['caps', 'leads per day'],
  ['buyers', 'Accept rate'],
  ['buyers/buy_vault', 'Balance'],
  ['buyers/buy_odd/delivery', 'Adapter'],
  ['buyers/buy_picky/targeting', 'CA, TX'],
  ['buyers/buy_vault/billing', 'Add funds'],
  ['buyers/buy_picky/access', 'Buyer credentials'],
  ['buyers/+', 'Review changes'],
  ['suppliers', 'Zenith'],
  ['suppliers/sup_acme', 'EPL'],
  ['suppliers/sup_acme/sources', 'partner'],
  ['suppliers/sup_acme/instructions', 'Answers and errors'],
  ['suppliers/sup_acme/keys', 'Rotate the key'],
  ['suppliers/sup_acme/webhooks', 'Signing secrets'],
  ['suppliers/sup_acme/payouts', 'Payout per sale'],
  ['suppliers/+', 'Create supplier and API key'],
  ['review/returns', 'wrong number'],
  ['review/deliveries', 'Confirm sale'],
  ['review/events', 'Acme Leads'],
  ['reports', 'Payout reversal'],
  ['reports/buyers', 'Swift'],
  ['reports/sources', 'partner'],
  ['reports/unsold', 'Bid outcomes'],
  ['reports/statements?buyer=buy_vault', 'Entries'],
  ['reports/custom?by=buyer&measure=bids', 'Swift'],
  ['reports/saved', 'No saved reports'],
  ['compliance/suppression', 'dnc'],
  ['compliance/suppression/dnc', 'Upload'],
  ['compliance/suppression/+', 'Review changes'],
  ['compliance/consent', 'optional'],
  ['compliance/deletion', 'Review'],
  ['settings/team', 'Add user'],
  ['settings/account', 'shared password'],
  ['settings/alerts', 'Add channel'],
  ['settings/audit', 'Export CSV'],
  ['settings/tokens', 'Create API token'],
  ['settings/history', 'version'],
  ['settings/backups', 'behind'],
  ['settings/health', 'Log commit'],
  ['nowhere', 'no page at this address'],
  ['buyers/buy_none', 'Not found'],
];

const sizes = { desktop: { width: 1280, height: 800 }, phone: { width: 390, height: 844 } };

const axe = readFileSync('node_modules/axe-core/axe.min.js', 'utf8');

interface Finding {
  id: string;
  impact: string | null;
  nodes: { html: string; failureSummary?: string }[];
}

// serious are the findings of axe that keep somebody out. It is run in the page's own world, so
// the page's policy holds while it looks.
async function serious(page: Page): Promise<string[]> {
  await page.evaluate(axe);
  const found = await page.evaluate(async () => {
    const { axe } = window as unknown as {
      axe: { run: (at: Document, how: object) => Promise<{ violations: Finding[] }> };
    };
    return (await axe.run(document, { resultTypes: ['violations'] })).violations;
  });
  return found
    .filter((f) => f.impact === 'serious' || f.impact === 'critical')
    .map((f) => `${f.id}: ${f.nodes.map((n) => `${n.html} ${n.failureSummary ?? ''}`).join('; ')}`);
}

describe('every page', () => {
  let page: Page;

  beforeAll(async () => {
    page = await signedIn();
  });

  test.each(pages)('%s can be read by everybody, at any size, light and dark', async (at, text) => {
    await visit(page, at);
    await page.locator('#main').getByText(text).first().waitFor({ state: 'attached' });
    await readable(page);
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
      const told = (await answer.json()) as { rule?: object; candidates: { rule?: object }[] };
      const cap = { unit: 'count', limit: '8', used: '7', needed: '1' };
      for (const c of told.candidates) c.rule = { kind: 'cap', text: 'cap of the buyer', basis: 'reconstructed', cap };
      told.rule = { kind: 'duplicate', text: `duplicate: ${place.sold} is earlier`, lead_id: place.sold };
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
  });

  // readable checks the page as it is, at each size, light and dark.
  async function readable(page: Page): Promise<void> {
    for (const [name, size] of Object.entries(sizes)) {
      await page.setViewportSize(size);
      for (const colorScheme of ['light', 'dark'] as const) {
        await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' });
        expect(await serious(page), `${name}, ${colorScheme}`).toEqual([]);
      }
      const over = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
      expect(over, `${name}: wider than the window`).toBeLessThanOrEqual(0);
    }
  }

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
    await button(page, 'Edit Sales').click();
    await readable(page);
    await button(page, 'Cancel').click();
    await order(place, 'DELETE', `saved-reports/${id}`, undefined, { 'If-Match': etag });
  });

  test('an invitation, and a second factor to turn on', async () => {
    const words = 'correct horse battery';
    const { link } = await order<{ link: string }>(place, 'POST', 'invitations', { role: 'viewer' });
    const other = await newPage();
    await other.goto(link);
    await shows(button(other, 'Open account and sign in'));
    await readable(other);
    await other.goto('/#/invite/ppi_none');
    await shows(other.getByText('There is no such invitation'));
    await readable(other);
    await order(place, 'PUT', 'users/lena', { role: 'viewer', password: words });
    await other.goto('/#/settings/account');
    await signIn(other, 'lena', words);
    await button(other, 'Turn on').click();
    await shows(other.getByRole('img', { name: 'QR code of the secret' }));
    await readable(other);
    await order(place, 'DELETE', 'users/lena');
  });

  test('the page to sign in', async () => {
    await page.context().clearCookies();
    await page.goto('/#/');
    await page.reload();
    await page.getByRole('button', { name: 'Sign in' }).waitFor();
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme });
      expect(await serious(page)).toEqual([]);
    }
  });
});

// Those in docs/screenshots, taken where SCREENSHOTS is set.
const pictures: [string, string, keyof typeof sizes, 'light' | 'dark'][] = [
  ['overview', '', 'desktop', 'light'],
  ['lead', `leads/${place.auctioned}/auction`, 'desktop', 'light'],
  ['lead-phone', `leads/${place.auctioned}/auction`, 'phone', 'dark'],
  ['campaign', 'campaigns/+', 'desktop', 'light'],
  ['supplier', 'suppliers/sup_acme/keys', 'desktop', 'light'],
  ['erase', 'compliance/deletion', 'desktop', 'light'],
];

test.runIf(process.env.SCREENSHOTS)(
  'screenshots',
  async () => {
    const dir = join('..', '..', 'docs', 'screenshots');
    mkdirSync(dir, { recursive: true });
    const page = await signedIn();
    let over = false;
    const states = ['CA', 'TX', 'WA', 'OR'];
    const trade = async () => {
      for (let i = 0; !over; i++) {
        void send(place, person(i % 5 === 0 ? 'cmp_auto' : 'cmp_bids', states[i % 4] ?? 'CA')).catch(() => undefined);
        await page.waitForTimeout(150 + 100 * Math.sin(i / 12));
      }
    };
    const trading = trade();
    await page.waitForTimeout(60_000); // something to draw
    for (const [name, at, size, colorScheme] of pictures) {
      await page.setViewportSize(sizes[size]);
      await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' });
      await visit(page, at);
      if (name === 'erase') {
        await page.getByRole('textbox', { name: 'Email' }).fill('ann@example.com');
        await page.getByRole('button', { name: 'Review' }).click();
      }
      await page.locator('h1').evaluate((h: HTMLElement) => h.blur());
      await page.waitForTimeout(at === '' ? 2500 : 300); // until the chart has its points
      await page.screenshot({ path: join(dir, `${name}.png`) });
    }
    over = true;
    await trading;
  },
  180_000,
);
