import { expect, test } from 'vitest';
import { numberOf, wordsOf } from '../../src/form/editor';

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
