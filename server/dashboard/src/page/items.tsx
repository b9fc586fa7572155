import { useState } from 'preact/hooks';
import { call, part } from '../call';
import { count } from '../format';
import { fresh, kinds } from '../kind';
import { useLoad } from '../load';
import { Act } from '../part/button';
import { Input } from '../part/field';
import { Empty, Loaded } from '../part/state';
import { type Column, Table } from '../part/table';
import { Badge, Ref, Time } from '../part/words';
import type { PageOf } from '../route';
import { go } from '../route';
import type { Item, Kind, SuppressionList } from '../types';

export function ItemsPage({ kind }: PageOf & { kind: Kind }) {
  const of = kinds[kind];
  const items = useLoad<{ items: Item[] }>(`config/${kind}`);
  const [text, find] = useState('');
  const found = (list: Item[]) =>
    list.filter((i) => `${i.id} ${i.document.name ?? ''}`.toLowerCase().includes(text.trim().toLowerCase()));
  return (
    <>
      <div class="title">
        <h1 tabIndex={-1}>{of.many}</h1>
        <Act needs="admin" tone="main" run={async () => go([of.place, fresh])}>
          New {of.one}
        </Act>
      </div>
      <Loaded of={items}>
        {({ items: list }) =>
          list.length === 0 ? (
            <Empty title={`There is no ${of.one} yet`}>
              Make the first one, or write it into the configuration’s file.
            </Empty>
          ) : (
            <>
              {list.length > 8 && <Input label="Find by id or name" type="search" value={text} set={find} />}
              <Table caption={of.many} rows={found(list)} keyOf={(i) => i.id} columns={columns(kind, items.reload)} />
              {found(list).length === 0 && <Empty title="None of this id or name" />}
            </>
          )
        }
      </Loaded>
      {kind === 'suppression_lists' && <Contents />}
    </>
  );
}

function columns(kind: Kind, reload: () => void): Column<Item>[] {
  const of = kinds[kind];
  const all: Column<Item>[] = [
    { head: 'Id', of: (i) => <Ref of={of.place as 'campaigns'} id={i.id} /> },
    { head: 'Name', of: (i) => String(i.document.name ?? i.id) },
  ];
  if (kind === 'campaigns') {
    all.push({ head: 'Method', of: (i) => String(i.document.method ?? '').replace('_', ' ') });
    all.push({ head: 'Seats', number: true, of: (i) => count(length(i.document.buyers)) });
  }
  if (kind === 'buyers') all.push({ head: 'Endpoint', of: (i) => <span class="mono">{endpointOf(i)}</span> });
  if (kind === 'suppliers') all.push({ head: 'Test', of: (i) => (i.document.test ? <Badge>test</Badge> : '') });
  if (kind === 'suppression_lists') all.push({ head: 'Field', of: (i) => String(i.document.field ?? '') });
  all.push({ head: 'Kept in', of: (i) => (i.owner === 'file' ? (i.file ?? 'the file') : 'this page') });
  if (of.pauses) {
    all.push({
      head: 'State',
      of: (i) => (i.paused ? <Badge tone="warn">paused</Badge> : <Badge tone="good">open</Badge>),
    });
    all.push({ head: 'Action', of: (i) => <Pause kind={kind} id={i.id} paused={i.paused ?? false} done={reload} /> });
  }
  return all;
}

const length = (value: unknown): number => (Array.isArray(value) ? value.length : 0);
const endpointOf = (i: Item): string => String(i.document.endpoint ?? i.document.post_url ?? 'none: recorded only');

export function Pause({ kind, id, paused, done }: { kind: Kind; id: string; paused: boolean; done: () => void }) {
  return (
    <Act
      needs="operator"
      tone="quiet"
      label={`${paused ? 'Resume' : 'Pause'} ${id}`}
      run={async () => {
        await call('POST', `${kind}/${part(id)}/${paused ? 'resume' : 'pause'}`);
        done();
      }}
      done={`${id} is ${paused ? 'open' : 'paused'}.`}
    >
      {paused ? 'Resume' : 'Pause'}
    </Act>
  );
}

function Contents() {
  const lists = useLoad<{ lists: SuppressionList[] }>('suppression');
  return (
    <>
      <h2>Contents</h2>
      <Loaded of={lists}>
        {({ lists: all }) =>
          all.length === 0 ? (
            <Empty title="No list has contents" />
          ) : (
            <Table
              caption="Contents of suppression lists"
              rows={all}
              keyOf={(l) => l.id}
              columns={[
                { head: 'List', of: (l) => <Ref of="suppression" id={l.id} /> },
                { head: 'Field', of: (l) => l.field },
                { head: 'Written', of: (l) => l.hash },
                { head: 'Entries', number: true, of: (l) => count(l.entries) },
                { head: 'Loaded', of: (l) => <Time at={l.loaded_at} /> },
                { head: 'From', of: (l) => l.source ?? '–' },
              ]}
            />
          )
        }
      </Loaded>
    </>
  );
}
