import type { ComponentChildren } from 'preact';

export interface Column<T> {
  head: string;
  of: (row: T) => ComponentChildren;
  number?: boolean;
}

// Table scrolls horizontally if it is wider than the page.
export function Table<T>({
  caption,
  rows,
  columns,
  keyOf,
}: {
  caption: string;
  rows: T[];
  columns: Column<T>[];
  keyOf: (row: T, i: number) => string;
}) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a scrolling element must be reachable by keyboard
    <section class="table" aria-label={caption} tabIndex={0}>
      <table>
        <caption class="unseen">{caption}</caption>
        <thead>
          <tr>
            {columns.map((c) => (
              <th scope="col" class={c.number ? 'number' : undefined}>
                {c.head}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row, i) => (
            <tr key={keyOf(row, i)}>
              {columns.map((c) => (
                <td class={c.number ? 'number' : undefined} data-head={c.head}>
                  {c.of(row)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}
