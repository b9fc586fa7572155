import { caps, filters, id, modifiers, name, part, schedule, span, states, suppliers, zone } from './shared';
import { choice, flag, group, list, number, ref, refs, type Spec, several, text, words } from './spec';

const types = ['string', 'integer', 'number', 'boolean', 'date', 'email', 'phone', 'state', 'zip', 'enum', 'url'];
const transforms = ['trim', 'lower', 'upper', 'digits', 'title', 'e164', 'zip3', 'sha256'];

const payout: Spec[] = [
  part('share', 'Share of the price'),
  number('fixed', 'Fixed', { unit: 'money', help: 'or a fixed amount' }),
];

const buyers: Spec = list(
  'buyers',
  'Buyers in campaign',
  'buyer',
  [
    ref('buyer', 'Buyer', 'buyers', { required: true }),
    text('id', 'Filter set', { help: 'if the buyer has several; one of them may have no name' }),
    number('price', 'Price', { unit: 'money', methods: ['waterfall', 'round_robin', 'weighted'] }),
    number('priority', 'Priority', {
      help: 'lower first, also among equal bids; default: its place in the list',
    }),
    number('weight', 'Weight', { hint: '1', methods: ['weighted'] }),
    states,
    caps,
    schedule,
    modifiers,
    filters('in addition to the filters of the buyer'),
    ...suppliers,
  ],
  () => ({ buyer: '' }),
);

const fields: Spec = list(
  'fields',
  'Fields',
  'field',
  [
    text('name', 'Name', { required: true, help: 'in the supplier’s request' }),
    text('to', 'Passed on as'),
    choice('type', 'Type', types, { otherwise: 'string' }),
    flag('required', 'Required'),
    text('default', 'Default'),
    words('values', 'Values', { help: 'of an enum' }),
    number('min', 'At least', { unit: 'plain' }),
    number('max', 'At most', { unit: 'plain' }),
    number('min_length', 'Shortest'),
    number('max_length', 'Longest'),
    text('pattern', 'Pattern', { help: 'RE2, of the whole text' }),
    several('transform', 'Transform', transforms),
    flag('coerce', 'Convert text to number'),
    flag('ping', 'Include in ping'),
    flag('contact', 'Contact data', { help: 'never part of a ping' }),
  ],
  () => ({ name: '', type: 'string' }),
);

export const campaign: Spec[] = [
  id,
  name,
  choice('method', 'Method', ['waterfall', 'round_robin', 'weighted', 'ping_post'], { required: true }),
  buyers,
  text('vertical', 'Vertical', { help: 'a ping names it to find the campaign' }),
  text('sub_vertical', 'Sub-vertical'),
  refs('suppliers', 'Suppliers', 'suppliers', { help: 'suppliers that may send leads; default: all' }),
  text('currency', 'Currency'),
  zone('of caps and schedules without an own time zone'),
  number('floor', 'Minimum bid', { unit: 'money', help: 'lower prices and bids do not buy' }),
  group('payout', 'Payout', payout),
  list(
    'terms',
    'Terms by supplier and source',
    'terms',
    [
      text('id', 'Id', { required: true, help: 'its caps keep their counts under this id' }),
      refs('suppliers', 'Suppliers', 'suppliers', { help: 'default: all' }),
      words('sources', 'Sources', { hint: 'facebook', help: 'values of the field source; default: all' }),
      number('floor', 'Minimum bid', { unit: 'money', help: 'default: that of the campaign' }),
      group('payout', 'Payout', payout),
      caps,
    ],
    () => ({ id: '' }),
    { help: 'the first entry that fits a lead applies' },
  ),
  schedule,
  caps,
  fields,
  choice('unknown', 'Unknown fields', ['drop', 'keep', 'reject']),
  filters('all must match'),
  refs('suppression', 'Suppression lists', 'suppression_lists'),
  group('duplicates', 'Duplicates', [
    several('fields', 'Fields', ['phone', 'email']),
    choice('match', 'Match', ['any', 'all'], { names: { any: 'any of these fields', all: 'all of these fields' } }),
    span('window', 'Window', '0s turns it off'),
    choice('scope', 'Scope', ['campaign', 'buyer', 'group', 'exchange'], {
      names: {
        campaign: 'all leads of the campaign',
        buyer: 'each buyer’s own leads',
        group: 'all campaigns of the group',
        exchange: 'all campaigns with this scope',
      },
    }),
    text('group', 'Group', { help: 'for campaigns of the group; the same id in each' }),
  ]),
  words('consent_required_sources', 'Sources requiring TCPA proof'),
  words('consent_hosts', 'Hosts of TCPA proofs', { hint: 'cert.example' }),
  { ...span('bid_timeout', 'Ping timeout'), methods: ['ping_post'] },
  span('post_reserve', 'Time reserved for the post', 'of the 5 seconds of a direct post'),
  { ...span('ping_reserve', 'Time reserved after a ping', 'for the post that follows'), methods: ['ping_post'] },
  group('returns', 'Returns', [
    span('window', 'Window', 'after the sale; 0s allows no return'),
    words('reasons', 'Reasons', { help: 'default: any' }),
    choice('approval', 'Approval', ['auto', 'manual'], {
      names: { auto: 'automatic', manual: 'by an operator' },
    }),
    part('max_share_per_month', 'Monthly return limit'),
    flag('cap_back', 'Restore cap on return'),
    flag('reverse_payout', 'Reverse payout'),
  ]),
];
