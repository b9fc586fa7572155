import { expect, test } from 'vitest';
import { nameOf } from '../../src/form/document';
import { type Change, compareVersions, mergeVersions } from '../../src/form/merge';
import type { Doc } from '../../src/types';

const base = {
  id: 'cmp_a',
  floor: 2,
  duplicates: { window: '9d' },
  states: ['CA'],
  buyers: [
    { buyer: 'buy_a', price: 5 },
    { buyer: 'buy_b', price: 6 },
  ],
};

const changes = (saved: Doc, mine: Doc, of: Doc = base) =>
  compareVersions(of, saved, mine).map((c) => [nameOf(c.path), c.by]);

// merged takes the default of each change, and the saved version of a conflict on request.
function merged(saved: Doc, mine: Doc, conflicts: 'saved' | 'yours' = 'yours'): Doc {
  const isTaken = (c: Change) => c.by === 'other' || (c.by === 'both' && conflicts === 'saved');
  return mergeVersions(mine, compareVersions(base, saved, mine).filter(isTaken));
}

test('a field that one operator changed keeps that change', () => {
  const saved = { ...base, floor: 3, duplicates: { window: '11d' } };
  const mine = { ...base, buyers: [{ buyer: 'buy_a', price: 7 }, base.buyers[1]] };
  expect(changes(saved, mine)).toEqual([
    ['floor', 'other'],
    ['duplicates.window', 'other'],
    ['buyers[0].price', 'me'],
  ]);
  expect(merged(saved, mine)).toEqual({ ...saved, buyers: mine.buyers });
});

test('a field that both changed is a conflict, unless both values are the same', () => {
  const saved = { ...base, floor: 3, states: ['CA', 'NV'], currency: 'EUR' };
  const mine = { ...base, floor: 4, states: ['CA', 'NV'] };
  expect(changes(saved, mine)).toEqual([
    ['floor', 'both'],
    ['currency', 'other'],
  ]);
  expect(merged(saved, mine, 'yours')).toEqual({ ...saved, floor: 4 });
  expect(merged(saved, mine, 'saved')).toEqual(saved);
  expect(changes(base, base)).toEqual([]);
});

test('a removed field stays removed, whoever removed it', () => {
  const { floor: _, ...noFloor } = base;
  const { states: __, ...noStates } = base;
  expect(merged(noFloor, noStates)).toEqual({ id: 'cmp_a', duplicates: base.duplicates, buyers: base.buyers });
  expect(changes(noFloor, { ...base, floor: 4 })).toEqual([['floor', 'both']]);
});

test('entries that each operator added or changed in a list are merged by position', () => {
  const third = { buyer: 'buy_c', price: 1 };
  const saved = { ...base, buyers: [...base.buyers, third] };
  const mine = { ...base, buyers: [{ buyer: 'buy_a', price: 7 }, base.buyers[1]] };
  expect(changes(saved, mine)).toEqual([
    ['buyers[0].price', 'me'],
    ['buyers[2]', 'other'],
  ]);
  expect(merged(saved, mine).buyers).toEqual([...mine.buyers, third]);
  expect(merged(mine, saved).buyers).toEqual([...mine.buyers, third]);
  const other = { ...base, buyers: [...base.buyers, { buyer: 'buy_d', price: 1 }] };
  expect(changes(saved, other)).toEqual([['buyers[2]', 'both']]);
});

test('a list with a removed or moved entry is one conflict if both changed it', () => {
  const [a, b] = base.buyers;
  const mine = { ...base, buyers: [a, { buyer: 'buy_b', price: 8 }] };
  for (const buyers of [[b], [b, a]]) {
    expect(changes({ ...base, buyers }, mine)).toEqual([['buyers', 'both']]);
    expect(merged({ ...base, buyers }, mine, 'saved').buyers).toEqual(buyers);
    expect(merged({ ...base, buyers }, mine, 'yours').buyers).toEqual(mine.buyers);
  }
  const removed = { ...base, buyers: [b] };
  expect(changes(removed, base).every(([, by]) => by === 'other')).toBe(true);
  expect(merged(removed, { ...base, floor: 9 })).toEqual({ ...removed, floor: 9 });
  expect(merged({ ...base, floor: 9 }, removed)).toEqual({ ...removed, floor: 9 });
});

test('two new entries with the same id differ in the fields of both', () => {
  const saved = { id: 'x', name: 'One', rate: 5 };
  expect(changes(saved, { id: 'x', name: 'Two', cap: 1 }, {})).toEqual([
    ['name', 'both'],
    ['rate', 'other'],
    ['cap', 'me'],
  ]);
});
