// Three-way merge of an item's document that two operators have changed.

import type { Doc } from '../types';
import { differences, isMap, type Path, put } from './document';

// Change is a value that differs between the saved version and mine. by says who has changed it
// since the base, the version that both started from.
export interface Change {
  path: Path;
  saved: unknown;
  mine: unknown;
  by: 'other' | 'me' | 'both';
}

const isSame = (a: unknown, b: unknown): boolean => differences(a, b).length === 0;

// compareVersions lists the values that differ between saved and mine. Lists of mappings are compared
// by position, unless both versions differ from the base and one of them removed or moved an entry:
// then a position means another entry in each version, and the list is one change.
export function compareVersions(base: unknown, saved: unknown, mine: unknown, path: Path = []): Change[] {
  if (isSame(saved, mine)) return [];
  if (isMap(base) && isMap(saved) && isMap(mine)) {
    const names = [...new Set([...Object.keys(saved), ...Object.keys(mine)])];
    return names.flatMap((name) => compareVersions(base[name], saved[name], mine[name], [...path, name]));
  }
  const changedByOther = !isSame(base, saved);
  const changedByMe = !isSame(base, mine);
  if (Array.isArray(saved) && Array.isArray(mine) && [...saved, ...mine].some(isMap)) {
    const entries = Array.isArray(base) ? base : [];
    if (!changedByOther || !changedByMe || (keepsEntries(entries, saved) && keepsEntries(entries, mine))) {
      const count = Math.max(saved.length, mine.length);
      return Array.from({ length: count }, (_, i) =>
        compareVersions(entries[i], saved[i], mine[i], [...path, i]),
      ).flat();
    }
  }
  return [{ path, saved, mine, by: !changedByMe ? 'other' : !changedByOther ? 'me' : 'both' }];
}

// keepsEntries reports whether a list still has each entry of the base at its position.
function keepsEntries(base: unknown[], list: unknown[]): boolean {
  return list.length >= base.length && base.every((entry, i) => identify(entry) === identify(list[i]));
}

// identify returns the value that tells an entry of a list from the others.
function identify(entry: unknown): string {
  if (!isMap(entry)) return JSON.stringify(entry) ?? '';
  if (entry.buyer !== undefined) return [entry.buyer, entry.id].filter(Boolean).join('/');
  return String(entry.id ?? entry.name ?? entry.field ?? entry.per ?? '');
}

// mergeVersions returns mine with the saved value of each change in taken. taken has the order of
// compareVersions. It works from the last change to the first, so that a removed entry of a list moves
// none of the others.
export function mergeVersions(mine: Doc, taken: Change[]): Doc {
  return taken.reduceRight((merged, change) => put(merged, change.path, change.saved), mine);
}
