export { Client, type CallOptions, type OnceOptions, type TestableOptions } from './client.js';
export type { ClientOptions, Scope } from './options.js';
export type { Meta, RateLimit, Reply } from './answer.js';
export type { Fetch, FetchInit, FetchResponse } from './transport.js';
export type { Sleep } from './retry.js';
export {
  ApiError,
  ConflictError,
  ExpiredError,
  ForbiddenError,
  InvalidRequestError,
  NotFoundError,
  PingpostError,
  RateLimitedError,
  ServerError,
  SignatureError,
  TimeoutError,
  TransportError,
  UnauthorizedError,
  UsageError,
  type ApiErrorDetails,
} from './error.js';
export { verifyWebhook, type WebhookHeaders, type WebhookOptions } from './webhook.js';
export { Buyer, type BuyerContext, type BuyerOptions, type BuyerRequest, type PingContext } from './buyer/buyer.js';
export { noBid, refuse, type BidDecision, type BidOffer, type PostDecision } from './buyer/decision.js';
export type { BuyerAnswer } from './buyer/answer.js';
export type { BuyerCredential } from './buyer/credential.js';
export { MemoryStore, type AnswerStore, type StoredAnswer } from './buyer/store.js';
export { nodeHandler } from './buyer/node.js';
export { version } from './version.js';
export * from './generated/index.js';
