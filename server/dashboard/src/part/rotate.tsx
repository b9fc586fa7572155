import { useState } from 'preact/hooks';
import { call, Failure } from '../call';
import type { Key } from '../types';
import { Act, Button, type Sure } from './button';
import { Dialog } from './dialog';
import { Table } from './table';
import { LastUsed, Time } from './words';

// Live is a valid secret. A webhook's secret has no last use, because the exchange cannot
// know which of two signatures the receiver checks.
export type Live = Pick<Key, 'hint'> & Partial<Key> & { previous?: boolean };

// liveOf returns the live secrets from a 409 that asks which of them the new one replaces.
export function liveOf(problem: unknown): Live[] | undefined {
  if (!(problem instanceof Failure) || problem.code !== 'confirmation_required') return undefined;
  const { live } = problem.body as { live?: unknown };
  return Array.isArray(live) ? (live as Live[]) : undefined;
}

// Rotate creates a new secret after a confirmation that shows the last use of the known ones. If
// two are live, it asks which of them the new one replaces.
export function Rotate<T>({
  path,
  made,
  known,
  what,
  children,
  ...rest
}: {
  path: string;
  made: (answer: T) => void;
  known?: Live[]; // the live secrets
  what: string; // for example: API key
  children: string;
  label?: string;
  tone?: 'main';
  disabled?: boolean;
}) {
  const [live, ask] = useState<Live[] | undefined>();
  const order = async (body?: { replaces: string }) => {
    try {
      const answer = await call<T>('POST', path, { body });
      ask(undefined);
      made(answer);
    } catch (problem) {
      const list = liveOf(problem);
      if (!list) throw problem;
      ask(list);
    }
  };
  return (
    <>
      <Act {...rest} needs="admin" sure={sureOf(what, known)} run={() => order()}>
        {children}
      </Act>
      {live && <Question live={live} close={() => ask(undefined)} replace={(hint) => order({ replaces: hint })} />}
    </>
  );
}

// sureOf returns the question before a rotation. The first secret needs none. With two, the
// exchange asks which one to replace.
function sureOf(what: string, known: Live[] = []): Sure | undefined {
  const [one] = known;
  if (!one || known.length > 1) return undefined;
  return {
    title: `Create a new ${what}?`,
    text: (
      <p>
        <code>{one.hint}…</code> keeps working until you revoke it.
        {one.last_used !== undefined && (
          <>
            {' '}
            Last use: <LastUsed at={one.last_used} created={one.since} />.
          </>
        )}
      </p>
    ),
  };
}

function Question({
  live,
  close,
  replace,
}: {
  live: Live[];
  close: () => void;
  replace: (hint: string) => Promise<unknown>;
}) {
  const [chosen, choose] = useState('');
  const signs = live.some((l) => l.previous !== undefined);
  return (
    <Dialog title="Which one do you replace?" close={close}>
      <p>
        At most two work at a time.{' '}
        {signs
          ? 'Both sign each event. Ask the supplier which one its receiver checks.'
          : 'Requests with the replaced one are rejected at once.'}
      </p>
      <Table
        caption="Working now"
        rows={live}
        keyOf={(l) => l.hint}
        columns={[
          {
            head: 'Replace',
            of: (l) => (
              <input
                type="radio"
                name="replaces"
                aria-label={`Replace ${l.hint}`}
                checked={chosen === l.hint}
                onChange={() => choose(l.hint)}
              />
            ),
          },
          { head: 'Starts with', of: (l) => <code>{l.hint}…</code> },
          ...(signs
            ? [{ head: 'Order', of: (l: Live) => (l.previous ? 'previous' : 'current') }]
            : [
                { head: 'Created', of: (l: Live) => <Time at={l.since} /> },
                { head: 'Last used', of: (l: Live) => <LastUsed at={l.last_used ?? null} created={l.since} /> },
              ]),
        ]}
      />
      <div class="row end">
        <Button onClick={close}>Cancel</Button>
        <Act needs="admin" tone="danger" disabled={chosen === ''} run={() => replace(chosen)}>
          Replace
        </Act>
      </div>
    </Dialog>
  );
}
