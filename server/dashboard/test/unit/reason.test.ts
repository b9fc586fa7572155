import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { leftOf, reasonsLeft } from '../../src/erase';
import { attempts, meaning, outcomes, reasons } from '../../src/reason';

const root = join(import.meta.dirname, '..', '..', '..', '..');
const source = (path: string): string => readFileSync(join(root, path), 'utf8');

// wordsIn are the words in quotes of a part of a source, which must be there.
function wordsIn(text: string, part: RegExp): string[] {
  const found = part.exec(text)?.[1];
  if (found === undefined) throw new Error(`nothing is like ${part}`);
  return [...found.matchAll(/"([a-z_]+)"/g)].map(([, word = '']) => word);
}

const market = source('engine/market/reason.go');

test('every reason of the exchange is explained, and no other', () => {
  const words = wordsIn(market, /var reasonNames = [^{]*\{([^}]*)\}/);
  expect(words).toContain('no_buyer');
  expect([...reasons].sort()).toEqual([...words].sort());
  for (const word of words) expect(meaning(word), word).toMatch(/\.$/);
});

test('every outcome of the exchange can be searched for, and no other', () => {
  const words = wordsIn(market, /var outcomeNames = [^{]*\{([^}]*)\}/).filter((word) => word !== 'not_asked');
  expect(words).toContain('won');
  expect([...outcomes].sort()).toEqual([...words].sort());
});

test('whatever is left of a person, the page says why and what to do', () => {
  const words = wordsIn(source('server/admin/erase.go'), /const \(\n(\s*NotErasedUnderWay[^)]*)\n\)/);
  expect(words).toContain('under_way');
  expect([...reasonsLeft].sort()).toEqual([...words].sort());
  for (const word of words) expect(leftOf(word), word).toMatch(/\.$/);
});

test('the requests of an outcome have its unit', () => {
  expect(attempts(12, ['timeout'])).toBe('12 pings');
  expect(attempts(1, ['post_rejected'])).toBe('1 post');
  expect(attempts(2, ['below_floor', 'late'])).toBe('2 bids');
  expect(attempts(1200, ['timeout', 'post_rejected'])).toBe('1,200 attempts');
});
