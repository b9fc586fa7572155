import { expect, test } from 'vitest';
import { columnCenters, columnRange, increments, moment } from '../../src/axis';

const day = Date.parse('2026-11-29T00:00:00Z') / 1000;

test('the axis of hourly columns begins with the first hour and ends with the last', () => {
  const centers = columnCenters([day, day + 3600, day + 7200], 'hour');
  expect(columnRange(centers, 'hour')).toEqual([day, day + 3 * 3600]);
  expect(columnRange(columnCenters([day], 'hour'), 'hour')).toEqual([day, day + 3600]);
});

test('a daily column has its tick in the middle', () => {
  expect(columnCenters([day], 'day')).toEqual([day]);
  expect(columnRange([day], 'day')).toEqual([day - 12 * 3600, day + 12 * 3600]);
});

test('ticks of hourly columns are whole hours, and those of daily columns whole days', () => {
  expect(increments('hour').every((n) => n % 3600 === 0)).toBe(true);
  expect(increments('day').every((n) => n % 86_400 === 0)).toBe(true);
  expect(increments('hour')[0]).toBe(3600);
});

test('a tick shows its time with the precision of the ticks', () => {
  expect(moment(day, 3600)).toBe('00:00');
  expect(moment(day, 10)).toBe('00:00:00');
  expect(moment(day, 86_400)).toBe('11-29');
});
