// The timeline of a lead or an auction as lanes, one per filter set, with its requests, answers
// and verdicts. Times are in milliseconds after the arrival.

import { amount, millis, words } from './format';
import type { Tone } from './part/words';
import type { Candidate, Money, Post, Rule, Settlement, Told } from './types';

export interface Part {
  kind: 'ask' | 'post';
  from: number;
  until: number;
  open: boolean; // continues beyond the end of the drawing
  tone: Tone;
  text: string;
}

export interface Lane {
  buyer: string;
  set?: string; // the filter set's own id
  outcome: string;
  tone: Tone;
  parts: Part[];
  says: string[];
  rule?: Rule; // missing if says has the same
}

export interface Mark {
  at: number;
  text: string;
}

export interface Drawing {
  end: number;
  lanes: Lane[];
  marks: Mark[];
}

// Events later than this are listed, not drawn: a return happens days after the milliseconds
// that the drawing shows.
const drawn = 60_000;

const outcomeTones: { [outcome: string]: Tone } = {
  won: 'good',
  lost: 'plain',
  not_asked: 'plain',
  timeout: 'bad',
  late: 'bad',
  error: 'bad',
  invalid: 'bad',
  post_rejected: 'bad',
  post_pending: 'warn',
  other_filter_set: 'plain',
  unhealthy: 'bad',
};

const wasPosted = ['won', 'post_rejected', 'post_pending'];

export const outcomeTone = (outcome: string): Tone => outcomeTones[outcome] ?? 'warn';

// saysItself are the kinds of rules that the answers of the buyer already tell.
const saysItself = ['deadline', 'bid', 'post', 'outbid'];

const settlementTones: { [came: string]: Tone } = {
  delivered: 'good',
  confirmed: 'good',
  refused: 'bad',
  released: 'bad',
  unknown: 'bad',
};

// NameOf returns the name of a buyer by its id.
export type NameOf = (buyer: string) => string;

export function draw(told: Told, name: NameOf): Drawing {
  const zero = Date.parse(told.received_at);
  const since = (at: string) => Math.max(0, Date.parse(at) - zero);
  const lanes = new Map<string, Lane>();
  const lane = (buyer: string, outcome: string, set?: string): Lane => {
    const key = set ? `${buyer}/${set}` : buyer;
    const known = lanes.get(key);
    if (known) return known;
    const made: Lane = { buyer, set, outcome, tone: outcomeTone(outcome), parts: [], says: [] };
    lanes.set(key, made);
    return made;
  };
  // A buyer gets a lead by one of its filter sets.
  const laneOfPost = (buyer: string): Lane =>
    [...lanes.values()].find((l) => l.buyer === buyer && wasPosted.includes(l.outcome)) ?? lane(buyer, '');
  const marks: Mark[] = [{ at: 0, text: 'arrived' }];
  if (told.bids_due_at) marks.push({ at: since(told.bids_due_at), text: 'bids due' });
  marks.push({ at: since(told.decided_at), text: 'decided' });
  if (told.answer && since(told.answer.at) <= drawn) marks.push({ at: since(told.answer.at), text: 'answered' });

  const due = since(told.bids_due_at ?? told.decided_at);
  for (const c of told.candidates) {
    const one = lane(c.buyer_id || `buyer ${c.seat}`, c.outcome, c.filter_set);
    if (c.asked) one.parts.push(ask(c, due));
    const said = saysOf(c);
    if (said) one.says.push(said);
    if (c.rule && !saysItself.includes(c.rule.kind)) one.rule = c.rule;
  }
  for (const p of told.posts) post(laneOfPost(p.buyer_id), p, since, name);

  const ends = [...lanes.values()].flatMap((l) => l.parts.filter((p) => !p.open).map((p) => p.until));
  const begins = [...lanes.values()].flatMap((l) => l.parts.map((p) => p.from));
  const last = Math.max(
    ...ends.filter((at) => at <= drawn),
    ...begins,
    ...marks.filter((m) => m.text !== 'bids due').map((m) => m.at),
    1,
  );
  const end = Math.min(last, drawn) * 1.02;
  for (const l of lanes.values()) {
    for (const p of l.parts) {
      if (p.until > end || p.open) p.until = end;
    }
  }
  return { end, lanes: [...lanes.values()], marks: marks.filter((m) => m.at <= end) };
}

// isUnanswered reports whether a buyer got a ping and sent no answer in time. Its time is then the limit.
export const isUnanswered = (c: Candidate): boolean =>
  c.asked && !c.status && (c.elapsed_ms === undefined || c.outcome === 'timeout' || c.fault === 'timeout');

export const noAnswer = (limit: number | undefined): string =>
  limit === undefined ? 'no answer in time' : `no answer within ${millis(limit)}`;

// ask returns the span of a ping. It ends with the answer or with the deadline for bids.
function ask(c: Candidate, due: number): Part {
  const until = c.elapsed_ms ?? due;
  const text = isUnanswered(c) ? `pinged, ${noAnswer(c.elapsed_ms)}` : `answered after ${millis(c.elapsed_ms)}`;
  const tone = c.bid ? (c.outcome === 'won' ? 'good' : 'plain') : outcomeTone(c.outcome);
  return { kind: 'ask', from: 0, until, open: false, tone, text };
}

function saysOf(c: Candidate): string {
  return list([
    c.bid && `bid ${money(c.bid)}`,
    c.payout && `payout ${money(c.payout)}`,
    c.status && c.status !== 200 ? `HTTP ${c.status}` : undefined,
    c.fault && c.fault !== c.outcome && !isUnanswered(c) && words(c.fault),
    c.reason,
  ]);
}

function post(into: Lane, p: Post, since: (at: string) => number, name: NameOf): void {
  const from = since(p.intended_at);
  const ended = p.settlements.find((s) => s.settlement !== 'pending') ?? p.settlements[0];
  const tone = ended ? (settlementTones[ended.settlement] ?? 'warn') : 'warn';
  const text = ended ? cameTo(ended, name) : 'in progress';
  into.parts.push({ kind: 'post', from, until: ended ? since(ended.at) : from, open: !ended, tone, text });
  into.says.push(list([`posted for ${money(p.price)}`, `payout ${money(p.payout)}`]));
  for (const t of p.tries) {
    into.says.push(
      list([`attempt ${t.attempt}`, t.status ? `HTTP ${t.status}` : undefined, t.fault && words(t.fault)]),
    );
  }
  for (const s of p.settlements) into.says.push(cameTo(s, name));
}

export function cameTo(s: Settlement, name: NameOf): string {
  const timeout = s.fault === 'timeout' && !s.status;
  return list([
    words(s.settlement),
    s.status ? `HTTP ${s.status}` : undefined,
    timeout ? noAnswer(s.elapsed_ms) : s.elapsed_ms === undefined ? undefined : `after ${millis(s.elapsed_ms)}`,
    !timeout && s.fault && words(s.fault),
    s.code && words(s.code),
    s.buyer_lead_id && `buyer’s id ${s.buyer_lead_id}`,
    s.reason && words(s.reason),
    s.next_buyer_id && `then to ${name(s.next_buyer_id)}`,
  ]);
}

export const money = (m: Money): string => amount(m.amount, m.currency);

const list = (parts: (string | undefined | false | 0)[]): string => parts.filter(Boolean).join(', ');

// ticks returns four to nine round times for an axis of the given length.
export function ticks(end: number): number[] {
  const rough = end / 5;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((n) => n * power).find((s) => s >= rough) ?? power;
  const found: number[] = [];
  for (let i = 0; i * step <= end; i++) found.push(Number((i * step).toPrecision(12)));
  return found;
}
