import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { leftOf, reasonsLeft } from '../../src/erase';
import {
  attempts,
  attemptText,
  faultText,
  meaning,
  notOfferedText,
  numbered,
  outcomes,
  reasons,
  ruleText,
  webhookTitle,
  whyText,
} from '../../src/reason';

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

test('a rejection and a tie are in words', () => {
  const before = 'Sold to vault for 12.5 USD. Before that, swift did not accept it: HTTP 422';
  expect(whyText(`${before} post_rejected.`)).toBe(
    'Sold to vault for $12.50. Before that, swift rejected the lead (HTTP 422).',
  );
  expect(whyText(`${before} low_score. More.`)).toMatch(/rejected the lead \(HTTP 422, low score\)\. More\.$/);
  expect(whyText('swift did not accept it: HTTP 200 with a rejection in the body: x.')).toMatch(/HTTP 200 with a/);
  const wanted = 'more than the winning bid of 7.51 USD';
  const rule = (more: string) => {
    const all = wanted + more;
    return { kind: 'outbid', wanted: all, actual: '7.51 USD', text: `bid: required ${all}, got 7.51 USD` };
  };
  expect(ruleText(rule(', or the same with a lower priority number or, at the same priority, a faster answer'))).toBe(
    'Tied at $7.51 with the winner, which has a lower priority number or answered faster',
  );
  expect(ruleText(rule(''))).toBe('bid: required more than the winning bid of $7.51, got $7.51');
});

test('a buyer after the winner was not offered the lead', () => {
  const told = { method: 'waterfall', buyer_id: 'vault' };
  expect(notOfferedText('not_asked', told, 'Vault')).toBe('Not offered: Vault, before it, bought the lead.');
  expect(notOfferedText('capped', told, 'Vault')).toBe('');
  expect(notOfferedText('not_asked', { ...told, buyer_id: undefined }, '')).toBe('');
  expect(notOfferedText('not_asked', { ...told, method: 'ping_post' }, 'Vault')).toBe('');
});

test('webhooks have words for their types and failures', () => {
  const types = source('engine/market/webhook.go').match(/(?<=")lead\.[a-z_]+(?=")/g) ?? [];
  expect(types).toContain('lead.posted');
  for (const type of types) expect(webhookTitle(type), type).toMatch(/^[A-Z]/);
  const faults = wordsIn(source('engine/market/post.go'), /var faultNames = [^{]*\{([^}]*)\}/);
  expect(faults).toContain('connect');
  for (const fault of faults.filter((f) => f !== 'none')) expect(faultText(fault), fault).toMatch(/ /);
  const attempt = { attempt: 1, at: '', outcome: 'failed' };
  expect(numbered({ ...attempt, fault: 'connect' })).toBe('1: could not connect');
  expect(numbered({ ...attempt, status: 500 })).toBe('1: HTTP 500');
  expect(attemptText({ at: '', outcome: 'delivered', status: 204 })).toBe('delivered, HTTP 204');
});
