import type { ComponentChildren } from 'preact';
import { currencyOf, useEntries } from '../entries';
import { amount, share } from '../format';
import { Facts } from '../part/words';
import { capText, condition } from '../sentence';
import type { Doc } from '../types';
import { at, isSet } from './document';
import { type Spec, specsFor } from './spec';

// ReadOnly shows the values of a document for some specs. Values that are not set are left out. Money is in
// the currency of the campaign, or of the campaigns in which the buyer buys.
export function ReadOnly({ of, document }: { of: Spec[]; document: Doc }) {
  const entries = useEntries();
  const own = document.currency || (document.method ? 'USD' : currencyOf(entries, [String(document.id)]));
  const currency = String(own);
  const facts = specsFor(of, document).flatMap((spec): [string, ComponentChildren][] => {
    const value = at(document, [spec.key]);
    return isEmpty(value) ? [] : [[spec.label, shown(spec, value, document, currency)]];
  });
  if (facts.length === 0) return <p class="faint">Nothing is set here. The defaults apply.</p>;
  return <Facts of={facts} />;
}

const isEmpty = (value: unknown): boolean =>
  value === undefined || value === null || value === '' || value === false || (Array.isArray(value) && !value.length);

// isGiven reports whether a secret is set: the exchange says so, or the user has just typed it.
const isGiven = (value: unknown): boolean => isSet(value) || typeof value === 'string';

function shown(spec: Spec, value: unknown, document: Doc, currency: string): ComponentChildren {
  if (spec.kind === 'secret') return isGiven(value) ? 'set' : '–';
  if (spec.kind === 'number') return figure(spec, value, currency);
  if (spec.kind === 'group') return <span class="line">{lineOf(spec.of, value, document, currency)}</span>;
  if (spec.kind === 'list' && Array.isArray(value)) {
    return (
      <ul class="plain-list">
        {value.map((entry) => (
          <li>{entryOf(spec, entry, document, currency)}</li>
        ))}
      </ul>
    );
  }
  if (value === true) return 'yes';
  if (Array.isArray(value)) return value.join(', ');
  return typeof value === 'string' ? value : JSON.stringify(value);
}

// figure returns the text of a number: an amount of money, a share, or the number itself.
function figure(spec: Extract<Spec, { kind: 'number' }>, value: unknown, currency: string): string {
  if (typeof value !== 'number') return String(value);
  if (spec.money) return amount(value, currency);
  return spec.part ? share(value) : String(value);
}

// entryOf describes one entry of a list: a filter or a cap as a sentence, another entry by its values.
function entryOf(list: Extract<Spec, { kind: 'list' }>, entry: unknown, document: Doc, currency: string): string {
  if (list.key === 'filters') return condition(entry as Doc);
  if (list.key === 'caps') return capText(entry as Doc, currency);
  return lineOf(list.of, entry, document, currency);
}

// lineOf returns the set values of a mapping in one line.
function lineOf(of: Spec[], value: unknown, document: Doc, currency: string): string {
  return specsFor(of, document)
    .flatMap((spec) => {
      const one = at(value, [spec.key]);
      if (isEmpty(one)) return [];
      if (one === true) return [spec.label.toLowerCase()];
      if (spec.kind === 'secret') return isGiven(one) ? [`${spec.label.toLowerCase()} set`] : [];
      if (spec.kind === 'group') return [lineOf(spec.of, one, document, currency)];
      if (spec.kind === 'list' && Array.isArray(one))
        return one.map((entry) => entryOf(spec, entry, document, currency));
      const text = Array.isArray(one) ? one.join(', ') : typeof one === 'string' ? one : JSON.stringify(one);
      return [`${spec.label.toLowerCase()} ${spec.kind === 'number' ? figure(spec, one, currency) : text}`];
    })
    .join('; ');
}
