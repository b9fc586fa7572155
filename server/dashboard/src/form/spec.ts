// The specification of forms. A document has the shape that docs/configuration.md describes.
// A spec describes the input for each of its keys.

import { label } from '../format';
import type { Kind } from '../types';
import type { Path } from './document';

interface Common {
  key: string;
  label: string;
  help?: string;
  first?: boolean; // only the first value applies; later changes are made elsewhere
  methods?: string[]; // campaign methods that use the value; absent: all
  docs?: string; // page of the documentation
  suggest?: boolean; // suggests the names of lead fields
}

// Names has display texts of options. The others are displayed without underscores.
export type Names = { [option: string]: string };

export type Spec =
  | (Common & { kind: 'text'; hint?: string; required?: boolean; fixed?: boolean; unit?: 'duration' | 'bytes' })
  | (Common & { kind: 'lines' }) // multi-line text
  | (Common & { kind: 'number'; hint?: string; required?: boolean; part?: boolean; unit?: 'money' | 'plain' }) // plain: no separators, for example a year
  | (Common & { kind: 'flag' })
  | (Common & { kind: 'choice'; options: string[]; names?: Names; otherwise?: string; required?: boolean })
  | (Common & { kind: 'words'; hint?: string }) // a list of texts, in one line
  | (Common & { kind: 'several'; options: string[] }) // a selection from options
  | (Common & { kind: 'refs'; of: Kind }) // ids of items
  | (Common & { kind: 'ref'; of: Kind; required?: boolean }) // one of them
  | (Common & { kind: 'secret' })
  | (Common & { kind: 'group'; of: Spec[]; open?: boolean })
  | (Common & { kind: 'list'; of: Spec[]; one: string; fresh: () => { [key: string]: unknown } });

type Rest = {
  help?: string;
  hint?: string;
  required?: boolean;
  first?: boolean;
  methods?: string[];
  docs?: string;
  suggest?: boolean;
};

// specsFor returns the specs that a document uses: those of its method, if it is a campaign.
export const specsFor = (of: Spec[], document: { [key: string]: unknown }): Spec[] =>
  of.filter((spec) => !spec.methods || !document.method || spec.methods.includes(String(document.method)));

export const text = (
  key: string,
  label: string,
  rest: Rest & { fixed?: boolean; unit?: 'duration' | 'bytes' } = {},
): Spec => ({
  kind: 'text',
  key,
  label,
  ...rest,
});
export const lines = (key: string, label: string, rest: Rest = {}): Spec => ({ kind: 'lines', key, label, ...rest });
export const number = (key: string, label: string, rest: Rest & { unit?: 'money' | 'plain' } = {}): Spec => ({
  kind: 'number',
  key,
  label,
  ...rest,
});
export const flag = (key: string, label: string, rest: Rest = {}): Spec => ({
  kind: 'flag',
  key,
  label,
  ...rest,
});
export const choice = (
  key: string,
  label: string,
  options: string[],
  rest: Rest & { otherwise?: string; names?: Names } = {},
): Spec => ({
  kind: 'choice',
  key,
  label,
  options,
  ...rest,
});
export const words = (key: string, label: string, rest: Rest = {}): Spec => ({ kind: 'words', key, label, ...rest });
export const several = (key: string, label: string, options: string[], rest: Rest = {}): Spec => ({
  kind: 'several',
  key,
  label,
  options,
  ...rest,
});
export const refs = (key: string, label: string, of: Kind, rest: Rest = {}): Spec => ({
  kind: 'refs',
  key,
  label,
  of,
  ...rest,
});
export const ref = (key: string, label: string, of: Kind, rest: Rest = {}): Spec => ({
  kind: 'ref',
  key,
  label,
  of,
  ...rest,
});
export const secret = (key: string, label: string, rest: Rest = {}): Spec => ({ kind: 'secret', key, label, ...rest });
export const group = (key: string, label: string, of: Spec[], rest: Rest & { open?: boolean } = {}): Spec => ({
  kind: 'group',
  key,
  label,
  of,
  ...rest,
});
export const list = (
  key: string,
  label: string,
  one: string,
  of: Spec[],
  fresh: () => { [key: string]: unknown },
  rest: Rest = {},
): Spec => ({ kind: 'list', key, label, one, of, fresh, ...rest });

// titleOf returns the labels of a field, for example: Buyers in campaign 1, Price. An entry of a list is
// in the path by its position or its name. A field without a spec has its key as the label.
export function titleOf(specs: Spec[], path: Path): string {
  const [key, ...rest] = path;
  if (key === undefined) return '';
  const spec = specs.find((s) => s.key === key);
  const name = spec?.label ?? label(String(key));
  const [entry, ...inEntry] = rest;
  const isEntry = typeof entry === 'number' || (spec?.kind === 'list' && entry !== undefined);
  const head = isEntry ? `${name} ${typeof entry === 'number' ? entry + 1 : entry}` : name;
  const inner = titleOf(spec && 'of' in spec && Array.isArray(spec.of) ? spec.of : [], isEntry ? inEntry : rest);
  return inner ? `${head}, ${inner}` : head;
}
