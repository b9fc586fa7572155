import { amount, count, words } from '../format';
import { useLoad, usePages } from '../load';
import { type FilterOf, Filters } from '../part/filters';
import { More } from '../part/more';
import { Empty, Loaded } from '../part/state';
import { Table } from '../part/table';
import { Badge, Ref, Time } from '../part/words';
import { outcomes } from '../reason';
import type { PageOf } from '../route';
import type { AuctionRow, Found, Told } from '../types';
import { Reached } from './leads';
import { Story } from './story';

const filters: FilterOf[] = [
  { name: 'campaign', label: 'Campaign', ids: 'campaigns' },
  { name: 'supplier', label: 'Supplier', ids: 'suppliers' },
  { name: 'buyer', label: 'Buyer', ids: 'buyers' },
  { name: 'outcome', label: 'That came to', options: outcomes },
  { name: 'from', label: 'From (UTC)', type: 'datetime' },
  { name: 'to', label: 'To (UTC)', type: 'datetime' },
];

export function AuctionsPage({ query }: PageOf) {
  const pages = usePages<Found & { auctions: AuctionRow[] }>('auctions', { ...query, limit: 50 });
  const auctions = pages.data?.flatMap((p) => p.auctions) ?? [];
  return (
    <>
      <h1 tabIndex={-1}>Auctions</h1>
      <Filters of={filters} query={query} place={['auctions']} />
      <More
        of={pages}
        none={auctions.length === 0}
        note={<Reached of={pages.data?.at(-1)} />}
        empty={
          <Empty title={Object.keys(query).length > 0 ? 'No auction fits' : 'No auction was held yet'}>
            Auctions are held by campaigns whose method is ping_post.
          </Empty>
        }
      >
        <Table
          caption="Auctions"
          rows={auctions}
          keyOf={(a) => a.id}
          columns={[
            { head: 'At (UTC)', of: (a) => <Time at={a.at} /> },
            { head: 'Auction', of: (a) => <Ref of="auctions" id={a.id} /> },
            { head: 'Lead', of: (a) => <Ref of="leads" id={a.lead} /> },
            { head: 'Campaign', of: (a) => <Ref of="campaigns" id={a.campaign} /> },
            { head: 'Supplier', of: (a) => <Ref of="suppliers" id={a.supplier} /> },
            { head: 'Asked', number: true, of: (a) => count(a.asked) },
            {
              head: 'Came to',
              of: (a) => (
                <>
                  {a.winner ? <Ref of="buyers" id={a.winner} /> : words(a.reason)} {a.test && <Badge>test</Badge>}
                </>
              ),
            },
            { head: 'Bid', number: true, of: (a) => amount(a.amount, a.currency) },
          ]}
        />
      </More>
    </>
  );
}

// AuctionPage accepts every id that explain accepts. A seller's own id may need the supplier.
export function AuctionPage({ id, query }: PageOf) {
  const told = useLoad<Told>('explain', { id, supplier: query.supplier });
  return (
    <>
      <h1 tabIndex={-1} class="mono">
        {id}
      </h1>
      <Loaded of={told}>{(t) => <Story told={t} />}</Loaded>
    </>
  );
}
