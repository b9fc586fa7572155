// Describes a campaign in sentences.

import type { EntryKind } from './entries';
import { amount, duration, number, share, words } from './format';
import type { Doc } from './types';

type Name = (kind: EntryKind, id: string) => string;

// Own returns the document of a buyer, whose limits add to those of its entry in a campaign.
type Own = (buyer: string) => Doc;

const listOf = (value: unknown): Doc[] => (Array.isArray(value) ? (value as Doc[]) : []);
const textsOf = (value: unknown): string[] => (Array.isArray(value) ? value.map(String) : []);
const mapOf = (value: unknown): Doc => (value && typeof value === 'object' ? (value as Doc) : {});

// join returns "a, b and c".
export function join(all: string[]): string {
  if (all.length < 2) return all.join('');
  return `${all.slice(0, -1).join(', ')} and ${all.at(-1)}`;
}

// condition describes one filter.
export function condition(filter: Doc): string {
  const field = words(String(filter.field || 'a field'));
  const parts: string[] = [];
  if (textsOf(filter.in).length > 0) parts.push(`is ${textsOf(filter.in).join(' or ')}`);
  if (textsOf(filter.not_in).length > 0) parts.push(`is not ${textsOf(filter.not_in).join(' or ')}`);
  if (textsOf(filter.prefix).length > 0) parts.push(`begins with ${textsOf(filter.prefix).join(' or ')}`);
  if (textsOf(filter.not_prefix).length > 0)
    parts.push(`does not begin with ${textsOf(filter.not_prefix).join(' or ')}`);
  if (filter.near !== undefined) parts.push(`is ${distance(mapOf(filter.near))}`);
  if (filter.matches) parts.push(`matches ${filter.matches}`);
  if (filter.min !== undefined) parts.push(`is at least ${filter.min}`);
  if (filter.max !== undefined) parts.push(`is at most ${filter.max}`);
  if (filter.from) parts.push(`is ${filter.from} or later`);
  if (filter.until) parts.push(`is ${filter.until} or earlier`);
  if (filter.min_age !== undefined) parts.push(`is at least ${filter.min_age} years ago`);
  if (filter.max_age !== undefined) parts.push(`is at most ${filter.max_age} years ago`);
  if (filter.absent === true) parts.push('is missing');
  return `${field} ${parts.join(' and ') || 'has any value'}`;
}

// distance describes a distance from a ZIP code.
const distance = (near: Doc): string =>
  near.miles !== undefined ? `within ${near.miles} miles of ${near.zip}` : `within ${near.km} km of ${near.zip}`;

export function capText(cap: Doc, currency: string): string {
  const what =
    cap.money !== undefined
      ? amount(Number(cap.money), currency)
      : `${number(Number(cap.count))} ${cap.count === 1 ? 'lead' : 'leads'}`;
  return cap.per === 'total' ? `${what} in total` : `${what} per ${cap.per}`;
}

const methods: { [method: string]: string } = {
  ping_post: 'Each lead is auctioned: all buyers get a ping, and the highest bid buys.',
  waterfall: 'Each lead is offered to one buyer after another, in order of priority.',
  round_robin: 'Buyers take turns.',
  weighted: 'Buyers get leads by weight.',
};

// statesOf returns the states in which a buyer buys in a campaign; empty: all. The buyer's own states and
// those of its entry must both have the state of a lead.
export function statesOf(entry: Doc, own: Own): string[] {
  const [here, all] = [textsOf(entry.states), textsOf(own(String(entry.buyer)).states)];
  return here.length > 0 && all.length > 0 ? here.filter((s) => all.includes(s)) : [...here, ...all];
}

// filtersOf returns the filters of a buyer in a campaign: its own and those of its entry.
export const filtersOf = (entry: Doc, own: Own): Doc[] => [
  ...listOf(own(String(entry.buyer)).filters),
  ...listOf(entry.filters),
];

// sentences describes a campaign: its suppliers, method, buyers, money, rules, caps and returns.
export function sentences(campaign: Doc, name: Name, own: Own = () => ({})): string[] {
  const currency = String(campaign.currency || 'USD');
  const suppliers = textsOf(campaign.suppliers);
  const who = suppliers.length > 0 ? join(suppliers.map((id) => name('suppliers', id))) : 'Every supplier';
  const all = [
    `${who} can send leads${campaign.vertical ? ` for ${words(String(campaign.vertical))}` : ''}.`,
    methods[String(campaign.method)] ?? 'No distribution method is chosen yet.',
    ...buyerLines(campaign, name, own, currency),
  ];
  if (campaign.floor) all.push(`Bids and prices below ${amount(Number(campaign.floor), currency)} do not buy.`);
  all.push(payoutLine(mapOf(campaign.payout), currency));
  all.push(...termsLines(campaign, name, currency));
  const required = listOf(campaign.fields).filter((f) => f.required === true);
  if (required.length > 0)
    all.push(
      `A lead must have ${required.length === 1 ? 'the field' : 'the fields'} ${join(required.map((f) => words(String(f.name))))}.`,
    );
  const filters = listOf(campaign.filters).filter((f) => f.field);
  if (filters.length > 0) all.push(`Only leads are accepted in which ${join(filters.map(condition))}.`);
  const schedule = mapOf(campaign.schedule);
  if (textsOf(schedule.open).length > 0) all.push(`Leads are sold ${join(textsOf(schedule.open))}.`);
  if (textsOf(schedule.closed_on).length > 0) all.push(`No lead is sold on ${join(textsOf(schedule.closed_on))}.`);
  const caps = listOf(campaign.caps);
  if (caps.length > 0) all.push(`The campaign accepts at most ${join(caps.map((c) => capText(c, currency)))}.`);
  const lists = textsOf(campaign.suppression);
  if (lists.length > 0) all.push(`People on ${join(lists)} are not sold.`);
  const duplicates = mapOf(campaign.duplicates);
  if (duplicates.window) all.push(duplicateLine(String(duplicates.window)));
  const returns = mapOf(campaign.returns);
  if (returns.window) all.push(returnLine(returns));
  return all;
}

// suppliersOf describes the suppliers of the buyer and of its entry.
function suppliersOf(entry: Doc, own: Own, name: Name): string[] {
  const both = [own(String(entry.buyer)), entry];
  const named = (key: string) => both.map((of) => textsOf(of[key])).filter((ids) => ids.length > 0);
  const list = (ids: string[]) => join(ids.map((id) => name('suppliers', id)));
  return [
    ...named('suppliers').map((ids) => `only from ${list(ids)}`),
    ...named('not_suppliers').map((ids) => `not from ${list(ids)}`),
  ];
}

function buyerLines(campaign: Doc, name: Name, own: Own, currency: string): string[] {
  const buyers = listOf(campaign.buyers).filter((b) => b.buyer);
  if (buyers.length === 0) return ['No buyer is in the campaign yet, so no lead sells.'];
  return buyers.map((b) => {
    const [states, filters] = [statesOf(b, own), filtersOf(b, own)];
    const rules = [
      states.length > 0 ? `in ${join(states)}` : '',
      filters.length > 0 ? `if ${join(filters.map(condition))}` : '',
      ...suppliersOf(b, own, name),
      listOf(b.caps).length > 0 ? `at most ${join(listOf(b.caps).map((c) => capText(c, currency)))}` : '',
      ...listOf(b.modifiers).map(modifierText),
    ].filter(Boolean);
    const auction = campaign.method === 'ping_post'; // its buyers bid, so a price has no effect
    const price = typeof b.price === 'number' && !auction ? ` for ${amount(b.price, currency)}` : '';
    const who = name('buyers', String(b.buyer)) + (b.id ? ` (${b.id})` : '');
    return `${who} ${auction ? 'bids' : 'buys'}${price}${rules.length > 0 ? ` ${rules.join(', ')}` : ''}.`;
  });
}

function modifierText(modifier: Doc): string {
  const factor = (value: unknown, of: string): string[] => (value === undefined ? [] : [`${value} × the ${of}`]);
  const caps = modifier.caps === 0 ? ['no lead'] : factor(modifier.caps, 'caps');
  return `with ${join([...factor(modifier.price, 'price'), ...caps])} on ${join(textsOf(modifier.during))}`;
}

function payoutLine(payout: Doc, currency: string): string {
  if (payout.fixed !== undefined) return `The supplier gets ${amount(Number(payout.fixed), currency)} for each sale.`;
  return `The supplier gets ${share(Number(payout.share ?? 1))} of the price.`;
}

function termsLines(campaign: Doc, name: Name, currency: string): string[] {
  return listOf(campaign.terms).map((entry) => {
    const [suppliers, sources] = [textsOf(entry.suppliers), textsOf(entry.sources)];
    const whose = [
      suppliers.length > 0 ? ` from ${join(suppliers.map((id) => name('suppliers', id)))}` : '',
      sources.length > 0 ? ` of the source ${sources.join(' or ')}` : '',
    ].join('');
    const caps = listOf(entry.caps).map((c) => capText(c, currency));
    const rules = [
      entry.floor !== undefined ? `minimum bid ${amount(Number(entry.floor), currency)}` : '',
      entry.payout ? payoutLine(mapOf(entry.payout), currency).replace('The', 'the').replace(/\.$/, '') : '',
      caps.length > 0 ? `at most ${join(caps)}` : '',
    ].filter(Boolean);
    return `Terms ${String(entry.id)}, for leads${whose || ' with no other terms'}: ${join(rules) || 'those of the campaign'}.`;
  });
}

const duplicateLine = (window: string): string =>
  window === '0s' ? 'Duplicates are accepted.' : `A person can be sold again after ${duration(window)}.`;

function returnLine(returns: Doc): string {
  if (returns.window === '0s') return 'Buyers cannot return leads.';
  const reasons = textsOf(returns.reasons);
  const why = reasons.length > 0 ? ` for ${reasons.join(' or ')}` : '';
  const how = returns.approval === 'manual' ? 'an operator approves each return' : 'returns are approved automatically';
  return `Buyers can return a lead within ${duration(String(returns.window))}${why}; ${how}.`;
}
