// Periods of days, in a time zone: the presets, the period before, and the limits for the API.

export const presets: [string, string][] = [
  ['today', 'Today'],
  ['yesterday', 'Yesterday'],
  ['week', 'Last 7 days'],
  ['month', 'This month'],
  ['last-month', 'Last month'],
];

// nameOfPreset returns the name of a preset. An unknown preset is today.
export const nameOfPreset = (preset: string): string => presets.find(([key]) => key === preset)?.[1] ?? 'Today';

// Period is a range of days. Both days are part of it.
export interface Period {
  from: string;
  to: string;
}

// dayOf returns the day of a moment in a time zone, as 2026-11-30.
export function dayOf(at: Date, zone: string): string {
  return new Intl.DateTimeFormat('en-CA', { timeZone: zone }).format(at);
}

// shift returns the day that is some days later.
export function shift(day: string, days: number): string {
  const at = new Date(`${day}T00:00:00Z`);
  at.setUTCDate(at.getUTCDate() + days);
  return at.toISOString().slice(0, 10);
}

const monthStart = (day: string): string => `${day.slice(0, 7)}-01`;

// daysOf returns the period of a preset. An unknown preset is today.
export function daysOf(preset: string, zone: string, now: Date): Period {
  const today = dayOf(now, zone);
  const lastMonthEnd = shift(monthStart(today), -1);
  switch (preset) {
    case 'yesterday':
      return { from: shift(today, -1), to: shift(today, -1) };
    case 'week':
      return { from: shift(today, -6), to: today };
    case 'month':
      return { from: monthStart(today), to: today };
    case 'last-month':
      return { from: monthStart(lastMonthEnd), to: lastMonthEnd };
  }
  return { from: today, to: today };
}

// days returns the number of days of a period.
export function days(of: Period): number {
  return Math.round((Date.parse(of.to) - Date.parse(of.from)) / 86_400_000) + 1;
}

// startOf returns the moment at which a day begins in a time zone.
export function startOf(day: string, zone: string): Date {
  const wanted = Date.parse(`${day}T00:00:00Z`);
  let at = wanted;
  for (let i = 0; i < 2; i++) at = wanted - offset(new Date(at), zone);
  return new Date(at);
}

// offset returns how far a time zone's clock is ahead of UTC at a moment, in milliseconds.
function offset(at: Date, zone: string): number {
  const format = new Intl.DateTimeFormat('en-US', {
    timeZone: zone,
    hourCycle: 'h23',
    year: 'numeric',
    month: 'numeric',
    day: 'numeric',
    hour: 'numeric',
    minute: 'numeric',
    second: 'numeric',
  });
  const of = Object.fromEntries(format.formatToParts(at).map((p) => [p.type, Number(p.value)]));
  const shown = Date.UTC(of.year ?? 0, (of.month ?? 1) - 1, of.day, of.hour, of.minute, of.second);
  return shown - Math.floor(at.getTime() / 1000) * 1000;
}

// Limits are the ends of a period for the API. The end is exclusive there.
export interface Limits {
  from: string;
  to: string;
}

export function limitsOf(of: Period, zone: string): Limits {
  return { from: startOf(of.from, zone).toISOString(), to: startOf(shift(of.to, 1), zone).toISOString() };
}

const quarter = 15 * 60_000;

// limitsBefore returns the limits of the period before, which has the same number of days. If
// the period is not over, the one before ends at the same time of its day.
export function limitsBefore(of: Period, zone: string, now: Date): Limits {
  const n = days(of);
  const from = startOf(shift(of.from, -n), zone);
  const start = startOf(of.from, zone);
  const elapsed = Math.floor((now.getTime() - start.getTime()) / quarter) * quarter;
  const end = Math.min(start.getTime(), from.getTime() + Math.max(elapsed, quarter));
  return { from: from.toISOString(), to: new Date(end).toISOString() };
}

export const zoneNow = (): string => Intl.DateTimeFormat().resolvedOptions().timeZone || 'UTC';

export function isZone(name: string): boolean {
  try {
    new Intl.DateTimeFormat('en-US', { timeZone: name });
    return true;
  } catch {
    return false;
  }
}
