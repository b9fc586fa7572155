import { createHmac, timingSafeEqual } from 'node:crypto';
import { isObject } from './answer.js';
import { SignatureError, UsageError } from './error.js';
import type { LeadEvent } from './generated/index.js';

/** The headers of a request: a `Headers`, node's, or any plain object. Names in any case. */
export type WebhookHeaders = Iterable<readonly [string, string]> | Readonly<Record<string, string | readonly string[] | undefined>>;

export interface WebhookOptions {
  /** How old, or how far ahead, a signature may be. 300. */
  toleranceSeconds?: number;
  /** In place of the present. */
  now?: Date;
}

/**
 * Verifies a webhook and returns its event. Pass the received bytes as the body, not a
 * framework's parsed object. With several secrets, for example during a rotation, one match
 * is enough.
 *
 * The exchange signs in two formats. One is enough; every present signature must be valid.
 * An event may arrive twice: ignore repeats by their `id`.
 *
 * Throws SignatureError, or UsageError if a secret is malformed.
 */
export function verifyWebhook(
  body: Uint8Array | string,
  headers: WebhookHeaders,
  secrets: string | readonly string[],
  options: WebhookOptions = {},
): LeadEvent {
  const keys = keysOf(secrets);
  const bytes = typeof body === 'string' ? Buffer.from(body) : body;
  const header = lookup(headers);
  const clock: Clock = {
    now: (options.now ?? new Date()).getTime() / 1000,
    tolerance: options.toleranceSeconds ?? 300,
  };
  const own = header('x-pingpost-signature');
  const standard = header('webhook-signature');
  if (own === undefined && standard === undefined) {
    throw new SignatureError('the request has neither X-Pingpost-Signature nor webhook-signature');
  }
  if (own !== undefined) verifyOwn(own, bytes, keys, clock);
  if (standard !== undefined) verifyStandard(standard, header('webhook-id'), header('webhook-timestamp'), bytes, keys, clock);
  return eventIn(bytes);
}

interface Clock {
  now: number;
  tolerance: number;
}

/** `t=<seconds>,v1=<hex>`, with a v1 for each secret. Parts of other names are passed over. */
function verifyOwn(value: string, body: Uint8Array, keys: readonly Buffer[], clock: Clock): void {
  const name = 'X-Pingpost-Signature';
  const parts = value.split(',').map((part) => part.trim());
  const times = parts.filter((part) => part.startsWith('t=')).map((part) => part.slice(2));
  const [at] = times;
  if (at === undefined || times.length > 1) throw new SignatureError(`${name} has to have one t`);
  checkTime(name, at, clock);
  const signatures = parts.filter((part) => /^v1=[0-9a-f]{64}$/.test(part)).map((part) => Buffer.from(part.slice(3), 'hex'));
  checkSum(name, `${at}.`, body, keys, signatures);
}

/** Standard Webhooks: `v1,<base64>`, several of them with a space between. */
function verifyStandard(
  value: string,
  id: string | undefined,
  at: string | undefined,
  body: Uint8Array,
  keys: readonly Buffer[],
  clock: Clock,
): void {
  if (id === undefined || at === undefined) throw new SignatureError('webhook-signature needs webhook-id and webhook-timestamp beside it');
  checkTime('webhook-timestamp', at, clock);
  const signatures = value
    .split(' ')
    .filter((part) => /^v1,[A-Za-z0-9+/]{43}=$/.test(part))
    .map((part) => Buffer.from(part.slice(3), 'base64'));
  checkSum('webhook-signature', `${id}.${at}.`, body, keys, signatures);
}

function checkTime(name: string, at: string, clock: Clock): void {
  if (!/^[0-9]{1,12}$/.test(at)) throw new SignatureError(`${name} has no time in Unix seconds`);
  if (!(Math.abs(Math.floor(clock.now) - Number(at)) <= clock.tolerance)) {
    throw new SignatureError(`${name} is of another time than now: the request is old, or a clock is wrong`);
  }
}

/** Compares each signature with each key's, and does not end at the first that fits. */
function checkSum(name: string, before: string, body: Uint8Array, keys: readonly Buffer[], signatures: readonly Buffer[]): void {
  let fits = false;
  for (const key of keys) {
    const sum = createHmac('sha256', key).update(before).update(body).digest();
    for (const signature of signatures) {
      if (timingSafeEqual(sum, signature)) fits = true;
    }
  }
  if (!fits) throw new SignatureError(`${name} does not fit: another secret, or another body`);
}

function keysOf(secrets: string | readonly string[]): Buffer[] {
  const keys = [secrets].flat().map((secret) => {
    const encoded = secret.startsWith('whsec_') ? secret.slice('whsec_'.length) : '';
    const digits = encoded.replace(/={1,2}$/, '');
    const padded = encoded === digits || encoded.length % 4 === 0;
    if (!/^[A-Za-z0-9+/]{2,}$/.test(digits) || digits.length % 4 === 1 || !padded) {
      throw new UsageError('a webhook secret is whsec_ and base64 after it');
    }
    return Buffer.from(digits, 'base64');
  });
  if (keys.length === 0) throw new UsageError('no webhook secret was given');
  return keys;
}

function lookup(headers: WebhookHeaders): (name: string) => string | undefined {
  const entries = Symbol.iterator in headers ? [...(headers as Iterable<readonly [string, string]>)] : Object.entries(headers);
  const found = new Map<string, string>();
  for (const [name, value] of entries) {
    if (value === undefined) continue;
    const text = typeof value === 'string' ? value : value.join(',');
    const before = found.get(name.toLowerCase());
    found.set(name.toLowerCase(), before === undefined ? text : `${before},${text}`);
  }
  return (name) => found.get(name);
}

function eventIn(body: Uint8Array): LeadEvent {
  let event: unknown;
  try {
    event = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(body));
  } catch {
    event = undefined;
  }
  if (!isObject(event) || typeof event['type'] !== 'string' || typeof event['id'] !== 'string' || !isObject(event['data'])) {
    throw new SignatureError('the request is signed, but its body is no event');
  }
  return event as unknown as LeadEvent;
}
