// The audit log: each operator's action, with the caller and the change.

import { actionOf, shortOf } from '../action';
import type { Query } from '../call';
import { differences } from '../form/document';
import { count, scalar, words } from '../format';
import { usePages } from '../load';
import { to } from '../route';
import type { AuditEntry, Doc } from '../types';
import { More } from './more';
import { Empty } from './state';
import { type Column, Table } from './table';
import { Badge, Copy, Id, Ref, Time, type Tone } from './words';

const credentials: { [kind: string]: string } = {
  session: 'session',
  api_token: 'API token',
  account_password: 'password of the account',
  shared_password: 'Shared password (name not verified)',
  shared_password_session: 'Shared password (name not verified), session',
  none: 'no credential',
};

const tones: { [outcome: string]: Tone } = { done: 'good', failed: 'bad', unknown: 'warn' };

// AuditList shows the entries of the audit log that match a query of GET audit. A list of one
// target has no column for it.
export function AuditList({ query }: { query: Query }) {
  const pages = usePages<{ entries: AuditEntry[] }>('audit', { limit: 50, ...query });
  const entries = pages.data?.flatMap((p) => p.entries) ?? [];
  return (
    <More
      of={pages}
      none={entries.length === 0}
      empty={<Empty title="No action is recorded here">The newest actions can be missing for a moment.</Empty>}
    >
      <Table
        caption="Audit log"
        rows={entries}
        keyOf={(e) => e.id}
        columns={columns.filter((c) => c.head !== 'Target' || !query.target)}
      />
    </More>
  );
}

const columns: Column<AuditEntry>[] = [
  { head: 'Time', of: (e) => <Time at={e.at} /> },
  {
    head: 'Operator',
    of: (e) => (
      <>
        {e.actor ?? <span class="faint">{e.credential === 'none' ? 'none' : 'the exchange'}</span>}{' '}
        <small class="faint">{credentials[e.credential] ?? words(e.credential)}</small>{' '}
        <small class="faint">{e.address}</small>
      </>
    ),
  },
  {
    head: 'Action',
    of: (e) => (
      <>
        {actionOf(e.operation)} <small class="faint mono">{shortOf(e.operation)}</small>
      </>
    ),
  },
  { head: 'Target', of: (e) => <Target of={e} /> },
  {
    head: 'Outcome',
    phone: 'side',
    of: (e) => (
      <>
        <Badge tone={tones[e.outcome]}>
          {e.outcome === 'unknown' ? 'Outcome not recorded: the exchange stopped' : e.outcome}
        </Badge>
        {e.status !== null && e.outcome === 'failed' && <small> HTTP {e.status}</small>}
        {e.omitted ? <small> and {count(e.omitted)} more failures before</small> : null}
      </>
    ),
  },
  { head: 'Details', of: (e) => <Details of={e} /> },
];

const entryKinds: { [kind: string]: 'campaigns' | 'buyers' | 'suppliers' | 'suppression' } = {
  campaign: 'campaigns',
  buyer: 'buyers',
  supplier: 'suppliers',
  suppression_list: 'suppression',
};

function Target({ of }: { of: AuditEntry }) {
  if (!of.target) return <span class="faint">{words(of.target_kind)}</span>;
  if (of.target_kind === 'lead') return <Id of="leads" id={of.target} />;
  if (of.target_kind === 'webhook') return <a href={to(['suppliers', of.target, 'webhooks'])}>{of.target}</a>;
  const kind = entryKinds[of.target_kind ?? ''];
  if (kind) return <Ref of={kind} id={of.target} />;
  return (
    <>
      <span class="faint">{words(of.target_kind)}</span> {of.target}
    </>
  );
}

const shownChanges = 3;
const longValue = 120; // characters; a longer value is folded

// Details shows the values of the request and the changes. Many changes and long values are folded.
function Details({ of }: { of: AuditEntry }) {
  const values = [...Object.entries(of.request ?? {}), ...Object.entries(of.result ?? {})];
  // After a failure, a missing target means that the action changed nothing.
  const changes = of.outcome === 'failed' && of.after === null ? [] : changesOf(of.before, of.after);
  const list = (
    <ul class="changes">
      {changes.map((c) => (
        <li>
          {c.path && <code>{c.path}</code>}
          <span>
            {c.before !== undefined && c.before !== null && <del>{scalar(c.before)}</del>}{' '}
            {c.after === undefined || c.after === null ? <em>removed</em> : <ins>{scalar(c.after)}</ins>}
          </span>
        </li>
      ))}
    </ul>
  );
  if (values.length === 0 && changes.length === 0 && !of.request_id) return <span class="faint">–</span>;
  return (
    <>
      {values.map(([name, value]) =>
        scalar(value).length > longValue ? (
          <details>
            <summary>{words(name)}</summary>
            <p>{scalar(value)}</p>
          </details>
        ) : (
          <p>
            <span class="faint">{words(name)}:</span> {scalar(value)}
          </p>
        ),
      )}
      {changes.length > shownChanges ? (
        <details>
          <summary>{count(changes.length)} changes</summary>
          {list}
        </details>
      ) : (
        changes.length > 0 && list
      )}
      {of.request_id && (
        <p class="id">
          <code>{of.request_id}</code>
          <Copy text={of.request_id} />
        </p>
      )}
    </>
  );
}

// changesOf lists the differing values. A created or removed target has one for each member.
const changesOf = (before: Doc | null, after: Doc | null) => differences(before ?? {}, after ?? {});
