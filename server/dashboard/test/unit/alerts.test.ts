import { expect, test } from 'vitest';
import { type Channel, type ChannelHealth, conditionOf, quantity, stateOf } from '../../src/alerts';

const ago = (seconds: number): string => new Date(Date.now() - seconds * 1000).toISOString();

const channel = (health: Partial<ChannelHealth>, more: Partial<Channel> = {}): Channel => ({
  id: 'ops',
  name: 'Operations',
  kind: 'email',
  off: false,
  host: 'smtp.example.com',
  port: 587,
  has_secret: false,
  etag: 'e',
  health: {
    queued: 0,
    sent: 0,
    failed: 0,
    dropped: 0,
    last_success_at: null,
    failing_since: null,
    last_error: null,
    attempt_started_at: null,
    ...health,
  },
  ...more,
});

test('the state of a channel says how its notifications fare', () => {
  const cases: [Channel, string, RegExp][] = [
    [channel({}), 'ready', /^Nothing sent yet$/],
    [channel({ sent: 3 }), 'working', /^$/],
    [channel({ failing_since: ago(60), last_error: 'refused' }, { off: true }), 'off', /^$/],
    [channel({ attempt_started_at: ago(2), sent: 1 }), 'working', /^$/],
    [
      channel({ attempt_started_at: ago(3700) }),
      'hangs',
      /^The SMTP server smtp\.example\.com:587 has not answered for 1 h 1 min/,
    ],
    [
      channel({ failing_since: ago(86_400), last_error: 'the SMTP server did not answer in time: i/o timeout' }),
      'failing',
      /^The SMTP server smtp\.example\.com:587 hangs: it does not answer in time\. Failing for 1 d: /,
    ],
    [channel({ failing_since: ago(86_400), last_error: '535 refused' }), 'failing', /^Failing for 1 d: 535 refused$/],
  ];
  for (const [of, word, text] of cases) {
    const state = stateOf(of);
    expect(state.word).toBe(word);
    expect(state.text).toMatch(text);
  }
});

test('a condition has its value, its unit and its delay', () => {
  expect(conditionOf(quantity(80, 'percent'), false, 60)).toBe('at 80% or more for 1 min');
  expect(conditionOf(quantity(5, 'gigabytes'), true, 0)).toBe('below 5 GB for 0 s');
  expect(quantity(1234.5, 'money')).toBe('1,234.50');
  expect(quantity(1234.5, 'money', 'USD')).toBe('$1,234.50');
  expect(quantity(3, 'count')).toBe('3');
  expect(quantity(2, 'days')).toBe('2 days');
});
