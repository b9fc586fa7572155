import { describe, expect, test } from 'vitest';
import { days, daysOf, limitsBefore, limitsOf, startOf } from '../../src/period';

const zone = 'America/New_York';
const now = new Date('2026-11-01T03:30:00Z'); // still October 31 in New York

describe('presets', () => {
  test.each([
    ['today', '2026-10-31', '2026-10-31'],
    ['yesterday', '2026-10-30', '2026-10-30'],
    ['week', '2026-10-25', '2026-10-31'],
    ['month', '2026-10-01', '2026-10-31'],
    ['last-month', '2026-09-01', '2026-09-30'],
  ])('%s is %s to %s', (preset, from, to) => {
    expect(daysOf(preset, zone, now)).toEqual({ from, to });
  });

  test('in UTC the same moment is in the next month', () => {
    expect(daysOf('month', 'UTC', now)).toEqual({ from: '2026-11-01', to: '2026-11-01' });
  });
});

test('a day begins at midnight of its zone, also around a change of the clock', () => {
  expect(startOf('2026-11-01', zone).toISOString()).toBe('2026-11-01T04:00:00.000Z');
  expect(startOf('2026-11-02', zone).toISOString()).toBe('2026-11-02T05:00:00.000Z');
  expect(startOf('2026-11-01', 'UTC').toISOString()).toBe('2026-11-01T00:00:00.000Z');
});

test('the end date is part of a period', () => {
  const of = { from: '2026-11-01', to: '2026-11-02' };
  expect(days(of)).toBe(2);
  expect(limitsOf(of, 'UTC')).toEqual({ from: '2026-11-01T00:00:00.000Z', to: '2026-11-03T00:00:00.000Z' });
});

test('a period that is not over is compared with the same part of the one before', () => {
  const today = { from: '2026-11-10', to: '2026-11-10' };
  expect(limitsBefore(today, 'UTC', new Date('2026-11-10T09:20:00Z'))).toEqual({
    from: '2026-11-09T00:00:00.000Z',
    to: '2026-11-09T09:15:00.000Z',
  });
  expect(limitsBefore(today, 'UTC', new Date('2026-11-12T09:20:00Z'))).toEqual({
    from: '2026-11-09T00:00:00.000Z',
    to: '2026-11-10T00:00:00.000Z',
  });
});
