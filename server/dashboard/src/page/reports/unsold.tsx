import { useMemo } from 'preact/hooks';
import type { Unit } from '../../axis';
import { nameOf, useEntries } from '../../entries';
import { count, share, words } from '../../format';
import { useLoad } from '../../load';
import { useReport } from '../../load-report';
import { Bars } from '../../part/bars';
import { Chart, palette } from '../../part/chart';
import { type FilterOf, Filters } from '../../part/filters';
import { Empty, Loaded } from '../../part/state';
import { Card, Facts } from '../../part/words';
import { limitsOf, type Period } from '../../period';
import { attempts, meaning } from '../../reason';
import { type Row, total } from '../../report';
import { to } from '../../route';
import { unitOf, useStack } from '../../stack';
import type { Unmatched } from '../../types';
import { periodOf, useWorkspace } from '../../workspace';

const filters: FilterOf[] = [
  { name: 'campaign', label: 'Campaign', ids: 'campaigns' },
  { name: 'supplier', label: 'Supplier', ids: 'suppliers' },
  { name: 'buyer', label: 'Buyer', ids: 'buyers' },
];

// UnsoldTab shows why leads of the period did not sell.
export function UnsoldTab({ query }: { query: { [name: string]: string } }) {
  const space = useWorkspace();
  const period = periodOf(space, query);
  const limits = limitsOf(period, space.zone);
  const { from: _, to: __, preset: ___, ...rest } = query;
  const found = useLoad<Unmatched>('unmatched', { ...rest, ...limits });
  const { campaign, supplier } = query;
  const unit = unitOf(period);
  const report = useReport({
    by: `${unit},reason`,
    campaign,
    supplier,
    from: period.from,
    to: limits.to,
    zone: space.zone,
  });
  return (
    <>
      <Filters of={filters} query={query} place={['reports', 'unsold']} />
      <Loaded of={found}>
        {(u) =>
          u.leads === 0 ? (
            <Empty title="No lead in this period">Choose a longer period at the top, or clear a filter.</Empty>
          ) : (
            <>
              <OverTime rows={report.data?.rows ?? none} unit={unit} period={period} />
              <Breakdown of={u} rows={report.data?.rows} query={rest} />
            </>
          )
        }
      </Loaded>
    </>
  );
}

const none: Row[] = [];

function OverTime({ rows, unit, period }: { rows: Row[]; unit: Unit; period: Period }) {
  const { times, series } = useStack(rows, 'reason', 'unmatched', 5, period);
  if (series.length === 0) return null;
  return (
    <Card title={`Unsold leads by ${unit}`}>
      <Chart
        bars={unit}
        times={times}
        series={series.map((s, i) => ({ name: words(s.name), color: palette[i] ?? '--line-6', values: s.values }))}
        summary={`Unsold leads by ${unit} and reason; the bars below have the numbers.`}
      />
    </Card>
  );
}

const sharePart = (n: number | null | undefined, all: number): string =>
  n === null || n === undefined ? '–' : `${count(n)} (${share(n / all)})`;

// Breakdown shows the counts of unsold leads. rows are those of the report, which has the sales.
function Breakdown({ of, rows, query }: { of: Unmatched; rows?: Row[]; query: { [name: string]: string } }) {
  const buyers = useMemo(() => {
    const sums = new Map<string, { bids: number; outcomes: string[]; notes: string[] }>();
    for (const b of of.buyers) {
      const one = sums.get(b.buyer) ?? { bids: 0, outcomes: [], notes: [] };
      one.bids += b.bids;
      one.outcomes.push(b.outcome);
      one.notes.push(`${count(b.bids)} ${words(b.outcome)}`);
      sums.set(b.buyer, one);
    }
    return [...sums].sort((a, b) => b[1].bids - a[1].bids);
  }, [of]);
  const entries = useEntries();
  const sold = rows && total(rows, 'sales');
  const open = of.leads - of.unsold - (sold ?? of.leads);
  return (
    <>
      <Facts
        of={[
          ['Leads', count(of.leads)],
          ['Sold', sharePart(sold, of.leads)],
          ...(open > 0 ? [['Unconfirmed or in progress', sharePart(open, of.leads)] as [string, string]] : []),
          ['Unsold', sharePart(of.unsold, of.leads)],
        ]}
      />
      <Card title="Unsold reasons">
        {of.reasons.length === 0 && <Empty title="Every lead was sold" />}
        <Bars
          label="Unsold leads by reason"
          of={of.reasons.map((r) => ({
            key: r.reason,
            name: words(r.reason),
            note: meaning(r.reason),
            value: r.leads,
            text: sharePart(r.leads, of.leads),
            href: to(['leads'], { ...query, status: 'UNMATCHED', reason: r.reason }),
          }))}
        />
      </Card>
      <div class="columns">
        <Card title="By campaign">
          {of.campaigns.length === 0 && <Empty title="Every lead was sold" />}
          <Bars
            label="Unsold leads by campaign"
            of={of.campaigns.map((c) => ({
              key: c.campaign,
              name: nameOf(entries, 'campaigns', c.campaign),
              value: c.leads,
              text: `${count(c.leads)} ${c.leads === 1 ? 'lead' : 'leads'}`,
              href:
                query.campaign === c.campaign
                  ? to(['leads'], { ...query, status: 'UNMATCHED' })
                  : to(['reports', 'unsold'], { ...query, campaign: c.campaign }),
            }))}
          />
        </Card>
        <Card title="Bid outcomes">
          {of.outcomes.length === 0 && <Empty title="No buyers pinged" />}
          <Bars
            label="Pings, bids and posts by outcome"
            of={of.outcomes.map((o) => ({
              key: o.outcome,
              name: words(o.outcome),
              value: o.bids,
              text: attempts(o.bids, [o.outcome]),
              href: to(['auctions'], {
                campaign: query.campaign,
                supplier: query.supplier,
                buyer: query.buyer,
                from: query.from,
                to: query.to,
                outcome: o.outcome,
              }),
            }))}
          />
        </Card>
      </div>
      {buyers.length > 0 && (
        <Card title="By buyer">
          <Bars
            label="Pings, bids and posts by buyer"
            of={buyers.map(([buyer, one]) => ({
              key: buyer,
              name: nameOf(entries, 'buyers', buyer),
              note: one.notes.join(', '),
              value: one.bids,
              text: attempts(one.bids, one.outcomes),
              href: to(['reports', 'unsold'], { ...query, buyer }),
            }))}
          />
        </Card>
      )}
    </>
  );
}
