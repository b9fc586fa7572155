import { randomBytes } from 'node:crypto';
import type { ErrorCode, FieldError } from '../generated/index.js';

/** An answer of a buyer's endpoint, for a server to send. */
export interface BuyerAnswer {
  status: number;
  /** Names in lower case. */
  headers: Record<string, string>;
  body: string;
}

/** A request that is answered with an error. */
export class Fault extends Error {
  constructor(
    readonly status: number,
    readonly code: ErrorCode,
    readonly explanation: string,
    readonly more: { fieldErrors?: readonly FieldError[]; reason?: string; headers?: Record<string, string> } = {},
  ) {
    super(explanation);
  }
}

export function answer(status: number, requestId: string, body: string, headers: Record<string, string> = {}): BuyerAnswer {
  return {
    status,
    headers: {
      'content-type': 'application/json',
      'content-length': String(Buffer.byteLength(body)),
      'x-request-id': requestId,
      ...headers,
    },
    body,
  };
}

export function faultBody(fault: Fault, requestId: string): string {
  const { fieldErrors, reason } = fault.more;
  return JSON.stringify({
    error: fault.code,
    message: fault.explanation,
    request_id: requestId,
    ...(fieldErrors === undefined ? {} : { field_errors: fieldErrors }),
    ...(reason === undefined ? {} : { reason }),
  });
}

const digits = '0123456789abcdefghjkmnpqrstvwxyz';

/** A name that nobody can guess: 26 digits of 5 bits after the prefix. */
export function name(prefix: string): string {
  return prefix + Array.from(randomBytes(26), (byte) => digits[byte % 32]).join('');
}
