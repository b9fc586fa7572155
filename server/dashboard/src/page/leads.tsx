import { part } from '../call';
import { amount, instant, words } from '../format';
import { useLoad, usePages } from '../load';
import { type FilterOf, Filters } from '../part/filters';
import { More } from '../part/more';
import { Empty, Loaded } from '../part/state';
import { Table } from '../part/table';
import { Badge, Ref, Status, Time } from '../part/words';
import { reasons } from '../reason';
import type { PageOf } from '../route';
import { to } from '../route';
import type { Found, LeadRow, Told } from '../types';
import { Story } from './story';

const filters: FilterOf[] = [
  { name: 'q', label: 'Id', hint: 'lead_… or auc_…' },
  { name: 'campaign', label: 'Campaign', ids: 'campaigns' },
  { name: 'supplier', label: 'Supplier', ids: 'suppliers' },
  { name: 'buyer', label: 'Buyer', ids: 'buyers' },
  {
    name: 'status',
    label: 'Status',
    options: ['OPEN', 'ACCEPTED', 'UNMATCHED', 'contacted', 'qualified', 'sold', 'returned'],
  },
  { name: 'reason', label: 'Reason', options: reasons },
  { name: 'state', label: 'State', hint: 'CA' },
  { name: 'source', label: 'Source' },
  {
    name: 'test',
    label: 'Tests',
    options: [
      ['true', 'tests alone'],
      ['false', 'none'],
    ],
  },
  { name: 'from', label: 'From (UTC)', type: 'datetime' },
  { name: 'to', label: 'To (UTC)', type: 'datetime' },
];

export function LeadsPage({ query }: PageOf) {
  const pages = usePages<Found & { leads: LeadRow[] }>('leads', { ...query, limit: 50 });
  const leads = pages.data?.flatMap((p) => p.leads) ?? [];
  return (
    <>
      <h1 tabIndex={-1}>Leads</h1>
      <Filters of={filters} query={query} place={['leads']} />
      <More
        of={pages}
        none={leads.length === 0}
        note={<Reached of={pages.data?.at(-1)} />}
        empty={
          <Empty title={Object.keys(query).length > 0 ? 'No lead fits' : 'No lead has come yet'}>
            {Object.keys(query).length > 0
              ? 'Leave out one of the conditions, or look at a longer time.'
              : 'The test bench sends one.'}
          </Empty>
        }
      >
        <Table
          caption="Leads"
          rows={leads}
          keyOf={(l) => l.id}
          columns={[
            { head: 'At (UTC)', of: (l) => <Time at={l.at} /> },
            { head: 'Lead', of: (l) => <Ref of="leads" id={l.id} /> },
            {
              head: 'Status',
              of: (l) => (
                <>
                  <Status word={l.status} /> {l.test && <Badge>test</Badge>} <small>{standing(l)}</small>
                </>
              ),
            },
            { head: 'Campaign', of: (l) => <Ref of="campaigns" id={l.campaign} /> },
            { head: 'Supplier', of: (l) => <Ref of="suppliers" id={l.supplier} /> },
            { head: 'Buyer', of: (l) => <Ref of="buyers" id={l.buyer} /> },
            { head: 'Price', number: true, of: (l) => amount(l.price, l.currency) },
            { head: 'Payout', number: true, of: (l) => amount(l.payout, l.currency) },
            { head: 'From', of: (l) => [l.state, l.source].filter(Boolean).join(', ') || '–' },
          ]}
        />
      </More>
    </>
  );
}

// standing returns the reason why a lead was not sold, or its delivery state if that needs attention.
function standing(l: LeadRow): string {
  if (l.reason) return words(l.reason);
  return l.delivery && !['none', 'delivered'].includes(l.delivery) ? `delivery ${words(l.delivery)}` : '';
}

// Reached shows the position of a search that stopped at its time limit.
export function Reached({ of }: { of: Found | undefined }) {
  if (!of || of.complete) return null;
  return (
    <span class="faint">
      The search is bounded in time. {of.searched_from && `It has come back to ${instant(of.searched_from)} UTC. `}
      There may be more before that.
    </span>
  );
}

export function LeadPage({ id }: PageOf) {
  const told = useLoad<Told>(`explain/${part(id)}`);
  return (
    <>
      <div class="title">
        <h1 tabIndex={-1} class="mono">
          {id}
        </h1>
        {told.data && !told.data.erased && <a href={to(['erase'], { lead: told.data.lead_id })}>Erase the person</a>}
      </div>
      <Loaded of={told}>{(t) => <Story told={t} />}</Loaded>
    </>
  );
}
