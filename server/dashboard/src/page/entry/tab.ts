import type { ComponentChildren } from 'preact';
import type { Item } from '../../types';

// TabOf is one tab of an entry: its own content above a form for some of the entry's fields.
export interface TabOf {
  key: string;
  name: string;
  fields?: string[]; // keys of the document
  shown?: string[]; // keys that the own content shows too; a summary leaves them out
  title?: string; // of the form; without it, the tab names the form
  body?: (item: Item, reload: () => void) => ComponentChildren;
  after?: (item: Item, reload: () => void) => ComponentChildren;
}
