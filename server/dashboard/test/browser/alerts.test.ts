import { createServer, type Server } from 'node:http';
import { type AddressInfo, createServer as createSocketServer, type Socket } from 'node:net';
import { expect, test } from 'vitest';
import { order } from './exchange';
import {
  browse,
  button,
  dialog,
  hasCount,
  newPage,
  place,
  said,
  settled,
  shows,
  signedIn,
  signIn,
  visit,
} from './page';

browse();

// soon is longer than an evaluation of the rules and an attempt of a channel together.
const soon = { timeout: 50_000 };

const listen = async (server: Server | ReturnType<typeof createSocketServer>): Promise<number> => {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return (server.address() as AddressInfo).port;
};

const rule = {
  name: 'Disk test',
  kind: 'disk_free',
  threshold: 1e6,
  resolve_threshold: 1e6,
  for_s: 0,
  resolve_for_s: 0,
};

// firing runs a test while the alert of a rule fires.
async function firing(id: string, run: () => Promise<void>): Promise<void> {
  const path = `alerts/rules/${id}`;
  await order(place, 'PUT', path, rule, { 'If-None-Match': '*' });
  try {
    await run();
  } finally {
    const { etag } = await order<{ etag: string }>(place, 'GET', path);
    await order(place, 'DELETE', path, undefined, { 'If-Match': etag });
  }
}

test('an alert fires on Home with its remedy, is counted, silenced, and kept in the history', () =>
  firing('disk_test', async () => {
    const page = await signedIn();
    const alert = page.locator('#main .alerts li', { hasText: 'of disk space free' });
    await alert.waitFor(soon);
    await shows(alert.getByText('Free some space or enlarge the disk.', { exact: false }));
    await page.getByLabel(/^Inbox, [1-9]/).click(soon);
    await page.locator('.waits').getByRole('link', { name: 'Alerts', exact: true }).click();
    await shows(page.getByRole('heading', { name: 'Alerts now' }));
    const shown = page.locator('#main .alerts li', { hasText: 'of disk space free' });
    await shown.getByRole('button', { name: /^Silence/ }).click();
    await dialog(page).getByLabel('Note').fill('known');
    await button(dialog(page), 'Start silence').click();
    await said(page, 'The silence has begun.');
    await shows(shown.getByText('silenced', { exact: true }));
    await shows(page.getByRole('region', { name: 'History' }).getByText('fired'));
    await button(page, 'End the silence of Disk test').click();
    await said(page, 'The silence has ended.');
    await shown.getByRole('link', { name: /^Open/ }).click();
    await shows(page.getByRole('heading', { name: 'Exchange' }));
    expect(page.url()).toContain('settings/health');
  }));

test('a rule is added, edited against another operator’s change, turned off and deleted', async () => {
  const page = await signedIn('alerts');
  await button(page, 'Add rule').click();
  const form = dialog(page);
  await form.getByLabel('Name (required)', { exact: true }).fill('Swift fails');
  await form.getByLabel('Measures').selectOption('buyer_failures');
  await form.getByLabel('Which buyer').selectOption('bid_swift');
  await form.getByLabel('Fires at or above').fill('101');
  await button(form, 'Save rule').click();
  await shows(form.locator('.field.wrong', { hasText: 'Fires at or above' }));
  await form.getByLabel('Fires at or above').fill('40');
  await form.getByLabel('Minimum').fill('20');
  await button(form, 'Save rule').click();
  await said(page, 'Swift fails is saved.');
  const row = page.getByRole('row', { name: /Swift fails/ });
  await shows(row.getByText('40% or more for 1 min'));

  await button(page, 'Edit the rule Swift fails').click();
  await form.getByLabel('Fires at or above').fill('50');
  const path = 'alerts/rules/swift_fails';
  const { etag } = await order<{ etag: string }>(place, 'GET', path);
  const theirs = { name: 'Swift fails', kind: 'buyer_failures', subject: 'bid_swift', threshold: 45, minimum: 30 };
  await order(place, 'PUT', path, theirs, { 'If-Match': etag });
  await button(form, 'Save rule').click();
  await shows(form.getByText('Another operator has changed this entry meanwhile.', { exact: false }));
  expect(await form.getByLabel('Fires at or above').inputValue()).toBe('50');
  await shows(form.getByRole('alert').getByText('45'));
  await button(form, 'Save rule').click();
  await form.waitFor({ state: 'hidden' });
  expect(await order(place, 'GET', path)).toMatchObject({ threshold: 50, minimum: 20, subject: 'bid_swift' });

  await button(page, 'Turn off the rule Swift fails').click();
  await said(page, 'Swift fails is off.');
  await button(page, 'Delete the rule Swift fails').click();
  await button(dialog(page), 'Delete').click();
  await said(page, 'Swift fails is deleted.');
  await hasCount(row, 0);
});

test('a webhook channel shows its new secret once, gets a test, and keeps its secret after a change', async () => {
  const got: string[] = [];
  const server = createServer((request, response) => {
    let body = '';
    request.on('data', (part) => {
      body += part;
    });
    request.on('end', () => {
      got.push(body);
      response.end();
    });
  });
  const port = await listen(server);
  try {
    const page = await signedIn('settings/alerts');
    await button(page, 'Add channel').click();
    const form = dialog(page);
    await form.getByLabel('Name (required)', { exact: true }).fill('Pager');
    await form.getByLabel('Kind').selectOption('webhook');
    await form.getByLabel('Address').fill(`http://127.0.0.1:${port}/alerts`);
    await button(form, 'Save channel').click();
    await shows(dialog(page).getByText('Copy it now. It is shown once.'));
    const secret = dialog(page).getByLabel('Signing secret');
    expect(await secret.inputValue()).toMatch(/^whsec_/);
    await button(dialog(page), 'Done').click();
    await button(page, 'Test the channel Pager').click();
    await said(page, 'The test notification to Pager has arrived.');
    expect(got.some((body) => body.includes('alert.test'))).toBe(true);
    await button(page, 'Edit the channel Pager').click();
    await form.getByLabel('Off').check();
    await button(form, 'Save channel').click();
    await said(page, 'Pager is saved.');
    expect(await order(place, 'GET', 'alerts/channels/pager')).toMatchObject({ off: true, has_secret: true });
    await button(page, 'Delete the channel Pager').click();
    await button(dialog(page), 'Delete').click();
    await said(page, 'Pager is deleted.');
  } finally {
    server.close();
    server.closeAllConnections();
  }
});

test(
  'a mail server that hangs is named plainly',
  () =>
    firing('disk_mail', async () => {
      const sockets: Socket[] = [];
      const server = createSocketServer((socket) => {
        sockets.push(socket); // it never greets
        socket.on('error', () => undefined);
      });
      const port = await listen(server);
      try {
        const page = await signedIn('settings/alerts');
        await button(page, 'Add channel').click();
        const form = dialog(page);
        await form.getByLabel('Name (required)', { exact: true }).fill('Mail');
        await form.getByLabel('SMTP server').fill('127.0.0.1');
        await form.getByLabel('Port').fill(String(port));
        await form.getByLabel('Encryption').selectOption('none');
        await form.getByLabel('From (required)', { exact: true }).fill('alerts');
        await form.getByLabel('To (required)', { exact: true }).fill('ops@example.com');
        await button(form, 'Save channel').click();
        await shows(form.locator('.field.wrong', { hasText: 'From' }));
        await form.getByLabel('From (required)', { exact: true }).fill('alerts@example.com');
        await button(form, 'Save channel').click();
        await said(page, 'Mail is saved.');
        const row = page.getByRole('row', { name: /Mail/ });
        await button(page, 'Test the channel Mail').click();
        await row.getByText(/The test failed: /).waitFor(soon);
        await row.getByText(/has not answered for|hangs: it does not answer in time/).waitFor(soon);
        await button(page, 'Delete the channel Mail').click();
        await button(dialog(page), 'Delete').click();
        await said(page, 'Mail is deleted.');
      } finally {
        for (const socket of sockets) socket.destroy();
        server.close();
      }
    }),
  150_000,
);

test('a viewer sees alerts, and an operator only silences them', async () => {
  const words = 'correct horse battery';
  for (const [name, role] of [
    ['vito', 'viewer'],
    ['otto', 'operator'],
  ] as const) {
    await order(place, 'PUT', `users/${name}`, { role, password: words });
    const page = await newPage();
    await page.goto('/#/settings/alerts');
    await signIn(page, name, words);
    await settled(page);
    for (const admin of ['Add rule', 'Add channel']) {
      expect(await button(page, admin).isDisabled(), `${name}: ${admin}`).toBe(true);
    }
    await shows(page.getByRole('row', { name: /Buyer cap almost used/ }));
    expect(await button(page, /^(Edit|Turn off|Delete|Test) the /).count()).toBe(0);
    expect(await button(page, 'Add silence').isDisabled()).toBe(role === 'viewer');
    await visit(page, 'settings/audit');
    expect(await page.getByRole('link', { name: 'Export CSV' }).count()).toBe(role === 'viewer' ? 0 : 1);
    await order(place, 'DELETE', `users/${name}`);
  }
});

test('the links of alerts lead to pages', async () => {
  const page = await signedIn();
  for (const [link, shown] of [
    ['buyers/bid_swift', 'Swift'],
    ['suppliers/sup_acme', 'Acme Leads'],
    ['campaigns/cmp_bids', 'cmp_bids'],
    ['unmatched', 'Reports'],
    ['system', 'Settings'],
    ['alerts', 'Settings'],
  ] as const) {
    await visit(page, link);
    await shows(page.getByRole('heading', { level: 1, name: shown }));
  }
});
