import { expect, test } from 'vitest';
import { parse, placeOf, to } from '../../src/route';

test('a place has one address, and the address leads to it', () => {
  const places: [string[], { [name: string]: string }][] = [
    [[], {}],
    [['leads'], { q: 'lead_1', from: '2026-11-01T00:00:00Z' }],
    [['buyers', 'a/b?c#d'], { x: 'ä & = ?' }],
  ];
  for (const [path, query] of places) expect(parse(to(path, query))).toEqual({ path, query });
});

test('what is empty is left out, and what nobody would write is read', () => {
  expect(to(['leads'], { q: '', buyer: undefined, state: null })).toBe('#/leads');
  expect(parse('')).toEqual({ path: [], query: {} });
  expect(parse('#//leads/')).toEqual({ path: ['leads'], query: {} });
  expect(parse('#/leads/%')).toEqual({ path: ['leads', '%'], query: {} });
  expect(parse('#/a?x=1?2')).toEqual({ path: ['a'], query: { x: '1?2' } });
});

test('an id leads to what it names', () => {
  expect(placeOf(' lead_01 ')).toBe('#/leads/lead_01');
  for (const id of ['auc_1', 'ping_1', 'req_1']) expect(placeOf(id)).toBe(`#/auctions/${id}`);
  expect(placeOf('a-17')).toBeNull();
});
