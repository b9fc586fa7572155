import { useMemo } from 'preact/hooks';
import type { Unit } from '../../axis';
import { amount, count, words } from '../../format';
import { useAlerts } from '../../load-alerts';
import { useReport } from '../../load-report';
import { Bars } from '../../part/bars';
import { Chart, palette } from '../../part/chart';
import { Empty, Loaded } from '../../part/state';
import { Badge, Card, Heading } from '../../part/words';
import { limitsBefore, limitsOf, type Period } from '../../period';
import { byName, type Row, sumsOf } from '../../report';
import { to } from '../../route';
import { unitOf, useStack } from '../../stack';
import { periodOf, useWorkspace } from '../../workspace';
import { ActionItems } from './actions';
import { HomeAlerts } from './alerts';
import { Checklist, useSetup } from './checklist';
import { Figures } from './figures';
import { BuyersNow, Flow, useLive } from './live';

const every = 60_000;

export function HomePage() {
  const live = useLive();
  const setup = useSetup();
  const alerts = useAlerts();
  return (
    <>
      <Heading title="Home">
        <span role="status">
          {live.live ? (
            <Badge tone="good">live</Badge>
          ) : (
            <Badge tone="warn">{live.failure ? 'offline' : 'connecting'}</Badge>
          )}
        </span>
      </Heading>
      {live.data && !live.data.ready && <p class="note warn">The exchange does not accept requests at present.</p>}
      <HomeAlerts of={alerts} />
      <Checklist of={setup} />
      {live.data && !live.data.report.kept ? <NoReport /> : <Money />}
      <div class="columns">
        <Flow of={live.data} />
        <ActionItems of={live.data} />
      </div>
      <BuyersNow of={live.data} />
    </>
  );
}

function NoReport() {
  return (
    <Empty title="This exchange keeps no report">
      Set <code>report.keep</code> in the configuration, for example to 400d, and start the exchange again. Revenue and
      unsold reasons then appear here.
    </Empty>
  );
}

// Money shows the period's figures: totals against the period before, revenue over time, the
// largest buyers and sources, unsold reasons.
function Money() {
  const space = useWorkspace();
  const period = periodOf(space);
  const limits = limitsOf(period, space.zone);
  const earlier = useMemo(() => limitsBefore(period, space.zone, new Date()), [period.from, period.to, space.zone]);
  const { zone } = space;
  const unit = unitOf(period);
  const now = useReport({ from: period.from, to: limits.to, zone }, every);
  const before = useReport({ ...earlier, zone });
  const time = useReport({ by: `${unit},buyer`, from: period.from, to: limits.to, zone }, every);
  const sources = useReport({ by: 'source', from: period.from, to: limits.to, zone }, every);
  const reasons = useReport({ by: `${unit},reason`, from: period.from, to: limits.to, zone }, every);
  return (
    <>
      <Loaded of={now}>{({ rows }) => <Figures now={sumsOf(rows)} before={sumsOf(before.data?.rows ?? [])} />}</Loaded>
      <div class="columns wide">
        <Loaded of={time}>{({ rows }) => <Revenue rows={rows} unit={unit} period={period} />}</Loaded>
        <Loaded of={time}>{({ rows }) => <Top title="Top buyers" rows={rows} dimension="buyer" />}</Loaded>
      </div>
      <div class="columns wide">
        <Loaded of={reasons}>{({ rows }) => <Unsold rows={rows} unit={unit} period={period} />}</Loaded>
        <Loaded of={sources}>{({ rows }) => <Top title="Top sources" rows={rows} dimension="source" />}</Loaded>
      </div>
    </>
  );
}

function Revenue({ rows, unit, period }: { rows: Row[]; unit: Unit; period: Period }) {
  const currency = sumsOf(rows)[0]?.currency ?? '';
  const own = useMemo(() => rows.filter((r) => r.currency === currency).map((r) => ({ ...r, all: 'all' })), [rows]);
  const { times, series } = useStack(own, 'all', 'revenue', 1, period);
  const values = series[0]?.values ?? [];
  const total = values.reduce((a, b) => a + b, 0);
  return (
    <Card
      title={unit === 'hour' ? 'Hourly revenue' : 'Daily revenue'}
      side={<a href={to(['reports', 'revenue'])}>Report</a>}
    >
      {total === 0 ? (
        <Empty title="No sale in this period">Choose a longer period at the top, or look at the unsold reasons.</Empty>
      ) : (
        <Chart
          bars={unit}
          times={times}
          series={[{ name: `Revenue${currency ? `, ${currency}` : ''}`, color: '--line-1', values }]}
          summary={`Revenue of ${amount(total, currency)}; the report has the numbers in a table.`}
          text={(n) => amount(n, currency)}
          currency={currency}
        />
      )}
    </Card>
  );
}

function Top({ title, rows, dimension }: { title: string; rows: Row[]; dimension: 'buyer' | 'source' }) {
  const currency = sumsOf(rows)[0]?.currency ?? '';
  const own = rows.filter((r) => r.currency === currency);
  const bars = byName(own, dimension, 'revenue')
    .filter((b) => b.value > 0)
    .slice(0, 6);
  const page = dimension === 'buyer' ? 'buyers' : 'sources';
  return (
    <Card
      title={title}
      side={
        <>
          <a href={to(['reports', page], { preset: 'yesterday' })} aria-label={`Yesterday: revenue by ${dimension}`}>
            Yesterday
          </a>
          <a href={to(['reports', page])} aria-label={`Report: revenue by ${dimension}`}>
            Report
          </a>
        </>
      }
    >
      {bars.length === 0 ? (
        <Empty title="No sale in this period" />
      ) : (
        <Bars
          label={`${title} by revenue`}
          kind={dimension === 'buyer' ? 'buyers' : undefined}
          of={bars.map((b) => ({
            key: b.name,
            name: b.name,
            value: b.value,
            text: amount(b.value, currency),
            href:
              dimension === 'buyer'
                ? to(['buyers', b.name])
                : to(['leads'], { source: b.name === 'none' ? '' : b.name }),
          }))}
        />
      )}
    </Card>
  );
}

function Unsold({ rows, unit, period }: { rows: Row[]; unit: Unit; period: Period }) {
  const { times, series } = useStack(rows, 'reason', 'unmatched', 5, period);
  const total = series.reduce((sum, s) => sum + s.values.reduce((a, b) => a + b, 0), 0);
  return (
    <Card title="Unsold reasons" side={<a href={to(['reports', 'unsold'])}>Report</a>}>
      {total === 0 ? (
        <Empty title="No unsold lead in this period" />
      ) : (
        <Chart
          bars={unit}
          times={times}
          series={series.map((s, i) => ({
            name: words(s.name),
            color: palette[i] ?? '--line-6',
            values: s.values,
          }))}
          summary={`${count(total)} unsold leads by ${unit} and reason; the report has the numbers.`}
        />
      )}
    </Card>
  );
}
