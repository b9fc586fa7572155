import type { Query as ApiQuery } from '../../call';
import { nameOf, useEntries } from '../../entries';
import { amount, count, dayRange, exact, label } from '../../format';
import { useLoad } from '../../load';
import { Exports } from '../../part/export';
import { Ids } from '../../part/filters';
import { Empty, Loaded } from '../../part/state';
import { Table } from '../../part/table';
import { Card, Cash, Facts, Id, Ref, Time } from '../../part/words';
import { limitsOf } from '../../period';
import { to } from '../../route';
import type { Statement } from '../../types';
import { periodOf, useWorkspace } from '../../workspace';

type Query = { [name: string]: string };

const mostEntries = 1000;

// numberOf says how many sales or other entries a total has.
const numberOf = (kind: string, n: number): string => {
  const one = kind === 'sale' ? 'sale' : 'entry';
  return `${count(n)} ${n === 1 ? one : one === 'sale' ? 'sales' : 'entries'}`;
};

// StatementsTab shows the money of one buyer or supplier in the period of the header.
export function StatementsTab({ query }: { query: Query }) {
  const space = useWorkspace();
  const whose = query.buyer || query.supplier;
  const ask = { buyer: query.buyer, supplier: query.supplier, ...limitsOf(periodOf(space, query), space.zone) };
  const found = useLoad<Statement>(whose ? 'statement' : null, { ...ask, format: 'json' });
  const choose = (part: Query) => {
    location.hash = to(['reports', 'statements'], part);
  };
  return (
    <>
      <div class="row filters">
        <Ids of="buyers" label="Buyer" any="None" value={query.buyer ?? ''} set={(buyer) => choose({ buyer })} />
        <Ids
          of="suppliers"
          label="Supplier"
          any="None"
          value={query.supplier ?? ''}
          set={(supplier) => choose({ supplier })}
        />
      </div>
      {whose ? (
        <Loaded of={found}>{(s) => <Shown of={s} query={query} ask={ask} />}</Loaded>
      ) : (
        <Empty title="Choose a buyer or a supplier">Its statement for the period at the top appears here.</Empty>
      )}
    </>
  );
}

function Shown({ of, query, ask }: { of: Statement; query: Query; ask: ApiQuery }) {
  const entries = useEntries();
  const whose = query.buyer
    ? nameOf(entries, 'buyers', query.buyer)
    : nameOf(entries, 'suppliers', query.supplier ?? '');
  const standing = (s: Statement['opening']) =>
    s ? `${amount(s.balance, of.currency)}, ${amount(s.held, of.currency)} reserved` : 'no account';
  return (
    <>
      <Card title={`${whose}, ${dayRange(of.from, of.to)}`} side={<Exports path="statement" query={ask} />}>
        <Facts
          of={[
            ...(query.buyer
              ? ([
                  ['Balance at the start', standing(of.opening)],
                  ['Balance at the end', standing(of.closing)],
                ] as [string, string][])
              : []),
            ...of.totals.map((t): [string, string] => [
              `${label(t.kind)}${t.campaign_id ? `, ${nameOf(entries, 'campaigns', t.campaign_id)}` : ''}`,
              `${exact(t.amount, t.currency)}, ${numberOf(t.kind, t.count)}`,
            ]),
          ]}
        />
      </Card>
      {of.entries.length === 0 ? (
        <Empty title="No entries in this period">Choose a longer period at the top.</Empty>
      ) : (
        <Card title="Entries">
          {of.entries.length > mostEntries && (
            <p class="note">
              The first {count(mostEntries)} of {count(of.count)}. An export has all.
            </p>
          )}
          <Table
            caption="Entries"
            rows={of.entries.slice(0, mostEntries)}
            keyOf={(_, i) => String(i)}
            columns={[
              { head: 'Time', of: (e) => <Time at={e.at} />, sort: (e) => e.at },
              { head: 'Kind', of: (e) => label(e.kind) },
              { head: 'Campaign', of: (e) => <Ref of="campaigns" id={e.campaign_id} /> },
              { head: 'Lead', of: (e) => <Id of="leads" id={e.lead_id} /> },
              {
                head: 'Amount',
                number: true,
                phone: 'side',
                of: (e) => <Cash of={e.amount} currency={e.currency} />,
                sort: (e) => e.amount,
              },
              { head: 'Balance', number: true, of: (e) => <Cash of={e.balance} currency={of.currency} /> },
              { head: 'Note', of: (e) => e.note ?? '' },
            ]}
          />
        </Card>
      )}
    </>
  );
}
