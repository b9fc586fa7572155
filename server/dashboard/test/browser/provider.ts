// A real identity provider with its own sign-in pages, in this process: node-oidc-provider, which the
// OpenID Foundation has certified.

import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Provider } from 'oidc-provider';
import type { Page } from 'playwright-core';

export interface IdentityProvider {
  issuer: string;
  groups: string[]; // of the person who signs in
  // permit serves the provider, for an exchange with this admin address.
  permit: (admin: string) => void;
  close: () => void;
}

// openProvider listens on an address, so that an exchange can be configured with it. Its only person
// is anna@example.com, with any password.
export async function openProvider(client: string): Promise<IdentityProvider> {
  let serve: RequestListener = (_, response) => response.writeHead(503).end();
  const server = createServer((request, response) => serve(request, response));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const groups: string[] = [];
  const permit = (admin: string) => {
    const provider = new Provider(issuer, {
      clients: [
        {
          client_id: client,
          token_endpoint_auth_method: 'none',
          redirect_uris: [`${admin}/admin/v1/session/oidc/callback`],
        },
      ],
      claims: { openid: ['sub'], email: ['email', 'email_verified'], groups: ['groups'] },
      scopes: ['openid', 'email', 'groups'],
      conformIdTokenClaims: false, // the ID token has the claims of the scopes
      cookies: { keys: ['test'] },
      findAccount: (_, id) => ({
        accountId: id,
        claims: () =>
          Promise.resolve({ sub: id, email: 'anna@example.com', email_verified: true, groups: [...groups] }),
      }),
    });
    serve = provider.callback();
  };
  const close = () => {
    server.close();
    server.closeAllConnections();
  };
  return { issuer, groups, permit, close };
}

// signInAtProvider fills in the pages of the provider: sign-in and consent.
export async function signInAtProvider(page: Page): Promise<void> {
  await page.getByPlaceholder('Enter any login').fill('anna');
  await page.getByPlaceholder('and password').fill('any');
  await page.getByRole('button', { name: 'Sign-in' }).click();
  await page.getByRole('button', { name: 'Continue' }).click();
}
