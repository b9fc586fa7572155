import { expect, test } from 'vitest';
import { withExchangeZone } from '../../src/form/zone';

test.each([
  ['UTC', {}],
  ['America/New_York', { time_zone: 'America/New_York' }],
])('a new entry of an exchange in %s gets its time zone', (zone, added) => {
  expect(withExchangeZone({ method: 'waterfall' }, zone)).toEqual({ method: 'waterfall', ...added });
});
