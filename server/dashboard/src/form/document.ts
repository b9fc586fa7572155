// An item's document: values by path, and the differences between two documents.

import type { Doc, FieldError } from '../types';

export type Path = (string | number)[];

// nameOf formats a path as in field_errors: caps[0].count
export function nameOf(path: Path): string {
  let name = '';
  for (const part of path) {
    if (typeof part === 'number') name += `[${part}]`;
    else name += name ? `.${part}` : part;
  }
  return name;
}

export function at(from: unknown, path: Path): unknown {
  let value = from;
  for (const part of path) {
    if (value === null || typeof value !== 'object') return undefined;
    value = (value as { [key: string]: unknown })[part as string];
  }
  return value;
}

// put returns a copy of the document with a value at a path. undefined removes the path. A
// mapping that becomes empty is removed too, unless it is an entry of a list.
export function put<T>(into: T, path: Path, value: unknown): T {
  const [head, ...rest] = path;
  if (head === undefined) return value as T;
  if (typeof head === 'number') {
    const list = Array.isArray(into) ? [...into] : [];
    const changed = rest.length === 0 ? value : put(list[head] ?? {}, rest, value);
    if (changed === undefined) list.splice(head, 1);
    else list[head] = changed;
    return list as T;
  }
  const map: Doc = { ...((into as Doc | undefined) ?? {}) };
  const changed = rest.length === 0 ? value : put(map[head], rest, value);
  if (changed === undefined || (rest.length > 0 && isEmpty(changed))) delete map[head];
  else map[head] = changed;
  return map as T;
}

const isEmpty = (value: unknown): boolean =>
  value === undefined || (typeof value === 'object' && value !== null && Object.keys(value).length === 0);

// standardFields are the lead fields that every campaign has.
const standardFields = [
  ...['first_name', 'last_name', 'phone', 'email', 'state', 'source', 'tcpa_consent', 'consent_cert_url'],
  ...['consent_text', 'consent_timestamp', 'ip_address', 'line1', 'city', 'zip', 'ai_quality_score'],
];

// leadFields returns the names that filters can use: the fields of the campaigns, after mapping, and the
// standard fields.
export function leadFields(campaigns: Doc[]): string[] {
  const own = campaigns.flatMap((c) => (Array.isArray(c.fields) ? (c.fields as Doc[]) : []));
  return [...new Set([...own.map((f) => String(f.to || f.name || '')), ...standardFields])].filter(Boolean);
}

export interface Difference {
  path: string;
  before: unknown;
  after: unknown;
}

// differences lists the differing leaves. Lists of mappings are compared by position, other lists as a
// whole.
export function differences(before: unknown, after: unknown, path: Path = []): Difference[] {
  if (before === after) return [];
  if (isMap(before) && isMap(after)) {
    const names = [...new Set([...Object.keys(before), ...Object.keys(after)])];
    return names.flatMap((name) => differences(before[name], after[name], [...path, name]));
  }
  if (Array.isArray(before) && Array.isArray(after)) {
    if (![...before, ...after].some(isMap)) {
      return JSON.stringify(before) === JSON.stringify(after) ? [] : [{ path: nameOf(path), before, after }];
    }
    const found: Difference[] = [];
    for (let i = 0; i < Math.max(before.length, after.length); i++) {
      found.push(...differences(before[i], after[i], [...path, i]));
    }
    return found;
  }
  return [{ path: nameOf(path), before, after }];
}

// isMap reports whether a value of a document is a mapping.
export function isMap(value: unknown): value is Doc {
  return value !== null && typeof value === 'object' && !Array.isArray(value);
}

// errorsAt returns the errors of the field itself.
export function errorsAt(errors: FieldError[], path: Path): FieldError[] {
  const name = nameOf(path);
  return errors.filter((e) => e.field === name);
}

// errorsWithin returns the errors of a field and of its entries, if one input has all of them.
export function errorsWithin(errors: FieldError[], path: Path): FieldError[] {
  const name = nameOf(path);
  return errors.filter((e) => e.field === name || e.field.startsWith(`${name}[`));
}

// isSet reports whether the document says that a secret is set.
export function isSet(value: unknown): boolean {
  return isMap(value) && value.set === true;
}

// pathOf reads a name that nameOf wrote. The history has names of list entries in brackets too: buyers[buy_a].
export function pathOf(name: string): Path {
  return [...name.matchAll(/\[([^\]]*)\]|([^.[]+)/g)].map(([, entry, key = '']) =>
    entry === undefined ? key : /^\d+$/.test(entry) ? Number(entry) : entry,
  );
}
