import { useEffect, useState } from 'preact/hooks';
import { useLoad } from '../load';
import { to } from '../route';
import type { Item } from '../types';
import { Button } from './button';
import { Input, Select } from './field';

export interface FilterOf {
  name: string;
  label: string;
  hint?: string;
  options?: (string | [string, string])[];
  ids?: 'campaigns' | 'buyers' | 'suppliers';
  type?: 'datetime' | 'date';
}

type Query = { [name: string]: string };

// Filters are the conditions of a listing. They are part of the URL, so a result can be
// shared and the browser's back button returns to it.
export function Filters({ of, query, place }: { of: FilterOf[]; query: Query; place: string[] }) {
  const [wanted, set] = useState<Query>(query);
  useEffect(() => set(query), [JSON.stringify(query)]);
  const put = (name: string, value: string) => set({ ...wanted, [name]: value });
  const some = Object.keys(query).length;
  return (
    <details class="fold" open={some > 0 || of.length < 6}>
      <summary>Conditions{some > 0 && <span class="faint"> ({some})</span>}</summary>
      <form
        onSubmit={(e) => {
          e.preventDefault();
          location.hash = to(place, wanted);
        }}
      >
        <div class="row filters">
          {of.map((f) => (
            <One key={f.name} filter={f} value={wanted[f.name] ?? ''} set={(v) => put(f.name, v)} />
          ))}
        </div>
        <div class="row">
          <Button type="submit" tone="main">
            Search
          </Button>
          {some > 0 && <a href={to(place)}>Without conditions</a>}
        </div>
      </form>
    </details>
  );
}

function One({ filter, value, set }: { filter: FilterOf; value: string; set: (v: string) => void }) {
  if (filter.ids) return <Ids of={filter.ids} label={filter.label} value={value} set={set} />;
  if (filter.options) {
    return <Select label={filter.label} value={value} set={set} any="any" options={filter.options} />;
  }
  if (filter.type === 'datetime') {
    return (
      <Input
        label={filter.label}
        type="datetime-local"
        value={value.replace(/(:00)?Z$/, '')}
        set={(v) => set(v ? `${v}:00Z` : '')}
      />
    );
  }
  return <Input label={filter.label} type={filter.type} hint={filter.hint} value={value} set={set} />;
}

// Ids selects one of the existing items. It accepts the id of a removed item as well.
export function Ids({
  of,
  label,
  value,
  set,
  any = 'any',
}: {
  of: 'campaigns' | 'buyers' | 'suppliers';
  label: string;
  value: string;
  set: (v: string) => void;
  any?: string;
}) {
  const items = useLoad<{ items: Item[] }>(`config/${of}`);
  const ids = items.data?.items.map((i) => i.id) ?? [];
  return (
    <Select
      label={label}
      value={value}
      set={set}
      any={any}
      options={value && !ids.includes(value) ? [value, ...ids] : ids}
    />
  );
}
