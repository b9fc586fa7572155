import { expect, test } from 'vitest';
import { byCurrency, byName, overTime, rowsOf, total } from '../../src/report';

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
