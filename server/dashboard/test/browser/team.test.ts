import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { openSeeded, order } from './exchange';
import { browse, button, dialog, newPage, place, said, shows, signedIn, signIn, visit } from './page';
import { openProvider, signInAtProvider } from './provider';
import { totp } from './totp';

browse();

const words = 'correct horse battery';

// invite makes an invitation on the page Team, and returns its link.
async function invite(page: Page, name = ''): Promise<string> {
  await page.getByLabel('Name of the account').fill(name);
  await button(page, 'Invite').click();
  await shows(dialog(page).getByText('Copy it now. It is shown once.'));
  const link = await dialog(page).getByRole('textbox').inputValue();
  await button(dialog(page), 'Done').click();
  return link;
}

test('a teammate opens an account by a link that works once, and a revoked link says so', async () => {
  const page = await signedIn('settings/team');
  const [open, revoked] = [await invite(page), await invite(page, 'rolf')];
  await button(page, 'Revoke the invitation rolf').click();
  await said(page, 'The invitation is revoked.');
  const other = await newPage();
  await other.goto(open);
  await shows(other.getByText(/invites you with the role/).getByText('operator', { exact: true }));
  await other.getByLabel('Name').fill('Nina');
  await other.getByLabel('Password').fill('short');
  await button(other, 'Open account and sign in').click();
  await shows(other.locator('.field.wrong', { hasText: 'Password' }));
  await other.getByLabel('Password').fill(words);
  await button(other, 'Open account and sign in').click();
  await other.getByLabel('Account of nina').click();
  await shows(other.getByText('nina operator'));
  expect(other.url()).not.toContain('ppi_');
  await other.goto(open);
  await shows(other.getByText('This invitation has ended'));
  await shows(other.getByText(/was used already/));
  await other.goto(revoked);
  await shows(other.getByText(/revoked/));
  await other.goto('/#/invite/ppi_none');
  await shows(other.getByText('There is no such invitation'));
  await page.reload();
  await shows(page.getByRole('row', { name: /nina/ }).getByText('off', { exact: true }));
  await order(place, 'DELETE', 'users/nina');
});

test('a second factor is turned on, asked for, replaced by a recovery code, and turned off', async () => {
  await order(place, 'PUT', 'users/tom', { role: 'operator', password: words });
  const page = await newPage();
  await page.goto('/#/settings/account');
  await signIn(page, 'tom', words);
  await button(page, 'Turn on').click();
  await shows(page.getByRole('img', { name: 'QR code of the secret' }));
  const secret = (await page.getByLabel('Secret', { exact: true }).innerText()).replaceAll(' ', '');
  expect(await page.getByLabel('Address of the secret', { exact: true }).innerText()).toContain(`secret=${secret}`);
  await page.getByLabel('Code', { exact: true }).fill('000000');
  await button(page, 'Confirm').click();
  await shows(page.getByRole('alert').getByText(/The code is wrong/));
  await page.getByLabel('Code', { exact: true }).fill(totp(secret));
  await button(page, 'Confirm').click();
  await shows(page.getByText('Copy them now. They are shown once.'));
  const codes = await page.locator('.codes code').allInnerTexts();
  expect(codes).toHaveLength(10);
  await button(page, 'Done').click();
  await shows(button(page, 'Turn off'));
  await page.getByLabel('Account of tom').click();
  await button(page, 'Sign out').click();

  await signIn(page, 'tom', words);
  await shows(page.getByText('This account has a second factor.'));
  await page.getByLabel('Code', { exact: true }).fill('000000');
  await button(page, 'Sign in').click();
  await shows(page.getByRole('alert').getByText(/The code is wrong/));
  await page.getByLabel('Code', { exact: true }).fill(codes[0] ?? '');
  await button(page, 'Sign in').click();
  await shows(page.getByRole('heading', { name: 'Second factor' }));
  await page.getByLabel('Code', { exact: true }).fill(codes[0] ?? '');
  await button(page, 'Turn off').click();
  await shows(page.getByRole('alert').getByText(/The code is wrong/));
  await page.getByLabel('Code', { exact: true }).fill(codes[1] ?? '');
  await button(page, 'Turn off').click();
  await shows(button(page, 'Turn on'));
  await order(place, 'DELETE', 'users/tom');
});

test('an exchange that requires a second factor lets in only after it is turned on', async () => {
  const strict = await openSeeded('', 'require_totp: true');
  try {
    await order(strict as never, 'PUT', 'users/tess', { role: 'admin', password: words });
    const page = await newPage({ baseURL: strict.admin });
    await page.goto('/#/buyers');
    await signIn(page, 'tess', words);
    await shows(page.getByText('This exchange requires a second factor.', { exact: false }));
    expect(await page.locator('nav#menu').count()).toBe(0);
    await button(page, 'Turn on').click();
    await page
      .getByLabel('Code', { exact: true })
      .fill(totp((await page.getByLabel('Secret', { exact: true }).innerText()).replaceAll(' ', '')));
    await button(page, 'Confirm').click();
    await button(page, 'Done').click();
    await shows(page.getByRole('heading', { name: 'Buyers' }));
  } finally {
    await strict.close();
  }
});

test('a person signs in at the identity provider, and every refusal is explained', async () => {
  const provider = await openProvider('pingpost');
  const oidc = `oidc: {issuer: "${provider.issuer}", client_id: pingpost, label: Example ID, scopes: [openid, email, groups], roles: {map: {ops: operator}}}`;
  const exchange = await openSeeded('trusted_networks: [127.0.0.0/8]', oidc);
  try {
    const page = await newPage({ baseURL: exchange.admin });
    const button = page.getByRole('link', { name: 'Sign in with Example ID' });
    provider.permit(exchange.admin);
    await page.goto('/');
    await button.click();
    await page.getByRole('link', { name: 'Cancel' }).click();
    await shows(page.getByText('The identity provider refused the sign-in.'));
    await button.click();
    await signInAtProvider(page);
    await shows(page.getByText('You have no role at this exchange.', { exact: false }));
    provider.groups.push('ops');
    await button.click(); // the provider knows the browser and asks nothing
    await shows(page.getByRole('heading', { name: 'Home' }));
    await page.getByLabel('Account of oidc:anna@example.com').click();
    await shows(page.getByText('oidc:anna@example.com operator'));
    await visit(page, 'settings/account');
    await shows(page.getByText('You sign in at the identity provider'));
    await page.context().clearCookies();
    await page.goto('/admin/v1/session/oidc/callback?state=x&code=y');
    await shows(page.getByText('The sign-in was not valid', { exact: false }));
  } finally {
    provider.close();
    await exchange.close();
  }
});

test('a provider that cannot be reached is named, and passwords work', async () => {
  const provider = await openProvider('pingpost');
  provider.close();
  const oidc = `oidc: {issuer: "${provider.issuer}", client_id: pingpost, label: Example ID, default_role: viewer}`;
  const exchange = await openSeeded('trusted_networks: [127.0.0.0/8]', oidc);
  try {
    const page = await newPage({ baseURL: exchange.admin });
    await page.goto('/');
    await page.getByRole('link', { name: 'Sign in with Example ID' }).click();
    await shows(page.getByText('The identity provider cannot be reached.', { exact: false }));
    await page.reload();
    await shows(page.getByText('Example ID cannot be reached.'));
    await signIn(page, 'op', exchange.password);
    await shows(page.getByRole('heading', { name: 'Home' }));
    expect(page.url()).not.toContain('oidc');
  } finally {
    await exchange.close();
  }
});
