import type { ComponentChildren } from 'preact';
import { currencyOfDocument, useEntries } from '../entries';
import { capital } from '../format';
import { Facts, Lines, Ref, refKinds } from '../part/words';
import { capText, condition } from '../sentence';
import type { Doc } from '../types';
import { at } from './document';
import { type Spec, specsFor } from './spec';
import { isEmpty, valueText } from './value';

type Fact = [string, ComponentChildren];

// ReadOnly shows the values of a document with the labels of the form. Values that are not set are left
// out. A single group or list needs no label: the card names it. Money is in the currency of the campaign,
// or of the campaigns in which the buyer buys.
export function ReadOnly({ of, document }: { of: Spec[]; document: Doc }) {
  const entries = useEntries();
  const facts = factsOf(of, document, document, currencyOfDocument(document, entries));
  const [only, ...others] = of;
  if (facts.length === 0) return <p class="faint">Nothing is set here. The defaults apply.</p>;
  const grouped = only && others.length === 0 && (only.kind === 'group' || only.kind === 'list');
  return grouped ? <div>{facts[0]?.[1]}</div> : <Facts of={facts} />;
}

function factsOf(of: Spec[], values: unknown, document: Doc, currency: string): Fact[] {
  return specsFor(of, document).flatMap((spec): Fact[] => {
    const value = at(values, [spec.key]);
    return isEmpty(value) ? [] : [[spec.label, shown(spec, value, document, currency)]];
  });
}

function shown(spec: Spec, value: unknown, document: Doc, currency: string): ComponentChildren {
  if (spec.kind === 'group' && spec.key === 'answer') return valueText(spec, value, currency);
  if (spec.kind === 'group') return <Facts of={factsOf(spec.of, value, document, currency)} />;
  if (spec.kind === 'lines') {
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a scrolling element must be reachable by keyboard
    return <pre tabIndex={0}>{String(value)}</pre>;
  }
  if (spec.kind === 'ref') return <Ref of={refKinds[spec.of]} id={String(value)} />;
  if (!Array.isArray(value)) return valueText(spec, value, currency);
  if (spec.kind === 'refs') return <Lines of={value.map((id) => <Ref of={refKinds[spec.of]} id={String(id)} />)} />;
  if (spec.kind !== 'list') return valueText(spec, value, currency);
  if (spec.key === 'filters') return <Lines of={value.map((filter) => capital(condition(filter as Doc)))} />;
  if (spec.key === 'caps') return <Lines of={value.map((cap) => capText(cap as Doc, currency))} />;
  return <Lines of={value.map((entry) => <Facts of={factsOf(spec.of, entry, document, currency)} />)} />;
}
