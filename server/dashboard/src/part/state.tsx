// Placeholders for missing content: loading, empty, not allowed, failed.

import type { ComponentChildren } from 'preact';
import type { Failure } from '../call';
import type { Loading } from '../load';
import { Button } from './button';

export function Empty({
  title,
  children,
  action,
}: {
  title: string;
  children?: ComponentChildren;
  action?: ComponentChildren; // a button below the text
}) {
  return (
    <div class="state">
      <p class="state-title">{title}</p>
      {children && <p>{children}</p>}
      {action}
    </div>
  );
}

function Failed({ failure, again }: { failure: Failure; again: () => void }) {
  const noReport = failure.status === 404 && failure.message.includes('keeps no report');
  const title = titleOf(failure, noReport);
  return (
    <div class={`state ${failure.status === 403 || noReport ? '' : 'bad'}`} role="alert">
      <p class="state-title">{title}</p>
      <p>{failure.message}</p>
      {failure.fields.length > 0 && (
        <ul>
          {failure.fields.map((f) => (
            <li>
              <code>{f.field}</code>: {f.expected}
            </li>
          ))}
        </ul>
      )}
      {failure.requestId && <p class="faint">Request {failure.requestId}</p>}
      {![403, 404].includes(failure.status) && <Button onClick={again}>Try again</Button>}
    </div>
  );
}

function titleOf(failure: Failure, noReport: boolean): string {
  if (noReport) return 'This exchange keeps no report';
  switch (failure.status) {
    case 0:
      return 'Loading failed';
    case 403:
      return 'Your role does not allow this';
    case 404:
      return 'Not found';
    case 422:
      return 'The exchange rejects this request';
    case 503:
      return 'Not available at the moment';
  }
  return 'Loading failed';
}

export function Loaded<T>({
  of,
  children,
}: {
  of: Loading<T>;
  children: (data: T) => ComponentChildren;
}): preact.JSX.Element {
  if (of.failure) return <Failed failure={of.failure} again={of.reload} />;
  if (of.data === undefined) return <Waiting />;
  return <div aria-busy={of.busy}>{children(of.data)}</div>;
}

export function Waiting() {
  return (
    <div class="state" role="status">
      <p class="faint">Loading…</p>
    </div>
  );
}
