// The changes of an entry, with the labels of its form.

import type { ComponentChildren } from 'preact';
import { type Entries, type EntryKind, entryKinds, nameOf } from '../entries';
import { pathOf } from '../form/document';
import { type Spec, titleOf } from '../form/spec';
import { specAt, valueText } from '../form/value';
import { kinds } from '../kind';
import type { Kind } from '../types';

// ChangeLine shows the label of a value, and the value before and after. Without a value after, it was removed.
export function ChangeLine({
  label,
  before,
  after,
}: {
  label: ComponentChildren;
  before?: ComponentChildren;
  after?: ComponentChildren;
}) {
  return (
    <li>
      {label && <span class="faint">{label}:</span>}{' '}
      <span>
        {before !== undefined && (
          <>
            <del>{before}</del> →{' '}
          </>
        )}
        {after === undefined ? <em>removed</em> : <ins>{after}</ins>}
      </span>
    </li>
  );
}

const isGone = (value: unknown): boolean => value === undefined || value === null;

// wordsOf returns the label and the values of a changed field. The path is within its entry.
export function wordsOf(
  specs: Spec[],
  path: string,
  change: { before?: unknown; after?: unknown },
  entries: Entries,
): { label: string; before?: string; after?: string } {
  const order = path.endsWith(' (order)');
  const names = pathOf(order ? path.slice(0, -' (order)'.length) : path);
  const spec = specAt(specs, names);
  const shown = (value: unknown) => (isGone(value) ? undefined : valueText(order ? undefined : spec, value));
  // A buyer in a campaign has its name, not its id.
  const titled = names.map((part, i) =>
    i === 1 && names[0] === 'buyers' && typeof part === 'string' ? nameOf(entries, 'buyers', part) : part,
  );
  const label = titleOf(specs, titled);
  return { label: order ? `${label}, order` : label, before: shown(change.before), after: shown(change.after) };
}

// splitPath splits the path of a configuration change, such as campaigns.cmp_a.floor. It returns nothing
// if the change is not of an entry.
export function splitPath(path: string, entries: Entries): { kind: Kind; id: string; rest: string } | undefined {
  const kind = (Object.keys(kinds) as Kind[]).find((k) => path.startsWith(`${k}.`));
  if (!kind) return undefined;
  const after = path.slice(kind.length + 1);
  // An id may have dots, so a known id is better than the text before the next dot.
  const isEntryKind = entryKinds.includes(kind as EntryKind);
  const known = (isEntryKind ? (entries[kind as EntryKind] ?? []) : [])
    .map((item) => item.id)
    .filter((id) => after.startsWith(id) && /^($|[.[ ])/.test(after.slice(id.length)))
    .sort((a, b) => b.length - a.length)[0];
  const id = known ?? /^[^.[ ]*/.exec(after)?.[0] ?? '';
  return { kind, id, rest: after.slice(id.length).replace(/^\./, '') };
}
