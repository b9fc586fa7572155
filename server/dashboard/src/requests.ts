// The requests to the buyers of a lead, with their answers.

import { words } from './format';
import { faultText } from './reason';
import { cameTo, isUnanswered, money, type NameOf, noAnswer } from './timeline';
import type { Candidate, Post, Settlement, Told } from './types';

export interface Request {
  at?: string; // when it was sent; missing: not known
  recorded?: string; // its end in the log, if the time of sending is not known
  to: string;
  kind: string;
  answer: string;
  elapsed?: number; // missing without an answer
}

const list = (parts: (string | undefined | false | 0)[]): string => parts.filter(Boolean).join(', ');

const before = (at: string, ms: number): string => new Date(Date.parse(at) - ms).toISOString();

// requestsOf lists the requests about a lead, those of its auction included.
export function requestsOf(told: Told, name: NameOf): Request[] {
  const pings = told.candidates.filter((c) => c.asked).map((c) => pingOf(c, told.received_at));
  const posts = told.posts.flatMap((p) => postsOf(p, name));
  return [...pings, ...(told.auction ? requestsOf(told.auction, name) : []), ...posts];
}

const pingOf = (c: Candidate, at: string): Request => ({
  at,
  to: c.buyer_id,
  kind: 'ping',
  elapsed: isUnanswered(c) ? undefined : c.elapsed_ms,
  answer: list([
    c.status ? `HTTP ${c.status}` : isUnanswered(c) && noAnswer(c.elapsed_ms),
    c.bid && `bid ${money(c.bid)}`,
    !isUnanswered(c) && c.fault && faultText(c.fault),
    c.reason,
  ]),
});

// postsOf lists the attempts of a post. The first was sent at the time of the intention. The others followed
// after a pause, and the log has only their ends.
function postsOf(p: Post, name: NameOf): Request[] {
  const tries = p.tries.map(
    (t): Request => ({
      ...(t.attempt === 1
        ? { at: p.intended_at, elapsed: t.status ? Date.parse(t.ended_at) - Date.parse(p.intended_at) : undefined }
        : { recorded: t.ended_at }),
      to: p.buyer_id,
      kind: `post, attempt ${t.attempt}`,
      answer: list([
        t.status && `HTTP ${t.status}`,
        t.fault && faultText(t.fault),
        t.code,
        t.verdict && words(t.verdict),
      ]),
    }),
  );
  return [...tries, ...p.settlements.map((s) => lastOf(s, p, name))];
}

// lastOf returns the last attempt of a post, or an operator's decision about it.
function lastOf(s: Settlement, p: Post, name: NameOf): Request {
  const isTimeout = s.fault === 'timeout' && !s.status;
  return {
    ...(s.elapsed_ms === undefined ? { recorded: s.at } : { at: before(s.at, s.elapsed_ms) }),
    to: p.buyer_id,
    kind: 'post',
    elapsed: isTimeout ? undefined : s.elapsed_ms,
    answer: cameTo(isTimeout ? s : { ...s, elapsed_ms: undefined }, name),
  };
}
