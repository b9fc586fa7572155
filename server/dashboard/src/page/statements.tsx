import { useEffect, useState } from 'preact/hooks';
import { address } from '../call';
import { amount, count, instant, words } from '../format';
import { useLoad } from '../load';
import { Button } from '../part/button';
import { Input } from '../part/field';
import { Ids } from '../part/filters';
import { Empty, Loaded } from '../part/state';
import { Table } from '../part/table';
import { Card, Facts, Ref, Time } from '../part/words';
import type { PageOf } from '../route';
import { to } from '../route';
import type { Statement } from '../types';

type Query = { [name: string]: string };

const mostEntries = 1000;

export function StatementsPage({ query }: PageOf) {
  const whose = query.buyer || query.supplier;
  const found = useLoad<Statement>(whose ? 'statement' : null, { ...query, format: 'json' });
  return (
    <>
      <h1 tabIndex={-1}>Statements</h1>
      <Question asked={query} />
      {whose ? (
        <Loaded of={found}>{(s) => <Shown of={s} query={query} />}</Loaded>
      ) : (
        <Empty title="Whose statement?">Choose a buyer or a supplier.</Empty>
      )}
    </>
  );
}

function Question({ asked }: { asked: Query }) {
  const [wanted, set] = useState<Query>(asked);
  useEffect(() => set(asked), [JSON.stringify(asked)]);
  return (
    <form
      class="card"
      onSubmit={(e) => {
        e.preventDefault();
        location.hash = to(['statements'], wanted);
      }}
    >
      <div class="row filters">
        <Ids
          of="buyers"
          label="Buyer"
          any="none"
          value={wanted.buyer ?? ''}
          set={(buyer) => set({ ...wanted, buyer, supplier: '' })}
        />
        <Ids
          of="suppliers"
          label="Supplier"
          any="none"
          value={wanted.supplier ?? ''}
          set={(supplier) => set({ ...wanted, supplier, buyer: '' })}
        />
        <Input label="From (UTC)" type="date" value={wanted.from ?? ''} set={(from) => set({ ...wanted, from })} />
        <Input label="To, not included" type="date" value={wanted.to ?? ''} set={(to) => set({ ...wanted, to })} />
      </div>
      <div class="row">
        <Button type="submit" tone="main" disabled={!wanted.buyer && !wanted.supplier}>
          Show
        </Button>
        <span class="faint">Without a time it is the running month.</span>
      </div>
    </form>
  );
}

function Shown({ of, query }: { of: Statement; query: Query }) {
  const standing = (s: Statement['opening']) =>
    s ? `${amount(s.balance, of.currency)}, ${amount(s.held, of.currency)} held` : 'no account';
  return (
    <>
      <Card
        title={`${query.buyer || query.supplier}, ${instant(of.from)} to ${instant(of.to)} UTC`}
        side={['csv', 'ndjson', 'parquet'].map((format) => (
          <a class="button" href={address('statement', { ...query, format })} download={`statement.${format}`}>
            Export {format === 'parquet' ? 'Parquet' : format.toUpperCase()}
          </a>
        ))}
      >
        <Facts
          of={[
            ...(query.buyer
              ? ([
                  ['Balance at the start', standing(of.opening)],
                  ['Balance at the end', standing(of.closing)],
                ] as [string, string][])
              : []),
            ...of.totals.map((t): [string, string] => [
              `${words(t.kind)}${t.campaign_id ? `, ${t.campaign_id}` : ''}`,
              `${amount(t.amount, t.currency)} (${count(t.count)})`,
            ]),
          ]}
        />
      </Card>
      {of.entries.length === 0 ? (
        <Empty title="No money moved in this time" />
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
              { head: 'At (UTC)', of: (e) => <Time at={e.at} /> },
              { head: 'Kind', of: (e) => words(e.kind) },
              { head: 'Campaign', of: (e) => <Ref of="campaigns" id={e.campaign_id} /> },
              { head: 'Lead', of: (e) => <Ref of="leads" id={e.lead_id} /> },
              { head: 'Amount', number: true, of: (e) => amount(e.amount, e.currency) },
              { head: 'Balance', number: true, of: (e) => amount(e.balance) },
              { head: 'Note', of: (e) => e.note ?? '' },
            ]}
          />
        </Card>
      )}
    </>
  );
}
