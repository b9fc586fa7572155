// The kinds of items: what they are called, where they are shown, what their forms ask for.

import { buyer } from './form/buyer';
import { campaign } from './form/campaign';
import { suppressionList } from './form/list';
import type { Spec } from './form/spec';
import { supplier } from './form/supplier';
import type { Doc, Kind } from './types';

export interface KindOf {
  kind: Kind;
  place: string; // of the page
  one: string;
  many: string;
  specs: Spec[];
  fresh: Doc;
  prefix: string; // ids commonly begin so
  pauses: boolean;
}

export const kinds: { [kind in Kind]: KindOf } = {
  campaigns: {
    kind: 'campaigns',
    place: 'campaigns',
    one: 'campaign',
    many: 'Campaigns',
    specs: campaign,
    fresh: { method: 'waterfall' },
    prefix: 'cmp_',
    pauses: true,
  },
  buyers: {
    kind: 'buyers',
    place: 'buyers',
    one: 'buyer',
    many: 'Buyers',
    specs: buyer,
    fresh: {},
    prefix: 'buy_',
    pauses: true,
  },
  suppliers: {
    kind: 'suppliers',
    place: 'suppliers',
    one: 'supplier',
    many: 'Suppliers',
    specs: supplier,
    fresh: {},
    prefix: 'sup_',
    pauses: false,
  },
  suppression_lists: {
    kind: 'suppression_lists',
    place: 'suppression',
    one: 'list',
    many: 'Suppression lists',
    specs: suppressionList,
    fresh: { field: 'phone' },
    prefix: 'list_',
    pauses: false,
  },
};

// fresh is the second part of the path of what is not there yet. An id cannot be so.
export const fresh = '+';
