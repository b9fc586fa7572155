import { expect, test } from 'vitest';
import {
  addressOf,
  contentOf,
  periodOfPreset,
  queryOf,
  type SavedMail,
  type SavedReport,
  scheduleOf,
  stateOf,
} from '../../src/saved';

const report = (mail: Partial<SavedMail>, more: Partial<SavedReport> = {}): SavedReport => ({
  id: 'report_1',
  name: 'Sales',
  query: { by: ['buyer'], filters: {}, period: 'last_week', columns: [], totals: true },
  schedule: { frequency: 'daily', time: '08:00', recipients: ['a@example.com'] },
  mail: { next_at: null, last_sent_at: null, waiting: false, failing_since: null, last_error: null, ...mail },
  changed_at: '',
  changed_by: '',
  etag: 'e',
  ...more,
});

test('a report on the page becomes a saved query, and its page shows the same again', () => {
  const asked = {
    by: 'day,buyer',
    campaign: 'cmp',
    buyer: '',
    zone: 'UTC',
    from: 'x',
    to: 'y',
    columns: 'day,revenue',
  };
  const query = queryOf(asked, 'week');
  expect(query).toEqual({
    by: ['day', 'buyer'],
    filters: { campaign: 'cmp' },
    period: 'last_week',
    columns: ['day', 'revenue'],
    totals: true,
  });
  expect(queryOf(addressOf(query), 'today')).toEqual(query);
  expect(contentOf(query)).toBe('Last week, by day and buyer, only campaign cmp');
});

test('a preset of the header becomes a period of the API', () => {
  const cases = {
    today: 'today',
    yesterday: 'yesterday',
    week: 'last_week',
    month: 'this_month',
    'last-month': 'last_month',
  };
  for (const [preset, period] of Object.entries(cases)) expect(periodOfPreset(preset)).toBe(period);
  for (const other of ['', 'unknown']) expect(periodOfPreset(other)).toBe('yesterday');
});

test('a schedule is said in words', () => {
  const rest = { time: '08:30', recipients: [] };
  expect(scheduleOf(null)).toBe('not sent');
  expect(scheduleOf({ frequency: 'daily', ...rest })).toBe('each day at 08:30');
  expect(scheduleOf({ frequency: 'weekly', weekday: 'monday', ...rest })).toBe('each Monday at 08:30');
  expect(scheduleOf({ frequency: 'monthly', day: 31, ...rest })).toBe('on day 31 of each month at 08:30');
});

test('the state of a report says how its emails fare', () => {
  const failing = {
    failing_since: '2026-11-30T08:00:00Z',
    last_error: '550 refused',
    last_sent_at: '2026-11-29T08:00:00Z',
  };
  const cases: [SavedReport, string, RegExp][] = [
    [report({}), 'not sent yet', /^$/],
    [report({}, { schedule: null }), 'saved', /^$/],
    [report({ waiting: true }), 'sending', /^$/],
    [report({ last_sent_at: '2026-11-30T08:00:00Z' }), 'sent', /^$/],
    [report({ ...failing, waiting: true }), 'failing', /^550 refused \(.*\)\. The exchange tries again\.$/],
    [report(failing), 'failing', /It was not sent\.$/],
  ];
  for (const [of, word, text] of cases) {
    expect(stateOf(of).word).toBe(word);
    expect(stateOf(of).text).toMatch(text);
  }
});
