// The campaigns, buyers and suppliers of the exchange. All pages show their names.

import { useEffect, useState } from 'preact/hooks';
import { get } from './call';
import { useSignedIn } from './load';
import type { Item } from './types';

export type EntryKind = 'campaigns' | 'buyers' | 'suppliers';

export const entryKinds: EntryKind[] = ['campaigns', 'buyers', 'suppliers'];

export type Entries = { [kind in EntryKind]?: Item[] };

let known: Entries = {};

// loadEntries reads all entries again. A failure keeps the entries of before.
export function loadEntries(): void {
  for (const kind of entryKinds) {
    get<{ items: Item[] }>(`config/${kind}`).then(
      ({ items }) => {
        known = { ...known, [kind]: items };
        dispatchEvent(new Event('entries'));
      },
      () => undefined,
    );
  }
}

export function useEntries(): Entries {
  const [entries, set] = useState(known);
  useEffect(() => {
    const follow = () => set(known);
    follow();
    addEventListener('entries', follow);
    return () => removeEventListener('entries', follow);
  }, []);
  return entries;
}

// useEntryLoading keeps the entries current while a user is signed in.
export function useEntryLoading(): void {
  useEffect(loadEntries, []);
  useSignedIn(loadEntries);
}

// nameOf returns an entry's name, or its id if it has none.
export function nameOf(entries: Entries, kind: EntryKind, id: string): string {
  const item = entries[kind]?.find((i) => i.id === id);
  return String(item?.document.name || id);
}
