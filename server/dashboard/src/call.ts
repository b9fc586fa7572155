// The one way to the admin API.

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

// Failure is an answer that is no success, or none at all (status 0).
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

// signedWith says what orders of this session have to show.
export function signedWith(word: string): void {
  csrf = word;
}

// onEnded is called when an answer says that there is no session.
export function onEnded(f: () => void): void {
  ended = f;
}

// over tells that the session is at its end, by what was just done.
export const over = (): void => ended();

// address is the path of what is asked for. Names are escaped by whoever puts them into
// the path; what is absent or empty in the query is left out.
export function address(path: string, query: Query = {}): string {
  const pairs = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    if (value !== undefined && value !== null && value !== '' && value !== false) pairs.set(name, String(value));
  }
  const text = pairs.toString();
  return base + path + (text ? `?${text}` : '');
}

// part is a name as a part of a path.
export const part = encodeURIComponent;

export function headersFor(method: string, more: { [name: string]: string } = {}): { [name: string]: string } {
  const headers: { [name: string]: string } = { 'X-Requested-With': 'dashboard', ...more };
  if (method !== 'GET' && csrf) headers['X-CSRF-Token'] = csrf;
  return headers;
}

// failureOf reads an error's body, of which nothing is certain.
export function failureOf(status: number, text: string): Failure {
  let body: unknown = null;
  try {
    body = JSON.parse(text);
  } catch {
    // Whatever stands between may answer in its own words.
  }
  const told = (body ?? {}) as { error?: unknown; message?: unknown; request_id?: unknown; field_errors?: unknown };
  const fields = Array.isArray(told.field_errors) ? (told.field_errors as FieldError[]) : [];
  const message = typeof told.message === 'string' && told.message ? told.message : `The answer was HTTP ${status}.`;
  return new Failure(
    status,
    typeof told.error === 'string' ? told.error : '',
    message,
    fields,
    typeof told.request_id === 'string' ? told.request_id : '',
    body,
  );
}

export const unreachable = 'The exchange cannot be reached. Look whether it runs, and whether you are in its network.';

// send asks, and gives the answer that is a success; else it throws a Failure.
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
    throw new Failure(0, 'unreachable', unreachable);
  }
  if (answer.ok) return answer;
  const failure = failureOf(answer.status, await answer.text());
  if (answer.status === 401 && path !== 'session') ended();
  throw failure;
}

// call asks for JSON.
export async function call<T>(method: string, path: string, order: Order = {}): Promise<T> {
  const answer = await send(method, path, order);
  const text = await answer.text();
  return (text ? JSON.parse(text) : undefined) as T;
}

export const get = <T>(path: string, query?: Query, signal?: AbortSignal): Promise<T> =>
  call<T>('GET', path, { query, signal });
