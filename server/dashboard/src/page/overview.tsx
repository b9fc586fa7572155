import { useEffect, useState } from 'preact/hooks';
import { call, type Failure, send } from '../call';
import { amount, bytes, count, millis, rate, share, span } from '../format';
import { asFailure, useLoad, useSignedIn } from '../load';
import { Act } from '../part/button';
import { Chart } from '../part/chart';
import { Empty, Waiting } from '../part/state';
import { Table } from '../part/table';
import { Badge, Card, Facts, Ref, Status } from '../part/words';
import { Wrong } from '../part/wrong';
import { to } from '../route';
import { pause, reader } from '../stream';
import type { Backup, BuyerHealth, Overview, Sums } from '../types';

export function OverviewPage() {
  const { data, live, failure } = useLive();
  return (
    <>
      <div class="title">
        <h1 tabIndex={-1}>Overview</h1>
        <span role="status">
          {live ? <Badge tone="good">live</Badge> : <Badge tone="warn">{failure ? 'not live' : 'connecting'}</Badge>}
        </span>
      </div>
      {!live && <Wrong failure={failure} />}
      {!data && !failure && <Waiting />}
      {data && <Shown of={data} />}
    </>
  );
}

// useLive subscribes to the overview, which the exchange sends every second. It reconnects
// after a broken connection and shows the last overview meanwhile.
function useLive(): { data?: Overview; live: boolean; failure?: Failure } {
  const [data, set] = useState<Overview | undefined>();
  const [live, go] = useState(false);
  const [failure, fail] = useState<Failure | undefined>();
  const [turn, again] = useState(0);
  useSignedIn(() => again((n) => n + 1));
  useEffect(() => {
    const control = new AbortController();
    let timer = 0;
    let tries = 0;
    const follow = async () => {
      try {
        const answer = await send('GET', 'live', { signal: control.signal, headers: { Accept: 'text/event-stream' } });
        const take = reader((m) => {
          if (m.event !== 'overview') return;
          tries = 0;
          set(JSON.parse(m.data) as Overview);
          go(true);
          fail(undefined);
        });
        const text = answer.body?.pipeThrough(new TextDecoderStream()).getReader();
        for (;;) {
          const piece = await text?.read();
          if (!piece || piece.done) break;
          take(piece.value);
        }
      } catch (problem) {
        if (control.signal.aborted) return;
        fail(asFailure(problem));
        if (asFailure(problem).status === 401) return;
      }
      if (control.signal.aborted) return;
      go(false);
      timer = window.setTimeout(follow, pause(tries++));
    };
    void follow();
    return () => {
      control.abort();
      clearTimeout(timer);
    };
  }, [turn]);
  return { data, live, failure };
}

function Shown({ of }: { of: Overview }) {
  return (
    <>
      {!of.ready && <p class="note warn">The exchange takes no requests at present.</p>}
      {of.sandbox && <p class="note">This is a sandbox: what is sold here is not sold in earnest.</p>}
      <Figures of={of} />
      <div class="columns">
        <Flow of={of} />
        <Today sums={of.today} report={of.report.kept} />
      </div>
      <Buyers of={of.buyers} />
      <div class="columns">
        <Waits of={of} />
        <Machine of={of} />
      </div>
    </>
  );
}

function Figures({ of }: { of: Overview }) {
  const figures: [string, string, string][] = [
    ['Leads a second', rate(of.rates.leads_s), `${rate(of.rates.pings_s)} pings, ${rate(of.rates.posts_s)} posts`],
    ['Sold a second', rate(of.rates.sold_s), 'last 10 seconds'],
    ['Sell-through', share(of.sell_through), 'of ten minutes’ leads'],
    ['Auction', millis(of.latency.auction_p50_ms), `p99 ${millis(of.latency.auction_p99_ms)}`],
    ['Ingest', millis(of.latency.ingest_p50_ms), `p99 ${millis(of.latency.ingest_p99_ms)}`],
    ['Commit', millis(of.latency.commit_p99_ms), 'p99, last minute'],
  ];
  return (
    <dl class="figures">
      {figures.map(([name, value, more]) => (
        <div class="card">
          <dt>{name}</dt>
          <dd>
            <strong>{value}</strong>
            <small>{more}</small>
          </dd>
        </div>
      ))}
    </dl>
  );
}

function Flow({ of }: { of: Overview }) {
  const times = of.series.map((p) => Date.parse(p.at) / 1000);
  const step = 5; // seconds between points
  const persecond = (name: 'leads' | 'sold' | 'pings') => of.series.map((p) => p[name] / step);
  const total = (name: 'leads' | 'sold') => of.series.reduce((sum, p) => sum + p[name], 0);
  return (
    <Card title="Leads, sales and pings a second, last ten minutes">
      {times.length < 2 ? (
        <Empty title="Nothing to draw yet">The first points come within seconds of the first lead.</Empty>
      ) : (
        <Chart
          times={times}
          span={600}
          summary={`In the last ten minutes ${count(total('leads'))} leads came, and ${count(total('sold'))} were sold.`}
          series={[
            { name: 'Leads', color: '--line-1', values: persecond('leads') },
            { name: 'Sold', color: '--line-2', values: persecond('sold') },
            { name: 'Pings', color: '--line-3', values: persecond('pings') },
          ]}
        />
      )}
    </Card>
  );
}

function Today({ sums, report }: { sums: Sums[]; report: boolean }) {
  return (
    <Card title="Today (UTC)">
      {sums.length === 0 ? (
        report ? (
          <Empty title="No lead today">The sums begin with the day’s first lead.</Empty>
        ) : (
          <Empty title="No report is kept">
            Give <code>report.keep</code> in the configuration a time, such as 400d, and start the exchange again.
          </Empty>
        )
      ) : (
        sums.map((s) => (
          <Facts
            of={[
              ['Leads', count(s.leads)],
              ['Sold', count(s.sold)],
              ['Revenue', amount(s.revenue, s.currency)],
              ['Payout', amount(s.payout, s.currency)],
              ['Margin', `${amount(s.margin, s.currency)}${s.revenue > 0 ? ` (${share(s.margin / s.revenue)})` : ''}`],
            ]}
          />
        ))
      )}
    </Card>
  );
}

function Buyers({ of }: { of: BuyerHealth[] }) {
  return (
    <Card title="Buyers, last ten minutes">
      {of.length === 0 ? (
        <Empty title="There is no buyer">
          Make one under <a href={to(['buyers'])}>Buyers</a>.
        </Empty>
      ) : (
        <Table
          caption="Buyers’ health"
          rows={of}
          keyOf={(b) => b.id}
          columns={[
            { head: 'Buyer', of: (b) => <Ref of="buyers" id={b.id} /> },
            {
              head: 'Health',
              of: (b) => (
                <>
                  <Status word={b.health} /> {b.paused && <Badge tone="warn">paused</Badge>}
                </>
              ),
            },
            { head: 'Pings', number: true, of: (b) => count(b.asked) },
            { head: 'Bids', number: true, of: (b) => count(b.bids) },
            { head: 'Wins', number: true, of: (b) => count(b.wins) },
            { head: 'Posts', number: true, of: (b) => count(b.posts) },
            { head: 'Sales', number: true, of: (b) => count(b.sales) },
            { head: 'Timeouts', number: true, of: (b) => count(b.timeouts) },
            { head: 'p50', number: true, of: (b) => millis(b.p50_ms) },
            { head: 'p99', number: true, of: (b) => millis(b.p99_ms) },
          ]}
        />
      )}
    </Card>
  );
}

function Waits({ of }: { of: Overview }) {
  const waits: [string, number, string][] = [
    ['Deliveries whose fate is unknown', of.deliveries_unknown, 'deliveries'],
    ['Returns to decide', of.returns_waiting, 'returns'],
    ['Webhooks that failed for good', of.webhooks.dead, 'webhooks'],
    ['Webhooks on their way', of.webhooks.waiting, 'webhooks'],
  ];
  return (
    <Card title="What waits">
      <ul class="waits">
        {waits.map(([name, n, path]) => (
          <li>
            <a href={to([path])}>{name}</a>
            <Badge tone={n === 0 ? 'plain' : path === 'webhooks' && name.endsWith('way') ? 'plain' : 'warn'}>
              {count(n)}
            </Badge>
          </li>
        ))}
      </ul>
    </Card>
  );
}

function Machine({ of }: { of: Overview }) {
  const backup = useLoad<Backup>('backup');
  useEffect(() => {
    const timer = window.setInterval(backup.reload, 10_000);
    return () => clearInterval(timer);
  }, []);
  const none = backup.data && !backup.data.configured;
  return (
    <Card
      title="The exchange"
      side={
        <Act
          needs="operator"
          off={none ? 'No backup is configured.' : undefined}
          run={() => call('POST', 'backup')}
          done="A backup is on its way."
        >
          Back up now
        </Act>
      }
    >
      <Facts
        of={[
          ['Tenant', of.tenant],
          ['Version', of.version],
          ['Running for', span(of.uptime_s)],
          ['Log entry', count(of.log.seq)],
          ['Disk free', bytes(of.disk_free_bytes)],
          ['Backup', backupOf(backup.data)],
          ['Report', of.report.kept ? `${span(of.report.lag_s)} behind` : 'not kept'],
        ]}
      />
    </Card>
  );
}

function backupOf(b: Backup | undefined): string {
  if (!b) return '–';
  if (!b.configured) return 'none: start with --backup-to';
  return b.last_error ? `failing: ${b.last_error}` : `${span(b.lag_s)} behind`;
}
