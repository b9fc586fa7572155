import { expect, test } from 'vitest';
import { campaign } from '../../src/form/campaign';
import { defaultsOf, numberOf, wordsOf } from '../../src/form/editor';
import type { Spec } from '../../src/form/spec';

test('numbers are numbers, and what is none is left to the exchange to judge', () => {
  expect(numberOf(' 12.5 ')).toBe(12.5);
  expect(numberOf('-3')).toBe(-3);
  expect(numberOf('0')).toBe(0);
  expect(numberOf('')).toBeUndefined();
  for (const text of ['1e3', '0x10', '01', '1,5', 'ten', '0.1234567890123456789', '99999999999999999999']) {
    expect(numberOf(text)).toBe(text);
  }
});

test('words are what stands between commas', () => {
  expect(wordsOf(' CA, NV ,,TX')).toEqual(['CA', 'NV', 'TX']);
  expect(wordsOf(' , ')).toEqual([]);
});

test('a group that is left out shows the values in force', () => {
  const of = (key: string) => campaign.find((s) => s.key === key) as Extract<Spec, { kind: 'group' }>;
  expect(defaultsOf(of('payout'), { share: 1 })).toBe('Share of the price 100%');
  expect(defaultsOf(of('duplicates'), { fields: ['phone', 'email'], match: 'any', window: '30d' })).toBe(
    'Fields phone, email; Match any; Window 30d',
  );
  expect(defaultsOf(of('returns'), { window: '14d', cap_back: false, reverse_payout: true })).toBe(
    'Window 14d; Reverse payout',
  );
  expect(defaultsOf(of('payout'), undefined)).toBe('');
});
