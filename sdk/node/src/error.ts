import type { ErrorCode, FieldError, UnmatchedReason } from './generated/index.js';

// Error classes. Their messages never repeat request data: no credentials and no lead data.
// The exchange's messages follow the same rule.

/** What every error of this package is. */
export class PingpostError extends Error {
  /** The Idempotency-Key of the call. Call again with it, and the request is done once at most. */
  readonly idempotencyKey: string | undefined;

  constructor(message: string, options: { cause?: unknown; idempotencyKey?: string | undefined } = {}) {
    super(message, 'cause' in options ? { cause: options.cause } : undefined);
    this.name = new.target.name;
    this.idempotencyKey = options.idempotencyKey;
  }
}

/** This package was told something impossible. Nothing was sent. */
export class UsageError extends PingpostError {}

/** A webhook that is not from the exchange, or too old. */
export class SignatureError extends PingpostError {}

/** The exchange could not be reached, the connection broke, or what came is no answer. */
export class TransportError extends PingpostError {}

/** The exchange did not answer in time. */
export class TimeoutError extends TransportError {}

/** What an answer that is an error says. */
export interface ApiErrorDetails {
  /** HTTP status. */
  status: number;
  /** `error` of the body; empty where the answer was not the exchange's, such as a proxy's page. */
  code: ErrorCode | '';
  /** `message` of the body. */
  explanation: string;
  requestId?: string | undefined;
  fieldErrors?: readonly FieldError[] | undefined;
  /** Why the buyer's side said no, with `post_rejected`. */
  reason?: UnmatchedReason | undefined;
  /** Of OAuth errors. */
  errorDescription?: string | undefined;
  /** Seconds, from Retry-After. */
  retryAfter?: number | undefined;
  idempotencyKey?: string | undefined;
}

/** The exchange has answered with an error. */
export class ApiError extends PingpostError implements ApiErrorDetails {
  readonly status: number;
  readonly code: ErrorCode | '';
  readonly explanation: string;
  readonly requestId: string | undefined;
  readonly fieldErrors: readonly FieldError[];
  readonly reason: UnmatchedReason | undefined;
  readonly errorDescription: string | undefined;
  readonly retryAfter: number | undefined;

  constructor(details: ApiErrorDetails) {
    super(describe(details), { idempotencyKey: details.idempotencyKey });
    this.status = details.status;
    this.code = details.code;
    this.explanation = details.explanation;
    this.requestId = details.requestId;
    this.fieldErrors = details.fieldErrors ?? [];
    this.reason = details.reason;
    this.errorDescription = details.errorDescription;
    this.retryAfter = details.retryAfter;
  }
}

/** 401: no credential, or one that is not good here. */
export class UnauthorizedError extends ApiError {}
/** 403: known, but not allowed. */
export class ForbiddenError extends ApiError {}
/** 404: no such lead, or somebody else's; or no sandbox. */
export class NotFoundError extends ApiError {}
/** 409: the auction or the sale was had before, or the lead does not come to this status. */
export class ConflictError extends ApiError {}
/** 410: the bid has run out. */
export class ExpiredError extends ApiError {}
/** 400 and 422: the request is not right; `fieldErrors` says where. */
export class InvalidRequestError extends ApiError {}
/** 429: too many requests; `retryAfter` says when. */
export class RateLimitedError extends ApiError {}
/** 5xx: the exchange, or the buyer behind it, has failed. */
export class ServerError extends ApiError {}

type ApiErrorClass = new (details: ApiErrorDetails) => ApiError;

const classes = new Map<number, ApiErrorClass>([
  [400, InvalidRequestError],
  [401, UnauthorizedError],
  [403, ForbiddenError],
  [404, NotFoundError],
  [409, ConflictError],
  [410, ExpiredError],
  [422, InvalidRequestError],
  [429, RateLimitedError],
]);

/** Makes the error of the class that belongs to its status. */
export function apiError(details: ApiErrorDetails): ApiError {
  const known = classes.get(details.status) ?? (details.status >= 500 ? ServerError : ApiError);
  return new known(details);
}

/** The same error with the key of the call that it ended. One flight for a token may end several. */
export function withIdempotencyKey(error: unknown, idempotencyKey: string | undefined): unknown {
  if (idempotencyKey === undefined) return error;
  if (error instanceof ApiError) return apiError({ ...detailsOf(error), idempotencyKey });
  if (error instanceof TransportError) {
    const kind = error.constructor as typeof TransportError;
    return new kind(error.message, { cause: error.cause, idempotencyKey });
  }
  return error;
}

function detailsOf(error: ApiError): ApiErrorDetails {
  const { status, code, explanation, requestId, fieldErrors, reason, errorDescription, retryAfter } = error;
  return { status, code, explanation, requestId, fieldErrors, reason, errorDescription, retryAfter };
}

function describe(details: ApiErrorDetails): string {
  const fields = (details.fieldErrors ?? []).map((wrong) => ` ${wrong.field}: ${wrong.code}, expected ${wrong.expected};`);
  const said = details.explanation === '' ? 'no explanation' : details.explanation;
  const request = details.requestId === undefined ? '' : ` (${details.requestId})`;
  return `${String(details.status)} ${details.code || 'without a code'}: ${said}${request}${fields.join('').replace(/;$/, '').replace(/^ /, ': ')}`;
}
