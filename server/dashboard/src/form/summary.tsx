import type { ComponentChildren } from 'preact';
import { share } from '../format';
import { Facts } from '../part/words';
import { at, isSet } from './document';
import type { Spec } from './spec';

// ReadOnly shows the values of a document for some specs. Values that are not set are left out.
export function ReadOnly({ of, document }: { of: Spec[]; document: unknown }) {
  const facts = of.flatMap((spec): [string, ComponentChildren][] => {
    const value = at(document, [spec.key]);
    return isEmpty(value) ? [] : [[spec.label, shown(spec, value)]];
  });
  if (facts.length === 0) return <p class="faint">Nothing is set here. The defaults apply.</p>;
  return <Facts of={facts} />;
}

const isEmpty = (value: unknown): boolean =>
  value === undefined || value === null || value === '' || value === false || (Array.isArray(value) && !value.length);

function shown(spec: Spec, value: unknown): ComponentChildren {
  if (spec.kind === 'secret') return isSet(value) ? 'set' : '–';
  if (spec.kind === 'number' && spec.part && typeof value === 'number') return share(value);
  if (spec.kind === 'group') return <span class="line">{lineOf(spec.of, value)}</span>;
  if (spec.kind === 'list' && Array.isArray(value)) {
    return (
      <ul class="plain-list">
        {value.map((entry) => (
          <li>{lineOf(spec.of, entry)}</li>
        ))}
      </ul>
    );
  }
  if (value === true) return 'yes';
  if (Array.isArray(value)) return value.join(', ');
  return typeof value === 'string' ? value : JSON.stringify(value);
}

// lineOf returns the set values of a mapping in one line.
function lineOf(of: Spec[], value: unknown): string {
  return of
    .flatMap((spec) => {
      const one = at(value, [spec.key]);
      if (isEmpty(one)) return [];
      if (one === true) return [spec.label.toLowerCase()];
      if (spec.kind === 'secret') return isSet(one) ? [`${spec.label.toLowerCase()} set`] : [];
      if (spec.kind === 'group') return [lineOf(spec.of, one)];
      if (spec.kind === 'list' && Array.isArray(one)) return one.map((entry) => lineOf(spec.of, entry));
      const text = Array.isArray(one) ? one.join(', ') : typeof one === 'string' ? one : JSON.stringify(one);
      return [`${spec.label.toLowerCase()} ${spec.kind === 'number' && spec.part ? share(Number(one)) : text}`];
    })
    .join('; ');
}
