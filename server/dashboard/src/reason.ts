// Display texts for unsold reasons and for candidates' outcomes.

import { count } from './format';

const meanings: { [reason: string]: string } = {
  no_buyer: 'The campaign has no buyer.',
  no_state_match: 'No buyer accepts leads from its state.',
  filtered: 'Filters of the campaign or of all buyers exclude it.',
  suppressed: 'The person is on a suppression list.',
  duplicate: 'The same person was sold before.',
  outside_schedule: 'All matching buyers were outside their hours.',
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
