import type { ComponentChildren } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { Columns, hiddenOf } from './columns';

export interface Column<T> {
  head: string;
  of: (row: T) => ComponentChildren;
  number?: boolean;
  sort?: (row: T) => string | number | null | undefined; // makes the column sortable
  total?: ComponentChildren; // of the row below the table
  wide?: boolean; // has room for a sentence
  // Place on a phone: the name of the row, at the right of the first line, in the second line without label,
  // behind a button, or not at all.
  phone?: 'name' | 'side' | 'plain' | 'menu' | 'none';
}

// Chosen is the selection of rows for bulk actions, by key.
export interface Chosen {
  keys: string[];
  set: (keys: string[]) => void;
}

interface Sorting {
  head: string;
  down: boolean;
}

// Table has a head that stays in view. The arrow keys move between its rows. With a name, the
// user can hide columns, and the browser keeps the choice under this name.
export function Table<T>({
  caption,
  rows,
  columns,
  keyOf,
  name,
  chosen,
  side,
  most,
}: {
  caption: string;
  rows: T[];
  columns: Column<T>[];
  keyOf: (row: T, i: number) => string;
  name?: string;
  chosen?: Chosen;
  side?: ComponentChildren | ((shown: string[]) => ComponentChildren); // beside the column picker
  most?: number; // columns in the second line on a phone
}) {
  const [sorting, sort] = useState<Sorting | undefined>();
  const [hidden, hide] = useState<string[]>(name ? hiddenOf(name) : []);
  const shown = twoLines(
    columns.filter((c) => !hidden.includes(c.head)),
    most,
  );
  const sorted = sortRows(rows, columns, sorting);
  const region = useRef<HTMLElement>(null);
  const over = useIsWider(region);
  return (
    <>
      {(name || side) && (
        <div class="row end table-tools">
          {over && <span class="help">More columns at the right →</span>}
          {typeof side === 'function' ? side(shown.map((c) => c.head)) : side}
          {name && <Columns name={name} all={columns.map((c) => c.head)} hidden={hidden} set={hide} />}
        </div>
      )}
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a scrolling element must be reachable by keyboard */}
      <section class="table" aria-label={caption} tabIndex={0} onKeyDown={moveRow} ref={region}>
        <table>
          <caption class="unseen">{caption}</caption>
          <thead>
            <tr>
              {chosen && (
                <th class="choice">
                  <input
                    type="checkbox"
                    aria-label="Select all"
                    checked={rows.length > 0 && chosen.keys.length === rows.length}
                    onChange={(e) => chosen.set(e.currentTarget.checked ? rows.map(keyOf) : [])}
                  />
                </th>
              )}
              {shown.map((c) => (
                <Head of={c} sorting={sorting} sort={sort} />
              ))}
            </tr>
          </thead>
          <tbody>
            {sorted.map((row, i) => (
              <Row key={keyOf(row, i)} id={keyOf(row, i)} row={row} columns={shown} chosen={chosen} />
            ))}
          </tbody>
          <Totals columns={shown} chosen={chosen} />
        </table>
      </section>
    </>
  );
}

// useIsWider reports whether an element has content behind its right edge.
function useIsWider(of: { current: HTMLElement | null }): boolean {
  const [over, set] = useState(false);
  useEffect(() => {
    const measure = () => of.current && set(of.current.scrollWidth > of.current.clientWidth);
    measure();
    addEventListener('resize', measure);
    return () => removeEventListener('resize', measure);
  });
  return over;
}

// twoLines leaves out the columns that do not fit into the second line of a row on a phone.
export function twoLines<T>(columns: Column<T>[], most = columns.length): Column<T>[] {
  const second = columns.slice(1).filter((c) => !c.phone || c.phone === 'plain');
  return columns.map((c) => (second.indexOf(c) >= most ? { ...c, phone: 'none' } : c));
}

const cellClass = <T,>(c: Column<T>, i: number): string =>
  [
    c.number ? 'number' : '',
    c.wide ? 'wide' : '',
    c.phone === 'name' || (i === 0 && !c.phone) ? 'first' : '',
    c.phone ? `phone-${c.phone}` : '',
  ]
    .filter(Boolean)
    .join(' ');

function Head<T>({ of, sorting, sort }: { of: Column<T>; sorting?: Sorting; sort: (s: Sorting) => void }) {
  const mine = sorting?.head === of.head ? sorting : undefined;
  return (
    <th
      scope="col"
      class={of.number ? 'number' : undefined}
      aria-sort={mine ? (mine.down ? 'descending' : 'ascending') : undefined}
    >
      {of.sort ? (
        <button
          type="button"
          class="sort"
          onClick={() => sort({ head: of.head, down: mine ? !mine.down : !!of.number })}
        >
          {of.head}
          <span aria-hidden="true">{mine ? (mine.down ? ' ↓' : ' ↑') : ''}</span>
        </button>
      ) : (
        of.head
      )}
    </th>
  );
}

function Totals<T>({ columns, chosen }: { columns: Column<T>[]; chosen?: Chosen }) {
  if (columns.every((c) => c.total === undefined)) return null;
  return (
    <tfoot>
      <tr>
        {chosen && <td />}
        {columns.map((c, i) => (
          <td class={cellClass(c, i)} data-head={c.head}>
            {c.total ?? (i === 0 ? 'Total' : '')}
          </td>
        ))}
      </tr>
    </tfoot>
  );
}

function Row<T>({ id, row, columns, chosen }: { id: string; row: T; columns: Column<T>[]; chosen?: Chosen }) {
  const set = (on: boolean) => chosen?.set(on ? [...chosen.keys, id] : chosen.keys.filter((k) => k !== id));
  const [open, toggle] = useState(false);
  return (
    <tr class={open ? 'open' : undefined}>
      {chosen && (
        <td class="choice">
          <input
            type="checkbox"
            aria-label={`Select ${id}`}
            checked={chosen.keys.includes(id)}
            onChange={(e) => set(e.currentTarget.checked)}
          />
        </td>
      )}
      {columns.map((c, i) => (
        <td class={cellClass(c, i)} data-head={c.head}>
          {c.phone === 'menu' ? (
            <>
              <button type="button" class="row-menu" aria-expanded={open} onClick={() => toggle(!open)}>
                {c.head}
              </button>
              <div class="menu">{c.of(row)}</div>
            </>
          ) : (
            c.of(row)
          )}
        </td>
      ))}
    </tr>
  );
}

// sortRows returns the rows in the chosen order. Rows without a value come last.
export function sortRows<T>(rows: T[], columns: Column<T>[], by: Sorting | undefined): T[] {
  const value = columns.find((c) => c.head === by?.head)?.sort;
  if (!by || !value) return rows;
  return [...rows].sort((one, other) => {
    const [a, b] = [value(one), value(other)];
    if (a === b) return 0;
    if (a === null || a === undefined) return 1;
    if (b === null || b === undefined) return -1;
    return (a < b ? -1 : 1) * (by.down ? -1 : 1);
  });
}

// moveRow moves the focus to the first control of the next or the previous row.
function moveRow(e: KeyboardEvent): void {
  if (e.key !== 'ArrowDown' && e.key !== 'ArrowUp') return;
  const from = e.target as HTMLElement;
  if (from.matches('select, textarea, input:not([type="checkbox"])')) return;
  const table = from.closest('.table');
  const rows = [...(table?.querySelectorAll<HTMLElement>('tbody tr') ?? [])];
  const at = rows.findIndex((r) => r.contains(from));
  const next = rows[e.key === 'ArrowDown' ? at + 1 : at < 0 ? rows.length - 1 : at - 1];
  const target = next?.querySelector<HTMLElement>('a, button:not(.row-menu), input');
  if (!target) return;
  e.preventDefault();
  target.focus();
}
