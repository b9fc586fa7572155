// Formats the values of a document in the words of the form.

import { amount, byteSize, capital, duration, none, number, share, words } from '../format';
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
  if (spec?.kind === 'group' && spec.key === 'answer' && isMap(value)) return answerText(value);
  if ((spec?.kind === 'group' || spec?.kind === 'list') && isMap(value)) return groupText(spec.of, value, currency);
  if (Array.isArray(value)) return value.map((one) => valueText(spec, one, currency)).join(', ') || none;
  if (typeof value === 'number') {
    if (spec?.kind !== 'number') return number(value);
    if (spec.part) return share(value);
    return spec.unit === 'money' ? amount(value, currency) : spec.unit === 'plain' ? String(value) : number(value);
  }
  if (isMap(value))
    return Object.entries(value)
      .map(([key, one]) => `${settingLabel(key)}: ${valueText(undefined, one)}`)
      .join('; ');
  if (typeof value !== 'string') return String(value);
  if (spec?.kind === 'choice') return spec.names?.[value] ?? words(value);
  if (spec?.kind === 'text' && spec.unit === 'duration') return duration(value);
  if (spec?.kind === 'text' && spec.unit === 'bytes') return byteSize(value);
  return spec ? value : byteSizeOrDuration(value);
}

// byteSizeOrDuration formats a value of a setting without a spec, such as 64KiB or 45d.
const byteSizeOrDuration = (value: string): string =>
  /^\d+(KiB|MiB)$/.test(value) ? byteSize(value) : duration(value);

// short words of settings, and the words for them.
const longer: { [word: string]: string } = {
  max: 'maximum',
  conns: 'connections',
  dir: 'directory',
  ip: 'IP',
  url: 'URL',
  tls: 'TLS',
};

// settingLabel makes a label of the path of a setting: listener.max_conns_per_ip becomes Listener, maximum
// connections per IP.
export const settingLabel = (path: string): string =>
  capital(
    path
      .split('.')
      .map((key) =>
        words(key)
          .split(' ')
          .map((word) => longer[word] ?? word)
          .join(' '),
      )
      .join(', '),
  );

// answerText says how an adapter reads a buyer's answer: Accepted when the field ok is true.
export function answerText(of: { [key: string]: unknown }): string {
  const any = (value: unknown): string => (Array.isArray(value) ? value.join(' or ') : '');
  const decision = String(of.accepted ?? '');
  const said = [any(of.yes) && `accepted when the field ${decision} is ${any(of.yes)}`];
  said.push(any(of.no) && `rejected when ${any(of.yes) ? 'it' : `the field ${decision}`} is ${any(of.no)}`);
  if (decision && !any(of.yes) && !any(of.no)) said.push(`the field ${decision} has the decision`);
  for (const key of ['price', 'currency', 'token', 'id', 'reason'])
    if (of[key]) said.push(`${key} in the field ${of[key]}`);
  if (of.format && of.format !== 'json') said.push(`format ${of.format}`);
  return capital(said.filter(Boolean).join('; ')) || 'JSON';
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
