import { expect, test } from 'vitest';
import { order } from './exchange';
import { browse, button, dialog, newPage, place, said, settled, shows, signedIn, signIn, visit } from './page';

browse();

const words = 'correct horse battery';

test('a wrong password is told, and the right one lets in', async () => {
  const page = await newPage();
  await page.goto('/#/caps');
  await signIn(page, 'op', 'not the password');
  await shows(page.getByRole('alert'));
  expect(await page.getByLabel('Password').inputValue()).toBe('');
  await signIn(page);
  await shows(page.getByRole('heading', { name: 'Cap use' }));
});

test('users are made, changed and removed', async () => {
  const page = await signedIn('access');
  await page.getByText('Add a user with a password of your choice').click();
  await page.getByLabel('Name of the new user').fill('vera');
  await page.getByLabel('First password').fill('short');
  await button(page, 'Add user').click();
  await shows(page.getByRole('alert').getByText(/12/));
  await page.getByLabel('First password').fill(words);
  await button(page, 'Add user').click();
  await said(page, 'vera can sign in.');
  await page.getByLabel('Role of vera').selectOption('operator');
  await button(page, 'Give vera the role operator').click();
  await said(page, 'vera is operator.');
  await button(page, 'New password for vera').click();
  await dialog(page).getByLabel('Password').fill(`${words} again`);
  await button(dialog(page), 'New password').click();
  await said(page, 'vera has a new password.');
  const other = await newPage();
  await other.goto('/');
  await signIn(other, 'vera', `${words} again`);
  await other.getByLabel('Account of vera').click();
  await shows(other.getByText('vera operator'));
  await button(page, 'Remove vera').click();
  await button(dialog(page), 'Remove').click();
  await said(page, 'vera is removed.');
});

test('a viewer sees what there is, and why nothing can be done', async () => {
  await order(place, 'PUT', 'users/victor', { role: 'viewer', password: words });
  const page = await newPage();
  await page.goto('/#/buyers');
  await signIn(page, 'victor', words);
  await settled(page);
  const pause = button(page, 'Pause bid_swift');
  await shows(pause);
  expect(await pause.isDisabled()).toBe(true);
  expect(
    await pause.evaluate((b) => document.getElementById(b.getAttribute('aria-describedby') ?? '')?.textContent),
  ).toBe('Needs the role operator; yours is viewer.');
  await visit(page, 'suppliers/sup_acme/keys');
  await settled(page);
  expect(await button(page, 'Rotate the key').isDisabled()).toBe(true);
  await visit(page, 'suppliers/sup_acme/settings');
  expect(await page.locator('#main input, #main select').count()).toBe(0);
  for (const at of [
    '',
    'deliveries',
    'returns',
    'suppliers/sup_acme/webhooks',
    'suppression/dnc',
    'bench',
    'erase',
    'access',
    'alerts',
  ]) {
    await visit(page, at);
    const main = page.locator('#main');
    expect(await main.locator('.button.danger:enabled').count(), at).toBe(0);
  }
  await visit(page, 'erase');
  await shows(page.getByText('Needs the role admin; yours is viewer.'));
  expect(await page.locator('#main input:enabled, #main .button:enabled').count()).toBe(0);
  await page.getByLabel('Account of victor').click();
  await button(page, 'Sign out').click();
  await shows(button(page, 'Sign in'));
  await order(place, 'DELETE', 'users/victor');
});

test('a session that ends leads to sign in, and back to what was written', async () => {
  const page = await signedIn('buyers/+');
  await page.getByRole('textbox', { name: 'Id (required)' }).fill('buy_kept');
  await page.context().clearCookies();
  await button(page, 'Review changes').click();
  await shows(page.getByText('Your session has ended.', { exact: false }));
  await signIn(page);
  await shows(page.getByRole('heading', { name: 'New buyer' }));
  expect(await page.getByRole('textbox', { name: 'Id (required)' }).inputValue()).toBe('buy_kept');
  await button(page, 'Review changes').click();
  await shows(dialog(page).getByText(/buy_kept/));
});

test('a token of one’s own is made, good, and revoked', async () => {
  await order(place, 'PUT', 'users/tina', { role: 'admin', password: words });
  const page = await newPage();
  await page.goto('/#/settings/tokens');
  await signIn(page, 'tina', words);
  await page.getByLabel('Name of the new token').fill('nightly');
  const role = page.locator('.row.foot', { has: page.getByLabel('Name of the new token') }).getByLabel('Role');
  expect(await role.inputValue()).toBe('viewer'); // the weakest role, although tina is an admin
  await button(page, 'Create API token').click();
  const token = await dialog(page).getByRole('textbox').inputValue();
  expect(token).toMatch(/^ppa_/);
  await button(dialog(page), 'Done').click();
  const ask = (method: string, path: string) =>
    fetch(`${place.admin}/admin/v1/${path}`, { method, headers: { Authorization: `Bearer ${token}` } });
  expect((await ask('GET', 'caps')).status).toBe(200);
  expect((await ask('POST', 'buyers/bid_west/pause')).status).toBe(403);
  await button(page, 'Revoke nightly').click();
  await button(dialog(page), 'Revoke').click();
  await said(page, 'nightly is revoked.');
  expect((await ask('GET', 'caps')).status).toBe(401);
  await visit(page, 'settings/account');
  await page.getByLabel('Current password').fill(words);
  await page.getByLabel('New password', { exact: true }).fill(`${words} two`);
  await button(page, 'Change password').click();
  await shows(button(page, 'Sign in'));
  await signIn(page, 'tina', `${words} two`);
  await page.getByLabel('Account of tina').click();
  await shows(page.getByText('tina admin'));
  await order(place, 'DELETE', 'users/tina');
});
