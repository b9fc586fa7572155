import { expect, test } from 'vitest';
import { byName, overTime, rowsOf } from '../../src/report';

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
