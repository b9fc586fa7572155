// Runs the conformance suite's commands with this package, one JSON object per line. See
// sdk/conformance/PROTOCOL.md.
import { AsyncLocalStorage } from 'node:async_hooks';
import { createInterface } from 'node:readline';
import {
  ApiError,
  Client,
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
  verifyWebhook,
  version,
  type ClientOptions,
  type Reply,
  type Scope,
} from 'pingpost';
import { Stage, type Credential, type Script } from './stage.mjs';

interface Request {
  id: number;
  op: string;
  async?: boolean;
  client?: string;
  base_url?: string;
  auth_url?: string;
  api_key?: string;
  client_id?: string;
  client_secret?: string;
  scopes?: Scope[];
  token?: string;
  timeout_seconds?: number;
  max_retries?: number;
  method?: string;
  body?: unknown;
  lead_id?: string;
  idempotency_key?: string;
  test?: boolean;
  secrets?: string[];
  headers?: Record<string, string>;
  body_base64?: string;
  now?: number;
  tolerance_seconds?: number;
  buyer?: string;
  flavor?: string;
  credential?: Credential;
  prefix?: string;
  script?: Script;
}

const clients = new Map<string, Client>();
const stage = new Stage();
/** What the client has waited in the request that is done in this context. */
const waits = new AsyncLocalStorage<number[]>();

type Method = (client: Client, request: Request, options: object) => Promise<Reply<object>>;

const lead = (request: Request): string => request.lead_id ?? '';
// The suite sends invalid bodies too, so their types are not checked here.
const body = (request: Request): never => request.body as never;

const methods: Record<string, Method> = {
  ingest_lead: (client, request, options) => client.ingestLead(body(request), options),
  check_availability: (client, request, options) => client.checkAvailability(body(request), options),
  get_supplied_lead: (client, request, options) => client.getSuppliedLead(lead(request), options),
  send_ping: (client, request, options) => client.sendPing(body(request), options),
  send_post: (client, request, options) => client.sendPost(body(request), options),
  get_lead: (client, request, options) => client.getLead(lead(request), options),
  report_status: (client, request, options) => client.reportStatus(lead(request), body(request), options),
  report_statuses: (client, request, options) => client.reportStatuses(body(request), options),
  seed_leads: (client, request, options) => client.seedLeads(body(request), options),
  create_token: (client, request, options) => client.createToken(body(request), options),
};

function newClient(request: Request): object {
  const options = present({
    baseUrl: request.base_url,
    authUrl: request.auth_url,
    apiKey: request.api_key,
    clientId: request.client_id,
    clientSecret: request.client_secret,
    scopes: request.scopes,
    token: request.token,
    timeoutMs: request.timeout_seconds === undefined ? undefined : request.timeout_seconds * 1000,
    maxRetries: request.max_retries,
    sleep: (milliseconds: number) => {
      waits.getStore()?.push(milliseconds / 1000);
      return Promise.resolve();
    },
  });
  clients.set(request.client ?? '', new Client(options as unknown as ClientOptions));
  return {};
}

async function call(request: Request): Promise<object> {
  const client = clients.get(request.client ?? '');
  const method = methods[request.method ?? ''];
  if (client === undefined || method === undefined) throw new UsageError('there is no such client, or no such method');
  const options = present({
    idempotencyKey: request.idempotency_key,
    test: request.test,
    timeoutMs: request.timeout_seconds === undefined ? undefined : request.timeout_seconds * 1000,
  });
  const reply = await method(client, request, options);
  const { status, requestId, replayed, rateLimit, idempotencyKey } = reply.$meta;
  return present({ body: reply, status, request_id: requestId, replayed, limit: rateLimit, idempotency_key: idempotencyKey });
}

function verify(request: Request): object {
  const event = verifyWebhook(Buffer.from(request.body_base64 ?? '', 'base64'), request.headers ?? {}, request.secrets ?? [], {
    ...(request.now === undefined ? {} : { now: new Date(request.now * 1000) }),
    ...(request.tolerance_seconds === undefined ? {} : { toleranceSeconds: request.tolerance_seconds }),
  });
  return { event };
}

async function perform(request: Request): Promise<object> {
  const name = request.buyer ?? '';
  switch (request.op) {
    case 'describe':
      return { language: 'node', sdk_version: version, flavors: ['node', 'express'], methods: Object.keys(methods), features: ['errors.is', 'errors.description', 'buyer.prefix'] };
    case 'client.new':
      return newClient(request);
    case 'call':
      return call(request);
    case 'webhook.verify':
      return verify(request);
    case 'buyer.serve':
      return { url: await stage.serve(name, request.flavor ?? '', request.credential, request.script ?? {}, request.prefix) };
    case 'buyer.script':
      return stage.rescript(name, request.script ?? {});
    case 'buyer.received':
      return stage.received(name);
    case 'buyer.stop':
      return stage.stop(name);
    default:
      throw new UsageError(`there is no op ${request.op}`);
  }
}

const kinds: readonly (readonly [string, typeof ApiError])[] = [
  ['unauthorized', UnauthorizedError],
  ['forbidden', ForbiddenError],
  ['not_found', NotFoundError],
  ['conflict', ConflictError],
  ['expired', ExpiredError],
  ['invalid_request', InvalidRequestError],
  ['rate_limited', RateLimitedError],
  ['server_error', ServerError],
];

function complaint(error: unknown): object {
  if (error instanceof ApiError) {
    return present({
      kind: 'api',
      status: error.status,
      code: error.code,
      message: error.message,
      request_id: error.requestId,
      field_errors: error.fieldErrors.length > 0 ? error.fieldErrors : undefined,
      retry_after: error.retryAfter,
      is: kinds.filter(([, kind]) => error instanceof kind).map(([name]) => name),
      description: error.errorDescription,
      idempotency_key: error.idempotencyKey,
    });
  }
  const known = error instanceof PingpostError ? error : undefined;
  return present({ kind: kindOf(error), message: error instanceof Error ? error.message : String(error), idempotency_key: known?.idempotencyKey });
}

function kindOf(error: unknown): string {
  if (error instanceof TimeoutError) return 'timeout';
  if (error instanceof TransportError) return 'transport';
  if (error instanceof SignatureError) return 'signature';
  if (error instanceof UsageError) return 'usage';
  return 'unknown';
}

function present(members: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined));
}

async function answer(request: Request): Promise<void> {
  const slept: number[] = [];
  const said = await waits.run(slept, async () => {
    try {
      return { result: await perform(request) };
    } catch (error) {
      return { error: complaint(error) };
    }
  });
  process.stdout.write(`${JSON.stringify({ id: request.id, ...said, ...(slept.length > 0 ? { slept } : {}) })}\n`);
}

const open: Promise<void>[] = [];
for await (const line of createInterface({ input: process.stdin })) {
  if (line.trim() === '') continue;
  const request = JSON.parse(line) as Request;
  const done = answer(request);
  if (request.async === true) open.push(done);
  else await done;
}
await Promise.all(open);
stage.close();
