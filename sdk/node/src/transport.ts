import { TimeoutError, TransportError } from './error.js';

/** As much of `fetch` as is used here. The global one will do, and so will one of your own. */
export type Fetch = (url: string, init: FetchInit) => Promise<FetchResponse>;

export interface FetchInit {
  method: string;
  headers: Record<string, string>;
  body?: string;
  redirect: 'manual';
  signal: AbortSignal;
}

export interface FetchResponse {
  readonly status: number;
  readonly headers: { get(name: string): string | null };
  arrayBuffer(): Promise<ArrayBuffer>;
}

/** One request, the same text at every try. */
export interface Attempt {
  /** The method of the client that sends it, for messages. */
  operation: string;
  method: 'GET' | 'POST';
  url: string;
  headers: Record<string, string>;
  body: string | undefined;
  timeoutMs: number;
  signal: AbortSignal | undefined;
}

/** An answer that has arrived whole. */
export interface Answer {
  status: number;
  header: (name: string) => string | undefined;
  text: string;
}

/**
 * Sends a request once. The timeout covers the whole response.
 *
 * Throws TimeoutError, TransportError, or the abort reason of the caller's signal.
 */
export async function send(fetch: Fetch, attempt: Attempt): Promise<Answer> {
  const { signal, timeoutMs, operation } = attempt;
  signal?.throwIfAborted();
  const controller = new AbortController();
  let late = false;
  const timer = setTimeout(() => {
    late = true;
    controller.abort();
  }, timeoutMs);
  const stop = (): void => {
    controller.abort();
  };
  signal?.addEventListener('abort', stop, { once: true });
  try {
    const response = await fetch(attempt.url, {
      method: attempt.method,
      headers: attempt.headers,
      ...(attempt.body === undefined ? {} : { body: attempt.body }),
      redirect: 'manual',
      signal: controller.signal,
    });
    const text = new TextDecoder().decode(await response.arrayBuffer());
    return { status: response.status, header: (name) => response.headers.get(name) ?? undefined, text };
  } catch (cause) {
    signal?.throwIfAborted();
    const { origin } = new URL(attempt.url);
    if (late) throw new TimeoutError(`${operation}: ${origin} did not answer in ${String(timeoutMs)} ms`, { cause });
    throw new TransportError(`${operation}: no answer from ${origin}${codeOf(cause)}`, { cause });
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener('abort', stop);
  }
}

/** The system's code of what broke, such as ECONNREFUSED, from the innermost cause that has one. */
function codeOf(error: unknown): string {
  let code = '';
  for (let inner: unknown = error; inner instanceof Error; inner = inner.cause) {
    const { code: own } = inner as NodeJS.ErrnoException;
    if (typeof own === 'string') code = `: ${own}`;
  }
  return code;
}
