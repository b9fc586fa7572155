import { count, share } from '../../format';
import type { Column } from '../../part/table';
import { Cash, Ref } from '../../part/words';
import { acceptRate, type Row, ratio } from '../../report';
import { to } from '../../route';

const value = (row: Row, column: string): number => Number(row[column] ?? 0);
const add = (rows: Row[], column: string): number => rows.reduce((sum, r) => sum + value(r, column), 0);

type Measure = (of: (column: string) => number) => number | null;

// measure returns a column that is computed from a row, and from all rows for the total.
function measure(
  rows: Row[],
  head: string,
  text: (n: number | null) => preact.ComponentChildren,
  of: Measure,
): Column<Row> {
  const own = (row: Row) => of((column) => value(row, column));
  return {
    head,
    number: true,
    of: (row) => text(own(row)),
    sort: own,
    total: text(of((column) => add(rows, column))),
  };
}

const cash = (currency: string) => (n: number | null) => <Cash of={n} currency={currency} />;

// moneyColumns are the columns by time, or by supplier and source.
export function moneyColumns(rows: Row[], currency: string, preset: string, unit: string): Column<Row>[] {
  const money = (head: string, of: Measure) => measure(rows, head, cash(currency), of);
  const first: Column<Row>[] =
    preset === 'sources'
      ? [
          {
            head: 'Source',
            sort: (r) => String(r.source),
            of: (r) => (
              <a class="ref" href={to(['leads'], { supplier: String(r.supplier_id ?? ''), source: String(r.source) })}>
                {r.source || 'none'}
              </a>
            ),
          },
          {
            head: 'Supplier',
            of: (r) => <Ref of="suppliers" id={String(r.supplier_id ?? '')} />,
            sort: (r) => String(r.supplier_id),
          },
        ]
      : [
          {
            head: unit === 'hour' ? 'Hour' : 'Day',
            of: (r) => <When of={String(r[unit])} day={unit === 'day'} />,
            sort: (r) => String(r[unit]),
          },
        ];
  return [
    ...first,
    { ...money('Revenue', (of) => of('revenue')), phone: 'side' },
    money('Payout', (of) => of('payout')),
    money('Margin', (of) => of('margin')),
    measure(rows, 'Sales', count, (of) => of('sales')),
    measure(rows, 'Leads', count, (of) => of('leads')),
    measure(rows, 'Sold rate', share, (of) => ratio(of('sales'), of('leads'))),
    money('EPL', (of) => ratio(of('revenue'), of('leads'))),
    measure(rows, 'Unsold', count, (of) => of('unmatched')),
    measure(rows, 'Returns', count, (of) => of('returns')),
    money('Buyer credit', (of) => of('credit')),
    money('Payout reversal', (of) => of('reversal')),
  ];
}

// buyerColumns are the columns by buyer. Figures that belong to no buyer have no row.
export function buyerColumns(all: Row[], currency: string, nameOf: (id: string) => string): Column<Row>[] {
  const money = (head: string, of: Measure) => measure(all, head, cash(currency), of);
  return [
    {
      head: 'Buyer',
      of: (r) => <Ref of="buyers" id={String(r.buyer_id)} />,
      sort: (r) => nameOf(String(r.buyer_id)),
    },
    { ...money('Revenue', (of) => of('revenue')), phone: 'side' },
    money('Payout', (of) => of('payout')),
    money('Margin', (of) => of('margin')),
    measure(all, 'Sales', count, (of) => of('sales')),
    {
      head: 'Accept rate',
      number: true,
      of: (r) => share(acceptRate([r])),
      sort: (r) => acceptRate([r]),
      total: share(acceptRate(all)),
    },
    measure(all, 'Return rate', share, (of) => ratio(of('returns'), of('sales'))),
    money('Buyer credit', (of) => of('credit')),
    measure(all, 'Posts', count, (of) => of('posts')),
    measure(all, 'Pings', count, (of) => of('pings')),
    measure(all, 'Bid rate', share, (of) => ratio(of('bids'), of('pings'))),
    measure(all, 'Top bid rate', share, (of) => ratio(of('wins'), of('bids'))),
    measure(all, 'Timeouts', count, (of) => of('timeouts') + of('post_timeouts')),
  ];
}

// When shows a row's time in the report's time zone.
export function When({ of, day }: { of: string; day: boolean }) {
  return <time dateTime={of}>{of.slice(0, day ? 10 : 16).replace('T', ' ')}</time>;
}
