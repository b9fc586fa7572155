import { useEffect } from 'preact/hooks';
import { about, bytes, count, rate, share, span } from '../../format';
import { useLoad } from '../../load';
import { Loaded } from '../../part/state';
import { Badge, Card, Facts } from '../../part/words';
import { ratio } from '../../report';
import type { Overview } from '../../types';

const interval = 5000;

// soldToday returns the day's sold rate, as in the reports.
function soldToday({ today }: Overview): number | null {
  const add = (column: 'sold' | 'leads') => today.reduce((sum, one) => sum + one[column], 0);
  return ratio(add('sold'), add('leads'));
}

// HealthTab shows the state of the exchange's process: load, answer times, log and disk.
export function HealthTab() {
  const overview = useLoad<Overview>('overview');
  useEffect(() => {
    const timer = window.setInterval(overview.reload, interval);
    return () => clearInterval(timer);
  }, []);
  return (
    <Loaded of={overview}>
      {(of) => (
        <>
          <Card title="Exchange">
            <Facts
              of={[
                [
                  'Status',
                  of.ready ? <Badge tone="good">accepts requests</Badge> : <Badge tone="bad">not ready</Badge>,
                ],
                ['Workspace', of.tenant],
                ['Version', of.version],
                ['Mode', of.sandbox ? 'sandbox: no real sales' : 'production'],
                ['Running for', span(of.uptime_s)],
                ['Disk free', bytes(of.disk_free_bytes)],
                ['Log entry', count(of.log.seq)],
                ['Sold rate, today', share(soldToday(of))],
                ['Report', of.report.kept ? `${span(of.report.lag_s)} behind` : 'not kept'],
              ]}
            />
          </Card>
          <Card title="Load, last minutes">
            <Facts
              of={[
                ['Leads a second', rate(of.rates.leads_s)],
                ['Pings a second', rate(of.rates.pings_s)],
                ['Posts a second', rate(of.rates.posts_s)],
                ['Sold a second', rate(of.rates.sold_s)],
                ['Auction, p50 and p99', `${about(of.latency.auction_p50_ms)}, ${about(of.latency.auction_p99_ms)}`],
                ['Direct post, p50 and p99', `${about(of.latency.ingest_p50_ms)}, ${about(of.latency.ingest_p99_ms)}`],
                ['Log commit, p99', about(of.latency.commit_p99_ms)],
              ]}
            />
          </Card>
        </>
      )}
    </Loaded>
  );
}
