import { expect, test } from 'vitest';
import { condition, sentences, statesOf } from '../../src/sentence';

const name = (_: string, id: string): string => ({ buy_a: 'Apex', sup_a: 'Acme' })[id] ?? id;

test('a campaign reads as sentences', () => {
  const lines = sentences(
    {
      vertical: 'auto_insurance',
      method: 'ping_post',
      suppliers: ['sup_a'],
      floor: 2,
      payout: { share: 0.8 },
      buyers: [
        { buyer: 'buy_a', price: 0, states: ['CA', 'NV'], caps: [{ per: 'day', count: 50 }] },
        { buyer: 'buy_b', filters: [{ field: 'vehicle_count', min: 1 }] },
      ],
      filters: [{ field: 'homeowner', in: ['true'] }],
      caps: [{ per: 'month', money: 2000 }],
      duplicates: { window: '30d' },
      returns: { window: '14d', reasons: ['wrong number'], approval: 'manual' },
    },
    name,
  );
  expect(lines).toEqual([
    'Acme can send leads for auto insurance.',
    'Each lead is auctioned: all buyers get a ping, and the highest bid buys.',
    'Apex bids in CA and NV, at most 50 leads per day.',
    'buy_b bids if vehicle count is at least 1.',
    'Bids and prices below $2.00 do not buy.',
    'The supplier gets 80% of the price.',
    'Only leads are accepted in which homeowner is true.',
    'The campaign accepts at most $2,000.00 per month.',
    'A person can be sold again after 30 days.',
    'Buyers can return a lead within 14 days for wrong number; an operator approves each return.',
  ]);
});

test('a campaign with hours names them', () => {
  const lines = sentences(
    {
      method: 'waterfall',
      schedule: { open: ['Mon-Fri 08:00-18:00', 'Sat 10:00-12:00'], closed_on: ['12-25'] },
      buyers: [
        {
          buyer: 'buy_a',
          price: 12,
          modifiers: [
            { during: ['Mon-Fri 18:00-22:00'], price: 1.25, caps: 0.5 },
            { during: ['Sat 00:00-24:00', 'Sun 00:00-12:00'], caps: 0 },
          ],
        },
      ],
    },
    name,
  );
  expect(lines).toContain(
    'Apex buys for $12.00 with 1.25 × the price and 0.5 × the caps on Mon-Fri 18:00-22:00, with no lead on Sat 00:00-24:00 and Sun 00:00-12:00.',
  );
  expect(lines).toContain('Leads are sold Mon-Fri 08:00-18:00 and Sat 10:00-12:00.');
  expect(lines).toContain('No lead is sold on 12-25.');
});

test('a buyer buys in the states of both its entry and itself', () => {
  const own = (id: string) => (id === 'buy_a' ? { states: ['CA', 'TX'] } : {});
  const campaign = {
    method: 'ping_post',
    buyers: [{ buyer: 'buy_a' }, { buyer: 'buy_a', states: ['NV', 'CA'] }, { buyer: 'buy_b' }],
  };
  expect(campaign.buyers.map((b) => statesOf(b, own))).toEqual([['CA', 'TX'], ['CA'], []]);
  expect(sentences(campaign, name, own).slice(2, 5)).toEqual([
    'Apex bids in CA and TX.',
    'Apex bids in CA.',
    'buy_b bids.',
  ]);
});

test('an empty campaign says what is missing', () => {
  const lines = sentences({}, name);
  expect(lines).toContain('No buyer is in the campaign yet, so no lead sells.');
  expect(lines).toContain('No distribution method is chosen yet.');
});

test('a filter reads as a condition', () => {
  expect(condition({ field: 'age', min: 18, max: 99 })).toBe('age is at least 18 and is at most 99');
  expect(condition({ field: 'source', not_in: ['a', 'b'] })).toBe('source is not a or b');
  expect(condition({ field: 'zip', prefix: ['752', '606'], not_prefix: ['75202'] })).toBe(
    'zip begins with 752 or 606 and does not begin with 75202',
  );
  expect(condition({ field: 'zip', near: { zip: '75201', miles: 25 } })).toBe('zip is within 25 miles of 75201');
  expect(condition({ field: 'zip', near: { zip: '75201', km: 40 } })).toBe('zip is within 40 km of 75201');
  expect(condition({ field: 'plate', matches: '[A-Z]+' })).toBe('plate matches [A-Z]+');
  expect(condition({ field: 'born', from: '1990-01-01', until: '1999-12-31' })).toBe(
    'born is 1990-01-01 or later and is 1999-12-31 or earlier',
  );
  expect(condition({ field: 'born', min_age: 18, max_age: 65 })).toBe(
    'born is at least 18 years ago and is at most 65 years ago',
  );
});
