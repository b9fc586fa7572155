import { useState } from 'preact/hooks';
import type { EntryKind } from '../../entries';
import { count, share, words } from '../../format';
import { fresh, kinds } from '../../kind';
import { useLoad } from '../../load';
import { useReport } from '../../load-report';
import { Input } from '../../part/field';
import { Empty, Loaded } from '../../part/state';
import { type Column, Table } from '../../part/table';
import { Badge, Cash, Heading, Ref } from '../../part/words';
import { limitsOf } from '../../period';
import { acceptRate, columnOf, ratio, type Sums, sumsOf } from '../../report';
import type { PageOf } from '../../route';
import { to } from '../../route';
import { useDenied } from '../../session';
import type { Item } from '../../types';
import { periodOf, useWorkspace } from '../../workspace';
import { Pause } from './remove';

const first: { [kind in EntryKind]: string } = {
  campaigns: 'A campaign connects suppliers with buyers: fields, prices, rules.',
  buyers: 'A buyer gets leads at its endpoint and pays for them.',
  suppliers: 'A supplier sends leads with its API key.',
};

// Figures are an entry's sums and, of a buyer, its accept rate in the period.
interface Figures {
  sums: Sums | undefined;
  accepts: number | null;
}

export function EntriesPage({ kind }: PageOf & { kind: EntryKind }) {
  const of = kinds[kind];
  const items = useLoad<{ items: Item[] }>(`config/${kind}`);
  const figures = useFigures(of.one);
  const denied = useDenied('admin');
  const [text, find] = useState('');
  const found = (list: Item[]) =>
    list.filter((i) => `${i.id} ${i.document.name ?? ''}`.toLowerCase().includes(text.trim().toLowerCase()));
  const make = (
    <a class="button main" href={to([kind, fresh])}>
      New {of.one}
    </a>
  );
  return (
    <>
      <Heading title={of.many}>
        {kind === 'campaigns' && (
          <a class="button" href={to(['caps'])}>
            Cap use
          </a>
        )}
        {denied ? <span class="faint">{denied}</span> : make}
      </Heading>
      <Loaded of={items}>
        {({ items: list }) =>
          list.length === 0 ? (
            <Empty title={`No ${of.many.toLowerCase()} yet`}>
              {first[kind]} <a href={to([kind, fresh])}>Add the first {of.one}</a>.
            </Empty>
          ) : (
            <>
              {list.length > 8 && <Input label="Find by name or id" type="search" value={text} set={find} />}
              <Table
                caption={of.many}
                name={kind}
                rows={found(list)}
                keyOf={(i) => i.id}
                columns={columns(kind, figures, items.reload)}
              />
              {found(list).length === 0 && <Empty title={`No ${of.one} has this name or id`} />}
            </>
          )
        }
      </Loaded>
    </>
  );
}

// useFigures returns the figures of the period by the id of an entry.
function useFigures(one: string): (id: string) => Figures {
  const space = useWorkspace();
  const period = periodOf(space);
  const { to: until } = limitsOf(period, space.zone);
  const report = useReport({ by: one, from: period.from, to: until, zone: space.zone });
  const rows = report.data?.rows ?? [];
  const column = columnOf(one);
  return (id) => {
    const own = rows.filter((r) => r[column] === id);
    return { sums: sumsOf(own)[0], accepts: acceptRate(own) };
  };
}

function columns(kind: EntryKind, figures: (id: string) => Figures, reload: () => void): Column<Item>[] {
  const of = kinds[kind];
  const money = (head: string, key: 'revenue' | 'payout' | 'margin'): Column<Item> => ({
    head,
    number: true,
    phone: key === 'revenue' ? 'side' : key === 'payout' ? 'none' : undefined,
    of: (i) => <Money of={figures(i.id).sums} part={key} />,
    sort: (i) => figures(i.id).sums?.[key],
  });
  const all: Column<Item>[] = [
    {
      head: 'Name',
      sort: (i) => String(i.document.name || i.id).toLowerCase(),
      of: (i) => (
        <>
          <Ref of={kind} id={i.id} /> {i.document.test === true && <Badge>test</Badge>}
          {i.document.name && i.document.name !== i.id ? <small class="mono">{i.id}</small> : null}
        </>
      ),
    },
    money('Revenue', 'revenue'),
  ];
  if (kind !== 'buyers') all.push(money('Payout', 'payout'), money('Margin', 'margin'));
  all.push({
    head: 'Sales',
    number: true,
    of: (i) => count(figures(i.id).sums?.sales),
    sort: (i) => figures(i.id).sums?.sales,
  });
  if (kind === 'buyers') {
    all.push({
      head: 'Accept rate',
      number: true,
      of: (i) => share(figures(i.id).accepts),
      sort: (i) => figures(i.id).accepts,
    });
  } else {
    const rate = (i: Item) => ratio(figures(i.id).sums?.sales ?? 0, figures(i.id).sums?.leads ?? 0);
    const epl = (i: Item) => ratio(figures(i.id).sums?.revenue ?? 0, figures(i.id).sums?.leads ?? 0);
    all.push(
      { head: 'Sold rate', number: true, of: (i) => share(rate(i)), sort: rate, phone: 'none' },
      {
        head: 'EPL',
        number: true,
        phone: 'none',
        of: (i) => <Cash of={epl(i)} currency={figures(i.id).sums?.currency} />,
        sort: epl,
      },
    );
  }
  const returns = (i: Item) => ratio(figures(i.id).sums?.returns ?? 0, figures(i.id).sums?.sales ?? 0);
  all.push({ head: 'Return rate', number: true, of: (i) => share(returns(i)), sort: returns, phone: 'none' });
  if (kind === 'campaigns') {
    all.push({ head: 'Distribution', of: (i) => words(String(i.document.method ?? '')), phone: 'none' });
    all.push({ head: 'Buyers', number: true, of: (i) => count(length(i.document.buyers)), phone: 'none' });
  }
  all.push({
    head: 'Managed by',
    phone: 'none',
    of: (i) => (i.owner === 'file' ? (i.file ?? 'the file') : 'console'),
  });
  if (!of.pauses) return all;
  all.push({
    head: 'Status',
    sort: (i) => String(i.paused ?? false),
    of: (i) => (i.paused ? <Badge tone="warn">paused</Badge> : <Badge tone="good">active</Badge>),
  });
  all.push({ head: 'Action', of: (i) => <Pause kind={kind} id={i.id} paused={i.paused ?? false} done={reload} /> });
  return all;
}

// Money shows one of the sums. An entry without a currency has had no sale.
function Money({ of, part }: { of: Sums | undefined; part: 'revenue' | 'payout' | 'margin' }) {
  return <Cash of={of?.currency ? of[part] : undefined} currency={of?.currency} />;
}

const length = (value: unknown): number => (Array.isArray(value) ? value.length : 0);
