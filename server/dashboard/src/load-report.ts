// Loads reports. The exchange computes two at a time, so this page asks for one after another.

import { useEffect, useState } from 'preact/hooks';
import { Failure, type Query, send } from './call';
import { asFailure, type Loading, useSignedIn } from './load';
import { type Row, rowsOf } from './report';

export interface Report {
  rows: Row[];
  from: string;
  to: string;
  entry: string;
}

let last: Promise<unknown> = Promise.resolve();

// inTurn starts work after all earlier work has ended.
function inTurn<T>(work: () => Promise<T>): Promise<T> {
  const mine = last.then(work, work);
  last = mine.catch(() => undefined);
  return mine;
}

const tries = 4;

// isBusy reports whether the exchange computes too many reports at present.
const isBusy = (problem: unknown): boolean => problem instanceof Failure && problem.status === 503;

async function loadReport(query: Query, signal: AbortSignal): Promise<Report> {
  for (let i = 1; ; i++) {
    try {
      signal.throwIfAborted();
      const answer = await send('GET', 'report', { query: { ...query, format: 'ndjson' }, signal });
      const head = (name: string) => answer.headers.get(`X-Report-${name}`) ?? '';
      return { rows: rowsOf(await answer.text()), from: head('From'), to: head('To'), entry: head('Entry') };
    } catch (problem) {
      if (!isBusy(problem) || i === tries) throw problem;
      await new Promise((resolve) => setTimeout(resolve, 500 * i));
    }
  }
}

// useReport loads a report; null loads none. With every, it reads it again after so many
// milliseconds. The rows stay while the same report reloads.
export function useReport(query: Query | null, every = 0): Loading<Report> {
  const of = JSON.stringify(query);
  const [state, set] = useState<{ of: string; data?: Report; failure?: Failure; busy: boolean }>({ of, busy: true });
  const [turn, again] = useState(0);
  const reload = () => again((n) => n + 1);
  useSignedIn(reload);
  useEffect(() => {
    if (query === null) return;
    const control = new AbortController();
    set((before) => (before.of === of ? { ...before, busy: true } : { of, busy: true }));
    inTurn(() => loadReport(query, control.signal)).then(
      (data) => !control.signal.aborted && set({ of, data, busy: false }),
      (problem) => {
        if (!control.signal.aborted) set({ of, failure: asFailure(problem), busy: false });
      },
    );
    const timer = every > 0 ? window.setTimeout(reload, every) : 0;
    return () => {
      control.abort();
      clearTimeout(timer);
    };
  }, [of, turn]);
  const mine = state.of === of ? state : { data: undefined, failure: undefined, busy: true };
  return { data: mine.data, failure: mine.failure, busy: mine.busy, reload };
}
