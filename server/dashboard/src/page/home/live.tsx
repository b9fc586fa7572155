import { useEffect, useState } from 'preact/hooks';
import { type Failure, send } from '../../call';
import { about, count, rate } from '../../format';
import { asFailure, useSignedIn } from '../../load';
import { Chart } from '../../part/chart';
import { Empty } from '../../part/state';
import { Table } from '../../part/table';
import { Badge, Card, Ref, Status } from '../../part/words';
import { latencyOf } from '../../report';
import { to } from '../../route';
import { pause, reader } from '../../stream';
import type { BuyerHealth, Overview } from '../../types';

// useLive subscribes to the overview, which the exchange sends every second. It reconnects
// after a broken connection and shows the last overview meanwhile.
export function useLive(): { data?: Overview; live: boolean; failure?: Failure } {
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

// Flow shows the traffic of the last ten minutes.
export function Flow({ of }: { of: Overview | undefined }) {
  const points = of?.series ?? [];
  const step = 5; // seconds between points
  const persecond = (name: 'leads' | 'sold' | 'pings') => points.map((p) => p[name] / step);
  const total = (name: 'leads' | 'sold') => points.reduce((sum, p) => sum + p[name], 0);
  return (
    <Card
      title="Activity, last ten minutes"
      side={
        of && (
          <span class="faint">
            {of.uptime_s < 10 ? 'Since the start' : 'Last ten seconds'}: {rate(of.rates.leads_s)} leads,{' '}
            {rate(of.rates.pings_s)} pings, {rate(of.rates.posts_s)} posts a second
          </span>
        )
      }
    >
      {points.length < 2 ? (
        <Empty title="The chart has no points yet">The first ones appear within seconds.</Empty>
      ) : (
        <Chart
          times={points.map((p) => Date.parse(p.at) / 1000)}
          span={600}
          summary={`In the last ten minutes ${count(total('leads'))} leads came, and ${count(total('sold'))} were sold.`}
          text={rate}
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

const p50 = (b: BuyerHealth) => latencyOf(b.p50_ms, b.asked, b.timeouts);
const p99 = (b: BuyerHealth) => latencyOf(b.p99_ms, b.asked, b.timeouts);

// BuyersNow shows each buyer's answers of the last ten minutes.
export function BuyersNow({ of: overview }: { of: Overview | undefined }) {
  const of = overview?.buyers ?? [];
  if (!overview) return null;
  return (
    <Card title="Buyers, last ten minutes">
      {of.length === 0 ? (
        <Empty title="No buyers yet">
          <a href={to(['buyers', '+'])}>Add the first buyer</a>.
        </Empty>
      ) : (
        <Table
          caption="Buyers’ health"
          name="health"
          rows={of}
          most={3}
          keyOf={(b) => b.id}
          columns={[
            { head: 'Buyer', of: (b) => <Ref of="buyers" id={b.id} />, sort: (b) => b.name || b.id },
            {
              head: 'Health',
              phone: 'side',
              sort: (b) => b.health,
              of: (b) => (
                <>
                  <Status word={b.health} /> {b.paused && <Badge tone="warn">paused</Badge>}
                </>
              ),
            },
            { head: 'Sales', number: true, of: (b) => count(b.sales), sort: (b) => b.sales },
            { head: 'Posts', number: true, of: (b) => count(b.posts), sort: (b) => b.posts },
            { head: 'Pings', number: true, of: (b) => count(b.asked), sort: (b) => b.asked },
            { head: 'Bids', number: true, of: (b) => count(b.bids), sort: (b) => b.bids },
            { head: 'Top bids', number: true, of: (b) => count(b.wins), sort: (b) => b.wins },
            { head: 'Timeouts', number: true, of: (b) => count(b.timeouts), sort: (b) => b.timeouts },
            { head: 'p50', number: true, of: (b) => about(p50(b)), sort: p50, phone: 'none' },
            { head: 'p99', number: true, of: (b) => about(p99(b)), sort: p99, phone: 'none' },
          ]}
        />
      )}
    </Card>
  );
}
