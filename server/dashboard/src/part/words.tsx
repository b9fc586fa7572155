// Inline elements: badges, names, ids, times, amounts.

import type { ComponentChildren } from 'preact';
import { useLayoutEffect, useRef } from 'preact/hooks';
import { type EntryKind, nameOf, useEntries } from '../entries';
import { amount, exact, instant, lastUseText, words } from '../format';
import { to } from '../route';
import type { Kind } from '../types';
import { say } from './notice';

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

// titles has the display words of the wire's statuses. Other words are shown as they are.
const titles: { [word: string]: string } = {
  ACCEPTED: 'Sold',
  UNMATCHED: 'Unsold',
  OPEN: 'Open',
  pending: 'In progress',
  unknown: 'Unconfirmed',
  returned: 'Returned',
  dead: 'failed',
};

export const titleOf = (word: string): string => titles[word] ?? words(word);

// statusOf returns the word for a lead's status. An accepted lead is sold when its delivery is no longer open.
export const statusOf = (lead: { status: string; delivery?: string | null }): string =>
  lead.status === 'ACCEPTED' && (lead.delivery === 'unknown' || lead.delivery === 'pending')
    ? lead.delivery
    : lead.status;

export function Status({ word }: { word: string | null | undefined }) {
  return word ? (
    <span title={word}>
      <Badge tone={toneOf(word)}>{titleOf(word)}</Badge>
    </span>
  ) : (
    <span class="faint dash">–</span>
  );
}

export function Time({ at, fine }: { at: string | null | undefined; fine?: boolean }) {
  return at ? (
    <time dateTime={at} title={at}>
      {instant(at, fine)}
    </time>
  ) : (
    <span class="faint dash">–</span>
  );
}

// LastUsed shows the last use of a credential.
export function LastUsed({ at, created }: { at: string | null; created?: string | undefined }) {
  if (!at) return <span class="faint">no known use</span>;
  return (
    <time dateTime={at} title={at}>
      {lastUseText(at, created)}
    </time>
  );
}

// Cash shows money to the cent, and with all its decimals when the pointer is over it. Without a currency
// there was no sale.
export function Cash({ of, currency }: { of: number | null | undefined; currency?: string | null }) {
  if (of === null || of === undefined || (of === 0 && !currency)) return <span class="faint dash">–</span>;
  return <span title={exact(of, currency ?? '')}>{amount(of, currency ?? '')}</span>;
}

// refKinds has the kind of a Ref for each kind of entry.
export const refKinds = {
  campaigns: 'campaigns',
  buyers: 'buyers',
  suppliers: 'suppliers',
  suppression_lists: 'suppression',
} as const satisfies { [kind in Kind]: string };

// Ref shows the name of an entry as a link to its page.
// SetName shows a filter set: its buyer, and its own id if it has one.
export function SetName({ of }: { of: { buyer_id: string; filter_set?: string } }) {
  return (
    <>
      <Ref of="buyers" id={of.buyer_id} />
      {of.filter_set && <span class="faint"> / {of.filter_set}</span>}
    </>
  );
}

export function Ref({
  of,
  id,
  tab = '',
}: {
  of: EntryKind | 'suppression';
  id: string | null | undefined;
  tab?: string;
}) {
  const entries = useEntries();
  if (!id) return <span class="faint dash">–</span>;
  const place = of === 'suppression' ? ['compliance', 'suppression', id] : tab ? [of, id, tab] : [of, id];
  return (
    <a class="ref" href={to(place)} title={id}>
      {of === 'suppression' ? id : nameOf(entries, of, id)}
    </a>
  );
}

// NamedRef is a Ref in a sentence: it shows the id too, unless the entry has no other name.
export function NamedRef({ of, id }: { of: EntryKind; id: string }) {
  const named = nameOf(useEntries(), of, id) !== id;
  return (
    <>
      <Ref of={of} id={id} />
      {named && <span class="faint"> ({id})</span>}
    </>
  );
}

const tail = 8; // characters of an id that are shown

// Id shows the end of an id as a link to its page, and copies the whole id. Screen readers and
// searches on the page find the whole id.
export function Id({ of, id }: { of: 'leads' | 'auctions'; id: string | null | undefined }) {
  if (!id) return <span class="faint dash">–</span>;
  return (
    <span class="id">
      <a class="ref mono" href={to([of, id])} title={id}>
        <span class="id-head">{id.slice(0, -tail)}</span>
        {id.slice(-tail)}
      </a>
      <Copy text={id} />
    </span>
  );
}

// Copy copies a text. Browsers allow that over https and on the machine itself.
export function Copy({ text }: { text: string }) {
  const copy = () =>
    navigator.clipboard ? navigator.clipboard.writeText(text).then(() => say('Copied.')) : say('Copying needs https.');
  return (
    <button type="button" class="copy" aria-label={`Copy ${text}`} title="Copy" onClick={() => void copy()}>
      <svg viewBox="0 0 16 16" width="12" height="12" aria-hidden="true">
        <path d="M5 5V2h9v9h-3M2 5h9v9H2z" fill="none" stroke="currentColor" stroke-width="1.5" />
      </svg>
    </button>
  );
}

// Lines shows each text in its own line.
export function Lines({ of }: { of: ComponentChildren[] }) {
  if (of.length === 0) return <>–</>;
  return (
    <ul class="plain-list">
      {of.map((line) => (
        <li>{line}</li>
      ))}
    </ul>
  );
}

// Address shows a URL that breaks after a slash and not within a word.
export function Address({ of }: { of: string }) {
  return (
    <>
      {of.split(/(?<=[^/]\/)(?=[^/])/).map((part, i) => (
        <>
          {i > 0 && <wbr />}
          {part}
        </>
      ))}
    </>
  );
}

export function Facts({ of }: { of: [string, ComponentChildren][] }) {
  return (
    <dl class="facts">
      {of.map(([name, value]) => (
        <div>
          <dt>{name}</dt>
          <dd>{typeof value === 'string' && value.includes('://') ? <Address of={value} /> : value}</dd>
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
  title?: string;
  side?: ComponentChildren;
  children: ComponentChildren;
  level?: 2 | 3;
}) {
  const H = level === 2 ? 'h2' : 'h3';
  return (
    <section class="card">
      {(title || side) && (
        <header>
          {title && <H>{title}</H>}
          {side && <div class="row">{side}</div>}
        </header>
      )}
      {children}
    </section>
  );
}

// Tabs are the pages of one area or of one entry. Each is a link with its own address. On a narrow screen
// the row scrolls, so that the present tab is visible.
export function Tabs({
  label,
  at,
  of,
}: {
  label: string;
  at: string;
  of: { key: string; name: ComponentChildren; href: string }[];
}) {
  const row = useRef<HTMLElement>(null);
  useLayoutEffect(() => {
    const tab = row.current?.querySelector('[aria-current]')?.getBoundingClientRect();
    if (!row.current || !tab) return;
    const all = row.current.getBoundingClientRect();
    row.current.scrollLeft += tab.left + tab.width / 2 - (all.left + all.width / 2);
  }, [at]);
  return (
    <nav class="tabs" aria-label={label} ref={row}>
      {of.map((t) => (
        <a href={t.href} aria-current={t.key === at ? 'page' : undefined}>
          {t.name}
        </a>
      ))}
    </nav>
  );
}

// Heading is a page's title, with its actions at the side. A title that is an id can be copied.
export function Heading({ title, id, children }: { title: string; id?: string; children?: ComponentChildren }) {
  const alone = title === id;
  return (
    <div class="title">
      <div class="row">
        <h1 tabIndex={-1} class={alone ? 'mono' : undefined}>
          {title}
        </h1>
        {id && (
          <span class="id faint">
            {!alone && <code>{id}</code>}
            <Copy text={id} />
          </span>
        )}
      </div>
      {children && <div class="row">{children}</div>}
    </div>
  );
}
