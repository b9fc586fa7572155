import { caps, filters, id, name, part, schedule, span, states, zone } from './shared';
import { choice, flag, group, list, number, ref, refs, type Spec, several, text, words } from './spec';

const types = ['string', 'integer', 'number', 'boolean', 'date', 'email', 'phone', 'state', 'zip', 'enum', 'url'];
const transforms = ['trim', 'lower', 'upper', 'digits', 'title', 'e164', 'zip3', 'sha256'];

const seats: Spec = list(
  'buyers',
  'Seats',
  'seat',
  [
    ref('buyer', 'Buyer', 'buyers', { required: true }),
    number('price', 'Price', { help: 'where there is no auction' }),
    number('priority', 'Priority', { help: 'lower first; its place in the list, where none is given' }),
    number('weight', 'Weight', { hint: '1' }),
    states,
    caps,
    schedule,
    filters('these narrow what the buyer says of itself'),
  ],
  () => ({ buyer: '' }),
);

const fields: Spec = list(
  'fields',
  'Fields',
  'field',
  [
    text('name', 'Name', { required: true, help: 'how it arrives' }),
    text('to', 'Passed on as'),
    choice('type', 'Type', types, { otherwise: 'string' }),
    flag('required', 'Required'),
    text('default', 'Default'),
    words('values', 'Values', { help: 'of an enum' }),
    number('min', 'At least'),
    number('max', 'At most'),
    number('min_length', 'Shortest'),
    number('max_length', 'Longest'),
    text('pattern', 'Pattern', { help: 'RE2, of the whole text' }),
    several('transform', 'Transform', transforms),
    flag('coerce', 'Take "2" for 2'),
    flag('ping', 'Goes into pings'),
    flag('contact', 'Contact data', { help: 'never goes into pings' }),
  ],
  () => ({ name: '', type: 'string' }),
);

export const campaign: Spec[] = [
  id,
  name,
  choice('method', 'Method', ['waterfall', 'round_robin', 'weighted', 'ping_post'], { required: true }),
  seats,
  text('vertical', 'Vertical', { help: "by which a seller's ping finds it" }),
  text('sub_vertical', 'Sub-vertical'),
  refs('suppliers', 'Suppliers', 'suppliers', { help: 'who may send; all, where none is chosen' }),
  text('currency', 'Currency'),
  zone('of caps and schedules that name none'),
  number('floor', 'Floor', { help: 'seats or bids below it do not buy' }),
  group('payout', 'Payout', [
    part('share', 'Share of the price'),
    number('fixed', 'Fixed', { help: 'or a fixed amount' }),
  ]),
  caps,
  fields,
  choice('unknown', 'Members no field names', ['drop', 'keep', 'reject']),
  filters('what the campaign takes at all'),
  refs('suppression', 'Suppression lists', 'suppression_lists'),
  group('duplicates', 'Duplicates', [
    several('fields', 'Fields', ['phone', 'email']),
    choice('match', 'Match', ['any', 'all']),
    span('window', 'Window', '0s turns it off'),
    choice('scope', 'Scope', ['campaign', 'buyer']),
  ]),
  words('consent_required_sources', 'Sources that need proof of consent'),
  words('consent_hosts', 'Hosts of proofs', { hint: 'cert.example' }),
  span('bid_timeout', 'Time for bids'),
  span('post_reserve', 'Time kept for the post', 'of an ingest’s 5 seconds'),
  span('ping_reserve', 'Time kept after a ping', 'of a bid’s 5 seconds, for the post that follows'),
  group('returns', 'Returns', [
    span('window', 'Window', 'from the sale on; 0s: none'),
    words('reasons', 'Reasons', { help: 'any, where none is given' }),
    choice('approval', 'Approval', ['auto', 'manual']),
    part('max_share_per_month', 'Share of a month at most'),
    flag('cap_back', 'Caps get their room back'),
    flag('reverse_payout', 'The payout is taken back'),
  ]),
];
