// All calls of the admin API.

import type { FieldError } from './types';

export const base = '/admin/v1/';

export type Query = { [name: string]: string | number | boolean | null | undefined };

export interface Order {
  query?: Query;
  body?: unknown;
  text?: string; // instead of body
  headers?: { [name: string]: string };
  signal?: AbortSignal;
}

// Failure is an unsuccessful response, or a missing one (status 0).
export class Failure extends Error {
  constructor(
    readonly status: number,
    readonly code: string,
    message: string,
    readonly fields: FieldError[] = [],
    readonly requestId = '',
    readonly body: unknown = null,
  ) {
    super(message);
  }
}

let csrf = '';
let ended: () => void = () => undefined;

// signedWith sets the CSRF token that this session's changing requests carry.
export function signedWith(word: string): void {
  csrf = word;
}

// onEnded is called when a response says that the session has ended.
export function onEnded(f: () => void): void {
  ended = f;
}

// over reports that the last action has ended the session.
export const over = (): void => ended();

// address returns the request's path and query. The caller escapes names in the path. Absent
// and empty query values are left out.
export function address(path: string, query: Query = {}): string {
  const pairs = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    if (value !== undefined && value !== null && value !== '' && value !== false) pairs.set(name, String(value));
  }
  const text = pairs.toString();
  return base + path + (text ? `?${text}` : '');
}

// part escapes a name for use in a path.
export const part = encodeURIComponent;

export function headersFor(method: string, more: { [name: string]: string } = {}): { [name: string]: string } {
  const headers: { [name: string]: string } = { 'X-Requested-With': 'dashboard', ...more };
  if (method !== 'GET' && csrf) headers['X-CSRF-Token'] = csrf;
  return headers;
}

// failureOf reads an error's body, which may have any form.
export function failureOf(status: number, text: string): Failure {
  let body: unknown = null;
  try {
    body = JSON.parse(text);
  } catch {
    // A proxy may have answered with a body of another form.
  }
  const told = (body ?? {}) as { error?: unknown; message?: unknown; request_id?: unknown; field_errors?: unknown };
  const fields = Array.isArray(told.field_errors) ? (told.field_errors as FieldError[]) : [];
  const message =
    typeof told.message === 'string' && told.message ? told.message : `The exchange answered with HTTP ${status}.`;
  return new Failure(
    status,
    typeof told.error === 'string' ? told.error : '',
    message,
    fields,
    typeof told.request_id === 'string' ? told.request_id : '',
    body,
  );
}

// lostAt is the time since which the exchange cannot be reached; 0 while it can.
let lostAt = 0;
const followers = new Set<() => void>();

// onReach calls f when the exchange cannot be reached any more, and when it can again. The
// returned function ends that.
export function onReach(f: () => void): () => void {
  followers.add(f);
  return () => followers.delete(f);
}

export const lostSince = (): number => lostAt;

function reach(yes: boolean): void {
  if (yes === (lostAt === 0)) return;
  lostAt = yes ? 0 : Date.now();
  for (const f of followers) f();
}

export const unreachable = 'The exchange cannot be reached. Check that it runs, and your network.';

// send sends a request and returns a successful response. Otherwise it throws a Failure.
export async function send(method: string, path: string, order: Order = {}): Promise<Response> {
  const headers = headersFor(method, order.headers);
  let body: string | undefined = order.text;
  if (order.body !== undefined) {
    body = JSON.stringify(order.body);
    headers['Content-Type'] = 'application/json';
  }
  let answer: Response;
  try {
    answer = await fetch(address(path, order.query), {
      method,
      headers,
      body,
      signal: order.signal,
      credentials: 'same-origin',
      cache: 'no-store',
    });
  } catch (problem) {
    if (order.signal?.aborted) throw problem;
    reach(false);
    throw new Failure(0, 'unreachable', unreachable);
  }
  reach(true);
  if (answer.ok) return answer;
  const failure = failureOf(answer.status, await answer.text());
  // A wrong code of a second factor ends no session.
  if (answer.status === 401 && path !== 'session' && failure.code !== 'second_factor_required') ended();
  throw failure;
}

// call sends a request and decodes the JSON response.
export async function call<T>(method: string, path: string, order: Order = {}): Promise<T> {
  const answer = await send(method, path, order);
  const text = await answer.text();
  return (text ? JSON.parse(text) : undefined) as T;
}

export const get = <T>(path: string, query?: Query, signal?: AbortSignal): Promise<T> =>
  call<T>('GET', path, { query, signal });
