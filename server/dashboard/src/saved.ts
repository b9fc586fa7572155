// Saved reports: GET saved-reports.

import type { Query } from './call';
import { instant } from './format';
import { dimensions } from './report';

export interface SavedQuery {
  by: string[];
  filters: { [dimension: string]: string };
  period: string;
  columns: string[];
  totals: boolean;
}

export type Frequency = 'daily' | 'weekly' | 'monthly';

export interface Schedule {
  frequency: Frequency;
  weekday?: string;
  day?: number;
  time: string;
  recipients: string[];
}

export interface SavedDocument {
  name: string;
  query: SavedQuery;
  schedule: Schedule | null;
}

export interface SavedMail {
  next_at: string | null;
  last_sent_at: string | null;
  waiting: boolean;
  failing_since: string | null;
  last_error: string | null;
}

export interface SavedReport extends SavedDocument {
  id: string;
  mail: SavedMail;
  changed_at: string;
  changed_by: string;
  etag: string;
}

export interface SavedList {
  saved_reports: SavedReport[];
  channel: string | null; // the channel of alerts that sends them
}

// periods are the periods that a query can name, in the words of the API.
export const periods: [string, string][] = [
  ['today', 'Today'],
  ['yesterday', 'Yesterday'],
  ['this_week', 'This week'],
  ['last_week', 'Last week'],
  ['this_month', 'This month'],
  ['last_month', 'Last month'],
];

export const weekdays: [string, string][] = [
  'Monday',
  'Tuesday',
  'Wednesday',
  'Thursday',
  'Friday',
  'Saturday',
  'Sunday',
].map((name) => [name.toLowerCase(), name]);

const nameIn = (all: [string, string][], word: string | undefined): string =>
  all.find(([key]) => key === word)?.[1] ?? word ?? '';

// periodOfPreset returns the API's period that is nearest to a preset of the header.
export function periodOfPreset(preset: string): string {
  const same: { [preset: string]: string } = { week: 'last_week', month: 'this_month', 'last-month': 'last_month' };
  return same[preset] ?? (nameIn(periods, preset) === preset ? 'yesterday' : preset || 'yesterday');
}

// queryOf returns the saved query of a report on the page: its parameters in the terms of GET report.
export function queryOf(asked: Query, preset: string): SavedQuery {
  const text = (name: string): string => String(asked[name] ?? '');
  const list = (name: string): string[] => text(name).split(',').filter(Boolean);
  const filters: { [dimension: string]: string } = {};
  for (const dimension of dimensions) if (text(dimension)) filters[dimension] = text(dimension);
  return {
    by: list('by'),
    filters,
    period: text('period') || periodOfPreset(preset),
    columns: list('columns'),
    totals: true,
  };
}

// addressOf returns the parameters of the page that shows a saved query.
export function addressOf(of: SavedQuery): { [name: string]: string } {
  return { ...of.filters, by: of.by.join(','), period: of.period, columns: of.columns.join(',') };
}

// contentOf describes a query, for example: Last week, by buyer, only campaign cmp_auto.
export function contentOf(of: SavedQuery): string {
  const only = Object.entries(of.filters).map(([dimension, value]) => `${dimension} ${value}`);
  return [
    nameIn(periods, of.period),
    of.by.length > 0 ? `by ${of.by.join(' and ')}` : '',
    only.length > 0 ? `only ${only.join(', ')}` : '',
  ]
    .filter(Boolean)
    .join(', ');
}

// scheduleOf describes a schedule, for example: each Monday at 08:00.
export function scheduleOf(of: Schedule | null): string {
  if (!of) return 'not sent';
  if (of.frequency === 'weekly') return `each ${nameIn(weekdays, of.weekday)} at ${of.time}`;
  if (of.frequency === 'monthly') return `on day ${of.day} of each month at ${of.time}`;
  return `each day at ${of.time}`;
}

// stateOf says how a report's e-mails fare.
export function stateOf(of: SavedReport): { tone: 'good' | 'bad' | 'warn' | 'plain'; word: string; text: string } {
  const { failing_since, last_error, last_sent_at, waiting } = of.mail;
  if (failing_since) {
    const next = waiting ? 'The exchange tries again.' : 'It was not sent.';
    return {
      tone: 'bad',
      word: 'failing',
      text: `${last_error || 'no reason known'} (${instant(failing_since)}). ${next}`,
    };
  }
  if (waiting) return { tone: 'warn', word: 'sending', text: '' };
  if (last_sent_at) return { tone: 'good', word: 'sent', text: '' };
  return { tone: 'plain', word: of.schedule ? 'not sent yet' : 'saved', text: '' };
}
