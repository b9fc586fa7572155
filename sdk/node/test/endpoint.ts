// Buyer endpoints on sockets, one for each supported server.
import { createServer, type RequestListener } from 'node:http';
import { createRequire } from 'node:module';
import type { AddressInfo } from 'node:net';
import type { TestContext } from 'node:test';
import express from 'express';
import { Buyer, nodeHandler, type BuyerOptions } from 'pingpost';
import { expressBuyer } from 'pingpost/express';

// The previous major version. Its types conflict with the current version's types.
const express4 = createRequire(import.meta.url)('express4') as typeof express;

export const flavors: Record<string, (buyer: Buyer) => RequestListener> = {
  'node:http': (buyer) => nodeHandler(buyer),
  'node:http below a prefix': (buyer) => nodeHandler(buyer, { prefix: '/leads/' }),
  'Express 5': (buyer) => express().use('/leads', expressBuyer(buyer)),
  'Express 4': (buyer) => express4().use(expressBuyer(buyer)),
  'Express 5 behind a parser': (buyer) => express().use(express.json()).use(expressBuyer(buyer)),
};

/** Where the endpoint is mounted. */
export const mounts: Record<string, string> = { 'node:http below a prefix': '/leads', 'Express 5': '/leads' };

export interface Said {
  status: number;
  headers: Headers;
  body: Record<string, unknown>;
}

export interface Endpoint {
  url: string;
  errors: { message: string; in: string }[];
  ping: (body?: unknown, headers?: Record<string, string>) => Promise<Said>;
  post: (body?: unknown, headers?: Record<string, string>) => Promise<Said>;
  ask: (path: string, init: RequestInit) => Promise<Said>;
}

export const ping = { auction_id: 'auc_1', vertical: 'auto_insurance', state: 'CA', tcpa_consent: true };
export const delivery = {
  auction_id: 'auc_1',
  bid_token: 'tok_1',
  lead: { lead_uuid: 'lead_1', first_name: 'Ann', last_name: 'Lee', email: 'ann.lee@example.com', phone: '+14155550123' },
};

let keys = 0;

export async function startEndpoint(t: TestContext, options: Partial<BuyerOptions>, flavor = 'node:http'): Promise<Endpoint> {
  const errors: Endpoint['errors'] = [];
  const buyer = new Buyer({
    bid: () => ({ amount: 12.5 }),
    post: () => 'B-1',
    onError: (error, where) => errors.push({ message: (error as Error).message, in: where.in }),
    ...options,
  });
  const listener = flavors[flavor]?.(buyer);
  if (listener === undefined) throw new Error(`no flavor ${flavor}`);
  const server = createServer(listener);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.after(() => {
    server.close();
    server.closeAllConnections();
  });
  const url = `http://127.0.0.1:${String((server.address() as AddressInfo).port)}${mounts[flavor] ?? ''}`;
  const ask: Endpoint['ask'] = async (path, init) => {
    const response = await fetch(url + path, init);
    const text = await response.text();
    return { status: response.status, headers: response.headers, body: JSON.parse(text) as Record<string, unknown> };
  };
  const send = (path: string, fallback: unknown): Endpoint['ping'] => (body = fallback, headers = {}) =>
    ask(path, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'idempotency-key': `key-${String(++keys)}`, ...headers },
      body: typeof body === 'string' || body instanceof Uint8Array ? body : JSON.stringify(body),
    });
  return { url, errors, ask, ping: send('/v1/ping', ping), post: send('/v1/post', delivery) };
}
