// Alerts: GET alerts, alerts/rules, alerts/channels, alerts/history.

import type { EntryKind } from './entries';
import { amount, rate, since, span } from './format';

export type AlertSubject = 'exchange' | 'buyer' | 'campaign' | 'supplier';
export type AlertUnit = 'percent' | 'money' | 'days' | 'minutes' | 'count' | 'gigabytes' | '';

export interface AlertText {
  title: string;
  text: string;
  action: string;
  link: string; // #/ and the console's page
}

export interface Alert extends AlertText {
  rule: string;
  name: string;
  kind: string;
  subject: string | null;
  value: number;
  threshold: number;
  unit: AlertUnit;
  since: string;
  fires_at?: string;
  good_since?: string; // of an alert that fires although its value is good again
  resolves_at?: string;
  silenced: boolean;
}

export interface Silence {
  id: string;
  rule: string;
  subject: string | null;
  until: string;
  by: string;
  note: string;
}

export interface AlertStatus {
  evaluated_at: string | null;
  firing: Alert[];
  pending: Alert[];
  silences: Silence[];
  channels: Channel[];
}

export interface RuleDocument {
  name: string;
  kind: string;
  subject?: string;
  threshold: number;
  resolve_threshold: number;
  for_s: number;
  resolve_for_s: number;
  window_s?: number;
  minimum?: number;
  channels: string[];
  off: boolean;
}

export interface Rule extends RuleDocument {
  id: string;
  title: string;
  subject_type: AlertSubject;
  unit: AlertUnit;
  etag: string;
}

export interface RuleKind {
  kind: string;
  title: string;
  subject: AlertSubject;
  unit: AlertUnit;
  below: boolean; // a value below the threshold is bad
  window: boolean; // it is a rate over the last minutes
}

export type ChannelKind = 'email' | 'slack' | 'webhook';

export interface ChannelDocument {
  name: string;
  kind: ChannelKind;
  off: boolean;
  url?: string;
  host?: string;
  port?: number;
  security?: string;
  username?: string;
  from?: string;
  to?: string[];
  secret?: string;
}

export interface ChannelHealth {
  queued: number;
  sent: number;
  failed: number;
  dropped: number;
  last_success_at: string | null;
  failing_since: string | null;
  last_error: string | null;
  attempt_started_at: string | null;
}

export interface Channel extends ChannelDocument {
  id: string;
  has_secret: boolean;
  etag: string;
  health: ChannelHealth;
}

export interface AlertChange extends AlertText {
  number: number;
  at: string;
  transition: 'fired' | 'announced' | 'resolved';
  rule: string;
  name: string;
  subject: string | null;
  notifications: { channel: string; outcome: string; at: string | null; error: string | null }[];
}

// quantity formats a value in the unit of its kind.
export function quantity(value: number, unit: AlertUnit, currency = ''): string {
  switch (unit) {
    case 'percent':
      return `${rate(value)}%`;
    case 'money':
      return amount(value, currency);
    case 'gigabytes':
      return `${rate(value)} GB`;
    case 'days':
    case 'minutes':
      return `${rate(value)} ${unit}`;
  }
  return rate(value);
}

// conditionOf says when a rule fires or resolves, for example: at 80% or more for 1 min.
export function conditionOf(value: string, below: boolean, seconds: number): string {
  return `${below ? `below ${value}` : `at ${value} or more`} for ${span(seconds)}`;
}

const patience = 10; // seconds after which a receiver is said to hang

// stateOf says how a channel's notifications fare.
export function stateOf({ off, kind, host, port, health }: Channel): {
  tone: 'good' | 'warn' | 'bad' | 'plain';
  word: string;
  text: string;
} {
  if (off) return { tone: 'plain', word: 'off', text: '' };
  const receiver = kind === 'email' ? `The SMTP server ${host}:${port}` : 'The receiver';
  const waits = health.attempt_started_at ? (Date.now() - Date.parse(health.attempt_started_at)) / 1000 : 0;
  if (waits > patience) {
    return {
      tone: 'bad',
      word: 'hangs',
      text: `${receiver} has not answered for ${span(waits)}. ${health.last_error ?? ''}`.trim(),
    };
  }
  if (health.failing_since) {
    const hangs = /in time|timeout|deadline/i.test(health.last_error ?? '');
    return {
      tone: 'bad',
      word: 'failing',
      text: `${hangs ? `${receiver} hangs: it does not answer in time. ` : ''}Failing for ${since(health.failing_since)}: ${health.last_error ?? 'no reason known'}`,
    };
  }
  if (health.last_error) return { tone: 'warn', word: 'working', text: `Last error: ${health.last_error}` };
  return { tone: 'good', word: health.sent > 0 ? 'working' : 'ready', text: health.sent > 0 ? '' : 'Nothing sent yet' };
}

export interface RuleList {
  rules: Rule[];
  kinds: RuleKind[];
}

const collections: { [subject: string]: EntryKind } = { buyer: 'buyers', campaign: 'campaigns', supplier: 'suppliers' };

// entriesOf returns the kind of entries that a rule's subjects are, or undefined for the exchange.
export const entriesOf = (subject: string): EntryKind | undefined => collections[subject];
