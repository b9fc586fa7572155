import { count, words } from '../../format';
import { useLoad, usePages } from '../../load';
import { type FilterOf, Filters } from '../../part/filters';
import { More } from '../../part/more';
import { Empty, Loaded } from '../../part/state';
import { Table } from '../../part/table';
import { Badge, Cash, Heading, Id, Ref, Status, statusOf, Time } from '../../part/words';
import { outcomes } from '../../reason';
import type { PageOf } from '../../route';
import { to } from '../../route';
import type { AuctionRow, Found, Told } from '../../types';
import { useWorkspace } from '../../workspace';
import { LeadsTabs, Reached, searchOf } from './leads';
import { Story, StoryTabs } from './story';

const filters: FilterOf[] = [
  { name: 'campaign', label: 'Campaign', ids: 'campaigns' },
  { name: 'supplier', label: 'Supplier', ids: 'suppliers' },
  { name: 'buyer', label: 'Buyer', ids: 'buyers' },
  { name: 'outcome', label: 'Bid outcome', options: outcomes.map((o) => [o, words(o)]) },
];

export function AuctionsPage({ query }: PageOf) {
  const space = useWorkspace();
  const pages = usePages<Found & { auctions: AuctionRow[] }>('auctions', { ...searchOf(query, space), limit: 50 });
  const auctions = pages.data?.flatMap((p) => p.auctions) ?? [];
  const some = Object.keys(query).length > 0;
  return (
    <>
      <Heading title="Auctions" />
      <LeadsTabs at="auctions" />
      <Filters of={filters} query={query} place={['auctions']} />
      <More
        of={pages}
        none={auctions.length === 0}
        note={<Reached of={pages.data?.at(-1)} />}
        empty={
          <Empty title={some ? 'No auction matches these filters' : 'No auction in this period'}>
            {some ? (
              <a href={to(['auctions'])}>Clear all filters</a>
            ) : (
              'Campaigns with the method ping_post hold auctions. Choose a longer period at the top.'
            )}
          </Empty>
        }
      >
        <Table
          caption="Auctions"
          name="auctions"
          rows={auctions}
          keyOf={(a) => a.id}
          columns={[
            { head: 'Auction', of: (a) => <Id of="auctions" id={a.id} /> },
            { head: 'Held', of: (a) => <Time at={a.at} />, sort: (a) => a.at, phone: 'plain' },
            { head: 'Lead', of: (a) => <Id of="leads" id={a.lead} />, phone: 'none' },
            {
              head: 'Campaign',
              of: (a) => <Ref of="campaigns" id={a.campaign} />,
              sort: (a) => a.campaign,
              phone: 'plain',
            },
            {
              head: 'Supplier',
              of: (a) => <Ref of="suppliers" id={a.supplier} />,
              sort: (a) => a.supplier,
              phone: 'none',
            },
            { head: 'Pinged', number: true, of: (a) => count(a.asked), sort: (a) => a.asked, phone: 'none' },
            {
              head: 'Highest bidder',
              phone: 'none',
              sort: (a) => a.winner,
              of: (a) => (a.winner ? <Ref of="buyers" id={a.winner} /> : <span class="faint">{words(a.reason)}</span>),
            },
            {
              head: 'Highest bid',
              number: true,
              of: (a) => <Cash of={a.amount} currency={a.currency} />,
              sort: (a) => a.amount,
            },
            {
              head: 'Outcome',
              sort: (a) => a.status,
              of: (a) => (
                <>
                  {a.status ? <Status word={statusOf({ status: a.status, delivery: a.delivery })} /> : outcomeOf(a)}{' '}
                  {a.test && <Badge>test</Badge>}
                </>
              ),
            },
            { head: 'Winning buyer', of: (a) => <Ref of="buyers" id={a.sold_to} />, sort: (a) => a.sold_to },
            {
              head: 'Price',
              number: true,
              phone: 'side',
              of: (a) => <Cash of={a.price} currency={a.currency} />,
              sort: (a) => a.price,
            },
          ]}
        />
      </More>
    </>
  );
}

// outcomeOf returns the outcome of an auction for a ping, which has no lead yet.
const outcomeOf = (a: AuctionRow): string => (a.winner ? 'bid for a ping' : words(a.reason));

// AuctionPage accepts every id that explain accepts. A supplier's own id may need the supplier.
export function AuctionPage({ id, tab, query }: PageOf) {
  const told = useLoad<Told>('explain', { id, supplier: query.supplier });
  const at = tab || 'auction';
  return (
    <>
      <p class="crumbs">
        <a href={to(['auctions'])}>Auctions</a>
      </p>
      <Heading title={id} id={id} />
      <StoryTabs place={['auctions', id]} query={query} at={at} />
      <Loaded of={told}>{(t) => <Story told={t} at={at} />}</Loaded>
    </>
  );
}
