import { createHash } from 'node:crypto';
import type { LeadDelivery, PingRequest } from '../generated/index.js';
import { answer, Fault, faultBody, name, type BuyerAnswer } from './answer.js';
import { wrongInPing, wrongInPost } from './check.js';
import { Gatekeeper, type BuyerCredential } from './credential.js';
import { bidBody, noBid, postOutcome, type BidDecision, type PostDecision } from './decision.js';
import { MemoryStore, type AnswerStore, type StoredAnswer } from './store.js';
import { MalformedJson, parseObject } from './strict_json.js';

/** What a function is told beside the body. */
export interface BuyerContext {
  /** The exchange's name for the request where it has told one, else ours. */
  requestId: string;
  idempotencyKey: string;
  /** A test lead: not to be paid. */
  test: boolean;
}

export interface PingContext extends BuyerContext {
  /** Until when the exchange listens. */
  expiresAt: Date;
  /** Aborted then. */
  signal: AbortSignal;
}

export interface BuyerOptions {
  /** Given a ping, a bid or `noBid(reason)`. */
  bid: (ping: PingRequest, context: PingContext) => BidDecision | Promise<BidDecision>;
  /**
   * Returns your own id of the posted lead, or `refuse(reason)`. If it throws, the exchange
   * posts the lead again with the same `idempotencyKey`.
   */
  post: (delivery: LeadDelivery, context: BuyerContext) => PostDecision | Promise<PostDecision>;
  /** What the exchange has to show. Left out, anybody may sell to you. */
  credential?: BuyerCredential;
  /** Remembers answers to posts. A MemoryStore, unless you give another. */
  store?: AnswerStore;
  /** Hears what the functions and the store throw: the exchange is told of none of it. */
  onError?: (error: unknown, where: { in: 'bid' | 'post' | 'store' | 'buyer'; requestId: string }) => void;
  /** In place of Date.now. */
  now?: () => number;
}

/** A request as a server has it. */
export interface BuyerRequest {
  method: string;
  /** Below where the endpoint is mounted, without a query. */
  path: string;
  header: (name: string) => string | undefined;
  /** The body, or `too_large` where it has more than `maxBody` bytes. */
  body: () => Promise<Uint8Array | 'too_large'>;
}

/** Bytes that a body may have. */
export const maxBody = 64 * 1024;

/** Milliseconds that an exchange listens at most. */
const window = 5_000;

const paths = ['/v1/ping', '/v1/post'];

interface Exchange {
  request: BuyerRequest;
  context: BuyerContext;
  body: Record<string, unknown>;
  bytes: Uint8Array;
}

/**
 * A buyer's endpoint, built from two functions. It serves `POST /v1/ping` and
 * `POST /v1/post` below its mount point. Use `nodeHandler` with node:http, `expressBuyer` from
 * `pingpost/express`, or `handle` with any other server.
 *
 * The order of the checks is: path, method, credential, size, content type, JSON, stored
 * answer, fields. A repeated post with the same Idempotency-Key gets the first answer without
 * another call of the post function. It waits while the first post is in progress. After a
 * 500, the post function is called again.
 */
export class Buyer {
  readonly #options: BuyerOptions;
  readonly #gatekeeper: Gatekeeper;
  readonly #store: AnswerStore;
  readonly #now: () => number;
  // Posts in progress, by key. An entry is removed when its answer is stored.
  readonly #open = new Map<string, { fingerprint: string; answer: Promise<BuyerAnswer> }>();

  constructor(options: BuyerOptions) {
    this.#options = options;
    this.#gatekeeper = new Gatekeeper(options.credential);
    this.#now = options.now ?? Date.now;
    this.#store = options.store ?? new MemoryStore({ now: this.#now });
  }

  /** Whether a path below the mount is one of the endpoint's. */
  serves(path: string): boolean {
    return paths.includes(path);
  }

  /** Answers one request. It never throws. */
  async handle(request: BuyerRequest): Promise<BuyerAnswer> {
    const told = request.header('x-request-id') ?? '';
    const requestId = /^req_[0-9a-z]{1,60}$/.test(told) ? told : name('req_');
    try {
      return await this.#route(request, requestId);
    } catch (error) {
      if (!(error instanceof Fault)) this.#report(error, 'buyer', requestId);
      return this.#refuse(error instanceof Fault ? error : failed, requestId);
    }
  }

  async #route(request: BuyerRequest, requestId: string): Promise<BuyerAnswer> {
    if (!this.serves(request.path)) throw new Fault(404, 'not_found', 'There is nothing at this path. There are /v1/ping and /v1/post.');
    if (request.method !== 'POST') {
      throw new Fault(405, 'method_not_allowed', 'Only POST is answered here.', { headers: { allow: 'POST' } });
    }
    if (!this.#gatekeeper.admits(request.header)) {
      const { challenge } = this.#gatekeeper;
      throw new Fault(401, 'unauthorized', 'The credential is missing, or is not one.', {
        headers: challenge === undefined ? {} : { 'www-authenticate': challenge },
      });
    }
    const bytes = await request.body();
    if (bytes === 'too_large') throw new Fault(413, 'payload_too_large', 'The body may have 64 KiB.', { headers: { connection: 'close' } });
    const exchange = this.#read(request, requestId, bytes);
    return request.path === '/v1/ping' ? this.#ping(exchange) : this.#postOnce(exchange);
  }

  /** Reads what a ping and a post have in common. */
  #read(request: BuyerRequest, requestId: string, bytes: Uint8Array): Exchange {
    if (!/^application\/json *(;.*)?$/i.test(request.header('content-type')?.trim() ?? '')) {
      throw new Fault(415, 'unsupported_media_type', 'The body has to be sent as Content-Type: application/json.');
    }
    let body: Record<string, unknown>;
    try {
      body = parseObject(bytes);
    } catch (error) {
      if (!(error instanceof MalformedJson)) throw error;
      throw new Fault(400, 'malformed_json', `Send one JSON object: ${error.message}.`);
    }
    const idempotencyKey = unquoted(request.header('idempotency-key') ?? '');
    if (!/^[!-~]{1,255}$/.test(idempotencyKey)) {
      const code = idempotencyKey === '' ? 'missing_required' : 'invalid_format';
      throw invalid([{ field: 'Idempotency-Key', code, expected: '1 to 255 visible ASCII characters' }]);
    }
    return { request, bytes, body, context: { requestId, idempotencyKey, test: isTest(request) } };
  }

  async #ping({ body, context }: Exchange): Promise<BuyerAnswer> {
    const wrong = wrongInPing(body);
    if (wrong.length > 0) throw invalid(wrong);
    const ping = body as unknown as PingRequest;
    const decision = await this.#bidInTime(ping, context);
    try {
      const said = bidBody(ping.auction_id, decision, {
        token: () => name('bid_'),
        validUntil: () => new Date(this.#now() + window),
      });
      return answer(200, context.requestId, JSON.stringify(said));
    } catch (error) {
      this.#report(error, 'bid', context.requestId);
      throw failed;
    }
  }

  /** The bid function's decision, or a no-bid where the exchange no longer listens. */
  async #bidInTime(ping: PingRequest, context: BuyerContext): Promise<BidDecision> {
    const latest = this.#now() + window;
    const deadline = Math.min(latest, typeof ping.expires_at === 'string' ? Date.parse(ping.expires_at) : latest);
    const late = noBid('timeout', 'The bid was not ready when the ping ran out.');
    if (this.#now() >= deadline) return late;
    const controller = new AbortController();
    let timer: NodeJS.Timeout | undefined;
    const ran = new Promise<BidDecision>((resolve) => {
      timer = setTimeout(() => {
        resolve(late);
        controller.abort();
      }, deadline - this.#now());
    });
    // The async function turns a synchronous throw into a rejection.
    const asked = (async () => this.#options.bid(ping, { ...context, expiresAt: new Date(deadline), signal: controller.signal }))();
    try {
      const decision = await Promise.race([asked, ran]);
      return this.#now() < deadline ? decision : late;
    } catch (error) {
      this.#report(error, 'bid', context.requestId);
      throw failed;
    } finally {
      clearTimeout(timer);
      asked.catch(() => undefined); // a failure after the deadline is ignored
    }
  }

  async #postOnce(exchange: Exchange): Promise<BuyerAnswer> {
    const { idempotencyKey: key } = exchange.context;
    const fingerprint = createHash('sha256').update(exchange.bytes).digest('hex');
    const first = this.#open.get(key);
    if (first !== undefined) {
      if (first.fingerprint !== fingerprint) throw reused;
      const said = await first.answer;
      return said.status < 500 ? { ...said, headers: { ...said.headers, ...replayed } } : said;
    }
    // No await between the lookup and the insertion: a second post could enter in between.
    const promise = this.#postFirst(exchange, fingerprint);
    this.#open.set(key, { fingerprint, answer: promise });
    try {
      return await promise;
    } finally {
      this.#open.delete(key);
    }
  }

  async #postFirst(exchange: Exchange, fingerprint: string): Promise<BuyerAnswer> {
    const { requestId, idempotencyKey: key } = exchange.context;
    let before: StoredAnswer | undefined;
    try {
      before = await this.#store.get(key);
    } catch (error) {
      this.#report(error, 'store', requestId);
      throw failed;
    }
    if (before !== undefined) {
      if (before.fingerprint !== fingerprint) throw reused;
      return answer(before.status, before.requestId, before.body, replayed);
    }
    const said = await this.#post(exchange);
    try {
      await this.#store.put(key, { fingerprint, status: said.status, requestId, body: said.body });
    } catch (error) {
      this.#report(error, 'store', requestId); // the lead is accepted nevertheless
    }
    return said;
  }

  async #post({ body, context }: Exchange): Promise<BuyerAnswer> {
    const wrong = wrongInPost(body);
    if (wrong.length > 0) throw invalid(wrong);
    const delivery = body as unknown as LeadDelivery;
    let outcome: ReturnType<typeof postOutcome>;
    try {
      outcome = postOutcome(await this.#options.post(delivery, { ...context }));
    } catch (error) {
      this.#report(error, 'post', context.requestId);
      throw failed;
    }
    if ('refused' in outcome) {
      const { reason, detail } = outcome.refused;
      return this.#refuse(new Fault(422, 'post_rejected', detail, { reason }), context.requestId);
    }
    return answer(201, context.requestId, JSON.stringify({ auction_id: delivery.auction_id, lead_id: outcome.lead }));
  }

  #refuse(fault: Fault, requestId: string): BuyerAnswer {
    return answer(fault.status, requestId, faultBody(fault, requestId), fault.more.headers);
  }

  #report(error: unknown, where: 'bid' | 'post' | 'store' | 'buyer', requestId: string): void {
    try {
      this.#options.onError?.(error, { in: where, requestId });
    } catch {
      // An error in a listener must not prevent the answer.
    }
  }
}

const replayed = { 'idempotent-replayed': 'true' };

const failed = new Fault(500, 'internal', 'This buyer has failed. Send the request again.');

const reused = new Fault(422, 'idempotency_key_reused', 'This Idempotency-Key came with another body before.');

function invalid(fieldErrors: NonNullable<Fault['more']['fieldErrors']>): Fault {
  return new Fault(422, 'invalid_payload', 'Some members are missing, or are not as expected.', { fieldErrors });
}

function unquoted(key: string): string {
  return /^"(.*)"$/.exec(key)?.[1] ?? key;
}

function isTest(request: BuyerRequest): boolean {
  const flag = request.header('x-pingpost-test') ?? '0';
  if (!['1', 'true', '0', 'false'].includes(flag)) {
    throw invalid([{ field: 'X-Pingpost-Test', code: 'not_allowed_value', expected: '1, true, 0 or false' }]);
  }
  return flag === '1' || flag === 'true';
}
