// Made from api/openapi.yaml by sdk/generate. Not to be edited.

/**
 * The person's address, as far as known. A `state` or a `zip` that contradicts the ping is rejected as `ping_mismatch`.
 */
export interface Address {
  [key: string]: unknown;
  /**
   * Text of at most 4,096 bytes. The only control characters allowed are tabs and line ends.
   */
  line1?: string;
  /**
   * Text of at most 4,096 bytes. The only control characters allowed are tabs and line ends.
   */
  city?: string;
  state?: StateCode;
  /**
   * A ZIP code of five digits, or ZIP+4.
   */
  zip?: string;
}

/**
 * The offers for a lead.
 */
export interface Availability {
  /**
   * The id of this ping. An ingest refers to it to accept an offer.
   */
  ping_id: string;
  /**
   * The requested campaign.
   */
  campaign_id: string;
  /**
   * Whether there is an offer.
   */
  accepted: boolean;
  /**
   * The latest expiration of the offers.
   */
  expires_at: string;
  /**
   * The offers, best first; empty if there are no offers.
   */
  buyers: Array<Offer>;
  reason?: NoBidReason;
}

/**
 * Partial data of a lead, to get bids. It has the members below and the campaign's ping fields. Members for contact data are rejected at any depth with `contact_field_not_allowed`, by the names that `PingRequest` lists. If the campaign has its own field named `campaign_id` or `supplier_id`, the member is that field, and the request needs the `flo_` name.
 */
export interface AvailabilityRequest {
  [key: string]: unknown;
  /**
   * The campaign, which must have the method `ping_post`.
   */
  campaign_id?: string;
  /**
   * The supplier, which must own the API key.
   */
  supplier_id?: string;
  /**
   * Another name of `campaign_id`. If both are present, they must be equal.
   */
  flo_campaign_id?: string;
  /**
   * Another name of `supplier_id`. If both are present, they must be equal.
   */
  flo_supplier_id?: string;
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
   * Text of at most 4,096 bytes. The only control characters allowed are tabs and line ends.
   */
  source?: string;
  /**
   * Whether the person agreed to calls.
   */
  tcpa_consent?: boolean;
  /**
   * The address of the consent certificate: an absolute https address without user and password. Required if the campaign requires consent for the `source`. A campaign can also restrict the hosts.
   */
  consent_cert_url?: string;
  /**
   * The lead's estimated quality, usually from 0 to 1.
   */
  ai_quality_score?: number;
}

/**
 * The answer to a request for bids.
 */
export interface AvailabilityResponse {
  data: Availability;
}

/**
 * A bid that you can accept.
 */
export interface Bid {
  /**
   * An amount of money in units of its currency, with at most six decimals.
   */
  amount: number;
  /**
   * An ISO 4217 currency code.
   */
  currency: string;
  /**
   * The token for the post. It is valid for this auction and this seller only.
   */
  bid_token: string;
  /**
   * When the bid expires.
   */
  valid_until: string;
}

/**
 * The answer to a ping. `bid` is an object, or null with `reject_reason` and `reject_detail`.
 */
export interface BidResponse {
  /**
   * The caller's id of an auction, of 1 to 255 printable characters. It must be unique.
   */
  auction_id: string;
  bid: Bid | null;
  /**
   * With a bid: the conditions of the buyer and the campaign that the lead meets. `vertical` is always present. `state`, `tcpa` (consent) and `score_threshold` are present if a list of states or a filter requires them.
   */
  buyer_filters_passed?: Array<string>;
  reject_reason?: NoBidReason;
  /**
   * The reason as text for people.
   */
  reject_detail?: string;
}

/**
 * A buyer's bid.
 */
export interface BuyerBid {
  [key: string]: unknown;
  /**
   * An amount of money in units of its currency, with at most six decimals.
   */
  amount: number;
  /**
   * An ISO 4217 currency code.
   */
  currency?: string;
  /**
   * The token that the post repeats, of 1 to 512 visible ASCII characters.
   */
  bid_token: string;
  /**
   * When the bid expires. By default after five seconds, when the exchange stops waiting.
   */
  valid_until?: string;
}

/**
 * A buyer's answer to a ping. `bid` is an object, or null with a `reject_reason`.
 */
export interface BuyerBidResponse {
  [key: string]: unknown;
  /**
   * The `auction_id` of the ping. Required with a bid.
   */
  auction_id?: string;
  bid: BuyerBid | null;
  /**
   * The conditions that the lead meets, such as `state`, `vertical`, `tcpa` and `score_threshold`.
   */
  buyer_filters_passed?: Array<string>;
  /**
   * With a no-bid, the cause as a code.
   */
  reject_reason?: string;
  /**
   * With a no-bid, the cause as text for people.
   */
  reject_detail?: string;
}

/**
 * A buyer's acknowledgment of a lead. The exchange reads the buyer's id from `lead_id`, else `id`, else `buyer_lead_id`, else `data.id`: text or a number of at most 128 characters. It can be missing.
 */
export interface BuyerReceipt {
  [key: string]: unknown;
  /**
   * Your id of the lead.
   */
  lead_id?: string;
}

/**
 * A buyer's rejection of a lead. All members are optional, because the status decides.
 */
export interface BuyerRefusal {
  [key: string]: unknown;
  /**
   * The cause as a code.
   */
  error?: string;
  /**
   * The cause as text for people.
   */
  message?: string;
}

/**
 * The person's consent to calls, as far as known.
 */
export interface Consent {
  [key: string]: unknown;
  /**
   * The text that the person agreed to, of at most 16,384 bytes. The only control characters allowed are tabs and line ends.
   */
  consent_text?: string;
  /**
   * When the person gave consent, in RFC 3339 with any offset and at most nine decimals.
   */
  consent_timestamp?: string;
  /**
   * Text of at most 4,096 bytes. The only control characters allowed are tabs and line ends.
   */
  ip_address?: string;
  /**
   * The address of the consent certificate: an absolute https address without user and password. Required if the campaign requires consent for the `source`. A campaign can also restrict the hosts.
   */
  consent_cert_url?: string;
}

/**
 * The state of the delivery to the buyer's endpoint. `none`: the buyer has no endpoint, and the lead is only recorded. `pending`: in progress, or between two attempts. `delivered`: acknowledged. `unknown`: all attempts failed without a clear answer, and an operator decides. `failed`: rejected. `confirmed`: an operator found that the buyer has the lead. `released`: an operator found that it does not.
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
 * An error. All paths use this form.
 */
export interface ErrorBody {
  error: ErrorCode;
  /**
   * The problem and the remedy as text for people. It never repeats your input.
   */
  message: string;
  /**
   * The exchange's id of one request, also in its logs.
   */
  request_id: string;
  /**
   * With `invalid_payload`, all invalid members.
   */
  field_errors?: Array<FieldError>;
  reason?: UnmatchedReason;
  /**
   * With the errors of OAuth at `/oauth/token`, the text of `message`.
   */
  error_description?: string;
}

/**
 * The error's code, for programs. Each code has one status. In a result of a batch there is no separate status.
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
 * One invalid member of a request.
 */
export interface FieldError {
  /**
   * The member's place, as a path with dots such as `lead.tcpa.consent_cert_url`, or the name of a header.
   */
  field: string;
  code: FieldErrorCode;
  /**
   * The valid form, as text for people.
   */
  expected: string;
}

/**
 * The code for an invalid member.
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
 * The supported grant.
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
 * A whole lead: the members below and the fields of the campaign. By the campaign's setting, unknown members are dropped, kept for the buyer, or rejected as `unknown_field`. If the campaign has its own field named `campaign_id` or `supplier_id`, the member is that field, and the request needs the `flo_` name.
 */
export interface IngestRequest {
  [key: string]: unknown;
  /**
   * The lead's campaign.
   */
  campaign_id?: string;
  /**
   * The lead's supplier, which must own the API key.
   */
  supplier_id?: string;
  /**
   * Another name of `campaign_id`. If both are present, they must be equal.
   */
  flo_campaign_id?: string;
  /**
   * Another name of `supplier_id`. If both are present, they must be equal.
   */
  flo_supplier_id?: string;
  /**
   * The `ping_id` of a `POST /api/v1/ping`, to accept one of its offers. Requires `flo_buyer_id`.
   */
  flo_ping_id?: string;
  /**
   * The buyer of the accepted offer. Requires `flo_ping_id`.
   */
  flo_buyer_id?: string;
  /**
   * Text of at most 4,096 bytes that is not blank. The only control characters allowed are tabs and line ends.
   */
  first_name: string;
  /**
   * Text of at most 4,096 bytes that is not blank. The only control characters allowed are tabs and line ends.
   */
  last_name: string;
  /**
   * A phone number of digits, spaces, `( ) - .` and a leading `+`, with at most 15 digits. Without `+` it is a US number. It must be a valid number; 555-0100 to 555-0199 are valid in every US area code. The exchange stores and sends it in E.164 form.
   */
  phone: string;
  /**
   * An e-mail address: a dot-atom of at most 64 bytes, `@`, and two or more DNS labels without a hyphen at their ends, at most 254 bytes in total. No quotes, no address literal, no display name. The exchange stores the domain in lower case, and compares and hashes the whole address in lower case.
   */
  email: string;
  state?: StateCode;
  /**
   * Text of at most 4,096 bytes. The only control characters allowed are tabs and line ends.
   */
  line1?: string;
  /**
   * Text of at most 4,096 bytes. The only control characters allowed are tabs and line ends.
   */
  city?: string;
  /**
   * A ZIP code of five digits, or ZIP+4.
   */
  zip?: string;
  /**
   * Text of at most 4,096 bytes. The only control characters allowed are tabs and line ends.
   */
  source?: string;
  /**
   * Whether the person agreed to calls.
   */
  tcpa_consent?: boolean;
  /**
   * The address of the consent certificate: an absolute https address without user and password. Required if the campaign requires consent for the `source`. A campaign can also restrict the hosts.
   */
  consent_cert_url?: string;
  /**
   * The text that the person agreed to, of at most 16,384 bytes. The only control characters allowed are tabs and line ends.
   */
  consent_text?: string;
  /**
   * When the person gave consent, in RFC 3339 with any offset and at most nine decimals.
   */
  consent_timestamp?: string;
  /**
   * Text of at most 4,096 bytes. The only control characters allowed are tabs and line ends.
   */
  ip_address?: string;
  /**
   * The lead's estimated quality, usually from 0 to 1.
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
 * The outcome of a lead.
 */
export interface IngestResult {
  /**
   * The exchange's id of a lead.
   */
  id: string;
  status: IngestStatus;
  /**
   * The buyer; null if unsold.
   */
  buyer_id: string | null;
  /**
   * The lead's campaign.
   */
  campaign_id: string;
  price?: Price;
  reason?: UnmatchedReason;
}

/**
 * `ACCEPTED`: a buyer was assigned, and `price` is your payout. `UNMATCHED`: the lead is unsold, and `reason` has the cause.
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
 * A lead as its seller or its buyer sees it, without contact data.
 */
export interface Lead {
  /**
   * The exchange's id of a lead.
   */
  id: string;
  status: LeadStatus;
  /**
   * The lead's campaign.
   */
  campaign_id: string;
  /**
   * The seller's id from the post. Null for buyers, and if there is no such id.
   */
  lead_uuid?: string | null;
  /**
   * The auction's id as the caller knows it; null without an auction.
   */
  auction_id: string | null;
  /**
   * The buyer that has the lead, or that it is being sent to; null if there is no buyer.
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
   * True for a test lead; else absent.
   */
  test?: boolean;
}

/**
 * A lead that a buyer bought.
 */
export interface LeadDelivery {
  /**
   * The auction's id, or the lead's id without an auction.
   */
  auction_id: string;
  /**
   * The token of your bid; absent without a bid.
   */
  bid_token?: string;
  lead: PostLead;
}

/**
 * An event of your lead.
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
 * The lead of the event, without contact data.
 */
export interface LeadEventData {
  /**
   * The exchange's id of a lead.
   */
  lead_id: string;
  /**
   * Your id from the post; null after an ingest.
   */
  lead_uuid: string | null;
  /**
   * The auction's id as the caller knows it; null without an auction.
   */
  auction_id: string | null;
  /**
   * The lead's campaign.
   */
  campaign_id: string | null;
  /**
   * The lead's supplier.
   */
  supplier_id: string | null;
  /**
   * The current or former buyer; null if there was no buyer.
   */
  buyer_id: string | null;
  status: LeadStatus;
  price: Price | null;
  /**
   * The cause: an unsold reason, or the reason in the buyer's report; else null.
   */
  reason: string | null;
  reversed?: Price | null;
  /**
   * True for a test lead; else absent.
   */
  test?: boolean;
}

/**
 * The type of the event.
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
 * A lead, for suppliers with an API key.
 */
export interface LeadResponse {
  data: Lead;
}

/**
 * `OPEN`: sent to a buyer's endpoint, without a result so far. `ACCEPTED`: a buyer was assigned. `UNMATCHED`: unsold. The others are the buyer's reports.
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
 * The cause of a no-bid: an unsold reason, or `no_campaign` (no active campaign accepts pings of this vertical from this
 * seller), or `loop` (the ping has passed too many exchanges).
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
 * One buyer's bid, as the supplier's payout.
 */
export interface Offer {
  /**
   * The buyer.
   */
  buyer_id: string;
  /**
   * An amount of money in units of its currency, with at most six decimals.
   */
  amount: number;
  /**
   * An ISO 4217 currency code.
   */
  currency: string;
  /**
   * When the offer expires.
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
   * The document's metadata.
   */
  info: { [key: string]: any; };
  /**
   * The operations.
   */
  paths: { [key: string]: any; };
}

/**
 * Partial data of a lead before its sale. It can have any other members, which go to the buyers. A member for contact data is rejected at any depth with `contact_field_not_allowed`. Only its name decides, without case and punctuation: `first_name`, `last_name`, `full_name`, `given_name`, `family_name`, `surname`, `fname`, `lname`, `contact_name`, `customer_name`; `phone`, `phone_number`, `telephone`, `home_phone`, `work_phone`, `mobile_phone`, `mobile_number`, `cell_phone`, `cell_number`; `email`, `email_address`; `line1`, `street`, `street_address`, `street1`, `street2`, `address1`, `address2`, `address_line1`, `address_line2`; and the campaign's own contact fields. A name that the campaign uses for another field is allowed. Contact data in a member of another name, such as `name`, is not recognized and goes to the buyers. Buyers' endpoints get the same form.
 */
export interface PingRequest {
  [key: string]: unknown;
  /**
   * The caller's id of an auction, of 1 to 255 printable characters. It must be unique.
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
   * The number of vehicles to insure.
   */
  vehicle_count?: number;
  /**
   * The driver's age, as the lower and the upper end of a range.
   */
  driver_age_band?: string;
  /**
   * The lead's estimated quality, usually from 0 to 1.
   */
  ai_quality_score?: number;
  /**
   * Text of at most 4,096 bytes. The only control characters allowed are tabs and line ends.
   */
  source?: string;
  /**
   * Whether the person agreed to calls. In pings to buyers, false if unknown.
   */
  tcpa_consent: boolean;
  /**
   * The address of the consent certificate: an absolute https address without user and password. Required if the campaign requires consent for the `source`. A campaign can also restrict the hosts.
   */
  consent_cert_url?: string;
  /**
   * The deadline for the answer. Absent or more than five seconds ahead means five seconds from now. A past time is rejected as `expired`.
   */
  expires_at?: string;
}

/**
 * A whole lead of a post: the members below and the campaign's own fields. The exchange takes missing members from the ping.
 */
export interface PostLead {
  [key: string]: unknown;
  /**
   * The sender's id of the lead, of at most 255 printable characters. In posts to buyers, the exchange's id.
   */
  lead_uuid: string;
  /**
   * Text of at most 4,096 bytes that is not blank. The only control characters allowed are tabs and line ends.
   */
  first_name: string;
  /**
   * Text of at most 4,096 bytes that is not blank. The only control characters allowed are tabs and line ends.
   */
  last_name: string;
  /**
   * An e-mail address: a dot-atom of at most 64 bytes, `@`, and two or more DNS labels without a hyphen at their ends, at most 254 bytes in total. No quotes, no address literal, no display name. The exchange stores the domain in lower case, and compares and hashes the whole address in lower case.
   */
  email: string;
  /**
   * A phone number of digits, spaces, `( ) - .` and a leading `+`, with at most 15 digits. Without `+` it is a US number. It must be a valid number; 555-0100 to 555-0199 are valid in every US area code. The exchange stores and sends it in E.164 form.
   */
  phone: string;
  address?: Address;
  tcpa?: Consent;
  /**
   * Text of at most 4,096 bytes. The only control characters allowed are tabs and line ends.
   */
  source?: string;
  /**
   * Whether the person agreed to calls.
   */
  tcpa_consent?: boolean;
  /**
   * The lead's estimated quality, usually from 0 to 1.
   */
  ai_quality_score?: number;
}

/**
 * A lead for the bid of its ping.
 */
export interface PostRequest {
  /**
   * The caller's id of an auction, of 1 to 255 printable characters. It must be unique.
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
   * The caller's id of an auction, of 1 to 255 printable characters. It must be unique.
   */
  auction_id: string;
  /**
   * The buyer's id of the lead; null if the buyer sent no id.
   */
  lead_id: string | null;
  /**
   * The exchange's id of a lead.
   */
  id: string;
  status: PostStatus;
  /**
   * The buyer of the lead.
   */
  buyer_id: string;
  price: Price;
}

/**
 * The status of a successful post.
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
   * An amount of money in units of its currency, with at most six decimals.
   */
  amount: number;
  /**
   * An ISO 4217 currency code.
   */
  currency: string;
}

/**
 * The outcome of a lead.
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
 * The state of a lead's return. `waiting`: for an operator. `approved`: the lead was returned. `refused`: an operator denied it. A denied return cannot be requested again.
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
 * The parameters of the generated leads.
 */
export interface SeedRequest {
  /**
   * The number of leads.
   */
  count: number;
  /**
   * A name of 1 to 255 printable characters that is not blank.
   */
  vertical: string;
  state: StateCode;
  /**
   * Another seed gives other leads.
   */
  seed?: number;
  /**
   * A campaign to send the leads through. Without it, the leads are only generated.
   */
  campaign_id?: string;
}

/**
 * Generated leads. `campaign_id` and `results` are present if the request has a campaign.
 */
export interface SeedResponse {
  /**
   * The number of leads.
   */
  count: number;
  /**
   * A name of 1 to 255 printable characters that is not blank.
   */
  vertical: string;
  state: StateCode;
  /**
   * The seed of the leads.
   */
  seed: number;
  /**
   * The leads, in a fixed order.
   */
  leads: Array<SeededLead>;
  /**
   * The campaign that processed the leads.
   */
  campaign_id?: string;
  /**
   * The outcome of each lead in `leads`, in the same order.
   */
  results?: Array<SeedResult>;
}

/**
 * The outcome of one lead: that of an ingest, or `error` if the lead was rejected.
 */
export interface SeedResult {
  /**
   * The exchange's id of a lead.
   */
  id?: string;
  status?: IngestStatus;
  /**
   * The buyer; null if unsold.
   */
  buyer_id?: string | null;
  price?: Price;
  reason?: UnmatchedReason;
  error?: ErrorCode;
  /**
   * With `invalid_payload`, the invalid members.
   */
  field_errors?: Array<FieldError>;
}

/**
 * A generated lead, before and after its sale.
 */
export interface SeededLead {
  ping: SeededPing;
  lead: PostLead;
}

/**
 * The body of a ping without `auction_id` and `expires_at`, with the usual fields of its vertical.
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
   * Text of at most 4,096 bytes. The only control characters allowed are tabs and line ends.
   */
  source: string;
  /**
   * Whether the person agreed to calls.
   */
  tcpa_consent: boolean;
  /**
   * The lead's estimated quality.
   */
  ai_quality_score: number;
  /**
   * The address of the consent certificate: an absolute https address without user and password. Required if the campaign requires consent for the `source`. A campaign can also restrict the hosts.
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
   * The reports, one for each lead.
   */
  changes: Array<StatusBatchChange>;
}

/**
 * One report of a batch.
 */
export interface StatusBatchChange {
  /**
   * The lead's id.
   */
  lead_id: string;
  status: ReportedStatus;
  /**
   * The reason, in at most 255 printable characters. Required for `returned`; it must be in the campaign's list of reasons, if there is one. The supplier receives it, without phone numbers and e-mail addresses.
   */
  reason?: string;
  /**
   * When it happened, at most five minutes in the future.
   */
  occurred_at?: string;
}

/**
 * The result of each report of a batch, in the same order.
 */
export interface StatusBatchResponse {
  /**
   * One result for each report.
   */
  results: Array<StatusResult>;
}

/**
 * A report on one lead.
 */
export interface StatusChange {
  status: ReportedStatus;
  /**
   * The reason, in at most 255 printable characters. Required for `returned`; it must be in the campaign's list of reasons, if there is one. The supplier receives it, without phone numbers and e-mail addresses.
   */
  reason?: string;
  /**
   * When it happened, at most five minutes in the future.
   */
  occurred_at?: string;
}

/**
 * The result of a report.
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
 * The result of one report: `status`, or `error` and `message`.
 */
export interface StatusResult {
  /**
   * The lead's id from the report; null if that was not text.
   */
  lead_id: string | null;
  status?: LeadStatus;
  _return?: ReturnState;
  error?: ErrorCode;
  /**
   * The error as text for people.
   */
  message?: string;
  /**
   * With `invalid_payload`, the invalid members.
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
 * A client's credentials, to get a token. Other members and parameters are ignored.
 */
export interface TokenRequest {
  grant_type: GrantType;
  /**
   * The client's id, here or by HTTP Basic.
   */
  client_id?: string;
  /**
   * The client's secret, next to its id.
   */
  client_secret?: string;
  /**
   * The token's scopes: some of `ping`, `post` and `webhook`, separated by spaces. By default all scopes of the client.
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
   * The token's lifetime in seconds from now.
   */
  expires_in: number;
  /**
   * The token's scopes, separated by spaces.
   */
  scope: string;
}

/**
 * The type of the token.
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
 * The cause of an unsold lead. `suppressed` and `duplicate` end the processing at once. The others are the furthest stage
 * that any buyer reached, in this order: `no_buyer` (the campaign has no buyer), `no_state_match`, `filtered`,
 * `outside_schedule`, `caps_full`, `insufficient_funds`, `rate_limited` (all buyers' ping limits are reached), `timeout`
 * (no answer in time), `no_bid`, `below_floor`, `bid_expired`, `post_rejected` (the buyer rejected the lead).
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
