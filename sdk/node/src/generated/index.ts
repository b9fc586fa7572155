// Made from api/openapi.yaml by sdk/generate. Not to be edited.

/**
 * Where the person lives, as far as it is known. A `state` or a `zip` other than the ping's is refused as `ping_mismatch`.
 */
export interface Address {
  [key: string]: unknown;
  /**
   * Text of at most 4,096 bytes, without control characters but tabs and ends of lines.
   */
  line1?: string;
  /**
   * Text of at most 4,096 bytes, without control characters but tabs and ends of lines.
   */
  city?: string;
  state?: StateCode;
  /**
   * A ZIP code of five digits, or ZIP+4.
   */
  zip?: string;
}

/**
 * Who would buy a lead.
 */
export interface Availability {
  /**
   * Names this ping; an ingest takes one of its offers up by it.
   */
  ping_id: string;
  /**
   * The campaign that was asked for.
   */
  campaign_id: string;
  /**
   * Whether anybody would buy it.
   */
  accepted: boolean;
  /**
   * When the last of the offers ends at the latest.
   */
  expires_at: string;
  /**
   * The offers, the best first; none where nobody wants it.
   */
  buyers: Array<Offer>;
  reason?: NoBidReason;
}

/**
 * What is told of a lead to learn who would buy it. Beside the members below it has the campaign's own fields that go into pings. Contact details are refused with `contact_field_not_allowed`, at any depth.
 */
export interface AvailabilityRequest {
  [key: string]: unknown;
  /**
   * The campaign, which must be one that holds auctions.
   */
  flo_campaign_id: string;
  /**
   * The supplier that asks, which is the one that the API key belongs to.
   */
  flo_supplier_id: string;
  state?: StateCode;
  /**
   * A ZIP code of five digits, or ZIP+4.
   */
  zip?: string;
  /**
   * The first three digits of a ZIP code.
   */
  zip3?: string;
  /**
   * Text of at most 4,096 bytes, without control characters but tabs and ends of lines.
   */
  source?: string;
  /**
   * Whether the person has agreed to be called.
   */
  tcpa_consent?: boolean;
  /**
   * Where the certificate of the person's consent is: an absolute https address, with neither user nor password. Required where `source` is one for which the campaign asks for it. A campaign may also name the hosts that it takes.
   */
  consent_cert_url?: string;
  /**
   * How good the lead is held to be, commonly from 0 to 1.
   */
  ai_quality_score?: number;
}

/**
 * The answer to the question who would buy.
 */
export interface AvailabilityResponse {
  data: Availability;
}

/**
 * A bid that can be taken up.
 */
export interface Bid {
  /**
   * An amount of money, in units of the currency beside it, with at most six decimals.
   */
  amount: number;
  /**
   * A currency by ISO 4217.
   */
  currency: string;
  /**
   * What the post has to show. It is good for this auction and this seller alone.
   */
  bid_token: string;
  /**
   * Until when the bid can be taken up.
   */
  valid_until: string;
}

/**
 * The answer to a ping. Either `bid` is an object, or it is null, and then `reject_reason` and `reject_detail` are there.
 */
export interface BidResponse {
  /**
   * The asker's name for an auction, of 1 to 255 printable characters. It names one auction and no other.
   */
  auction_id: string;
  bid: Bid | null;
  /**
   * With a bid: what the buyer behind it, or the campaign, asks of a lead, and this one has. `vertical` is always among them; `state`, `tcpa` (consent) and `score_threshold` where a list of states or a filter asks for it.
   */
  buyer_filters_passed?: Array<string>;
  reject_reason?: NoBidReason;
  /**
   * The same in words, for a person.
   */
  reject_detail?: string;
}

/**
 * A buyer's bid.
 */
export interface BuyerBid {
  [key: string]: unknown;
  /**
   * An amount of money, in units of the currency beside it, with at most six decimals.
   */
  amount: number;
  /**
   * A currency by ISO 4217.
   */
  currency?: string;
  /**
   * What the post shows you again, of 1 to 512 visible ASCII characters.
   */
  bid_token: string;
  /**
   * Until when you stand by the bid. Left out, as long as the exchange waits, which is five seconds.
   */
  valid_until?: string;
}

/**
 * A buyer's answer to a ping. Either `bid` is an object, or it is null, and then `reject_reason` says why.
 */
export interface BuyerBidResponse {
  [key: string]: unknown;
  /**
   * The `auction_id` of the ping. Required with a bid.
   */
  auction_id?: string;
  bid: BuyerBid | null;
  /**
   * Which of your filters the lead has passed, such as `state`, `vertical`, `tcpa` and `score_threshold`.
   */
  buyer_filters_passed?: Array<string>;
  /**
   * With no bid, why, as a code for programs.
   */
  reject_reason?: string;
  /**
   * With no bid, why, in words for a person.
   */
  reject_detail?: string;
}

/**
 * A buyer's word that it has the lead. Its id is read from `lead_id`, else `id`, else `buyer_lead_id`, else `data.id`, as text or a number of at most 128 characters, and may be missing.
 */
export interface BuyerReceipt {
  [key: string]: unknown;
  /**
   * Your own id of the lead.
   */
  lead_id?: string;
}

/**
 * Why a buyer refuses a lead. Nothing of it is required; the status says enough.
 */
export interface BuyerRefusal {
  [key: string]: unknown;
  /**
   * Why, as a code for programs.
   */
  error?: string;
  /**
   * Why, in words for a person.
   */
  message?: string;
}

/**
 * What is known of the person's consent to be called.
 */
export interface Consent {
  [key: string]: unknown;
  /**
   * The words that were agreed to, of at most 16,384 bytes, without control characters but tabs and ends of lines.
   */
  consent_text?: string;
  /**
   * When consent was given, as RFC 3339 has it, in any offset, with at most nine decimals.
   */
  consent_timestamp?: string;
  /**
   * Text of at most 4,096 bytes, without control characters but tabs and ends of lines.
   */
  ip_address?: string;
  /**
   * Where the certificate of the person's consent is: an absolute https address, with neither user nor password. Required where `source` is one for which the campaign asks for it. A campaign may also name the hosts that it takes.
   */
  consent_cert_url?: string;
}

/**
 * What is known of the way to the buyer's endpoint. `none`: there is none, the lead is only recorded. `pending`: being sent, or between two tries. `delivered`: acknowledged. `unknown`: the tries are used up, and the operator decides. `failed`: refused. `confirmed`: the operator has found that the buyer has it. `released`: the operator took it back.
 *
 * Others than these may come: an exchange may be newer than this package.
 */
export type DeliveryState = KnownDeliveryState | (string & {});
/** Those values of DeliveryState that this version knows. */
export type KnownDeliveryState = (typeof knownDeliveryState)[number];
/** Those values of DeliveryState that this version knows. */
export const knownDeliveryState = [
  'none',
  'pending',
  'delivered',
  'unknown',
  'failed',
  'confirmed',
  'released',
] as const;

/**
 * Every error, on every path.
 */
export interface ErrorBody {
  error: ErrorCode;
  /**
   * What is wrong and what to do, for a person. It never repeats what was sent.
   */
  message: string;
  /**
   * The exchange's name for one request, in its logs too.
   */
  request_id: string;
  /**
   * With `invalid_payload`, every member that is at fault.
   */
  field_errors?: Array<FieldError>;
  reason?: UnmatchedReason;
  /**
   * With the errors of OAuth at `/oauth/token`, the same as `message`.
   */
  error_description?: string;
}

/**
 * What is wrong, for programs. Each code has one status. In a result among many it stands by itself.
 *
 * Others than these may come: an exchange may be newer than this package.
 */
export type ErrorCode = KnownErrorCode | (string & {});
/** Those values of ErrorCode that this version knows. */
export type KnownErrorCode = (typeof knownErrorCode)[number];
/** Those values of ErrorCode that this version knows. */
export const knownErrorCode = [
  'malformed_json',
  'malformed_request',
  'invalid_request',
  'unsupported_grant_type',
  'invalid_scope',
  'unauthorized',
  'invalid_client',
  'forbidden',
  'insufficient_scope',
  'not_found',
  'method_not_allowed',
  'request_timeout',
  'auction_exists',
  'already_sold',
  'invalid_transition',
  'bid_expired',
  'payload_too_large',
  'unsupported_media_type',
  'invalid_payload',
  'idempotency_key_reused',
  'invalid_bid_token',
  'post_rejected',
  'rate_limited',
  'header_too_large',
  'internal',
  'buyer_unavailable',
  'unavailable',
  'buyer_timeout',
  'http_version_not_supported',
] as const;

/**
 * One member of a request that is at fault.
 */
export interface FieldError {
  /**
   * Where it stands, as a path with dots, such as `lead.tcpa.consent_cert_url`; or the header's name.
   */
  field: string;
  code: FieldErrorCode;
  /**
   * What is expected there, in words.
   */
  expected: string;
}

/**
 * What is wrong with a member, for programs.
 *
 * Others than these may come: an exchange may be newer than this package.
 */
export type FieldErrorCode = KnownFieldErrorCode | (string & {});
/** Those values of FieldErrorCode that this version knows. */
export type KnownFieldErrorCode = (typeof knownFieldErrorCode)[number];
/** Those values of FieldErrorCode that this version knows. */
export const knownFieldErrorCode = [
  'missing_required',
  'wrong_type',
  'invalid_format',
  'out_of_range',
  'not_allowed_value',
  'too_long',
  'unknown',
  'inactive',
  'expired',
  'ping_mismatch',
  'contact_field_not_allowed',
  'unknown_field',
] as const;

/**
 * The one grant that is known here.
 *
 * Others than these may come: an exchange may be newer than this package.
 */
export type GrantType = KnownGrantType | (string & {});
/** Those values of GrantType that this version knows. */
export type KnownGrantType = (typeof knownGrantType)[number];
/** Those values of GrantType that this version knows. */
export const knownGrantType = [
  'client_credentials',
] as const;

/**
 * A whole lead. Beside the members below it has those that the campaign's field mapping names. What nobody has named is dropped, kept for the buyer, or refused as `unknown_field`, as the campaign says.
 */
export interface IngestRequest {
  [key: string]: unknown;
  /**
   * The campaign that the lead is for.
   */
  flo_campaign_id: string;
  /**
   * The supplier that sends it, which is the one that the API key belongs to.
   */
  flo_supplier_id: string;
  /**
   * The `ping_id` of a `POST /api/v1/ping`, to sell to a buyer that it offered. Together with `flo_buyer_id`.
   */
  flo_ping_id?: string;
  /**
   * The buyer that was chosen of those in that answer. Together with `flo_ping_id`.
   */
  flo_buyer_id?: string;
  /**
   * Text of at most 4,096 bytes that is not blank, without control characters but tabs and ends of lines.
   */
  first_name: string;
  /**
   * Text of at most 4,096 bytes that is not blank, without control characters but tabs and ends of lines.
   */
  last_name: string;
  /**
   * A phone number of digits, spaces, `( ) - .` and a leading `+`, at most 15 digits. A US number unless it begins with `+`. It must be one that can have been given to somebody; 555-0100 to 555-0199 count as such in any US area code. Stored, and sent to buyers, in E.164 form.
   */
  phone: string;
  /**
   * An email address: a dot-atom of at most 64 bytes, `@`, and two or more DNS labels with no hyphen at their ends, 254 bytes in all. No quotes, no address literal, no display name. Its domain is stored in lower case; compared and hashed it is lower case throughout.
   */
  email: string;
  state?: StateCode;
  /**
   * Text of at most 4,096 bytes, without control characters but tabs and ends of lines.
   */
  line1?: string;
  /**
   * Text of at most 4,096 bytes, without control characters but tabs and ends of lines.
   */
  city?: string;
  /**
   * A ZIP code of five digits, or ZIP+4.
   */
  zip?: string;
  /**
   * Text of at most 4,096 bytes, without control characters but tabs and ends of lines.
   */
  source?: string;
  /**
   * Whether the person has agreed to be called.
   */
  tcpa_consent?: boolean;
  /**
   * Where the certificate of the person's consent is: an absolute https address, with neither user nor password. Required where `source` is one for which the campaign asks for it. A campaign may also name the hosts that it takes.
   */
  consent_cert_url?: string;
  /**
   * The words that were agreed to, of at most 16,384 bytes, without control characters but tabs and ends of lines.
   */
  consent_text?: string;
  /**
   * When consent was given, as RFC 3339 has it, in any offset, with at most nine decimals.
   */
  consent_timestamp?: string;
  /**
   * Text of at most 4,096 bytes, without control characters but tabs and ends of lines.
   */
  ip_address?: string;
  /**
   * How good the lead is held to be, commonly from 0 to 1.
   */
  ai_quality_score?: number;
}

/**
 * The answer to a lead.
 */
export interface IngestResponse {
  data: IngestResult;
}

/**
 * What became of a lead.
 */
export interface IngestResult {
  /**
   * The exchange's id of a lead.
   */
  id: string;
  status: IngestStatus;
  /**
   * The buyer that the lead was assigned to; null where there is none.
   */
  buyer_id: string | null;
  /**
   * The campaign that it was sent for.
   */
  campaign_id: string;
  price?: Price;
  reason?: UnmatchedReason;
}

/**
 * `ACCEPTED`: a buyer was assigned, and `price` is what you are paid. `UNMATCHED`: nobody takes it, and `reason` says why.
 *
 * Others than these may come: an exchange may be newer than this package.
 */
export type IngestStatus = KnownIngestStatus | (string & {});
/** Those values of IngestStatus that this version knows. */
export type KnownIngestStatus = (typeof knownIngestStatus)[number];
/** Those values of IngestStatus that this version knows. */
export const knownIngestStatus = [
  'ACCEPTED',
  'UNMATCHED',
] as const;

/**
 * A lead as one of those may see it whom it concerns. It does not tell who the person is.
 */
export interface Lead {
  /**
   * The exchange's id of a lead.
   */
  id: string;
  status: LeadStatus;
  /**
   * The campaign that it was sent for.
   */
  campaign_id: string;
  /**
   * The seller's own id, which a post names. Buyers are not shown it; null where there is none.
   */
  lead_uuid?: string | null;
  /**
   * The auction it was in, by the name that you know it by; null where there was none.
   */
  auction_id: string | null;
  /**
   * The buyer that has it, or is being sent it; null where nobody has it.
   */
  buyer_id: string | null;
  price: Price | null;
  reason: UnmatchedReason | null;
  delivery: DeliveryState;
  _return?: ReturnState;
  /**
   * When the lead was decided.
   */
  created_at: string;
  /**
   * It is there and true where this is a test lead.
   */
  test?: boolean;
}

/**
 * A lead that a buyer bought.
 */
export interface LeadDelivery {
  /**
   * The auction that you won, or the lead's id where there was none.
   */
  auction_id: string;
  /**
   * The token of your bid; not there where you made none.
   */
  bid_token?: string;
  lead: PostLead;
}

/**
 * Something that happened to a lead of yours.
 */
export interface LeadEvent {
  /**
   * The id of an event. Drop repeats by it.
   */
  id: string;
  type: LeadEventType;
  /**
   * When it happened.
   */
  created_at: string;
  data: LeadEventData;
}

/**
 * The lead it happened to. It does not tell who the person is.
 */
export interface LeadEventData {
  /**
   * The exchange's id of a lead.
   */
  lead_id: string;
  /**
   * Your own id, which your post named; null after an ingest.
   */
  lead_uuid: string | null;
  /**
   * The auction it was in, by the name that you know it by; null where there was none.
   */
  auction_id: string | null;
  /**
   * The campaign that it was sent for.
   */
  campaign_id: string | null;
  /**
   * The supplier that sent it.
   */
  supplier_id: string | null;
  /**
   * The buyer that has it or had it; null where nobody did.
   */
  buyer_id: string | null;
  status: LeadStatus;
  price: Price | null;
  /**
   * Why: a reason for which a lead is not sold, or the buyer's word with its report; null where there is none.
   */
  reason: string | null;
  reversed?: Price | null;
  /**
   * It is there and true where this is a test lead.
   */
  test?: boolean;
}

/**
 * What happened.
 *
 * Others than these may come: an exchange may be newer than this package.
 */
export type LeadEventType = KnownLeadEventType | (string & {});
/** Those values of LeadEventType that this version knows. */
export type KnownLeadEventType = (typeof knownLeadEventType)[number];
/** Those values of LeadEventType that this version knows. */
export const knownLeadEventType = [
  'lead.posted',
  'lead.contacted',
  'lead.qualified',
  'lead.sold',
  'lead.returned',
  'lead.unmatched',
  'lead.post_failed',
] as const;

/**
 * A lead, as suppliers are shown it by API key.
 */
export interface LeadResponse {
  data: Lead;
}

/**
 * `OPEN`: with a buyer's endpoint, the outcome not known yet. `ACCEPTED`: a buyer was assigned. `UNMATCHED`: nobody took it. The others are what its buyer has reported.
 *
 * Others than these may come: an exchange may be newer than this package.
 */
export type LeadStatus = KnownLeadStatus | (string & {});
/** Those values of LeadStatus that this version knows. */
export type KnownLeadStatus = (typeof knownLeadStatus)[number];
/** Those values of LeadStatus that this version knows. */
export const knownLeadStatus = [
  'OPEN',
  'ACCEPTED',
  'UNMATCHED',
  'contacted',
  'qualified',
  'sold',
  'returned',
] as const;

/**
 * Why a ping got no bid: one of the reasons for which a lead is not sold, or `no_campaign` (no active campaign takes
 * pings of this vertical from this seller), or `loop` (the ping has been through too many exchanges).
 *
 * Others than these may come: an exchange may be newer than this package.
 */
export type NoBidReason = KnownNoBidReason | (string & {});
/** Those values of NoBidReason that this version knows. */
export type KnownNoBidReason = (typeof knownNoBidReason)[number];
/** Those values of NoBidReason that this version knows. */
export const knownNoBidReason = [
  'no_buyer',
  'no_state_match',
  'filtered',
  'outside_schedule',
  'caps_full',
  'insufficient_funds',
  'rate_limited',
  'timeout',
  'no_bid',
  'below_floor',
  'bid_expired',
  'post_rejected',
  'suppressed',
  'duplicate',
  'no_campaign',
  'loop',
] as const;

/**
 * One buyer's bid, as the supplier would be paid it.
 */
export interface Offer {
  /**
   * The buyer.
   */
  buyer_id: string;
  /**
   * An amount of money, in units of the currency beside it, with at most six decimals.
   */
  amount: number;
  /**
   * A currency by ISO 4217.
   */
  currency: string;
  /**
   * Until when it can be taken up.
   */
  valid_until: string;
}

/**
 * An OpenAPI document.
 */
export interface OpenapiDocument {
  [key: string]: unknown;
  /**
   * The version of OpenAPI.
   */
  openapi: string;
  /**
   * What the document is about.
   */
  info: { [key: string]: any; };
  /**
   * What can be called.
   */
  paths: { [key: string]: any; };
}

/**
 * What is told of a lead before it is sold. Beside the members below it may have any others; they go on to the buyers. Contact details (names, phone, email, street, however they are spelt) are refused with `contact_field_not_allowed`, at any depth. A buyer's endpoint is sent the same form.
 */
export interface PingRequest {
  [key: string]: unknown;
  /**
   * The asker's name for an auction, of 1 to 255 printable characters. It names one auction and no other.
   */
  auction_id: string;
  /**
   * A name of 1 to 255 printable characters that is not blank.
   */
  vertical: string;
  /**
   * A name of 1 to 255 printable characters that is not blank.
   */
  sub_vertical?: string;
  state: StateCode;
  /**
   * The first three digits of a ZIP code.
   */
  zip3?: string;
  /**
   * Whether the person has insurance of this kind.
   */
  currently_insured?: boolean;
  /**
   * How many vehicles there are to insure.
   */
  vehicle_count?: number;
  /**
   * The driver's age, as the lower and the upper end of a range.
   */
  driver_age_band?: string;
  /**
   * How good the lead is held to be, commonly from 0 to 1.
   */
  ai_quality_score?: number;
  /**
   * Text of at most 4,096 bytes, without control characters but tabs and ends of lines.
   */
  source?: string;
  /**
   * Whether the person has agreed to be called. In pings to buyers, false where it is not known.
   */
  tcpa_consent: boolean;
  /**
   * Where the certificate of the person's consent is: an absolute https address, with neither user nor password. Required where `source` is one for which the campaign asks for it. A campaign may also name the hosts that it takes.
   */
  consent_cert_url?: string;
  /**
   * Until when the asker listens. Left out, or more than five seconds ahead, it is five seconds from now; what is past is refused as `expired`.
   */
  expires_at?: string;
}

/**
 * A whole lead as a post carries it. Beside the members below it has the campaign's own fields. What it leaves out is taken from the ping.
 */
export interface PostLead {
  [key: string]: unknown;
  /**
   * The sender's own id of the lead, of at most 255 printable characters. In posts to buyers, the exchange's.
   */
  lead_uuid: string;
  /**
   * Text of at most 4,096 bytes that is not blank, without control characters but tabs and ends of lines.
   */
  first_name: string;
  /**
   * Text of at most 4,096 bytes that is not blank, without control characters but tabs and ends of lines.
   */
  last_name: string;
  /**
   * An email address: a dot-atom of at most 64 bytes, `@`, and two or more DNS labels with no hyphen at their ends, 254 bytes in all. No quotes, no address literal, no display name. Its domain is stored in lower case; compared and hashed it is lower case throughout.
   */
  email: string;
  /**
   * A phone number of digits, spaces, `( ) - .` and a leading `+`, at most 15 digits. A US number unless it begins with `+`. It must be one that can have been given to somebody; 555-0100 to 555-0199 count as such in any US area code. Stored, and sent to buyers, in E.164 form.
   */
  phone: string;
  address?: Address;
  tcpa?: Consent;
  /**
   * Text of at most 4,096 bytes, without control characters but tabs and ends of lines.
   */
  source?: string;
  /**
   * Whether the person has agreed to be called.
   */
  tcpa_consent?: boolean;
  /**
   * How good the lead is held to be, commonly from 0 to 1.
   */
  ai_quality_score?: number;
}

/**
 * A lead, for the bid that its ping was answered with.
 */
export interface PostRequest {
  /**
   * The asker's name for an auction, of 1 to 255 printable characters. It names one auction and no other.
   */
  auction_id: string;
  /**
   * The `bid_token` of the answer to the ping.
   */
  bid_token: string;
  lead: PostLead;
}

/**
 * A sale.
 */
export interface PostResponse {
  /**
   * The asker's name for an auction, of 1 to 255 printable characters. It names one auction and no other.
   */
  auction_id: string;
  /**
   * The buyer's own id of the lead; null where it told none.
   */
  lead_id: string | null;
  /**
   * The exchange's id of a lead.
   */
  id: string;
  status: PostStatus;
  /**
   * The buyer that has it.
   */
  buyer_id: string;
  price: Price;
}

/**
 * A post that succeeds is always accepted.
 *
 * Others than these may come: an exchange may be newer than this package.
 */
export type PostStatus = KnownPostStatus | (string & {});
/** Those values of PostStatus that this version knows. */
export type KnownPostStatus = (typeof knownPostStatus)[number];
/** Those values of PostStatus that this version knows. */
export const knownPostStatus = [
  'ACCEPTED',
] as const;

/**
 * An amount of money and its currency.
 */
export interface Price {
  /**
   * An amount of money, in units of the currency beside it, with at most six decimals.
   */
  amount: number;
  /**
   * A currency by ISO 4217.
   */
  currency: string;
}

/**
 * What became of a lead.
 *
 * Others than these may come: an exchange may be newer than this package.
 */
export type ReportedStatus = KnownReportedStatus | (string & {});
/** Those values of ReportedStatus that this version knows. */
export type KnownReportedStatus = (typeof knownReportedStatus)[number];
/** Those values of ReportedStatus that this version knows. */
export const knownReportedStatus = [
  'contacted',
  'qualified',
  'sold',
  'returned',
] as const;

/**
 * Where the return of a lead stands. `waiting`: for the operator. `approved`: the lead went back. `refused`: by the operator; it cannot be asked for again.
 *
 * Others than these may come: an exchange may be newer than this package.
 */
export type ReturnState = KnownReturnState | (string & {});
/** Those values of ReturnState that this version knows. */
export type KnownReturnState = (typeof knownReturnState)[number];
/** Those values of ReturnState that this version knows. */
export const knownReturnState = [
  'waiting',
  'approved',
  'refused',
] as const;

/**
 * Which leads to make up.
 */
export interface SeedRequest {
  /**
   * How many.
   */
  count: number;
  /**
   * A name of 1 to 255 printable characters that is not blank.
   */
  vertical: string;
  state: StateCode;
  /**
   * Another seed makes other leads.
   */
  seed?: number;
  /**
   * A campaign that the leads are sent through. Left out, they are only made.
   */
  campaign_id?: string;
}

/**
 * Leads that were made up. `campaign_id` and `results` are there where a campaign was named.
 */
export interface SeedResponse {
  /**
   * How many there are.
   */
  count: number;
  /**
   * A name of 1 to 255 printable characters that is not blank.
   */
  vertical: string;
  state: StateCode;
  /**
   * The seed that they were made from.
   */
  seed: number;
  /**
   * The leads, in an order that is always the same.
   */
  leads: Array<SeededLead>;
  /**
   * The campaign that they were sent through.
   */
  campaign_id?: string;
  /**
   * What became of each of `leads` there, in their order.
   */
  results?: Array<SeedResult>;
}

/**
 * What became of one lead. Either as in the answer to an ingest, or with `error` where it was not taken at all.
 */
export interface SeedResult {
  /**
   * The exchange's id of a lead.
   */
  id?: string;
  status?: IngestStatus;
  /**
   * The buyer that it was assigned to; null where there is none.
   */
  buyer_id?: string | null;
  price?: Price;
  reason?: UnmatchedReason;
  error?: ErrorCode;
  /**
   * With `invalid_payload`, which members are at fault.
   */
  field_errors?: Array<FieldError>;
}

/**
 * A lead that was made up, before and after its sale.
 */
export interface SeededLead {
  ping: SeededPing;
  lead: PostLead;
}

/**
 * The body of a ping, but for `auction_id` and `expires_at`. It also has what is usual to tell in its vertical.
 */
export interface SeededPing {
  [key: string]: unknown;
  /**
   * A name of 1 to 255 printable characters that is not blank.
   */
  vertical: string;
  state: StateCode;
  /**
   * The first three digits of a ZIP code.
   */
  zip3: string;
  /**
   * Text of at most 4,096 bytes, without control characters but tabs and ends of lines.
   */
  source: string;
  /**
   * Whether the person has agreed to be called.
   */
  tcpa_consent: boolean;
  /**
   * How good the lead is held to be.
   */
  ai_quality_score: number;
  /**
   * Where the certificate of the person's consent is: an absolute https address, with neither user nor password. Required where `source` is one for which the campaign asks for it. A campaign may also name the hosts that it takes.
   */
  consent_cert_url: string;
}

/**
 * Two capital letters of the US postal service: a state, DC, a territory, or the armed forces abroad.
 *
 * Others than these may come: an exchange may be newer than this package.
 */
export type StateCode = KnownStateCode | (string & {});
/** Those values of StateCode that this version knows. */
export type KnownStateCode = (typeof knownStateCode)[number];
/** Those values of StateCode that this version knows. */
export const knownStateCode = [
  'AA',
  'AE',
  'AK',
  'AL',
  'AP',
  'AR',
  'AS',
  'AZ',
  'CA',
  'CO',
  'CT',
  'DC',
  'DE',
  'FL',
  'GA',
  'GU',
  'HI',
  'IA',
  'ID',
  'IL',
  'IN',
  'KS',
  'KY',
  'LA',
  'MA',
  'MD',
  'ME',
  'MI',
  'MN',
  'MO',
  'MP',
  'MS',
  'MT',
  'NC',
  'ND',
  'NE',
  'NH',
  'NJ',
  'NM',
  'NV',
  'NY',
  'OH',
  'OK',
  'OR',
  'PA',
  'PR',
  'RI',
  'SC',
  'SD',
  'TN',
  'TX',
  'UT',
  'VA',
  'VI',
  'VT',
  'WA',
  'WI',
  'WV',
  'WY',
] as const;

/**
 * Reports on many leads.
 */
export interface StatusBatch {
  /**
   * The reports, one a lead.
   */
  changes: Array<StatusBatchChange>;
}

/**
 * A report among many.
 */
export interface StatusBatchChange {
  /**
   * The lead that it is about.
   */
  lead_id: string;
  status: ReportedStatus;
  /**
   * Why, in at most 255 printable characters. Required for `returned`, and then one of the campaign's reasons where it lists any. The supplier is told; what looks like a phone number or an email address is withheld.
   */
  reason?: string;
  /**
   * When it happened, not ahead of now by more than five minutes.
   */
  occurred_at?: string;
}

/**
 * What each report of a batch came to, in their order.
 */
export interface StatusBatchResponse {
  /**
   * One result a report.
   */
  results: Array<StatusResult>;
}

/**
 * A report on one lead.
 */
export interface StatusChange {
  status: ReportedStatus;
  /**
   * Why, in at most 255 printable characters. Required for `returned`, and then one of the campaign's reasons where it lists any. The supplier is told; what looks like a phone number or an email address is withheld.
   */
  reason?: string;
  /**
   * When it happened, not ahead of now by more than five minutes.
   */
  occurred_at?: string;
}

/**
 * What a report came to.
 */
export interface StatusResponse {
  /**
   * The exchange's id of a lead.
   */
  lead_id: string;
  status: LeadStatus;
  _return?: ReturnState;
}

/**
 * What one report came to. Either `status` is there, or `error` and `message`.
 */
export interface StatusResult {
  /**
   * The lead as the report named it; null where it named none by a text.
   */
  lead_id: string | null;
  status?: LeadStatus;
  _return?: ReturnState;
  error?: ErrorCode;
  /**
   * What is wrong, for a person.
   */
  message?: string;
  /**
   * With `invalid_payload`, which members are at fault.
   */
  field_errors?: Array<FieldError>;
}

/**
 * Whether a request is a test.
 *
 * Others than these may come: an exchange may be newer than this package.
 */
export type TestFlag = KnownTestFlag | (string & {});
/** Those values of TestFlag that this version knows. */
export type KnownTestFlag = (typeof knownTestFlag)[number];
/** Those values of TestFlag that this version knows. */
export const knownTestFlag = [
  '1',
  'true',
  '0',
  'false',
] as const;

/**
 * What a client shows to get a token. Members and parameters that are not named here are passed over.
 */
export interface TokenRequest {
  grant_type: GrantType;
  /**
   * The client. Here, or by HTTP Basic.
   */
  client_id?: string;
  /**
   * Its secret, beside its id.
   */
  client_secret?: string;
  /**
   * What the token is to open, some of `ping`, `post` and `webhook` with spaces between. Left out, all that the client has.
   */
  scope?: string;
}

/**
 * An access token.
 */
export interface TokenResponse {
  /**
   * The token. It is opaque.
   */
  access_token: string;
  token_type: TokenType;
  /**
   * For how many seconds it is good, from now.
   */
  expires_in: number;
  /**
   * What it opens, with spaces between.
   */
  scope: string;
}

/**
 * How the token is shown.
 *
 * Others than these may come: an exchange may be newer than this package.
 */
export type TokenType = KnownTokenType | (string & {});
/** Those values of TokenType that this version knows. */
export type KnownTokenType = (typeof knownTokenType)[number];
/** Those values of TokenType that this version knows. */
export const knownTokenType = [
  'Bearer',
] as const;

/**
 * Why a lead was not sold. `suppressed` and `duplicate` end the matter at once. Of the others it is the furthest stage
 * that any buyer reached, in this order: `no_buyer` (nobody buys in the campaign), `no_state_match`, `filtered`,
 * `outside_schedule`, `caps_full`, `insufficient_funds`, `rate_limited` (all have been asked as often as they allow),
 * `timeout` (nobody answered in time), `no_bid`, `below_floor`, `bid_expired`, `post_rejected` (the buyer refused it).
 *
 * Others than these may come: an exchange may be newer than this package.
 */
export type UnmatchedReason = KnownUnmatchedReason | (string & {});
/** Those values of UnmatchedReason that this version knows. */
export type KnownUnmatchedReason = (typeof knownUnmatchedReason)[number];
/** Those values of UnmatchedReason that this version knows. */
export const knownUnmatchedReason = [
  'no_buyer',
  'no_state_match',
  'filtered',
  'outside_schedule',
  'caps_full',
  'insufficient_funds',
  'rate_limited',
  'timeout',
  'no_bid',
  'below_floor',
  'bid_expired',
  'post_rejected',
  'suppressed',
  'duplicate',
] as const;
