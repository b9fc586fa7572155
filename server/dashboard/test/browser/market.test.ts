import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, test } from 'vitest';
import { order, person, send } from './exchange';
import { browse, button, dialog, place, said, settled, shows, signedIn, visit } from './page';

browse();

test('a campaign and a buyer are paused and go on', async () => {
  const page = await signedIn('buyers/bid_west');
  await button(page, 'Pause bid_west').click();
  await said(page, 'bid_west is paused.');
  await button(page, 'Resume bid_west').click();
  await said(page, 'bid_west is active.');
  await visit(page, 'campaigns');
  await button(page, 'Pause cmp_odd').click();
  await said(page, 'cmp_odd is paused.');
  expect((await send(place, person('cmp_odd', 'CA'))).status).toBe(422);
  await button(page, 'Resume cmp_odd').click();
  await said(page, 'cmp_odd is active.');
});

test('a key is rotated: it is shown once, and good; the one before is ended', async () => {
  const page = await signedIn('suppliers/sup_acme/keys');
  const old = place.apiKey.slice(0, 8);
  await shows(page.getByText(`${old}…`));
  await button(page, 'Rotate the key').click();
  await shows(dialog(page).getByText(`${old}…`));
  await button(dialog(page), 'Rotate the key').click();
  const field = dialog(page).getByRole('textbox', { name: 'New API key of sup_acme' });
  const key = await field.inputValue();
  expect(key).toMatch(/^key_[0-9a-f]{48}$/);
  await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
  await button(dialog(page), 'Copy').click();
  await shows(dialog(page).getByText('Copied.'));
  expect(await page.evaluate(() => navigator.clipboard.readText())).toBe(key);
  await button(dialog(page), 'Done').click();
  await settled(page);
  expect(await page.content()).not.toContain(key);
  await shows(page.getByText(`${key.slice(0, 8)}…`));
  const row = page.getByRole('row', { name: new RegExp(`${key.slice(0, 8)}`) });
  await shows(row.getByText('no known use'));
  expect((await send(place, person('cmp_bids', 'FL'), key)).status).toBe(201);
  await visit(page, 'suppliers');
  await visit(page, 'suppliers/sup_acme/keys');
  await shows(row.getByText('just now'));
  await button(page, `Revoke the key ${key.slice(0, 8)}`).click();
  await button(dialog(page), 'Revoke').click();
  await said(page, 'is revoked.');
  await row.waitFor({ state: 'detached' });
  expect(await page.evaluate(() => document.activeElement?.getAttribute('aria-label'))).toBe('API keys');
  expect((await send(place, person('cmp_bids', 'FL'), key)).status).toBe(401);
});

test('a second rotation shows the last use of both keys and asks which one ends', async () => {
  const supplier = 'suppliers/sup_zenith';
  const keys = () => order<{ keys: { hint: string }[] }>(place, 'GET', `${supplier}/keys`).then((k) => k.keys);
  const used = await order<{ api_key: string; hint: string }>(place, 'POST', `${supplier}/keys`);
  const unused = await order<{ hint: string }>(place, 'POST', `${supplier}/keys`);
  const lead = () => ({ ...person('cmp_auto', 'NY'), flo_supplier_id: 'sup_zenith' });
  expect((await send(place, lead(), used.api_key)).status).toBe(201);
  const page = await signedIn(`${supplier}/keys`);
  await button(page, 'Rotate the key').click();
  const row = (hint: string) => dialog(page).getByRole('row', { name: new RegExp(hint) });
  await shows(row(used.hint).getByText('just now'));
  await shows(row(unused.hint).getByText('no known use'));
  await button(dialog(page), 'Cancel').click();
  expect((await keys()).map((k) => k.hint)).toEqual([used.hint, unused.hint]);
  await button(page, 'Rotate the key').click();
  expect(await button(dialog(page), 'Replace').isDisabled()).toBe(true);
  await dialog(page)
    .getByRole('radio', { name: `Replace ${unused.hint}` })
    .check();
  await button(dialog(page), 'Replace').click();
  const made = await dialog(page).getByRole('textbox', { name: 'New API key of sup_zenith' }).inputValue();
  await button(dialog(page), 'Done').click();
  expect((await keys()).map((k) => k.hint)).toEqual([used.hint, made.slice(0, 8)]);
  expect((await send(place, lead(), used.api_key)).status).toBe(201);
});

test('a third secret of a client and of a webhook asks which one ends', async () => {
  const page = await signedIn('suppliers/sup_zenith/keys');
  const secrets = async () => {
    const { clients } = await order<{ clients: { client_id: string; secrets: { hint: string }[] }[] }>(
      place,
      'GET',
      'suppliers/sup_zenith/clients',
    );
    return clients.find((c) => c.client_id === 'zenith')?.secrets.map((s) => s.hint) ?? [];
  };
  await button(page, 'New secret for zenith').click();
  await button(dialog(page), 'Done').click();
  const [first = '', second = ''] = await secrets();
  await settled(page);
  await button(page, 'New secret for zenith').click();
  await dialog(page)
    .getByRole('radio', { name: `Replace ${first}` })
    .check();
  await button(dialog(page), 'Replace').click();
  const third = await dialog(page).getByRole('textbox', { name: 'Secret of zenith' }).inputValue();
  await button(dialog(page), 'Done').click();
  expect(await secrets()).toEqual([second, third.slice(0, 8)]);

  const signing = async () =>
    (await order<{ secrets: { hint: string }[] }>(place, 'GET', 'webhooks/sup_acme')).secrets.map((s) => s.hint);
  await visit(page, 'webhooks/sup_acme');
  await button(page, 'Rotate the secret').click();
  await button(dialog(page), 'Rotate the secret').click();
  await button(dialog(page), 'Done').click();
  const [present = '', before = ''] = await signing();
  await settled(page);
  await button(page, 'Rotate the secret').click();
  await dialog(page)
    .getByRole('radio', { name: `Replace ${present}` })
    .check();
  await button(dialog(page), 'Replace').click();
  await shows(dialog(page).getByRole('textbox', { name: 'New webhook secret of sup_acme' }));
  await button(dialog(page), 'Done').click();
  expect((await signing())[1]).toBe(before);
  await order(place, 'DELETE', 'webhooks/sup_acme/secret/previous');
});

test('sandbox tokens and clients are made and ended', async () => {
  const page = await signedIn('suppliers/sup_zenith/keys');
  await button(page, 'New token').click();
  const token = await dialog(page).getByRole('textbox').inputValue();
  expect(token).toMatch(/^tok_/);
  await button(dialog(page), 'Done').click();
  const ping = (bearer: string) =>
    fetch(`${place.listen}/v1/ping`, { method: 'POST', headers: { Authorization: `Bearer ${bearer}` }, body: '{}' });
  expect((await ping(token)).status).not.toBe(401);
  await button(page, `Revoke the token ${token.slice(0, 8)}`).click();
  await button(dialog(page), 'Revoke').click();
  await said(page, 'The token is revoked.');
  expect((await ping(token)).status).toBe(401);
  await page.getByLabel('Client id').fill('zenith-2');
  await button(page, 'Add OAuth client').click();
  expect(await dialog(page).getByRole('textbox').inputValue()).toMatch(/^sec_/);
  await button(dialog(page), 'Done').click();
  await button(page, 'Revoke client zenith-2').click();
  await button(dialog(page), 'Revoke').click();
  await said(page, 'zenith-2 is revoked.');
});

test('each secret that the exchange presents is replaced on the page of its buyer', async () => {
  const shown: string[] = [];
  const server = createServer((request, response) => {
    let body = '';
    request.on('data', (piece) => {
      body += String(piece);
    });
    request.on('end', () => {
      const basic = Buffer.from(request.headers.authorization?.split(' ')[1] ?? '', 'base64');
      shown.push(`${request.url} ${basic} ${body}`);
      response.writeHead(200, { 'Content-Type': 'application/json' });
      const token = { access_token: 'token-of-hydra', token_type: 'Bearer', expires_in: 60 };
      response.end(JSON.stringify(request.url === '/token' ? token : { lead_id: 'theirs', account: body }));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const make = { 'If-None-Match': '*' };
  const oauth = { token_url: `${url}/token`, client_id: 'us', client_secret: 'first-client-secret' };
  const hydra = {
    id: 'buy_hydra',
    post_url: `${url}/post`,
    auth: { oauth },
    secrets: [{ name: 'account', value: 'first-account' }],
    adapter: {
      post: {
        format: 'json',
        body: '{"id": {{lead_id}}, "account": {{secret "account"}}}',
        answer: { accepted: 'lead_id', yes: ['theirs'] },
      },
    },
  };
  await order(place, 'PUT', 'config/buyers/buy_hydra', hydra, make);
  const campaign = { id: 'cmp_hydra', method: 'waterfall', buyers: [{ buyer: 'buy_hydra', price: 1 }] };
  await order(place, 'PUT', 'config/campaigns/cmp_hydra', campaign, make);
  try {
    const page = await signedIn('buyers/buy_hydra/delivery');
    await page.getByLabel('New OAuth client secret').fill('second-client-secret');
    await button(page, 'Replace the OAuth client secret').click();
    await said(page, 'The OAuth client secret is replaced.');
    await page.getByLabel('New secret account').fill('second-account');
    await button(page, 'Replace the secret account').click();
    await said(page, 'The secret account is replaced.');
    expect((await send(place, person('cmp_hydra', 'CA'))).data?.status).toBe('ACCEPTED');
    expect(shown.find((line) => line.startsWith('/token'))).toContain('second-client-secret');
    expect(shown.find((line) => line.startsWith('/post'))).toContain('second-account');
    await visit(page, 'suppliers/sup_acme/webhooks');
    await page.getByLabel('New webhook secret').fill('hunter2');
    await button(page, 'Replace the webhook secret').click();
    await shows(page.getByRole('alert').getByText('whsec_'));
  } finally {
    server.closeAllConnections();
    server.close();
  }
});

test('money is paid in, and a mistake is told beside it', async () => {
  const page = await signedIn('buyers/buy_vault/billing');
  const before = (await order<{ balance: number }>(place, 'GET', 'buyers/buy_vault/funds')).balance;
  await page.getByLabel('Add funds').fill('10.5');
  await page.getByLabel('Note').fill('wire 17');
  await button(page, 'Apply').click();
  await said(page, 'The balance is changed.');
  expect((await order<{ balance: number }>(place, 'GET', 'buyers/buy_vault/funds')).balance).toBeCloseTo(before + 10.5);
  await page.getByLabel('Add funds').fill('ten');
  await button(page, 'Apply').click();
  await shows(page.getByRole('alert').getByText('amount'));
  await visit(page, 'statements?buyer=buy_vault');
  await shows(page.getByText('wire 17'));
});

test('a suppression list is uploaded: what is in it is not sold, a broken one changes nothing', async () => {
  const page = await signedIn('suppression/dnc');
  const file = (text: string) => ({ name: 'list.txt', mimeType: 'text/plain', buffer: Buffer.from(text) });
  const upload = async (text: string) => {
    await page.getByLabel('File', { exact: true }).first().setInputFiles(file(text));
    await button(page, 'Upload').click();
  };
  await upload('+14155550999\n4155550998\n# a line\n4155550998\n');
  await shows(page.getByText('2 entries, 1 duplicates, 1 lines skipped.'));
  const lead = { ...person('cmp_auto', 'CA'), phone: '(415) 555-0999' };
  expect((await send(place, lead)).data?.reason).toBe('suppressed');
  await upload('4155550997\nnobody\n');
  await shows(page.getByRole('alert').getByText('line 2'));
  await shows(page.getByText('The list is unchanged.'));
  const lists = await order<{ lists: { id: string; entries: number }[] }>(place, 'GET', 'suppression');
  expect(lists.lists.find((l) => l.id === 'dnc')?.entries).toBe(2);
});
