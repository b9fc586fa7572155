// The kinds of items: their names, pages and form fields.

import { buyer } from './form/buyer';
import { campaign } from './form/campaign';
import { suppressionList } from './form/list';
import type { Spec } from './form/spec';
import { supplier } from './form/supplier';
import type { Doc, Kind } from './types';

export interface KindOf {
  kind: Kind;
  place: string[]; // of the page
  one: string;
  many: string;
  specs: Spec[];
  fresh: Doc;
  prefix: string; // usual prefix of ids
  pauses: boolean;
}

export const kinds: { [kind in Kind]: KindOf } = {
  campaigns: {
    kind: 'campaigns',
    place: ['campaigns'],
    one: 'campaign',
    many: 'Campaigns',
    specs: campaign,
    fresh: { method: 'waterfall' },
    prefix: 'cmp_',
    pauses: true,
  },
  buyers: {
    kind: 'buyers',
    place: ['buyers'],
    one: 'buyer',
    many: 'Buyers',
    specs: buyer,
    fresh: {},
    prefix: 'buy_',
    pauses: true,
  },
  suppliers: {
    kind: 'suppliers',
    place: ['suppliers'],
    one: 'supplier',
    many: 'Suppliers',
    specs: supplier,
    fresh: {},
    prefix: 'sup_',
    pauses: false,
  },
  suppression_lists: {
    kind: 'suppression_lists',
    place: ['compliance', 'suppression'],
    one: 'suppression list',
    many: 'Suppression lists',
    specs: suppressionList,
    fresh: { field: 'phone' },
    prefix: 'list_',
    pauses: false,
  },
};

// fresh is the path part for a new item. It is not a valid id.
export const fresh = '+';
