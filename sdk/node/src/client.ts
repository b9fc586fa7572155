import { randomUUID } from 'node:crypto';
import { errorOf, replyOf, type Reply } from './answer.js';
import { TransportError, UsageError, withIdempotencyKey } from './error.js';
import type {
  AvailabilityRequest,
  AvailabilityResponse,
  BidResponse,
  IngestRequest,
  IngestResponse,
  Lead,
  LeadResponse,
  PingRequest,
  PostRequest,
  PostResponse,
  SeedRequest,
  SeedResponse,
  StatusBatch,
  StatusBatchResponse,
  StatusChange,
  StatusResponse,
  TokenRequest,
  TokenResponse,
} from './generated/index.js';
import { operations, type Operation } from './operation.js';
import { judge, positive, type ClientOptions, type Settings } from './options.js';
import { retryable, waitBefore } from './retry.js';
import { TokenKeeper } from './token.js';
import { send, type Answer, type Attempt } from './transport.js';

/** What any call may be told. */
export interface CallOptions {
  /** For each try, in place of the client's. */
  timeoutMs?: number;
  /** Ends the call; it then throws the signal's reason. */
  signal?: AbortSignal;
}

/** Of calls that do something once. */
export interface OnceOptions extends CallOptions {
  /** 1 to 255 visible ASCII characters. Left out, one is made; it stays the same over all tries. */
  idempotencyKey?: string;
}

/** Of calls that may be a test. */
export interface TestableOptions extends OnceOptions {
  /** The lead goes to the buyers' test endpoints, counts nowhere and is not paid. */
  test?: boolean;
}

/**
 * Calls an exchange. One client supports any number of concurrent calls.
 *
 * The client retries temporary failures (5xx, 429, broken connections, timeouts) with the
 * same bytes and the same Idempotency-Key, after 1, 2, 4, 8 and 16 seconds or after
 * Retry-After. After one 401 it renews the token and sends the request once more. It does
 * not retry other failures.
 *
 * Throws ApiError, TransportError, TimeoutError and UsageError.
 */
export class Client {
  // Private fields, so that inspecting a client shows no secret.
  readonly #settings: Settings;
  readonly #tokens: TokenKeeper;

  constructor(options: ClientOptions) {
    this.#settings = judge(options);
    this.#tokens = new TokenKeeper(() => this.createToken(), this.#settings.now);
  }

  /** Sends a lead, and hears who has it. */
  async ingestLead(lead: IngestRequest, options?: TestableOptions): Promise<Reply<IngestResponse>> {
    return this.#call(operations.ingestLead, lead, options);
  }

  /** Asks who would buy a lead. It creates none. */
  async checkAvailability(question: AvailabilityRequest, options?: TestableOptions): Promise<Reply<AvailabilityResponse>> {
    return this.#call(operations.checkAvailability, question, options);
  }

  /** Shows a lead to the supplier that sent it, by API key. */
  async getSuppliedLead(id: string, options?: CallOptions): Promise<Reply<LeadResponse>> {
    return this.#call(operations.getSuppliedLead, undefined, options, id);
  }

  /** Asks for a bid. A no-bid is an answer: `bid` is null. */
  async sendPing(ping: PingRequest, options?: TestableOptions): Promise<Reply<BidResponse>> {
    return this.#call(operations.sendPing, ping, options);
  }

  /** Sells the lead at the bid that its ping was answered with. */
  async sendPost(post: PostRequest, options?: TestableOptions): Promise<Reply<PostResponse>> {
    return this.#call(operations.sendPost, post, options);
  }

  /** Shows a lead to its seller or its buyer. */
  async getLead(id: string, options?: CallOptions): Promise<Reply<Lead>> {
    return this.#call(operations.getLead, undefined, options, id);
  }

  /** Reports what became of a lead that you bought. */
  async reportStatus(id: string, change: StatusChange, options?: OnceOptions): Promise<Reply<StatusResponse>> {
    return this.#call(operations.reportStatus, change, options, id);
  }

  /** Reports on up to 1,000 leads. Each result says what its report came to. */
  async reportStatuses(batch: StatusBatch, options?: OnceOptions): Promise<Reply<StatusBatchResponse>> {
    return this.#call(operations.reportStatuses, batch, options);
  }

  /** Makes up leads, in a sandbox. */
  async seedLeads(request: SeedRequest, options?: CallOptions): Promise<Reply<SeedResponse>> {
    return this.#call(operations.seedLeads, request, options);
  }

  /** Fetches a token, for this client's login unless told another. The other methods do so by themselves. */
  async createToken(request?: TokenRequest, options?: CallOptions): Promise<Reply<TokenResponse>> {
    const reply = await this.#call<TokenResponse>(operations.createToken, request ?? this.#tokenRequest(), options);
    if (typeof reply.access_token !== 'string' || !/^[!-~]+$/.test(reply.access_token) || !(reply.expires_in >= 0)) {
      throw new TransportError('createToken: the answer has no access_token and expires_in as they should be');
    }
    return reply;
  }

  #tokenRequest(): TokenRequest {
    const { login } = this.#settings;
    if (login === undefined) throw new UsageError('createToken: this client has no clientId and clientSecret');
    return {
      grant_type: 'client_credentials',
      client_id: login.clientId,
      client_secret: login.clientSecret,
      ...(login.scopes === undefined ? {} : { scope: login.scopes.join(' ') }),
    };
  }

  async #call<Model extends object>(
    operation: Operation,
    body: object | undefined,
    options: TestableOptions = {},
    lead?: string,
  ): Promise<Reply<Model>> {
    const key = operation.once === true ? (options.idempotencyKey ?? randomUUID()) : undefined;
    const attempt = this.#attempt(operation, body, options, lead, key);
    try {
      const answer = await this.#tries(operation, attempt);
      if (answer.status < 200 || answer.status >= 300) throw errorOf(answer, this.#settings.now());
      return replyOf<Model>(operation.name, answer, key);
    } catch (error) {
      throw withIdempotencyKey(error, key);
    }
  }

  /** Puts together what all tries have in common. */
  #attempt(operation: Operation, body: object | undefined, options: TestableOptions, lead: string | undefined, key: string | undefined): Attempt {
    const { name, method } = operation;
    if (key !== undefined && !/^[!-~]{1,255}$/.test(key)) {
      throw new UsageError(`${name}: an idempotencyKey is 1 to 255 visible ASCII characters`);
    }
    if (options.idempotencyKey !== undefined && operation.once !== true) throw new UsageError(`${name} takes no idempotencyKey`);
    if (options.test !== undefined && operation.test !== true) throw new UsageError(`${name} cannot be a test`);
    const base = operation.credential === 'none' ? this.#settings.authUrl : this.#settings.baseUrl;
    return {
      operation: name,
      method,
      url: base + (lead === undefined ? operation.path : operation.path.replace('{id}', segment(name, lead))),
      headers: {
        accept: 'application/json',
        'user-agent': this.#settings.userAgent,
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...(key === undefined ? {} : { 'idempotency-key': key }),
        ...(options.test === true ? { 'x-pingpost-test': '1' } : {}),
      },
      body: body === undefined ? undefined : JSON.stringify(body),
      timeoutMs: options.timeoutMs === undefined ? this.#settings.timeoutMs : positive('timeoutMs', options.timeoutMs),
      signal: options.signal,
    };
  }

  /** Sends until there is an answer that stands, or no try is left. */
  async #tries(operation: Operation, attempt: Attempt): Promise<Answer> {
    const { fetch, sleep, maxRetries, now } = this.#settings;
    let renewed = false;
    for (let retry = 0; ; retry++) {
      const credential = await this.#credential(operation);
      const headers = { ...attempt.headers, ...credential };
      let answer: Answer | undefined;
      try {
        answer = await send(fetch, { ...attempt, headers });
      } catch (error) {
        if (!(error instanceof TransportError) || retry >= maxRetries) throw error;
      }
      if (answer?.status === 401 && !renewed && operation.credential === 'bearer' && this.#settings.login !== undefined) {
        renewed = true;
        this.#tokens.drop(credential['authorization']?.slice('Bearer '.length) ?? '');
        retry--; // not counted as a retry: only the token had expired
        continue;
      }
      if (answer !== undefined && (!retryable(answer.status) || retry >= maxRetries)) return answer;
      const asked = answer === undefined ? undefined : errorOf(answer, now()).retryAfter;
      await sleep(waitBefore(retry, asked), attempt.signal);
    }
  }

  async #credential(operation: Operation): Promise<Record<string, string>> {
    const { apiKey, token, login } = this.#settings;
    if (operation.credential === 'none') return {};
    if (operation.credential === 'key') {
      if (apiKey === undefined) throw new UsageError(`${operation.name} needs an apiKey, and this client has none`);
      return { 'x-api-key': apiKey };
    }
    if (token === undefined && login === undefined) {
      throw new UsageError(`${operation.name} needs a clientId with its clientSecret, or a token, and this client has neither`);
    }
    return { authorization: `Bearer ${token ?? (await this.#tokens.get())}` };
  }
}

/** A part of a path. One of dots alone would be taken for a way up. */
function segment(operation: string, id: string): string {
  if (id === '' || id === '.' || id === '..') throw new UsageError(`${operation}: this is no id of a lead`);
  return encodeURIComponent(id);
}
