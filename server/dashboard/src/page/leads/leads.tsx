import { useEffect, useState } from 'preact/hooks';
import { amount, arrivalOf, count, instant, share, words } from '../../format';
import { usePages } from '../../load';
import { Exports } from '../../part/export';
import { type FilterOf, Filters } from '../../part/filters';
import { More } from '../../part/more';
import { Empty } from '../../part/state';
import { type Column, Table } from '../../part/table';
import { Badge, Cash, Heading, Id, Ref, Status, statusOf, Tabs, Time, titleOf } from '../../part/words';
import { limitsOf } from '../../period';
import { findPerson, personOf } from '../../person';
import { reasons } from '../../reason';
import type { PageOf } from '../../route';
import { go, placeOf, to } from '../../route';
import type { Found, LeadRow } from '../../types';
import { periodOf, useWorkspace, type Workspace } from '../../workspace';

const statuses: [string, string][] = [
  ['OPEN', 'Open'],
  ['ACCEPTED', 'Sold'],
  ['UNMATCHED', 'Unsold'],
  ['contacted', 'Contacted'],
  ['qualified', 'Qualified'],
  ['sold', 'Sold by the buyer'],
  ['returned', 'Returned'],
];

const filters: FilterOf[] = [
  { name: 'status', label: 'Status', options: statuses },
  { name: 'campaign', label: 'Campaign', ids: 'campaigns' },
  { name: 'buyer', label: 'Winning buyer', ids: 'buyers' },
  { name: 'supplier', label: 'Supplier', ids: 'suppliers' },
  { name: 'reason', label: 'Unsold reason', options: reasons.map((r) => [r, words(r)]) },
  { name: 'source', label: 'Source' },
  { name: 'state', label: 'State', hint: 'CA' },
  { name: 'q', label: 'Id', chip: true },
];

// exported has the columns of an export for each column of the table.
const exported: { [head: string]: string[] } = {
  Lead: ['id'],
  Received: ['at'],
  Status: ['status', 'delivery', 'reason', 'test'],
  Campaign: ['campaign'],
  Supplier: ['supplier'],
  Source: ['source'],
  State: ['state'],
  'Winning buyer': ['buyer'],
  Price: ['price', 'currency'],
  Payout: ['payout', 'currency'],
};

const columnsFor = (heads: string[]): string => [...new Set(heads.flatMap((h) => exported[h] ?? []))].join(',');

// searchOf returns the limits of a search: those of the address, or else the header's period. An
// id is searched at all times.
export function searchOf(query: PageOf['query'], of: Workspace): PageOf['query'] {
  const { preset, from, to: until, ...rest } = query;
  const all = { test: String(of.test), ...rest };
  if (query.q) return rest;
  const isTime = (text: string | undefined) => text?.includes('T');
  if (isTime(from) || isTime(until)) return { ...all, ...(from && { from }), ...(until && { to: until }) };
  return { ...all, ...limitsOf(periodOf(of, query), of.zone) };
}

// LeadsTabs are the pages of the area Leads.
export function LeadsTabs({ at }: { at: string }) {
  return (
    <Tabs
      label="Leads"
      at={at}
      of={[
        { key: 'leads', name: 'Leads', href: to(['leads']) },
        { key: 'auctions', name: 'Auctions', href: to(['auctions']) },
        { key: 'find', name: 'Find a person', href: to(['find']) },
        { key: 'test', name: 'Test a lead', href: to(['test']) },
      ]}
    />
  );
}

// LeadsPage searches leads. A person in the address is moved out of it.
export function LeadsPage(of: PageOf) {
  const person = personOf(of.query.q ?? '');
  useEffect(() => {
    if (!person) return;
    history.replaceState(null, '', to(['leads']));
    findPerson(person);
  }, [of.query.q]);
  return person ? null : <Listing {...of} />;
}

// Search opens an id, or finds the leads of a person.
function Search({ query }: { query: PageOf['query'] }) {
  const [text, write] = useState('');
  return (
    <form
      role="search"
      class="row"
      autocomplete="off"
      onSubmit={(e) => {
        e.preventDefault();
        const person = personOf(text);
        const place = placeOf(text);
        if (person) findPerson(person);
        else if (place) location.hash = place;
        else go(['leads'], { ...query, q: text.trim() });
      }}
    >
      <input
        type="search"
        aria-label="Id, phone or email"
        placeholder="Id, phone or email"
        autocomplete="off"
        spellcheck={false}
        value={text}
        onInput={(e) => write(e.currentTarget.value)}
      />
    </form>
  );
}

function Listing({ query }: PageOf) {
  const space = useWorkspace();
  const search = searchOf(query, space);
  const pages = usePages<Found & { leads: LeadRow[] }>('leads', { ...search, limit: 50 });
  const leads = pages.data?.flatMap((p) => p.leads) ?? [];
  const some = Object.keys(query).length > 0;
  return (
    <>
      <Heading title="Leads" />
      <LeadsTabs at="leads" />
      <Filters of={filters} query={query} place={['leads']} side={<Search query={query} />} />
      <More
        of={pages}
        none={leads.length === 0}
        note={<Reached of={pages.data?.at(-1)} />}
        empty={
          <Empty title={some ? 'No lead matches these filters' : 'No lead in this period'}>
            {some ? (
              <a href={to(['leads'])}>Clear all filters</a>
            ) : (
              <>
                Choose a longer period at the top, or <a href={to(['test'])}>send a test lead</a>.
              </>
            )}
          </Empty>
        }
      >
        <Table
          caption="Leads"
          name="leads"
          rows={leads}
          keyOf={(l) => l.id}
          columns={columnsOf(leads, pages.more !== undefined)}
          side={(shown) => <Exports path="leads/export" query={{ ...search, columns: columnsFor(shown) }} />}
        />
        <p class="faint">
          Total price and payout: leads that are sold, before returns. Unconfirmed leads are not included.
        </p>
      </More>
    </>
  );
}

// columnsOf returns the columns with the totals of the rows that are loaded. With more, others exist.
function columnsOf(leads: LeadRow[], more: boolean): Column<LeadRow>[] {
  const sold = leads.filter(isSold);
  const unconfirmed = leads.filter((l) => l.delivery === 'unknown').length;
  const sum = (column: 'price' | 'payout') => totals(sold, column);
  return [
    {
      head: 'Lead',
      of: (l) => <Id of="leads" id={l.id} />,
      total: `${more ? 'First ' : ''}${count(leads.length)} ${leads.length === 1 ? 'lead' : 'leads'}`,
    },
    { head: 'Received', of: (l) => <Time at={arrivalOf(l)} />, sort: arrivalOf, phone: 'plain' },
    {
      head: 'Status',
      phone: 'side',
      sort: (l) => l.status,
      total: leads.length > 0 ? soldText(sold.length / leads.length, unconfirmed) : '',
      of: (l) => (
        <>
          <Status word={statusOf(l)} /> {l.test && <Badge>test</Badge>} <small>{standing(l)}</small>
        </>
      ),
    },
    { head: 'Campaign', of: (l) => <Ref of="campaigns" id={l.campaign} />, sort: (l) => l.campaign, phone: 'plain' },
    { head: 'Supplier', of: (l) => <Ref of="suppliers" id={l.supplier} />, sort: (l) => l.supplier, phone: 'none' },
    { head: 'Source', of: (l) => l.source || <span class="faint">–</span>, sort: (l) => l.source, phone: 'none' },
    { head: 'State', of: (l) => l.state || <span class="faint">–</span>, sort: (l) => l.state, phone: 'none' },
    { head: 'Winning buyer', of: (l) => <Ref of="buyers" id={l.buyer} />, sort: (l) => l.buyer, phone: 'none' },
    {
      head: 'Price',
      number: true,
      phone: 'plain',
      of: (l) => <Cash of={l.price} currency={l.currency} />,
      sort: (l) => l.price,
      total: sum('price'),
    },
    {
      head: 'Payout',
      number: true,
      phone: 'none',
      of: (l) => <Cash of={l.payout} currency={l.currency} />,
      sort: (l) => l.payout,
      total: sum('payout'),
    },
  ];
}

// isSold reports whether the buyer has the lead. Of an unconfirmed delivery, and of one in progress, that is not
// known yet: the money of such a lead is not revenue.
const isSold = (l: LeadRow): boolean => l.buyer !== null && l.delivery !== 'pending' && l.delivery !== 'unknown';

const soldText = (rate: number, unconfirmed: number) => (
  <>
    {share(rate)} sold {unconfirmed > 0 && <small>{count(unconfirmed)} unconfirmed</small>}
  </>
);

// totals adds up money by currency.
function totals(leads: LeadRow[], column: 'price' | 'payout'): string {
  const sums = new Map<string, number>();
  for (const l of leads) {
    if (l[column] !== null) sums.set(l.currency, (sums.get(l.currency) ?? 0) + (l[column] ?? 0));
  }
  return [...sums].map(([currency, sum]) => amount(sum, currency)).join(' + ');
}

// standing returns the reason why a lead was not sold, or its delivery state if that needs attention.
function standing(l: LeadRow): string {
  if (l.reason) return words(l.reason);
  if (l.delivery === statusOf(l)) return '';
  return l.delivery && !['none', 'delivered'].includes(l.delivery)
    ? `delivery ${titleOf(l.delivery).toLowerCase()}`
    : '';
}

// Reached shows that results are missing: the position of a search that stopped at its time limit, or
// that the report lacks the newest entries.
export function Reached({ of }: { of: Found | undefined }) {
  if (!of || of.complete) return null;
  return (
    <span class="faint">
      Some results may be missing:{' '}
      {of.next && of.searched_from
        ? `the search has reached ${instant(of.searched_from)}.`
        : 'the report is still reading the newest entries.'}
    </span>
  );
}
