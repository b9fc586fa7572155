import { isObject } from '../answer.js';
import type { FieldError } from '../generated/index.js';

// Validates a body before the buyer's function receives it. The exchange has validated the
// values already. These checks cover what the function's types promise.

type Kind = 'string' | 'boolean' | 'number' | 'integer' | 'object' | 'time';

/** Members by path. Those with a `!` have to be there. */
const pingMembers: Record<string, Kind> = {
  'auction_id!': 'string',
  'vertical!': 'string',
  'state!': 'string',
  'tcpa_consent!': 'boolean',
  sub_vertical: 'string',
  zip3: 'string',
  currently_insured: 'boolean',
  vehicle_count: 'integer',
  driver_age_band: 'string',
  ai_quality_score: 'number',
  source: 'string',
  consent_cert_url: 'string',
  expires_at: 'time',
};

const postMembers: Record<string, Kind> = {
  'auction_id!': 'string',
  bid_token: 'string',
  'lead!': 'object',
  'lead.lead_uuid!': 'string',
  'lead.first_name!': 'string',
  'lead.last_name!': 'string',
  'lead.email!': 'string',
  'lead.phone!': 'string',
  'lead.address': 'object',
  'lead.address.line1': 'string',
  'lead.address.city': 'string',
  'lead.address.state': 'string',
  'lead.address.zip': 'string',
  'lead.tcpa': 'object',
  'lead.tcpa.consent_text': 'string',
  'lead.tcpa.consent_timestamp': 'string',
  'lead.tcpa.ip_address': 'string',
  'lead.tcpa.consent_cert_url': 'string',
  'lead.source': 'string',
  'lead.tcpa_consent': 'boolean',
  'lead.ai_quality_score': 'number',
};

const expected: Record<Kind, string> = {
  string: 'a string that is not blank',
  boolean: 'true or false',
  number: 'a number',
  integer: 'a whole number',
  object: 'an object',
  time: 'a time as RFC 3339 has it, such as 2026-03-02T17:04:08Z',
};

const time = /^\d{4}-\d{2}-\d{2}[Tt]\d{2}:\d{2}:\d{2}(\.\d+)?([Zz]|[+-]\d{2}:\d{2})$/;

export function isTime(text: string): boolean {
  return time.test(text) && !Number.isNaN(Date.parse(text));
}

export function wrongInPing(body: Record<string, unknown>): FieldError[] {
  return wrongIn(body, pingMembers);
}

export function wrongInPost(body: Record<string, unknown>): FieldError[] {
  return wrongIn(body, postMembers);
}

/** Every member at fault, in the order of the list. Null and blank count as missing. */
function wrongIn(body: Record<string, unknown>, members: Record<string, Kind>): FieldError[] {
  const wrong: FieldError[] = [];
  const past = new Set<string>(); // invalid objects: errors below them are not reported
  for (const [name, kind] of Object.entries(members)) {
    const field = name.replace(/!$/, '');
    if ([...past].some((object) => field.startsWith(`${object}.`))) continue;
    const value = dig(body, field.split('.'));
    const missing = value === undefined || value === null || (typeof value === 'string' && value.trim() === '');
    const required = name.endsWith('!');
    const code = missing ? (required ? 'missing_required' : undefined) : judge(value, kind);
    if (code === undefined) continue;
    wrong.push({ field, code, expected: expected[kind] });
    if (kind === 'object') past.add(field);
  }
  return wrong;
}

function judge(value: unknown, kind: Kind): string | undefined {
  switch (kind) {
    case 'object':
      return isObject(value) ? undefined : 'wrong_type';
    case 'integer':
      return Number.isInteger(value) ? undefined : 'wrong_type';
    case 'time':
      if (typeof value !== 'string') return 'wrong_type';
      return isTime(value) ? undefined : 'invalid_format';
    default:
      return typeof value === kind ? undefined : 'wrong_type';
  }
}

function dig(value: unknown, path: readonly string[]): unknown {
  return path.reduce<unknown>((within, name) => (isObject(within) && Object.hasOwn(within, name) ? within[name] : undefined), value);
}
