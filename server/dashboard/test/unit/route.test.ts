import { expect, test } from 'vitest';
import { parse, placeOf, redirect, to } from '../../src/route';

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

test('earlier addresses lead to the present pages', () => {
  const of = (hash: string) => redirect(parse(hash));
  expect(of('#/unmatched?campaign=c')).toBe('#/reports/unsold?campaign=c');
  expect(of('#/webhooks/sup_a')).toBe('#/suppliers/sup_a/webhooks');
  expect(of('#/webhooks')).toBe('#/review/events');
  expect(of('#/suppression/dnc')).toBe('#/compliance/suppression/dnc');
  expect(of('#/erase?lead=lead_1')).toBe('#/compliance/deletion?lead=lead_1');
  expect(of('#/reports?by=buyer')).toBe('#/reports/custom?by=buyer');
  expect(of('#/alerts')).toBe('#/settings/alerts');
  expect(of('#/system')).toBe('#/settings/health');
  expect(of('#/sign-in?oidc=denied')).toBe('#/');
  for (const hash of [
    '#/',
    '#/buyers/b',
    '#/campaigns/c',
    '#/suppliers/s',
    '#/leads/lead_1',
    '#/reports',
    '#/reports/revenue?by=x',
    '#/caps',
  ]) {
    expect(of(hash), hash).toBeNull();
  }
});

test('an id leads to what it names', () => {
  expect(placeOf(' lead_01 ')).toBe('#/leads/lead_01');
  for (const id of ['auc_1', 'ping_1', 'req_1']) expect(placeOf(id)).toBe(`#/auctions/${id}`);
  expect(placeOf('a-17')).toBeNull();
});
