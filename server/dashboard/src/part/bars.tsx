import type { ComponentChildren } from 'preact';
import { type EntryKind, nameOf, useEntries } from '../entries';

export interface Bar {
  key: string;
  name: ComponentChildren;
  note?: string;
  value: number;
  text: string; // the formatted value
  href?: string;
}

// Bars draws values as bars. A bar with an href is a link.
// kind says that the names are ids of entries, whose names are shown.
export function Bars({ of, label, kind }: { of: Bar[]; label: string; kind?: EntryKind }) {
  const entries = useEntries();
  const most = Math.max(...of.map((b) => b.value), 0);
  return (
    <ul class="bars" aria-label={label}>
      {of.map((b) => {
        const inner = (
          <>
            <span class="bar-name">
              <span class="bar-link" title={kind && b.key}>
                {kind ? nameOf(entries, kind, b.key) : b.name}
              </span>
              {b.note && <small>{b.note}</small>}
            </span>
            <span class="bar-track" aria-hidden="true">
              <span class="bar-fill" style={{ width: `${b.value > 0 ? Math.max((b.value / most) * 100, 0.5) : 0}%` }} />
            </span>
            <span class="bar-value">{b.text}</span>
          </>
        );
        return <li key={b.key}>{b.href ? <a href={b.href}>{inner}</a> : <div>{inner}</div>}</li>;
      })}
    </ul>
  );
}
