import { expect, test } from 'vitest';
import { type Column, sortRows, twoLines } from '../../src/part/table';

type Row = { name: string; price: number | null };

const columns: Column<Row>[] = [
  { head: 'Name', of: (r) => r.name, sort: (r) => r.name },
  { head: 'Price', of: (r) => r.price, sort: (r) => r.price },
  { head: 'Note', of: () => '' },
];
const rows: Row[] = [
  { name: 'b', price: null },
  { name: 'c', price: 2 },
  { name: 'a', price: 10 },
];
const names = (of: Row[]) => of.map((r) => r.name).join('');

test('rows are sorted by a column, and those without a value come last', () => {
  expect(names(sortRows(rows, columns, { head: 'Name', down: false }))).toBe('abc');
  expect(names(sortRows(rows, columns, { head: 'Price', down: false }))).toBe('cab');
  expect(names(sortRows(rows, columns, { head: 'Price', down: true }))).toBe('acb');
});

test('without a sortable column the order stays', () => {
  expect(names(sortRows(rows, columns, undefined))).toBe('bca');
  expect(names(sortRows(rows, columns, { head: 'Note', down: false }))).toBe('bca');
});

test('a row on a phone has its main figure in the first line, and some others in the second', () => {
  const all: Column<Row>[] = [
    ...columns,
    { head: 'Leads', of: () => '' },
    { head: 'Revenue', of: () => '', phone: 'side' },
  ];
  const places = (most?: number) => twoLines(all, most).map((c) => c.phone ?? 'second');
  expect(places(2)).toEqual(['second', 'second', 'second', 'none', 'side']);
  expect(places()).toEqual(['second', 'second', 'second', 'second', 'side']);
});
