// Formats the values of a document in the words of the form.

import { amount, byteSize, duration, label, none, number, share, words } from '../format';
import { at, isMap, isSet, type Path } from './document';
import type { Spec } from './spec';

// isEmpty reports whether the summary of an entry leaves out a value.
export const isEmpty = (value: unknown): boolean =>
  value === undefined || value === null || value === '' || value === false || (Array.isArray(value) && !value.length);

// isGiven reports whether a secret is set: the exchange says so, or the user has just typed it.
const isGiven = (value: unknown): boolean => isSet(value) || typeof value === 'string';

// valueText formats one value. Without a spec, for example of a key that no form has, it guesses by the type.
export function valueText(spec: Spec | undefined, value: unknown, currency = ''): string {
  if (value === undefined || value === null || value === '') return none;
  if (spec?.kind === 'secret' || isSet(value)) return isGiven(value) ? 'set' : none;
  if (typeof value === 'boolean') return value ? 'yes' : 'no';
  if ((spec?.kind === 'group' || spec?.kind === 'list') && isMap(value)) return groupText(spec.of, value, currency);
  if (Array.isArray(value)) return value.map((one) => valueText(spec, one, currency)).join(', ') || none;
  if (typeof value === 'number') {
    if (spec?.kind !== 'number') return number(value);
    if (spec.part) return share(value);
    return spec.unit === 'money' ? amount(value, currency) : spec.unit === 'plain' ? String(value) : number(value);
  }
  if (isMap(value))
    return Object.entries(value)
      .map(([key, one]) => `${label(key)}: ${valueText(undefined, one)}`)
      .join('; ');
  if (typeof value !== 'string') return String(value);
  if (spec?.kind === 'choice') return spec.names?.[value] ?? words(value);
  if (spec?.kind === 'text' && spec.unit === 'duration') return duration(value);
  return spec?.kind === 'text' && spec.unit === 'bytes' ? byteSize(value) : value;
}

// groupText formats the set values of a group in one line: "Fields: phone, email; Window: 30 days".
export function groupText(of: Spec[], value: unknown, currency = ''): string {
  return of
    .flatMap((spec) => {
      const one = at(value, [spec.key]);
      if (isEmpty(one)) return [];
      return one === true ? [spec.label] : [`${spec.label}: ${valueText(spec, one, currency)}`];
    })
    .join('; ');
}

// specAt returns the spec of a field. An entry of a list has the spec of the list.
export function specAt(specs: Spec[], path: Path): Spec | undefined {
  const [key, ...rest] = path;
  const spec = specs.find((s) => s.key === key);
  if (!spec || rest.length === 0) return spec;
  if (spec.kind === 'group') return specAt(spec.of, rest);
  if (spec.kind !== 'list') return spec;
  return rest.length > 1 ? specAt(spec.of, rest.slice(1)) : spec;
}
