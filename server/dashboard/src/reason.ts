// Display texts for unmatched reasons and for candidates' outcomes.

const meanings: { [reason: string]: string } = {
  no_buyer: 'The campaign had no buyer to offer it to.',
  no_state_match: 'No buyer takes leads of its state.',
  filtered: 'Filters do not take such a lead.',
  suppressed: 'The person is on a suppression list.',
  duplicate: 'The same person was taken before.',
  outside_schedule: 'Those who would have taken it were closed.',
  caps_full: 'A cap was reached.',
  insufficient_funds: 'No money was left to pay for it.',
  rate_limited: 'Buyers were asked as often as they allow.',
  timeout: 'Nobody answered in time.',
  no_bid: 'Nobody made a bid that counts.',
  below_floor: 'What was offered is below the floor.',
  bid_expired: 'The bid was no longer open.',
  post_rejected: 'Whoever it was posted to refused it, or could not be reached.',
  no_campaign: 'No campaign takes this vertical.',
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
