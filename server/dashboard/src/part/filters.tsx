import type { ComponentChildren } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { type EntryKind, nameOf, useEntries } from '../entries';
import { nameOfPreset } from '../period';
import { to } from '../route';
import { Button } from './button';
import { Input, Select } from './field';

export interface FilterOf {
  name: string;
  label: string;
  hint?: string;
  options?: (string | [string, string])[];
  ids?: EntryKind;
  chip?: boolean; // only as a chip: the panel has no field for it
}

type Query = { [name: string]: string };

// Filters are the conditions of a listing: a chip for each, and a panel to add some. They are
// part of the URL, so a result can be shared and the browser's back button returns to it.
export function Filters({
  of,
  query,
  place,
  side,
}: {
  of: FilterOf[];
  query: Query;
  place: string[];
  side?: ComponentChildren; // beside the filters
}) {
  const [wanted, set] = useState<Query>(query);
  useEffect(() => set(query), [JSON.stringify(query)]);
  const go = (next: Query) => {
    location.hash = to(place, next);
  };
  const chips = Object.keys(query).filter((name) => query[name]);
  const without = (name: string): Query => ({ ...query, [name]: '' });
  return (
    <div class="row chips">
      {side}
      <details class="drop">
        <summary class="button">Filters {chips.length > 0 && <span class="faint">({chips.length})</span>}</summary>
        <form
          class="drop-body filter-panel"
          onSubmit={(e) => {
            e.preventDefault();
            go(wanted);
          }}
        >
          <div class="fields">
            {of
              .filter((f) => !f.chip)
              .map((f) => (
                <One
                  key={f.name}
                  filter={f}
                  value={wanted[f.name] ?? ''}
                  set={(v) => {
                    const next = { ...wanted, [f.name]: v };
                    set(next);
                    if (f.ids || f.options) go(next); // a choice applies at once
                  }}
                />
              ))}
          </div>
          <div class="row end">
            <Button type="submit" tone="main">
              Apply
            </Button>
          </div>
        </form>
      </details>
      {chips.map((name) => (
        <Chip key={name} filter={of.find((f) => f.name === name)} name={name} value={query[name] ?? ''}>
          <button
            type="button"
            aria-label={`Remove the filter ${of.find((f) => f.name === name)?.label ?? name}`}
            onClick={() => go(without(name))}
          >
            ×
          </button>
        </Chip>
      ))}
      {chips.length > 0 && <a href={to(place)}>Clear all</a>}
    </div>
  );
}

// periodLabels are the labels of the conditions on the time, which the panel has no fields for.
const periodLabels: { [name: string]: string } = { from: 'From', to: 'Until', preset: 'Period' };

function Chip({
  filter,
  name,
  value,
  children,
}: {
  filter: FilterOf | undefined;
  name: string;
  value: string;
  children: ComponentChildren;
}) {
  const entries = useEntries();
  const option = filter?.options?.find((o) => o[0] === value);
  const text = filter?.ids
    ? nameOf(entries, filter.ids, value)
    : name === 'preset'
      ? nameOfPreset(value)
      : Array.isArray(option)
        ? option[1]
        : value;
  return (
    <span class="chip">
      <span>
        {filter?.label ?? periodLabels[name] ?? name}: <strong>{text}</strong>
      </span>
      {children}
    </span>
  );
}

function One({ filter, value, set }: { filter: FilterOf; value: string; set: (v: string) => void }) {
  if (filter.ids) return <Ids of={filter.ids} label={filter.label} value={value} set={set} />;
  if (filter.options) {
    return <Select label={filter.label} value={value} set={set} any="Any" options={filter.options} />;
  }
  return <Input label={filter.label} hint={filter.hint} value={value} set={set} />;
}

// Ids selects one of the existing entries by name. It accepts the id of a removed entry as well.
export function Ids({
  of,
  label,
  value,
  set,
  any = 'Any',
}: {
  of: EntryKind;
  label: string;
  value: string;
  set: (v: string) => void;
  any?: string;
}) {
  const items = useEntries()[of] ?? [];
  const options = items.map((i): [string, string] => [i.id, String(i.document.name || i.id)]);
  const known = options.some(([id]) => id === value);
  return (
    <Select
      label={label}
      value={value}
      set={set}
      any={any}
      options={value && !known ? [[value, value], ...options] : options}
    />
  );
}
