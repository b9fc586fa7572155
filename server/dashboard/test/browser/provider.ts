// An identity provider that answers as a test wants.

import { createSign, generateKeyPairSync } from 'node:crypto';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface Provider {
  issuer: string;
  groups: string[]; // of the person who signs in
  denies: boolean;
  close: () => void;
}

const encode = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url');

// openProvider starts one. Its person is anna@example.com.
export async function openProvider(client: string): Promise<Provider> {
  const { publicKey, privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  const provider: Provider = { issuer: '', groups: [], denies: false, close: () => undefined };
  const tokenFor = (nonce: string): string => {
    const now = Math.floor(Date.now() / 1000);
    const claims = {
      iss: provider.issuer,
      sub: 'anna',
      aud: client,
      exp: now + 600,
      iat: now,
      nonce,
      email: 'anna@example.com',
      email_verified: true,
      groups: provider.groups,
    };
    const head = `${encode({ alg: 'RS256', kid: 'k', typ: 'JWT' })}.${encode(claims)}`;
    return `${head}.${createSign('RSA-SHA256').update(head).sign(privateKey, 'base64url')}`;
  };
  const server = createServer((request, response) => {
    const url = new URL(request.url ?? '/', provider.issuer);
    const json = (value: object) => {
      response.setHeader('Content-Type', 'application/json');
      response.end(JSON.stringify(value));
    };
    if (url.pathname === '/.well-known/openid-configuration') {
      return json({
        issuer: provider.issuer,
        authorization_endpoint: `${provider.issuer}/authorize`,
        token_endpoint: `${provider.issuer}/token`,
        jwks_uri: `${provider.issuer}/keys`,
        response_types_supported: ['code'],
        subject_types_supported: ['public'],
        id_token_signing_alg_values_supported: ['RS256'],
      });
    }
    if (url.pathname === '/keys') {
      return json({ keys: [{ ...publicKey.export({ format: 'jwk' }), kid: 'k', alg: 'RS256', use: 'sig' }] });
    }
    if (url.pathname === '/authorize') {
      const back = new URL(url.searchParams.get('redirect_uri') ?? '');
      back.searchParams.set('state', url.searchParams.get('state') ?? '');
      if (provider.denies) back.searchParams.set('error', 'access_denied');
      else back.searchParams.set('code', url.searchParams.get('nonce') ?? '');
      response.writeHead(302, { Location: back.href });
      return response.end();
    }
    let body = '';
    request.on('data', (part) => {
      body += part;
    });
    return request.on('end', () => {
      const nonce = new URLSearchParams(body).get('code') ?? '';
      json({ access_token: 'a', token_type: 'Bearer', expires_in: 600, id_token: tokenFor(nonce) });
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  provider.issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  provider.close = () => {
    server.close();
    server.closeAllConnections();
  };
  return provider;
}
