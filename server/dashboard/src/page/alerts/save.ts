import { useState } from 'preact/hooks';
import { call, type Failure, get } from '../../call';
import { asFailure } from '../../load';

// Met is the version of another operator that a save has met: null after its removal.
export interface Met<T> {
  current: T | null;
}

// useSave creates or changes an entry on condition of its version. If another operator was faster,
// it loads that version and keeps the input: met has the version, and the next save replaces it.
export function useSave<T extends { etag: string }>(first: T | undefined) {
  const [etag, base] = useState(first?.etag);
  const [met, meet] = useState<Met<T> | undefined>();
  const [failure, fail] = useState<Failure | undefined>();
  // save returns the saved entry, or undefined if it was not saved.
  const save = async (path: string, body: unknown): Promise<T | undefined> => {
    fail(undefined);
    meet(undefined);
    try {
      const headers: { [name: string]: string } = etag ? { 'If-Match': etag } : { 'If-None-Match': '*' };
      return await call<T>('PUT', path, { headers, body });
    } catch (problem) {
      const why = asFailure(problem);
      if (first && [404, 409, 412].includes(why.status)) {
        const current = await get<T>(path).catch((again) => {
          if (asFailure(again).status === 404) return null;
          throw again;
        });
        // Without another version, the conflict is of another kind, for example a limit.
        if (current?.etag !== etag) {
          base(current?.etag);
          meet({ current });
          return undefined;
        }
      }
      fail(why);
      return undefined;
    }
  };
  return { save, met, failure };
}
