// The campaigns, buyers and suppliers of the exchange. All pages show their names.

import { useEffect, useState } from 'preact/hooks';
import { get } from './call';
import { useSignedIn } from './load';
import type { Doc, Item } from './types';

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

// documentOf returns the document of an entry; empty while the entries load.
export const documentOf = (entries: Entries, kind: EntryKind, id: string): Doc =>
  entries[kind]?.find((i) => i.id === id)?.document ?? {};

// currencyOf returns the currency in which these buyers buy, or '' if they buy in none or in several.
export function currencyOf(entries: Entries, buyers: string[]): string {
  const found = new Set<string>();
  for (const { document } of entries.campaigns ?? []) {
    const list = Array.isArray(document.buyers) ? (document.buyers as Doc[]) : [];
    if (list.some((b) => buyers.includes(String(b.buyer)))) found.add(String(document.currency || 'USD'));
  }
  return found.size === 1 ? [...found].join('') : '';
}

// currencyOfDocument returns the currency of the amounts in a campaign's or a buyer's document, or ''.
export const currencyOfDocument = (document: Doc, entries: Entries): string =>
  document.method || document.currency
    ? String(document.currency || 'USD')
    : currencyOf(entries, [String(document.id)]);

// nameOf returns an entry's name, or its id if it has none.
export function nameOf(entries: Entries, kind: EntryKind, id: string): string {
  return String(documentOf(entries, kind, id).name || id);
}
