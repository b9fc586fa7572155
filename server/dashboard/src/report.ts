// A report's rows from NDJSON, and their aggregation for charts.

export type Row = { [column: string]: string | number | null };

export const dimensions = ['hour', 'day', 'supplier', 'buyer', 'campaign', 'source', 'state', 'reason'];

// Columns of money; the currency is the row's.
export const monies = ['revenue', 'payout', 'credit', 'reversal', 'margin'];

export const measures = [
  'leads',
  'unmatched',
  'auctions',
  'pings',
  'bids',
  'bid_rate',
  'wins',
  'win_rate',
  'timeouts',
  'ping_p50_ms',
  'ping_p99_ms',
  'posts',
  'post_rejects',
  'post_timeouts',
  'post_p50_ms',
  'post_p99_ms',
  'sales',
  'revenue',
  'payout',
  'returns',
  'credit',
  'reversal',
  'margin',
];

export function rowsOf(text: string): Row[] {
  return text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as Row);
}

// columnOf returns the column of a dimension.
export const columnOf = (dimension: string): string =>
  ['supplier', 'buyer', 'campaign'].includes(dimension) ? `${dimension}_id` : dimension;

const isRate = (measure: string): boolean => measure.endsWith('_rate') || measure.endsWith('_ms');

// byCurrency groups the rows by currency if the measure is money, and leaves out rows without
// one. Other measures stay in one group.
export function byCurrency(rows: Row[], measure: string): { unit?: string; rows: Row[] }[] {
  if (!monies.includes(measure)) return [{ rows }];
  const parts = new Map<string, Row[]>();
  for (const row of rows) {
    const unit = String(row.currency ?? '');
    if (unit) parts.set(unit, [...(parts.get(unit) ?? []), row]);
  }
  if (parts.size < 2) return [{ unit: [...parts.keys()][0], rows }];
  return [...parts].sort().map(([unit, of]) => ({ unit, rows: of }));
}

// ofNoBuyer are the counts that belong to no buyer.
const ofNoBuyer = ['leads', 'unmatched', 'auctions'];

// ofReason are the counts that have a reason.
const ofReason = ['unmatched', 'auctions'];

// applies reports whether a row can have a measure. A lead has no buyer until it is sold, and no reason if it is,
// so its count has no place in a row of one. Only a 0 can be out of place.
export function applies(row: Row, measure: string): boolean {
  if (!measures.includes(measure) || Number(row[measure] ?? 0) !== 0) return true;
  if (row.reason && !ofReason.includes(measure)) return false;
  if (row.buyer_id === undefined) return true;
  return Boolean(row.buyer_id) !== ofNoBuyer.includes(measure);
}

// total adds up a measure. A rate has a total only if there is a single row.
export function total(rows: Row[], measure: string): number | null {
  if (!isRate(measure)) return rows.reduce((sum, row) => sum + Number(row[measure] ?? 0), 0);
  const only = rows.length === 1 ? rows[0]?.[measure] : null;
  return only === null || only === undefined ? null : Number(only);
}

// overTime adds up a measure by time. Rates cannot be added, so a time with several rows has
// no rate. It returns null if the rows have no time.
export function overTime(rows: Row[], measure: string): { times: number[]; values: (number | null)[] } | null {
  const column = rows[0] && ('hour' in rows[0] ? 'hour' : 'day' in rows[0] ? 'day' : undefined);
  if (!column) return null;
  const sums = new Map<number, number | null>();
  for (const row of rows) {
    const at = Date.parse(String(row[column])) / 1000;
    const value = Number(measured(row, measure) ?? 0);
    if (!sums.has(at)) sums.set(at, measured(row, measure) === null && isRate(measure) ? null : value);
    else sums.set(at, isRate(measure) ? null : Number(sums.get(at)) + value);
  }
  const times = [...sums.keys()].sort((a, b) => a - b);
  return { times, values: times.map((at) => sums.get(at) ?? null) };
}

// byName adds up a measure by a dimension, in descending order.
export function byName(rows: Row[], dimension: string, measure: string): { name: string; value: number }[] {
  const column = columnOf(dimension);
  const sums = new Map<string, { value: number; rows: number }>();
  for (const row of rows) {
    const name = String(row[column] ?? '') || 'none';
    const before = sums.get(name) ?? { value: 0, rows: 0 };
    sums.set(name, { value: before.value + Number(row[measure] ?? 0), rows: before.rows + 1 });
  }
  return [...sums]
    .map(([name, { value, rows }]) => ({ name, value: isRate(measure) ? value / rows : value }))
    .sort((a, b) => b.value - a.value);
}

// Sums are the figures of a set of rows in one currency.
export interface Sums {
  currency: string;
  leads: number;
  sales: number;
  revenue: number;
  payout: number;
  margin: number;
  returns: number;
}

const of = (row: Row, column: string): number => Number(row[column] ?? 0);

// sumsOf adds up rows by currency, the largest revenue first. Rows without a currency have
// leads that did not sell; they count in every currency.
export function sumsOf(rows: Row[]): Sums[] {
  const sums = new Map<string, Sums>();
  let unsold = 0;
  for (const row of rows) {
    const currency = String(row.currency ?? '');
    if (!currency) {
      unsold += of(row, 'leads');
      continue;
    }
    const s = sums.get(currency) ?? { currency, leads: 0, sales: 0, revenue: 0, payout: 0, margin: 0, returns: 0 };
    s.leads += of(row, 'leads');
    s.sales += of(row, 'sales');
    s.revenue += of(row, 'revenue');
    s.payout += of(row, 'payout');
    s.margin += of(row, 'margin');
    s.returns += of(row, 'returns');
    sums.set(currency, s);
  }
  if (sums.size === 0 && unsold > 0) {
    return [{ currency: '', leads: unsold, sales: 0, revenue: 0, payout: 0, margin: 0, returns: 0 }];
  }
  for (const s of sums.values()) s.leads += unsold;
  return [...sums.values()].sort((a, b) => b.revenue - a.revenue);
}

// ratio returns a / b, or null if b is 0.
export const ratio = (a: number, b: number): number | null => (b > 0 ? a / b : null);

// acceptRate returns the share of answered posts that the rows' buyers accepted. An unconfirmed delivery has
// no answer. The sales of a buyer without posts do not count.
export function acceptRate(rows: Row[]): number | null {
  const posted = new Set(rows.filter((r) => of(r, 'posts') > 0).map((r) => r.buyer_id));
  const add = (column: string) => rows.reduce((sum, r) => sum + (posted.has(r.buyer_id) ? of(r, column) : 0), 0);
  return ratio(add('sales'), add('sales') + add('post_rejects'));
}

// stackOf adds up a measure by time and name: one series for each of the largest names, and
// one for all others.
export function stackOf(rows: Row[], dimension: string, measure: string, most: number): Stack {
  const column = columnOf(dimension);
  const time = rows[0] && 'hour' in rows[0] ? 'hour' : 'day';
  const used = rows.filter((r) => String(r[column] ?? '') !== '' && of(r, measure) > 0);
  const names = byName(used, dimension, measure)
    .slice(0, most)
    .map((n) => n.name);
  const times = [...new Set(rows.map((r) => Date.parse(String(r[time])) / 1000))].sort((a, b) => a - b);
  const at = new Map(times.map((t, i) => [t, i]));
  const rest = new Array<number>(times.length).fill(0);
  const series = names.map((name) => ({ name, values: new Array<number>(times.length).fill(0) }));
  for (const row of used) {
    const i = at.get(Date.parse(String(row[time])) / 1000) ?? 0;
    const values = series[names.indexOf(String(row[column]))]?.values ?? rest;
    values[i] = (values[i] ?? 0) + of(row, measure);
  }
  if (rest.some((n) => n > 0)) series.push({ name: 'other', values: rest });
  return { times, series };
}

// Stack are series over the same times.
export interface Stack {
  times: number[];
  series: { name: string; values: number[] }[];
}

// filled adds the times without rows, with the value 0. All times lie a step apart.
export function filled(of: Stack, from: number, until: number, step: number): Stack {
  const times: number[] = [];
  for (let t = of.times[0] ?? from; t - step >= from; t -= step) times.unshift(t - step);
  for (let t = of.times[0] ?? from; t < until; t += step) times.push(t);
  const at = new Map(of.times.map((t, i) => [t, i]));
  const value = (values: number[], t: number) => values[at.get(t) ?? -1] ?? 0;
  return { times, series: of.series.map((s) => ({ name: s.name, values: times.map((t) => value(s.values, t)) })) };
}

// latencyOf returns a quantile of the times to an answer. The exchange counts a timeout with the time that it
// waited: without an answer there is no quantile.
export const latencyOf = (ms: number | null, sent: number, timeouts: number): number | null =>
  sent > 0 && timeouts >= sent ? null : ms;

// measured returns a row's measure, or null if it is a latency without an answer.
export function measured(row: Row, measure: string): Row[string] | undefined {
  const [, kind] = /^(ping|post)_p\d+_ms$/.exec(measure) ?? [];
  if (!kind || typeof row[measure] !== 'number') return row[measure];
  const [sent, timeouts] = kind === 'ping' ? ['pings', 'timeouts'] : ['posts', 'post_timeouts'];
  return latencyOf(Number(row[measure]), Number(row[sent] ?? 0), Number(row[timeouts] ?? 0));
}
