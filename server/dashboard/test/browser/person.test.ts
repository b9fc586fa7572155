import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { order, person, send } from './exchange';
import { browse, button, dialog, hasCount, newPage, place, settled, shows, signedIn, signIn, visit } from './page';

browse();

// contact returns a person that no other test has.
let people = 0;
function contact(): { email: string; phone: string; digits: string } {
  const last = `07${String(++people).padStart(2, '0')}`;
  return { email: `quincy${people}@example.com`, phone: `(628) 555-${last}`, digits: `628555${last}` };
}

async function sendOf(who: object, more: object = { vehicle_count: 1 }): Promise<string> {
  return String((await send(place, person('cmp_bids', 'CA', { ...who, ...more }))).data?.id);
}

// kept is all that a browser keeps of a visit.
const kept = (page: Page): Promise<string> =>
  page.evaluate(() =>
    JSON.stringify([
      location.href,
      document.title,
      history.state,
      { ...localStorage },
      { ...sessionStorage },
      document.documentElement.outerHTML,
      [...document.querySelectorAll('input, textarea')].map((e) => (e as HTMLInputElement).value),
      performance.getEntries().map((e) => e.name),
    ]).toLowerCase(),
  );

const found = (page: Page) => page.getByRole('region', { name: 'Leads of the person' });

// caughtUp waits until the report has the newest lead of a person.
const caughtUp = (email: string, leads: number) =>
  expect
    .poll(async () => (await order<{ leads: object[] }>(place, 'POST', 'leads/find', { email })).leads.length, {
      timeout: 20_000,
    })
    .toBe(leads);

test('a person is found from the palette, masked, and the value is in no address or storage', async () => {
  const who = contact();
  const leads = [await sendOf(who), await sendOf(who)];
  await caughtUp(who.email, 2);
  const page = await signedIn('caps');
  const urls: string[] = [];
  page.on('request', (r) => urls.push(`${r.url()} ${r.headers().referer ?? ''}`));
  for (const text of [who.email.toUpperCase(), who.phone, `+1${who.digits}`]) {
    await page.keyboard.press('Control+k');
    await page.getByRole('combobox', { name: /Search/ }).fill(text);
    await shows(page.getByRole('option', { name: /Find the leads with this (email|phone number)/ }));
    expect(await page.getByText('supplier’s own auction id').count()).toBe(0);
    await page.keyboard.press('Enter');
    await shows(page.getByRole('heading', { name: 'Find a person' }));
    for (const id of leads) await shows(found(page).getByRole('link', { name: id }));
    await shows(found(page).getByText(/^q\*+@example\.com$/));
    expect(await found(page).textContent()).not.toContain('quincy');
  }
  await found(page).getByRole('link', { name: leads[0] }).click();
  await shows(page.getByRole('heading', { name: leads[0] }));
  await settled(page);
  for (const text of [...urls, await kept(page)]) {
    expect(text.toLowerCase()).not.toContain('quincy');
    expect(text.replace(/\D/g, '')).not.toContain(who.digits);
  }
  await page.goBack();
  await shows(page.getByRole('heading', { name: 'Find a person' }));
  expect(await kept(page)).not.toContain('quincy');
  await hasCount(found(page), 0);
});

test('the search of the leads page opens ids and finds persons, also from an old address', async () => {
  const who = contact();
  const lead = await sendOf(who);
  await caughtUp(who.email, 1);
  const page = await signedIn('leads');
  const urls: string[] = [];
  page.on('request', (r) => urls.push(r.url()));
  const search = page.getByRole('searchbox', { name: 'Id, phone or email' });
  await search.fill(who.phone);
  await search.press('Enter');
  await shows(found(page).getByRole('link', { name: lead }));
  await visit(page, 'leads');
  await search.fill(lead);
  await search.press('Enter');
  await shows(page.getByRole('heading', { name: lead }));
  await page.evaluate((to) => location.replace(to), `#/leads?q=${encodeURIComponent(who.email)}`);
  await shows(found(page).getByRole('link', { name: lead }));
  expect(urls.filter((url) => url.includes('quincy'))).toEqual([]);
  expect(page.url()).not.toContain('quincy');
  await page.getByLabel('Phone or email').fill('12');
  await button(page, 'Find').click();
  await shows(page.locator('.field.wrong').getByText('a phone number or an email address'));
  await page.getByLabel('Phone or email').fill('quincy.nobody@example.com');
  await button(page, 'Find').click();
  await shows(page.getByText('No lead of this person'));
});

test('many leads of a person come in pages, and a report that is behind says so', async () => {
  const who = contact();
  const made: [string, object][] = [
    ['buyers/buy_many', { id: 'buy_many' }],
    ['campaigns/cmp_many', { duplicates: { window: '0s' }, buyers: [{ buyer: 'buy_many', price: 1 }] }],
  ];
  for (const [at, document] of made) {
    const body = { id: at.split('/')[1], ...(at.startsWith('campaigns') && { method: 'waterfall' }), ...document };
    await order(place, 'PUT', `config/${at}`, body, { 'If-None-Match': '*' });
  }
  for (let i = 0; i < 51; i++) await send(place, person('cmp_many', 'CA', who));
  await expect
    .poll(async () => {
      const answer = await order<{ next: string | null }>(place, 'POST', 'leads/find', { email: who.email });
      return answer.next !== null;
    })
    .toBe(true);
  const page = await signedIn('find');
  let behind = true;
  await page.route('**/admin/v1/leads/find', async (route) => {
    const answer = await route.fetch();
    await route.fulfill({ response: answer, json: { ...((await answer.json()) as object), complete: !behind } });
  });
  await page.getByLabel('Phone or email').fill(who.email);
  await button(page, 'Find').click();
  await shows(page.getByText('The report is catching up', { exact: false }));
  behind = false;
  await button(page, 'Search again').click();
  await page.getByText('The report is catching up', { exact: false }).waitFor({ state: 'detached' });
  const rows = found(page).locator('tbody tr');
  await hasCount(rows, 50);
  await button(page, 'More').click();
  await hasCount(rows, 51);
  for (const [at] of made.reverse()) {
    const { etag } = await order<{ etag: string }>(place, 'GET', `config/${at}`);
    await order(place, 'DELETE', `config/${at}`, undefined, { 'If-Match': `"${etag}"` });
  }
});

async function reveal(page: Page, reason: string): Promise<void> {
  await button(page, 'Show contact').first().click();
  expect(await button(dialog(page), 'Show contact').isDisabled()).toBe(true);
  await dialog(page).getByLabel('Reason').fill(reason);
  await button(dialog(page), 'Show contact').click();
}

test('contact data is shown for a reason, which the lead’s audit log has, and leaves with the page', async () => {
  const who = contact();
  const lead = await sendOf(who);
  const page = await signedIn(`leads/${lead}`);
  await reveal(page, 'Complaint 4711');
  await shows(page.getByText(who.email));
  await shows(page.getByText(`+1${who.digits}`));
  await expect.poll(() => page.evaluate(() => document.activeElement?.tagName)).toBe('H1');
  await page.getByRole('link', { name: 'Money' }).click();
  await shows(page.getByText(who.email));
  const log = page.getByRole('region', { name: 'Audit log' });
  await expect
    .poll(
      async () => {
        await visit(page, `leads/${lead}/money`);
        await visit(page, `leads/${lead}/audit`);
        return log.getByText('Complaint 4711').count();
      },
      { timeout: 20_000 },
    )
    .toBe(1);
  await shows(log.getByText('Showed the contact of a lead'));
  await shows(log.getByText('Shared password (name not verified), session', { exact: false }));
  await shows(page.getByText(who.email));
  await visit(page, 'caps');
  await page.goBack();
  await shows(page.getByRole('heading', { name: lead }));
  await settled(page);
  expect(await kept(page)).not.toContain('quincy');

  await order(place, 'POST', 'erase', { lead });
  await reveal(page, 'Too late');
  await shows(dialog(page).getByText('The contact data of this lead was erased.'));
});

test('a role and a limit protect contact data', async () => {
  const password = 'correct horse battery';
  await order(place, 'PUT', 'users/rita', { role: 'operator', password });
  await order(place, 'PUT', 'users/vic', { role: 'viewer', password });
  const [vic, rita] = [await newPage(), await newPage()];
  await vic.goto(`/#/leads/${place.sold}/audit`);
  await signIn(vic, 'vic', password);
  await shows(vic.getByText('The audit log is not shown'));
  expect(await button(vic, 'Show contact').isDisabled()).toBe(true);

  await rita.goto(`/#/leads/${place.sold}`);
  await signIn(rita, 'rita', password);
  // The page's own request is repeated until the exchange rejects it.
  await rita.route('**/reveal', async (route) => {
    let answer = await route.fetch();
    for (let i = 0; i < 60 && answer.status() !== 429; i++) answer = await route.fetch();
    await route.fulfill({ response: answer });
  });
  await reveal(rita, 'One more');
  await shows(dialog(rita).getByText('You reveal contact data too often.', { exact: false }));
  for (const name of ['rita', 'vic']) await order(place, 'DELETE', `users/${name}`);
});
