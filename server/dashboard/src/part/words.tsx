// Inline elements: badges, ids, times, amounts.

import type { ComponentChildren } from 'preact';
import { instant, since, words } from '../format';
import { to } from '../route';

export type Tone = 'good' | 'bad' | 'warn' | 'plain';

export function Badge({ tone = 'plain', children }: { tone?: Tone; children: ComponentChildren }) {
  return <span class={`badge ${tone}`}>{children}</span>;
}

const tones: { [word: string]: Tone } = {
  ACCEPTED: 'good',
  SOLD: 'good',
  BID: 'good',
  UNMATCHED: 'warn',
  NO_BID: 'warn',
  good: 'good',
  delivered: 'good',
  confirmed: 'good',
  won: 'good',
  sold: 'good',
  qualified: 'good',
  returned: 'warn',
  slow: 'warn',
  pending: 'warn',
  unknown: 'bad',
  failing: 'bad',
  failed: 'bad',
  dead: 'bad',
};

export const toneOf = (word: string): Tone => tones[word] ?? 'plain';

export function Status({ word }: { word: string | null | undefined }) {
  return word ? <Badge tone={toneOf(word)}>{words(word)}</Badge> : <span class="faint">–</span>;
}

export function Time({ at, fine }: { at: string | null | undefined; fine?: boolean }) {
  return at ? (
    <time dateTime={at} title={`${instant(at, true)} UTC`}>
      {instant(at, fine)}
    </time>
  ) : (
    <span class="faint">–</span>
  );
}

// LastUsed shows the last use of a credential, which is known to the minute.
export function LastUsed({ at }: { at: string | null }) {
  if (!at) return <span class="faint">not yet, as far as is known</span>;
  return (
    <time dateTime={at} title={`${instant(at)} UTC`}>
      {Date.now() - Date.parse(at) < 120_000 ? 'just now' : `${since(at)} ago`}
    </time>
  );
}

type Of = 'campaigns' | 'buyers' | 'suppliers' | 'leads' | 'auctions' | 'suppression';

// Ref shows an id as a link to its page.
export function Ref({ of, id }: { of: Of; id: string | null | undefined }) {
  return id ? (
    <a href={to([of, id])} class={of === 'leads' || of === 'auctions' ? 'mono' : undefined}>
      {id}
    </a>
  ) : (
    <span class="faint">–</span>
  );
}

export function Facts({ of }: { of: [string, ComponentChildren][] }) {
  return (
    <dl class="facts">
      {of.map(([name, value]) => (
        <div>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  );
}

export function Card({
  title,
  side,
  children,
  level = 2,
}: {
  title: string;
  side?: ComponentChildren;
  children: ComponentChildren;
  level?: 2 | 3;
}) {
  const H = level === 2 ? 'h2' : 'h3';
  return (
    <section class="card">
      <header>
        <H>{title}</H>
        {side && <div class="row">{side}</div>}
      </header>
      {children}
    </section>
  );
}
