import { useMemo } from 'preact/hooks';
import type { Unit } from '../../axis';
import { part } from '../../call';
import type { EntryKind } from '../../entries';
import { amount, count, exact, share, none as unknown } from '../../format';
import { kinds } from '../../kind';
import { useLoad } from '../../load';
import { useReport } from '../../load-report';
import { Chart } from '../../part/chart';
import { Empty, Loaded } from '../../part/state';
import { Card } from '../../part/words';
import { limitsOf, type Period } from '../../period';
import { acceptRate, type Row, ratio, type Sums, sumsOf } from '../../report';
import { to } from '../../route';
import { unitOf, useStack } from '../../stack';
import { periodOf, useWorkspace } from '../../workspace';

// Performance shows how an entry is doing in the period: sales, rates, balance, revenue over time.
export function Performance({ kind, id, funds = false }: { kind: EntryKind; id: string; funds?: boolean }) {
  const space = useWorkspace();
  const period = periodOf(space);
  const unit = unitOf(period);
  const { one } = kinds[kind];
  const query = { [one]: id, from: period.from, to: limitsOf(period, space.zone).to, zone: space.zone };
  const sums = useReport(query);
  const time = useReport({ ...query, by: unit });
  return (
    <>
      <Loaded of={sums}>{({ rows }) => <Figures kind={kind} id={id} rows={rows} funds={funds} />}</Loaded>
      <Loaded of={time}>{({ rows }) => <OverTime rows={rows} unit={unit} period={period} />}</Loaded>
      <p class="row links">
        <a href={to(['leads'], { [one]: id })}>Leads</a>
        <a href={to(['reports', 'unsold'], { [one]: id })}>Unsold reasons</a>
        <a href={to(['reports', 'revenue'], { [one]: id })}>Revenue report</a>
        {kind !== 'campaigns' && <a href={to(['reports', 'statements'], { [one]: id })}>Statement</a>}
      </p>
    </>
  );
}

const none: Sums = { currency: '', leads: 0, sales: 0, revenue: 0, payout: 0, margin: 0, returns: 0 };

function Figures({ kind, id, rows, funds }: { kind: EntryKind; id: string; rows: Row[]; funds: boolean }) {
  const balance = useLoad<{ balance?: number; currency?: string }>(funds ? `buyers/${part(id)}/funds` : null);
  const s = sumsOf(rows)[0] ?? none;
  const add = (measure: string) => rows.reduce((sum, r) => sum + Number(r[measure] ?? 0), 0);
  const posts = add('posts');
  const money = (n: number | null | undefined, currency = s.currency): [string, string] =>
    n === 0 && !currency ? [unknown, ''] : [amount(n, currency), exact(n, currency)];
  const all: [string, [string, string?], string][] = [
    ['Revenue', money(s.revenue), `${count(s.sales)} sales`],
    ...(kind === 'buyers'
      ? ([['Accept rate', [share(acceptRate(rows))], `${count(posts)} posts`]] as typeof all)
      : ([
          ['Margin', money(s.margin), share(ratio(s.margin, s.revenue))],
          ['Sold rate', [share(ratio(s.sales, s.leads))], `${count(s.leads)} leads`],
          ['EPL', money(ratio(s.revenue, s.leads)), 'earnings per lead'],
        ] as typeof all)),
    ['Return rate', [share(ratio(s.returns, s.sales))], `${count(s.returns)} returns`],
  ];
  if (kind === 'buyers' && add('pings') > 0) {
    all.push(['Bid rate', [share(ratio(add('bids'), add('pings')))], `${count(add('pings'))} pings`]);
  }
  if (funds) all.push(['Balance', money(balance.data?.balance, balance.data?.currency ?? ''), 'now']);
  return (
    <dl class="figures">
      {all.map(([name, [text, title], more]) => (
        <div class="card">
          <dt>{name}</dt>
          <dd>
            <strong title={title}>{text}</strong>
            <small>{more}</small>
          </dd>
        </div>
      ))}
    </dl>
  );
}

function OverTime({ rows, unit, period }: { rows: Row[]; unit: Unit; period: Period }) {
  const currency = sumsOf(rows)[0]?.currency ?? '';
  const own = useMemo(() => rows.map((r) => ({ ...r, all: 'all' })), [rows]);
  const { times, series } = useStack(own, 'all', 'revenue', 1, period);
  const values = series[0]?.values ?? [];
  const total = values.reduce((a, b) => a + b, 0);
  return (
    <Card title={unit === 'hour' ? 'Hourly revenue' : 'Daily revenue'}>
      {total === 0 ? (
        <Empty title="No sale in this period">Choose a longer period at the top.</Empty>
      ) : (
        <Chart
          bars={unit}
          times={times}
          series={[{ name: `Revenue${currency ? `, ${currency}` : ''}`, color: '--line-1', values }]}
          summary={`Revenue of ${amount(total, currency)}; the revenue report has the numbers.`}
          text={(n) => amount(n, currency)}
          currency={currency}
        />
      )}
    </Card>
  );
}
