// Loads the data of a page.

import { useCallback, useEffect, useRef, useState } from 'preact/hooks';
import { call, Failure, get, type Query } from './call';

// useSignedIn calls f after a new sign-in, so that requests which failed without a session can
// be repeated.
export function useSignedIn(f: () => void): void {
  useEffect(() => {
    addEventListener('signed-in', f);
    return () => removeEventListener('signed-in', f);
  }, []);
}

export interface Loading<T> {
  data: T | undefined;
  failure: Failure | undefined;
  busy: boolean;
  reload: () => void;
}

export function asFailure(problem: unknown): Failure {
  return problem instanceof Failure ? problem : new Failure(0, 'unexpected', String(problem));
}

// useLoad loads a path; null loads no data. The data stays while the same path reloads, and is
// removed when the path changes.
export function useLoad<T>(path: string | null, query: Query = {}): Loading<T> {
  const [state, set] = useState<{ of: string; data?: T; failure?: Failure; busy: boolean }>({ of: '', busy: true });
  const [turn, next] = useState(0);
  const of = `${path}?${JSON.stringify(query)}`;
  useEffect(() => {
    if (path === null) return;
    const control = new AbortController();
    set((before) => (before.of === of ? { ...before, busy: true } : { of, busy: true }));
    get<T>(path, query, control.signal).then(
      (data) => set({ of, data, busy: false }),
      (problem) => {
        if (!control.signal.aborted) set({ of, failure: asFailure(problem), busy: false });
      },
    );
    return () => control.abort();
  }, [of, turn]);
  const reload = useCallback(() => next((n) => n + 1), []);
  useSignedIn(reload);
  const current = state.of === of ? state : { busy: path !== null, data: undefined, failure: undefined };
  return { data: current.data, failure: current.failure, busy: current.busy, reload };
}

type Page<T> = T & { next?: string | number | null };

// usePages loads a listing page by page; null loads none. more is undefined at the end. Cursors
// are opaque. With inBody, the query is the body of a POST, so that it is in no address.
export function usePages<T>(path: string | null, query: Query, inBody = false): Loading<T[]> & { more?: () => void } {
  const [pages, set] = useState<{ of: string; list: T[]; next?: string | number | null }>({ of: '', list: [] });
  const [failure, fail] = useState<Failure | undefined>();
  const [busy, work] = useState(true);
  const [turn, again] = useState(0);
  const of = `${path}?${JSON.stringify(query)}`;
  const turns = useRef(0);
  const load = (after: string | number | undefined, before: T[]) => {
    if (path === null) return;
    const mine = ++turns.current;
    work(true);
    fail(undefined);
    const asked = { ...query, after };
    const page = inBody ? call<Page<T>>('POST', path, { body: asked }) : get<Page<T>>(path, asked);
    page.then(
      (page) => {
        if (mine !== turns.current) return;
        set({ of, list: [...before, page], next: page.next });
        work(false);
      },
      (problem) => {
        if (mine !== turns.current) return;
        fail(asFailure(problem));
        work(false);
      },
    );
  };
  useEffect(() => {
    load(undefined, []);
    return () => {
      turns.current++;
    };
  }, [of, turn]);
  const reload = useCallback(() => again((n) => n + 1), []);
  useSignedIn(reload);
  const list = pages.of === of ? pages.list : [];
  const after = pages.of === of ? pages.next : undefined;
  const more = after ? () => load(after, list) : undefined;
  return { data: list.length > 0 ? list : undefined, failure, busy, reload, more };
}
