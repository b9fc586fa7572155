import type { ComponentChildren } from 'preact';
import type { Loading } from '../load';
import { Button } from './button';
import { Loaded } from './state';

// More is a listing that is loaded page by page.
export function More<T>({
  of,
  none,
  empty,
  note,
  children,
}: {
  of: Loading<T[]> & { more?: () => void };
  none: boolean; // the pages so far are empty
  empty: ComponentChildren;
  note?: ComponentChildren; // next to the button
  children: ComponentChildren;
}) {
  if (of.data === undefined) return <Loaded of={of}>{() => null}</Loaded>;
  return (
    <>
      {none && !of.more ? empty : children}
      {of.failure && <Loaded of={of}>{() => null}</Loaded>}
      {(of.more || note) && (
        <div class="row foot">
          {of.more && (
            <Button onClick={of.more} disabled={of.busy} busy={of.busy}>
              {none ? 'Search on' : 'More'}
            </Button>
          )}
          {note}
        </div>
      )}
    </>
  );
}
