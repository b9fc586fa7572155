// The specification of forms. A document has the shape that docs/configuration.md describes.
// A spec describes the input for each of its keys.

import type { Kind } from '../types';

interface Common {
  key: string;
  label: string;
  help?: string;
  first?: boolean; // only the first value applies; later changes are made elsewhere
}

export type Spec =
  | (Common & { kind: 'text'; hint?: string; required?: boolean; fixed?: boolean })
  | (Common & { kind: 'lines' }) // multi-line text
  | (Common & { kind: 'number'; hint?: string; required?: boolean; part?: boolean })
  | (Common & { kind: 'flag' })
  | (Common & { kind: 'choice'; options: string[]; otherwise?: string; required?: boolean })
  | (Common & { kind: 'words'; hint?: string }) // a list of texts, in one line
  | (Common & { kind: 'several'; options: string[] }) // a selection from options
  | (Common & { kind: 'refs'; of: Kind }) // ids of items
  | (Common & { kind: 'ref'; of: Kind; required?: boolean }) // one of them
  | (Common & { kind: 'secret' })
  | (Common & { kind: 'group'; of: Spec[]; open?: boolean })
  | (Common & { kind: 'list'; of: Spec[]; one: string; fresh: () => { [key: string]: unknown } });

type Rest = { help?: string; hint?: string; required?: boolean; first?: boolean };

export const text = (key: string, label: string, rest: Rest & { fixed?: boolean } = {}): Spec => ({
  kind: 'text',
  key,
  label,
  ...rest,
});
export const lines = (key: string, label: string, rest: Rest = {}): Spec => ({ kind: 'lines', key, label, ...rest });
export const number = (key: string, label: string, rest: Rest = {}): Spec => ({ kind: 'number', key, label, ...rest });
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
  rest: Rest & { otherwise?: string } = {},
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
