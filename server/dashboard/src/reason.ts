// Display texts for unsold reasons, for candidates' outcomes and for rules.

import { count, exact, label, moneyIn, words } from './format';
import type { Rule, Told, ToldHook } from './types';

const meanings: { [reason: string]: string } = {
  no_buyer: 'The campaign has no buyer.',
  no_state_match: 'No buyer accepts leads from its state.',
  filtered: 'Filters of the campaign or of all buyers exclude it.',
  suppressed: 'The person is on a suppression list.',
  duplicate: 'The same person was sold before.',
  outside_schedule: 'The campaign or all matching buyers were outside their hours.',
  caps_full: 'A cap was reached.',
  insufficient_funds: 'No matching buyer had enough balance.',
  rate_limited: 'All matching buyers were at their ping rate, or demanded a pause (HTTP 429).',
  timeout: 'No buyer answered in time.',
  no_bid: 'No buyer made a valid bid.',
  below_floor: 'All bids were below the minimum bid.',
  bid_expired: 'The bid had expired.',
  post_rejected: 'The buyers rejected the post, or could not be reached.',
  no_campaign: 'No campaign accepts this vertical.',
  loop: 'The ping went through too many exchanges.',
};

export const reasons = Object.keys(meanings);

export const meaning = (reason: string): string => meanings[reason] ?? '';

// whyText formats the exchange's text of why a lead was sold or not: its amounts, and a buyer's rejection,
// such as HTTP 422 post_rejected.
export const whyText = (text: string): string =>
  moneyIn(text).replace(
    /did not accept it: HTTP (\d+)(?: ([a-z]\w*))?(?=[.;]|$)/g,
    (_, status: string, code?: string) =>
      code && code !== 'post_rejected'
        ? `rejected the lead (HTTP ${status}, ${words(code)})`
        : `rejected the lead (HTTP ${status})`,
  );

// ruleText formats the text of a rule. Amounts have all their decimals, because a cent can decide.
export function ruleText(of: Rule): string {
  if (of.kind === 'outbid' && of.actual && of.wanted.includes('lower priority number')) {
    return `Tied at ${moneyIn(of.actual, exact)} with the winner, which has a lower priority number or answered faster`;
  }
  const plain = of.text.replace(/ \(reconstructed\)/, '');
  const text = of.field && plain.startsWith(`${of.field}:`) ? label(of.field) + plain.slice(of.field.length) : plain;
  return moneyIn(text, exact);
}

// notOfferedText says why a buyer got no offer of a sold lead. It is empty if another buyer did not get the
// lead first.
export function notOfferedText(outcome: string, told: Pick<Told, 'method' | 'buyer_id'>, winner: string): string {
  if (outcome !== 'not_asked' || !told.buyer_id || told.method === 'ping_post') return '';
  return `Not offered: ${winner}, before it, bought the lead.`;
}

const webhookTypes: { [type: string]: string } = {
  'lead.posted': 'Lead sold',
  'lead.unmatched': 'Lead unsold',
  'lead.post_failed': 'Lead not delivered',
  'lead.contacted': 'Buyer contacted the person',
  'lead.qualified': 'Buyer qualified the lead',
  'lead.sold': 'Buyer closed a sale',
  'lead.returned': 'Lead returned',
};

// webhookTitle returns the display text for a type of webhook.
export const webhookTitle = (type: string): string => webhookTypes[type] ?? type;

const faults: { [fault: string]: string } = {
  endpoint: 'the configured address is unusable',
  credential: 'a credential or secret is missing or unusable',
  resolve: 'the host name has no address (DNS)',
  forbidden: 'the address is in a private network that trusted_networks does not list',
  connect: 'could not connect',
  tls: 'no TLS connection: the certificate is not trusted, or the handshake failed',
  crowded: 'all connections were in use',
  timeout: 'no answer in time',
  broken: 'the connection broke',
  too_large: 'the answer is too large',
  unreadable: 'the answer is not valid HTTP',
  malformed: 'the answer does not have the required form',
};

export const faultText = (fault: string): string => faults[fault] ?? words(fault);

// attemptText says how an attempt to send a webhook ended.
export function attemptText(of: ToldHook['attempts'][number]): string {
  const status = of.status ? `HTTP ${of.status}` : '';
  if (of.fault) return status ? `${status}, ${faultText(of.fault)}` : faultText(of.fault);
  return of.outcome === 'failed' && status ? status : [words(of.outcome), status].filter(Boolean).join(', ');
}

// numbered adds the number of an attempt: 1: could not connect.
export const numbered = (of: ToldHook['attempts'][number]): string =>
  of.attempt ? `${of.attempt}: ${attemptText(of)}` : attemptText(of);

// Outcomes of bids. Buyers that were not pinged (not_asked) are in no search.
export const outcomes = [
  'won',
  'lost',
  'below_floor',
  'wrong_currency',
  'late',
  'timeout',
  'no_bid',
  'invalid',
  'rate_limited',
  'capped',
  'filtered',
  'wrong_state',
  'closed',
  'no_funds',
  'suppressed',
  'unhealthy',
  'paused',
  'error',
  'post_rejected',
  'post_pending',
  'duplicate',
  'other_filter_set',
];

const ofPost = ['won', 'post_rejected', 'post_pending'];
const ofBid = ['lost', 'below_floor', 'wrong_currency', 'late', 'duplicate'];

// attempts formats a number of requests by the unit of their outcomes: posts, bids, or pings that led to neither.
// Different units are attempts.
export function attempts(n: number, of: string[]): string {
  const units = new Set(of.map((o) => (ofPost.includes(o) ? 'post' : ofBid.includes(o) ? 'bid' : 'ping')));
  const unit = units.size === 1 ? [...units][0] : 'attempt';
  return `${count(n)} ${unit}${n === 1 ? '' : 's'}`;
}
