import { apiError, TransportError, type ApiError } from './error.js';
import type { ErrorBody } from './generated/index.js';
import { parseRetryAfter } from './retry.js';
import type { Answer } from './transport.js';

/** Where the caller stands with a rate limit. */
export interface RateLimit {
  /** Requests a second. */
  limit: number;
  remaining: number;
  /** Epoch seconds at which the whole limit is free again. */
  reset: number;
}

/** What an answer says beside its body. */
export interface Meta {
  status: number;
  /** Name it when you ask the operator for help. */
  requestId: string | undefined;
  /** This is the answer to an earlier request with the same Idempotency-Key. */
  replayed: boolean;
  rateLimit: RateLimit | undefined;
  /** What was sent, given or made. */
  idempotencyKey: string | undefined;
}

/**
 * The received model, with `$meta`. `$meta` is not enumerable: JSON.stringify and spread
 * copies leave it out.
 */
export type Reply<Model> = Model & { readonly $meta: Meta };

/** Reads a 2xx. What is not one JSON object is no answer of an exchange. */
export function replyOf<Model extends object>(operation: string, answer: Answer, idempotencyKey: string | undefined): Reply<Model> {
  const body = objectIn(answer.text);
  if (body === undefined) throw new TransportError(`${operation}: the answer, with status ${String(answer.status)}, is not a JSON object`);
  const meta: Meta = {
    status: answer.status,
    requestId: answer.header('x-request-id'),
    replayed: answer.header('idempotent-replayed') === 'true',
    rateLimit: rateLimitOf(answer),
    idempotencyKey,
  };
  return Object.defineProperty(body, '$meta', { value: meta, enumerable: false }) as Reply<Model>;
}

/** Reads every other status. The body may be anybody's, such as a proxy's page. */
export function errorOf(answer: Answer, now: number): ApiError {
  const body: Partial<Record<keyof ErrorBody, unknown>> = objectIn(answer.text) ?? {};
  const { reason } = body;
  return apiError({
    status: answer.status,
    code: textOf(body.error) ?? '',
    explanation: textOf(body.message) ?? '',
    requestId: textOf(body.request_id) ?? answer.header('x-request-id'),
    fieldErrors: fieldErrorsOf(body.field_errors),
    reason: textOf(reason),
    errorDescription: textOf(body.error_description),
    retryAfter: parseRetryAfter(answer.header('retry-after') ?? null, now),
  });
}

function fieldErrorsOf(value: unknown): ErrorBody['field_errors'] {
  if (!Array.isArray(value)) return undefined;
  return value.filter(isObject).map((item) => ({
    field: textOf(item['field']) ?? '',
    code: textOf(item['code']) ?? '',
    expected: textOf(item['expected']) ?? '',
  }));
}

function rateLimitOf(answer: Answer): RateLimit | undefined {
  const [limit, remaining, reset] = ['limit', 'remaining', 'reset'].map((name) => {
    const text = answer.header(`x-ratelimit-${name}`) ?? '';
    return /^[0-9]{1,15}$/.test(text) ? Number(text) : undefined;
  });
  if (limit === undefined || remaining === undefined || reset === undefined) return undefined;
  return { limit, remaining, reset };
}

function objectIn(text: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return isObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function textOf(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}
