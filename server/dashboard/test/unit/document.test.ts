import { expect, test } from 'vitest';
import { at, differences, errorsAt, errorsWithin, isSet, nameOf, pathOf, put } from '../../src/form/document';

test('a path is named as the exchange names it', () => {
  expect(nameOf(['caps', 0, 'count'])).toBe('caps[0].count');
  expect(nameOf(['buyers', 2, 'filters', 0])).toBe('buyers[2].filters[0]');
  expect(nameOf([])).toBe('');
});

test('a value is put where it belongs, and the document before stays as it was', () => {
  const before = { id: 'a', caps: [{ per: 'day', count: 1 }] };
  const after = put(before, ['caps', 0, 'count'], 2);
  expect(after).toEqual({ id: 'a', caps: [{ per: 'day', count: 2 }] });
  expect(before.caps[0]?.count).toBe(1);
  expect(at(after, ['caps', 0, 'count'])).toBe(2);
  expect(at(after, ['none', 0, 'count'])).toBeUndefined();
  expect(put({}, ['auth', 'oauth', 'scope'], 'x')).toEqual({ auth: { oauth: { scope: 'x' } } });
});

test('what is taken out leaves no empty mapping behind', () => {
  expect(put({ id: 'a', auth: { header: 'x' } }, ['auth', 'header'], undefined)).toEqual({ id: 'a' });
  expect(put({ caps: [{ count: 1 }] }, ['caps', 0, 'count'], undefined)).toEqual({ caps: [{}] });
  expect(put({ caps: [{ count: 1 }] }, ['caps'], undefined)).toEqual({});
});

test('two versions differ where they differ, and nowhere else', () => {
  const mine = { id: 'a', states: ['CA'], caps: [{ per: 'day', count: 1 }], floor: 2 };
  expect(differences(mine, structuredClone(mine))).toEqual([]);
  const theirs = {
    id: 'a',
    states: ['CA', 'NV'],
    caps: [
      { per: 'day', count: 5 },
      { per: 'hour', count: 1 },
    ],
    payout: { share: 1 },
  };
  expect(differences(mine, theirs)).toEqual([
    { path: 'states', before: ['CA'], after: ['CA', 'NV'] },
    { path: 'caps[0].count', before: 1, after: 5 },
    { path: 'caps[1]', before: undefined, after: { per: 'hour', count: 1 } },
    { path: 'floor', before: 2, after: undefined },
    { path: 'payout', before: undefined, after: { share: 1 } },
  ]);
});

test('an error stands at its own field alone', () => {
  const errors = [
    { field: 'caps[0]', code: 'x', expected: 'count or money' },
    { field: 'caps[0].count', code: 'x', expected: 'at least 1' },
  ];
  expect(errorsAt(errors, ['caps', 0, 'count'])).toEqual([errors[1]]);
  expect(errorsAt(errors, ['caps', 0])).toEqual([errors[0]]);
  expect(errorsAt(errors, ['caps'])).toEqual([]);
  expect(errorsWithin(errors, ['caps'])).toEqual(errors);
  expect(errorsWithin(errors, ['cap'])).toEqual([]);
});

test('a secret that is set is told from one that is written', () => {
  expect(isSet({ set: true })).toBe(true);
  for (const value of [undefined, null, 'x', { set: false }, ['set']]) expect(isSet(value)).toBe(false);
});

test('a name of a field is read back as its path', () => {
  expect(pathOf('caps[0].count')).toEqual(['caps', 0, 'count']);
});
