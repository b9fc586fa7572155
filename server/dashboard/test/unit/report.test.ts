import { expect, test } from 'vitest';
import {
  acceptRate,
  applies,
  byCurrency,
  byName,
  filled,
  measured,
  overTime,
  type Row,
  rowsOf,
  stackOf,
  sumsOf,
  total,
} from '../../src/report';

const rows = rowsOf(`{"day":"2026-11-01T00:00:00Z","buyer_id":"a","currency":"USD","revenue":1.5,"bid_rate":0.5}
{"day":"2026-11-01T00:00:00Z","buyer_id":"b","currency":"USD","revenue":2,"bid_rate":null}
{"day":"2026-11-02T00:00:00Z","buyer_id":"a","currency":"USD","revenue":4,"bid_rate":0.25}
`);

test('a sum over time adds up what is of one time', () => {
  expect(overTime(rows, 'revenue')).toEqual({ times: [1793491200, 1793577600], values: [3.5, 4] });
});

test('a rate is never added up', () => {
  expect(overTime(rows, 'bid_rate')?.values).toEqual([null, 0.25]);
});

test('without a time there is nothing over time', () => {
  expect(overTime([{ buyer_id: 'a', revenue: 1 }], 'revenue')).toBeNull();
  expect(overTime([], 'revenue')).toBeNull();
});

test('sums by name come the largest first', () => {
  expect(byName(rows, 'buyer', 'revenue')).toEqual([
    { name: 'a', value: 5.5 },
    { name: 'b', value: 2 },
  ]);
  expect(byName([{ source: '', leads: 2 }], 'source', 'leads')).toEqual([{ name: 'none', value: 2 }]);
});

test('money of two currencies is never added up, and what is no money stays together', () => {
  const [eur, usd, none] = [
    { currency: 'EUR', revenue: 1, leads: 1 },
    { currency: 'USD', revenue: 2, leads: 2 },
    { currency: '', revenue: 0, leads: 4 },
  ];
  expect(byCurrency([usd, eur, none], 'revenue')).toEqual([
    { unit: 'EUR', rows: [eur] },
    { unit: 'USD', rows: [usd] },
  ]);
  expect(byCurrency([usd, none], 'revenue')).toEqual([{ unit: 'USD', rows: [usd, none] }]);
  expect(byCurrency([none], 'revenue')).toEqual([{ unit: undefined, rows: [none] }]);
  expect(byCurrency([usd, eur], 'leads')).toEqual([{ rows: [usd, eur] }]);
});

test('a total is of all rows, and a rate has none', () => {
  expect(total(rows, 'revenue')).toBe(7.5);
  expect(total(rows, 'bid_rate')).toBeNull();
  expect(total(rows.slice(0, 1), 'bid_rate')).toBe(0.5);
  expect(total(rows.slice(1, 2), 'bid_rate')).toBeNull();
});

test('sums of a period are by currency, the largest first, with all leads', () => {
  const sums = sumsOf([
    { currency: 'EUR', leads: 1, sales: 1, revenue: 1, payout: 0.5, margin: 0.5, returns: 0 },
    { currency: 'USD', leads: 2, sales: 1, revenue: 9, payout: 6, margin: 3, returns: 1 },
    { currency: '', leads: 3, sales: 0, revenue: 0, payout: 0, margin: 0, returns: 0 },
  ]);
  expect(sums.map((s) => [s.currency, s.leads, s.revenue])).toEqual([
    ['USD', 5, 9],
    ['EUR', 4, 1],
  ]);
  expect(sumsOf([{ currency: '', leads: 3 }])).toMatchObject([{ currency: '', leads: 3, sales: 0 }]);
  expect(sumsOf([])).toEqual([]);
});

test('a stack has the largest names and the sum of all others', () => {
  const hour = (h: number) => `2026-11-01T0${h}:00:00Z`;
  const stack = stackOf(
    [
      { hour: hour(1), reason: 'filtered', unmatched: 3 },
      { hour: hour(1), reason: 'timeout', unmatched: 1 },
      { hour: hour(2), reason: 'filtered', unmatched: 2 },
      { hour: hour(2), reason: 'no_bid', unmatched: 1 },
      { hour: hour(2), reason: '', unmatched: 0 },
    ],
    'reason',
    'unmatched',
    1,
  );
  expect(stack.series).toEqual([
    { name: 'filtered', values: [3, 2] },
    { name: 'other', values: [1, 1] },
  ]);
  const start = Date.parse(hour(0)) / 1000;
  const all = filled(stack, start, start + 4 * 3600, 3600);
  expect(all.times.map((t) => (t - start) / 3600)).toEqual([0, 1, 2, 3]);
  expect(all.series[0]?.values).toEqual([0, 3, 2, 0]);
});

test('the accept rate leaves out unconfirmed deliveries and buyers without posts', () => {
  const row = (buyer_id: string, sales: number, posts: number, post_rejects: number) => ({
    buyer_id,
    sales,
    posts,
    post_rejects,
  });
  const [picky, unconfirmed, vault] = [row('picky', 3, 4, 1), row('odd', 0, 3, 0), row('vault', 3, 0, 0)];
  expect([picky, unconfirmed, vault].map((r) => acceptRate([r]))).toEqual([0.75, null, null]);
  expect(acceptRate([picky, unconfirmed, vault])).toBe(0.75);
  expect(acceptRate([picky, row('picky', 4, 0, 0)])).toBe(0.875); // sales in a second currency
});

test('leads and auctions have no place in the row of a buyer, nor pings in the row without one', () => {
  const buyer: Row = { buyer_id: 'a', leads: 0, auctions: 0, pings: 0, revenue: null, sales: 3 };
  const nobody: Row = { buyer_id: '', leads: 29, unmatched: 0, pings: 0 };
  const has = (row: Row, ...of: string[]) => of.filter((measure) => applies(row, measure));
  expect(has(buyer, 'buyer_id', 'leads', 'unmatched', 'auctions', 'pings', 'sales')).toEqual([
    'buyer_id',
    'pings',
    'sales',
  ]);
  expect(has(nobody, 'leads', 'unmatched', 'pings', 'sales')).toEqual(['leads', 'unmatched']);
  expect(has({ reason: 'filtered', leads: 0, unmatched: 8, sales: 0 }, 'leads', 'unmatched', 'sales')).toEqual([
    'unmatched',
  ]);
  expect(has({ reason: '', leads: 29, sales: 0 }, 'leads', 'sales')).toEqual(['leads', 'sales']);
  expect(applies({ day: '2026-11-01', leads: 0 }, 'leads')).toBe(true);
});

test('a buyer that never answered has no latency', () => {
  const mute: Row = { pings: 12, timeouts: 12, ping_p50_ms: 1500, posts: 2, post_timeouts: 1, post_p99_ms: 40 };
  expect([measured(mute, 'ping_p50_ms'), measured(mute, 'post_p99_ms'), measured(mute, 'pings')]).toEqual([
    null,
    40,
    12,
  ]);
  expect(measured({ ping_p50_ms: 7 }, 'ping_p50_ms')).toBe(7);
  expect(measured({ ping_p50_ms: null }, 'ping_p50_ms')).toBeNull();
  expect(overTime([{ day: '2026-11-01', ...mute }], 'ping_p50_ms')?.values).toEqual([null]);
});
