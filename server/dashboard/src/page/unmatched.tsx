import { useMemo } from 'preact/hooks';
import { count, instant, share, words } from '../format';
import { useLoad } from '../load';
import { Bars } from '../part/bars';
import { type FilterOf, Filters } from '../part/filters';
import { Empty, Loaded } from '../part/state';
import { Card, Facts } from '../part/words';
import { meaning } from '../reason';
import type { PageOf } from '../route';
import { to } from '../route';
import type { Unmatched } from '../types';

const filters: FilterOf[] = [
  { name: 'campaign', label: 'Campaign', ids: 'campaigns' },
  { name: 'supplier', label: 'Supplier', ids: 'suppliers' },
  { name: 'buyer', label: 'Buyer', ids: 'buyers' },
  { name: 'from', label: 'From (UTC)', type: 'datetime' },
  { name: 'to', label: 'To (UTC)', type: 'datetime' },
];

export function UnmatchedPage({ query }: PageOf) {
  const found = useLoad<Unmatched>('unmatched', query);
  return (
    <>
      <h1 tabIndex={-1}>Why unmatched</h1>
      <Filters of={filters} query={query} place={['unmatched']} />
      {!query.from && (
        <p class="faint">{query.to ? `The 24 hours before ${instant(query.to)} UTC.` : 'The last 24 hours.'}</p>
      )}
      <Loaded of={found}>
        {(u) =>
          u.leads === 0 ? (
            <Empty title="No lead came in this time">Look at a longer one, or leave out a condition.</Empty>
          ) : (
            <Breakdown of={u} query={query} />
          )
        }
      </Loaded>
    </>
  );
}

function Breakdown({ of, query }: { of: Unmatched; query: { [name: string]: string } }) {
  const buyers = useMemo(() => {
    const sums = new Map<string, { bids: number; outcomes: string[] }>();
    for (const b of of.buyers) {
      const one = sums.get(b.buyer) ?? { bids: 0, outcomes: [] };
      one.bids += b.bids;
      one.outcomes.push(`${count(b.bids)} ${words(b.outcome)}`);
      sums.set(b.buyer, one);
    }
    return [...sums].sort((a, b) => b[1].bids - a[1].bids);
  }, [of]);
  const sold = of.leads - of.unsold;
  return (
    <>
      <Facts
        of={[
          ['Leads', count(of.leads)],
          ['Sold', `${count(sold)} (${share(sold / of.leads)})`],
          ['Unmatched', `${count(of.unsold)} (${share(of.unsold / of.leads)})`],
        ]}
      />
      <Card title="By reason">
        {of.reasons.length === 0 && <Empty title="Every lead was sold" />}
        <Bars
          label="Unmatched leads by reason: each leads to the leads"
          of={of.reasons.map((r) => ({
            key: r.reason,
            name: words(r.reason),
            note: meaning(r.reason),
            value: r.leads,
            text: `${count(r.leads)} (${share(r.leads / of.leads)})`,
            href: to(['leads'], { ...query, status: 'UNMATCHED', reason: r.reason }),
          }))}
        />
      </Card>
      <div class="columns">
        <Card title="By campaign">
          {of.campaigns.length === 0 && <Empty title="None" />}
          <Bars
            label="Unmatched leads by campaign: each narrows this page"
            of={of.campaigns.map((c) => ({
              key: c.campaign,
              name: c.campaign,
              value: c.leads,
              text: `${count(c.leads)} ${c.leads === 1 ? 'lead' : 'leads'}`,
              href:
                query.campaign === c.campaign
                  ? to(['leads'], { ...query, status: 'UNMATCHED' })
                  : to(['unmatched'], { ...query, campaign: c.campaign }),
            }))}
          />
        </Card>
        <Card title="What bids came to">
          {of.outcomes.length === 0 && <Empty title="No buyer was looked at" />}
          <Bars
            label="Candidates by outcome"
            of={of.outcomes.map((o) => ({
              key: o.outcome,
              name: words(o.outcome),
              value: o.bids,
              text: `${count(o.bids)} ${o.bids === 1 ? 'bid' : 'bids'}`,
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
            label="Candidates by buyer: each narrows this page"
            of={buyers.map(([buyer, one]) => ({
              key: buyer,
              name: buyer,
              note: one.outcomes.join(', '),
              value: one.bids,
              text: `${count(one.bids)} ${one.bids === 1 ? 'bid' : 'bids'}`,
              href: to(['unmatched'], { ...query, buyer }),
            }))}
          />
        </Card>
      )}
    </>
  );
}
