// Form parts that several kinds of items share.

import { choice, flag, group, list, number, refs, type Spec, text, words } from './spec';

const duration = 'a duration such as 2s, 1h30m or 14d';

export const span = (key: string, label: string, help?: string): Spec =>
  text(key, label, { help: help ? `${help}; ${duration}` : duration, unit: 'duration' });

// part is a number between 0 and 1, also displayed in percent.
export const part = (key: string, label: string): Spec =>
  ({ ...number(key, label, { help: '0 to 1' }), part: true }) as Spec;

export const id = text('id', 'Id', { required: true, fixed: true, help: '1 to 64 letters, digits, _ - .' });
export const name = text('name', 'Name', { help: 'default: the id' });
export const zone = (help: string): Spec => text('time_zone', 'Time zone', { hint: 'America/New_York', help });
export const states = words('states', 'States', { hint: 'CA, NV', help: 'USPS codes; default: all' });

export const filters = (help: string): Spec =>
  list(
    'filters',
    'Filters',
    'filter',
    [
      text('field', 'Field', { required: true, help: 'its name after mapping', suggest: true }),
      words('in', 'One of'),
      words('not_in', 'None of'),
      words('prefix', 'Begins with', { hint: '752, 606', help: 'of a ZIP code: one to five digits' }),
      words('not_prefix', 'Does not begin with'),
      group('near', 'Near', [
        text('zip', 'ZIP code', { hint: '75201' }),
        number('miles', 'Miles', { unit: 'plain' }),
        number('km', 'Kilometers', { unit: 'plain', help: 'instead of miles' }),
      ]),
      text('matches', 'Matches', { hint: '[A-Z]{2}[0-9]+', help: 'RE2 pattern of the whole text' }),
      number('min', 'At least', { unit: 'plain' }),
      number('max', 'At most', { unit: 'plain' }),
      text('from', 'From', { hint: '2020-01-01', help: 'a date; included' }),
      text('until', 'Until', { hint: '2025-12-31', help: 'a date; included' }),
      number('min_age', 'Age at least', { unit: 'plain', help: 'full years since the date' }),
      number('max_age', 'Age at most', { unit: 'plain' }),
      flag('absent', 'Absent', { help: 'the field must be missing' }),
    ],
    () => ({ field: '' }),
    { help },
  );

export const suppliers: Spec[] = [
  refs('suppliers', 'Buys only from', 'suppliers', { help: 'default: from all suppliers' }),
  refs('not_suppliers', 'Does not buy from', 'suppliers'),
];

export const caps: Spec = list(
  'caps',
  'Caps',
  'cap',
  [
    choice('per', 'Per', ['hour', 'day', 'week', 'month', 'total'], { required: true }),
    number('count', 'Leads', { help: 'or not both' }),
    number('money', 'Money', { unit: 'money' }),
    zone('of the cap’s periods; default: that of the entry'),
  ],
  () => ({ per: 'day', count: 100 }),
  { help: 'limits of leads or money in a period' },
);

export const schedule: Spec = group('schedule', 'Schedule', [
  words('open', 'Open', { hint: 'Mon-Fri 08:00-18:00', help: 'separated by commas; default: always' }),
  words('closed_on', 'Closed on', { hint: '2026-12-25, 01-01', help: 'dates, or days of every year' }),
  zone('of these hours and days'),
]);

export const modifiers: Spec = list(
  'modifiers',
  'Price and caps by hour',
  'modifier',
  [
    words('during', 'During', { hint: 'Mon-Fri 18:00-22:00', help: 'separated by commas; the first modifier counts' }),
    number('price', 'Price factor', {
      hint: '1.25',
      help: '0 to 100; multiplies the price',
      unit: 'plain',
      methods: ['waterfall', 'round_robin', 'weighted'],
    }),
    number('caps', 'Caps factor', {
      hint: '0.5',
      help: '0 to 100; multiplies the caps of the buyer here; 0: no lead',
      unit: 'plain',
    }),
    zone('of these hours'),
  ],
  () => ({ during: [] }),
);

export const clients = (scopes: string): Spec =>
  list(
    'oauth_clients',
    'OAuth clients',
    'client',
    [
      text('client_id', 'Client id', { required: true }),
      { kind: 'secret', key: 'client_secret', label: 'Client secret', first: true },
      words('scopes', 'Scopes', { hint: scopes }),
    ],
    () => ({ client_id: '' }),
    { first: true, help: 'initial clients; later secrets: tab Access or Keys' },
  );
