// Templates of campaigns: the vertical and the fields of a lead.

import type { Doc } from '../../types';

export interface Template {
  key: string;
  name: string;
  document: Doc;
}

const ping = (name: string, type: string, rest: Doc = {}): Doc => ({ name, type, ping: true, ...rest });

const auction = (vertical: string, fields: Doc[]): Doc => ({ method: 'ping_post', vertical, fields });

export const templates: Template[] = [
  { key: '', name: 'Blank', document: { method: 'waterfall' } },
  {
    key: 'auto',
    name: 'Auto insurance, ping post',
    document: auction('auto_insurance', [
      ping('currently_insured', 'boolean'),
      ping('vehicle_count', 'integer', { min: 0, max: 20 }),
      ping('vehicle_year', 'integer', { min: 1950, max: 2100 }),
      ping('homeowner', 'boolean'),
      ping('credit_rating', 'enum', { values: ['excellent', 'good', 'fair', 'poor'] }),
    ]),
  },
  {
    key: 'home',
    name: 'Home services, ping post',
    document: auction('home_services', [
      ping('project', 'string', { required: true, max_length: 100 }),
      ping('homeowner', 'boolean'),
      ping('start', 'enum', { values: ['now', 'month', 'quarter', 'later'] }),
    ]),
  },
  {
    key: 'solar',
    name: 'Solar, ping post',
    document: auction('solar', [
      ping('homeowner', 'boolean', { required: true }),
      ping('electric_bill', 'integer', { min: 0, max: 100000 }),
      ping('roof_shade', 'enum', { values: ['none', 'some', 'much'] }),
    ]),
  },
  {
    key: 'mortgage',
    name: 'Mortgage, ping post',
    document: auction('mortgage', [
      ping('loan_amount', 'integer', { required: true, min: 0 }),
      ping('property_value', 'integer', { min: 0 }),
      ping('credit_rating', 'enum', { values: ['excellent', 'good', 'fair', 'poor'] }),
    ]),
  },
  {
    key: 'legal',
    name: 'Legal, direct post',
    document: {
      method: 'waterfall',
      vertical: 'legal',
      fields: [
        { name: 'case_type', type: 'string', required: true, max_length: 100 },
        { name: 'incident_date', type: 'date' },
        { name: 'has_attorney', type: 'boolean' },
      ],
    },
  },
];

// withTemplate returns a document with the values of a template in place of those of another.
export function withTemplate(document: Doc, key: string): Doc {
  const found = templates.find((t) => t.key === key)?.document ?? {};
  const { method: _, vertical: __, fields: ___, ...rest } = document;
  return { ...rest, ...found };
}

// cloneOf returns a campaign's document without its id and name.
export function cloneOf(document: Doc): Doc {
  const { id: _, name: __, ...rest } = document;
  return rest;
}
