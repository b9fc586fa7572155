import { UsageError } from './error.js';
import { sleep, type Sleep } from './retry.js';
import type { Fetch } from './transport.js';
import { version } from './version.js';

/** The scopes that a token may have. */
export type Scope = 'ping' | 'post' | 'webhook';

/** What a client is made of. Of the credentials it has one; make a second client for another. */
export interface ClientOptions {
  /** Where the exchange is, such as `https://exchange.example.com`. */
  baseUrl: string;
  /** Where tokens are fetched, if elsewhere; `/oauth/token` follows it. */
  authUrl?: string;
  /** A supplier's API key, for `ingestLead`, `checkAvailability` and `getSuppliedLead`. */
  apiKey?: string;
  /** An OAuth client, for everything else. Its tokens are fetched and renewed by themselves. */
  clientId?: string;
  clientSecret?: string;
  /** What the tokens are to open. Left out, all that the client may. */
  scopes?: readonly Scope[];
  /** A static bearer token, as a sandbox has, in place of an OAuth client. */
  token?: string;
  /** For each try, until its answer is there whole. 10,000. */
  timeoutMs?: number;
  /** Tries after the first, 5; 0 is none. */
  maxRetries?: number;
  userAgent?: string;
  /** In place of the global fetch. */
  fetch?: Fetch;
  /** In place of a timer, between tries. */
  sleep?: Sleep;
  /** In place of Date.now. */
  now?: () => number;
}

/** Options that have been judged. */
export interface Settings {
  baseUrl: string;
  authUrl: string;
  apiKey: string | undefined;
  login: { clientId: string; clientSecret: string; scopes: readonly Scope[] | undefined } | undefined;
  token: string | undefined;
  timeoutMs: number;
  maxRetries: number;
  userAgent: string;
  fetch: Fetch;
  sleep: Sleep;
  now: () => number;
}

// Runtimes quote an invalid header value in their errors. Therefore secrets are validated here
// first, without quoting them.
const visible = /^[!-~]+$/;

export function judge(options: ClientOptions): Settings {
  const { apiKey, clientId, clientSecret, token } = options;
  for (const [name, secret] of Object.entries({ apiKey, token })) {
    if (secret !== undefined && !visible.test(secret)) {
      throw new UsageError(`${name} has to be visible ASCII characters, without spaces or ends of lines`);
    }
  }
  if ((clientId === undefined) !== (clientSecret === undefined)) {
    throw new UsageError('clientId and clientSecret go together: one of them is missing');
  }
  if ([apiKey, clientId, token].filter((credential) => credential !== undefined).length !== 1) {
    throw new UsageError('a client has one credential: an apiKey, a clientId with its clientSecret, or a token');
  }
  const baseUrl = address('baseUrl', options.baseUrl);
  return {
    baseUrl,
    authUrl: options.authUrl === undefined ? baseUrl : address('authUrl', options.authUrl),
    apiKey,
    login: clientId === undefined || clientSecret === undefined ? undefined : { clientId, clientSecret, scopes: options.scopes },
    token,
    timeoutMs: positive('timeoutMs', options.timeoutMs ?? 10_000),
    maxRetries: retries(options.maxRetries ?? 5),
    userAgent: userAgent(options.userAgent),
    fetch: options.fetch ?? ((url, init) => globalThis.fetch(url, init)),
    sleep: options.sleep ?? sleep,
    now: options.now ?? Date.now,
  };
}

/** Milliseconds that a timer can wait. */
export function positive(name: string, milliseconds: number): number {
  if (!(milliseconds > 0 && milliseconds < 2 ** 31)) {
    throw new UsageError(`${name} has to be more than 0 milliseconds, and less than 25 days`);
  }
  return milliseconds;
}

function retries(count: number): number {
  if (!Number.isInteger(count) || count < 0) throw new UsageError('maxRetries has to be a whole number from 0');
  return count;
}

function userAgent(given: string | undefined): string {
  if (given === undefined) return `pingpost-node/${version} node/${process.versions.node}`;
  if (!/^[ -~]+$/.test(given)) throw new UsageError('userAgent has to be printable ASCII characters');
  return given;
}

function address(name: string, given: string): string {
  let url: URL;
  try {
    url = new URL(given);
  } catch {
    throw new UsageError(`${name} is not an address such as https://exchange.example.com`);
  }
  if (url.protocol !== 'https:' && url.protocol !== 'http:') throw new UsageError(`${name} has to begin with https:// or http://`);
  if (url.username !== '' || url.password !== '' || url.search !== '' || url.hash !== '') {
    throw new UsageError(`${name} may have a path, but neither user, password, query nor fragment`);
  }
  return url.href.replace(/\/+$/, '');
}
