// The admin API's responses. docs/admin-api.md describes them.

export type Role = 'viewer' | 'operator' | 'admin';

export interface Session {
  name: string;
  role: Role;
  by?: 'session' | 'token' | 'password';
  method?: 'session' | 'oidc' | 'api_token' | 'password' | 'shared_password';
  second_factor?: 'on' | 'off' | 'required' | null; // null: no account
  csrf?: string;
  expires_at?: string | null;
}

export interface FieldError {
  field: string;
  code: string;
  expected: string;
}

export interface Money {
  amount: number;
  currency: string;
}

export interface Sums {
  currency: string;
  leads: number;
  sold: number;
  revenue: number;
  payout: number;
  margin: number;
}

export interface Point {
  at: string;
  leads: number;
  sold: number;
  pings: number;
}

export type Health = 'good' | 'slow' | 'failing' | 'idle';

export interface BuyerHealth {
  id: string;
  name: string;
  paused: boolean;
  health: Health;
  asked: number;
  bids: number;
  wins: number;
  posts: number;
  sales: number;
  timeouts: number;
  p50_ms: number | null;
  p99_ms: number | null;
}

export interface Backup {
  configured: boolean;
  shipped_seq?: number;
  lag_s?: number;
  last_error?: string | null;
}

export interface Overview {
  at: string;
  tenant: string;
  time_zone: string;
  version: string;
  sandbox: boolean;
  uptime_s: number;
  ready: boolean;
  rates: { leads_s: number; pings_s: number; posts_s: number; sold_s: number };
  today: Sums[];
  sell_through: number | null;
  latency: {
    auction_p50_ms: number | null;
    auction_p99_ms: number | null;
    ingest_p50_ms: number | null;
    ingest_p99_ms: number | null;
    commit_p99_ms: number | null;
  };
  series: Point[];
  buyers: BuyerHealth[];
  webhooks: { waiting: number; dead: number };
  returns_waiting: number;
  deliveries_unknown: number;
  report: { kept: boolean; lag_s?: number | null };
  log: { seq: number };
  disk_free_bytes: number;
}

export type Kind = 'suppliers' | 'buyers' | 'campaigns' | 'suppression_lists';

export type Doc = { [key: string]: unknown };

export interface Item {
  id: string;
  owner: 'file' | 'api';
  file?: string;
  etag: string;
  paused?: boolean;
  document: Doc;
}

export interface Applied {
  etag: string;
  changes: string[];
  unapplied: string[];
  warnings: string[];
}

export interface Drift {
  file: string;
  file_error?: string;
  enforced: boolean;
  entries: { entry: string; change: 'added' | 'changed' | 'removed'; changes: string[] }[];
}

export interface HistoryEntry {
  version: number;
  at: string | null;
  by: string;
  from: 'file' | 'api' | 'document';
  changes: { path: string; before?: unknown; after?: unknown }[];
  more?: number; // number of further changes, not listed
  lost?: boolean; // the old value is no longer readable
}

export interface SuppressionList {
  id: string;
  field: string;
  hash: string;
  entries: number;
  loaded_at: string | null;
  source: string | null;
  owner: 'file' | 'api';
}

export interface Uploaded {
  entries: number;
  duplicates: number;
  skipped: number;
}

export interface Cap {
  of: 'campaign' | 'terms' | 'buyer' | 'seat';
  campaign?: string;
  terms?: string;
  buyer?: string;
  filter_set?: string;
  per: string;
  unit: 'count' | 'money';
  limit: number;
  used: number;
  held: number;
  currency?: string | null;
  from: string | null;
  until: string | null;
}

export interface LeadRow {
  id: string;
  at: string;
  campaign: string;
  supplier: string;
  buyer: string | null;
  status: string;
  delivery: string | null;
  reason: string | null;
  price: number | null;
  payout: number | null;
  currency: string;
  auction: string | null;
  source: string | null;
  state: string | null;
  test: boolean;
  posts: number;
}

export interface AuctionRow {
  id: string;
  at: string;
  lead: string | null;
  campaign: string;
  supplier: string;
  asked: number;
  reason: string | null;
  winner: string | null;
  amount: number | null;
  currency: string;
  sold_to: string | null; // the buyer that has the lead or will get it
  price: number | null;
  status: string | null; // of the lead; null: the auction of a ping
  delivery: string | null;
  test: boolean;
}

export interface Found {
  next?: string | null;
  complete: boolean;
  searched_from?: string | null;
}

export interface Unmatched {
  leads: number;
  unsold: number;
  reasons: { reason: string; leads: number }[];
  outcomes: { outcome: string; bids: number }[];
  campaigns: { campaign: string; leads: number }[];
  buyers: { buyer: string; outcome: string; bids: number }[];
}

export interface Delivery {
  lead_id: string;
  state: 'pending' | 'unknown';
  buyer_id: string;
  attempts: number;
  decided_at: string;
  price: Money;
  test?: boolean;
}

export interface WaitingReturn {
  lead_id: string;
  status: string;
  buyer_id: string;
  supplier_id: string;
  campaign_id: string;
  reason: string;
  asked_at: string;
  credit: number;
  reverse: number;
  currency: string;
  test?: boolean;
}

export interface Webhook {
  supplier_id: string;
  url: string | null;
  pending: number;
  dead: number;
  dropped: number;
  failing_since: string | null;
  off: boolean;
  secrets: { hint: string; previous: boolean }[];
}

export interface DeadLetter {
  id: string;
  type: string;
  lead_id: string;
  attempts: number;
  created_at: string;
  died_at: string;
}

export interface Key {
  hint: string;
  since: string;
  last_used: string | null; // to the minute; null: no known use
}

export interface Token extends Key {
  id: string;
  scopes: string[];
}

export interface Client {
  client_id: string;
  secrets: (Key & { scopes: string[] })[];
}

export interface User {
  name: string;
  role: Role;
  created_at: string;
  last_seen: string | null;
  totp: boolean; // the second factor is on
}

export interface ApiToken {
  id: string;
  hint: string;
  name: string;
  user: string;
  role: Role;
  created_at: string;
  expires_at: string | null;
  last_used: string | null;
}

// AuditEntry is an operator's action: GET audit.
export interface AuditEntry {
  id: string;
  at: string;
  ended_at: string | null;
  actor: string | null;
  credential: string;
  api_token_id: string | null;
  role: string | null;
  address: string | null;
  operation: string;
  target_kind: string | null;
  target: string | null;
  request_id: string | null;
  outcome: 'done' | 'failed' | 'unknown';
  status: number | null;
  request: Doc | null;
  before: Doc | null;
  after: Doc | null;
  result: Doc | null;
  omitted?: number;
}

// The explanation of a lead or an auction: GET explain/ID.

// Rule is the reason why a buyer, or the campaign itself, did not get a lead.
export interface Rule {
  kind: string;
  field?: string;
  operator?: string;
  wanted: string;
  actual: string | null;
  text: string;
  basis?: 'reconstructed' | 'unknown';
  cap?: { unit: 'count' | 'money'; limit: string; used: string; needed: string };
  list_id?: string;
  lead_id?: string;
  at?: string;
}

export interface Candidate {
  buyer_id: string;
  seat: number;
  filter_set?: string;
  outcome: string;
  asked: boolean;
  rule?: Rule | null;
  elapsed_ms?: number;
  bid?: Money;
  payout?: Money;
  valid_until?: string;
  status?: number;
  fault?: string;
  reason?: string;
}

export interface Settlement {
  at: string;
  settlement: string;
  status?: number;
  fault?: string;
  failed_attempts?: number;
  elapsed_ms?: number;
  code?: string;
  buyer_lead_id?: string;
  reason?: string;
  next_buyer_id?: string;
}

export interface Post {
  buyer_id: string;
  intended_at: string;
  price: Money;
  payout: Money;
  tries: { attempt: number; ended_at: string; status?: number; fault?: string; verdict?: string; code?: string }[];
  settlements: Settlement[];
}

export interface Taken {
  lead_id: string;
  status: string;
  delivery?: string;
  reason?: string;
}

export interface Offer {
  buyer_id: string;
  price: Money;
  payout: Money;
  valid_until: string;
  taken_by?: Taken[];
}

export interface Report {
  at: string;
  by: 'buyer' | 'operator';
  buyer_id: string;
  result: string;
  from: string;
  to: string;
  reason?: string;
  credit?: Money;
  reversed?: Money;
}

export interface ToldHook {
  type: string;
  owed_at: string;
  state: string;
  attempts: { attempt?: number; at: string; outcome: string; status?: number; fault?: string; next_at?: string }[];
}

export interface Told {
  kind: 'ingest' | 'post' | 'ping' | 'availability';
  id: string;
  lead_id: string;
  auction_id: string;
  seller_id: string;
  request_id: string;
  supplier_id: string;
  campaign_id: string;
  method: string;
  catalog_version: number;
  test?: boolean;
  erased?: boolean;
  received_at: string;
  decided_at: string;
  bids_due_at?: string;
  valid_until?: string;
  settled_at?: string;
  status: string;
  delivery?: string;
  reason?: string;
  answer?: { at: string; status: number; says: string; reason?: string };
  why: string;
  rule?: Rule; // of the campaign itself
  duplicate_of?: string;
  terms?: string;
  buyer_id?: string;
  price?: Money;
  payout?: Money;
  margin?: Money;
  fields: { [name: string]: unknown };
  candidates: Candidate[];
  offers?: Offer[];
  turned_away?: Taken[];
  posts: Post[];
  reports?: Report[];
  webhooks?: ToldHook[];
  auction?: Told;
  leads?: Told[];
  truncated?: boolean;
  notes?: string[];
}

export interface BenchExample {
  campaign: string;
  supplier: string | null;
  lead: Doc;
  eligible_buyers: string[];
  contradictions: string[];
}

export interface DryRun {
  decision: 'sold' | 'pinged' | 'unsold';
  buyer_id: string | null;
  reason: string | null;
  rule: Rule | null;
  candidates: {
    buyer_id: string;
    seat: number;
    filter_set?: string;
    outcome: string;
    asked: boolean;
    rule: Rule | null;
  }[];
}

export interface BenchAnswer {
  status: number;
  answer: unknown;
  lead?: string | null;
  dry_run?: DryRun;
}

// Contact has the fields of a person by name.
export type Contact = { [field: string]: string };

// PersonLead is a lead in the answer of POST leads/find. Its contact data is masked.
export interface PersonLead {
  id: string;
  at: string;
  contact: Contact | null;
  campaign: string | null;
  supplier: string | null;
  buyer: string | null;
  status: string;
  delivery: string;
  reason: string | null;
  price: number | null;
  currency: string | null;
  source: string | null;
  state: string | null;
  test: boolean;
}

export interface Statement {
  from: string;
  to: string;
  currency?: string;
  opening?: { balance: number; held: number } | null;
  closing?: { balance: number; held: number } | null;
  totals: { kind: string; campaign_id?: string; currency: string; count: number; amount: number }[];
  count: number;
  entries: {
    at: string;
    entry: number;
    kind: string;
    lead_id?: string;
    campaign_id?: string;
    currency: string;
    amount: number;
    balance?: number | null;
    note?: string;
  }[];
}
