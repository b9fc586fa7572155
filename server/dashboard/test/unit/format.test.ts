import { expect, test } from 'vitest';
import {
  amount,
  arrivalOf,
  axisMoney,
  bytes,
  count,
  dayRange,
  duration,
  exact,
  instant,
  lastUseText,
  millis,
  moneyIn,
  rate,
  scalar,
  share,
  showIn,
  span,
  words,
} from '../../src/format';

test('what is not known is a dash, and nothing is a nought', () => {
  for (const of of [amount, bytes, count, millis, rate, share, span]) {
    expect(of(null)).toBe('–');
    expect(of(undefined)).toBe('–');
    expect(of(0)).toMatch(/^0/);
  }
});

test('money is shown to the cent, and exactly on demand', () => {
  expect(amount(8540.638, 'USD')).toBe('$8,540.64');
  expect(exact(8540.638, 'USD')).toBe('$8,540.638');
  expect(amount(12.5, 'EUR')).toBe('€12.50');
  expect(exact(1234567.000001)).toBe('1,234,567.000001');
  expect(amount(-0.1, 'USD')).toBe('-$0.10');
  expect(amount(1, 'points')).toBe('1.00');
});

test('the amounts in a sentence of the exchange are shown as money', () => {
  expect(moneyIn('Sold to buy_a for 12.5 USD. It had 1 USD left, of 1000 EUR.')).toBe(
    'Sold to buy_a for $12.50. It had $1.00 left, of €1,000.00.',
  );
  expect(moneyIn('a bid of 3.8 USD', exact)).toBe('a bid of $3.80');
  expect(moneyIn('got 7.048 USD', exact)).toBe('got $7.048');
  expect(moneyIn('got 7.048 USD')).toBe('got $7.05');
  expect(moneyIn('balance -0.5 USD')).toBe('balance -$0.50');
  expect(moneyIn('HTTP 422 ABC, v1.5 USD')).toBe('HTTP 422 ABC, v1.5 USD');
});

test('spans, sizes and times are in words', () => {
  expect(span(59)).toBe('59 s');
  expect(span(3600)).toBe('1 h');
  expect(span(3661)).toBe('1 h 1 min');
  expect(span(90_000)).toBe('1 d 1 h');
  expect(bytes(999)).toBe('999 B');
  expect(bytes(12_345_678)).toBe('12.3 MB');
  expect(millis(0.25)).toBe('0.3 ms');
  expect(millis(12_345)).toBe('12.3 s');
  expect(share(0.1234)).toBe('12.3%');
});

test('durations of the configuration are in words', () => {
  expect(duration('30d')).toBe('30 days');
  expect(duration('1h')).toBe('1 hour');
  expect(duration('1h30m')).toBe('1 hour 30 minutes');
  expect(duration('500ms')).toBe('500 ms');
  expect(duration('0s')).toBe('none');
  expect(duration('soon')).toBe('soon');
});

test('times are of UTC, wherever the reader is', () => {
  expect(instant('2026-11-22T20:05:06.007Z', true)).toBe('2026-11-22 20:05:06.007');
  expect(instant('2026-11-22T20:05:06+02:00')).toBe('2026-11-22 18:05:06');
  expect(instant('never')).toBe('never');
});

test('times are of the chosen zone', () => {
  showIn('America/New_York');
  expect(instant('2026-11-22T20:05:06Z')).toBe('2026-11-22 15:05:06');
  showIn('UTC');
  expect(instant('2026-11-22T00:00:00Z')).toBe('2026-11-22 00:00:00');
});

test('a period of whole days has inclusive dates', () => {
  expect(dayRange('2026-11-29T00:00:00Z', '2026-11-30T00:00:00Z')).toBe('Nov 29, 2026');
  expect(dayRange('2026-11-01T00:00:00Z', '2026-12-01T00:00:00Z')).toBe('Nov 1, 2026 to Nov 30, 2026');
  expect(dayRange('2026-11-01T00:00:00Z', '2026-11-01T12:00:00Z')).toBe('2026-11-01 00:00:00 to 2026-11-01 12:00:00');
  showIn('America/New_York');
  expect(dayRange('2026-11-01T04:00:00Z', '2026-11-02T05:00:00Z')).toBe('Nov 1, 2026');
  showIn('UTC');
});

test('names and values are shown as they are read', () => {
  expect(words('no_state_match')).toBe('no state match');
  expect(scalar({ a: 1 })).toBe('{"a":1}');
  expect(scalar('a')).toBe('a');
});

test('a use in the minute of the creation is not before it', () => {
  const now = Date.parse('2026-11-30T14:13:02Z');
  expect(lastUseText('2026-11-30T14:07:00Z', '2026-11-30T14:07:20Z', now)).toBe('5 min ago');
  expect(lastUseText('2026-11-30T14:07:00Z', undefined, now)).toBe('6 min ago');
  expect(lastUseText('2026-11-30T12:03:00Z', '2026-11-01T00:00:00Z', now)).toBe('2 h 10 min ago');
  expect(lastUseText('2026-11-30T14:12:00Z', undefined, now)).toBe('just now');
});

test('a lead was received at the time in its id, not at its decision', () => {
  const at = '2026-11-29T12:19:03.5Z';
  expect(arrivalOf({ id: 'lead_01m8kkwyt8me0j2raxhrj94nxv', at })).toMatch(/^2026-11-\d\dT/);
  expect(arrivalOf({ id: 'lead_01arz3ndektsv4rrffq69g5fav', at })).toBe('2016-07-30T23:54:10.259Z');
  expect(arrivalOf({ id: 'a-17', at })).toBe(at);
});

test('the amounts at an axis have the currency, and cents or a short form only where they need it', () => {
  expect(axisMoney([0, 50, 100], 'USD')).toEqual(['$0', '$50', '$100']);
  expect(axisMoney([0, 0.5, 1], 'EUR')).toEqual(['€0.00', '€0.50', '€1.00']);
  expect(axisMoney([0, 150_000], 'USD')).toEqual(['$0', '$150K']);
});
