// The audit log: each operator's action, with the caller and the change.

import type { ComponentChildren } from 'preact';
import { actionOf } from '../action';
import type { Query } from '../call';
import { count, label, words } from '../format';
import { usePages } from '../load';
import type { AuditEntry } from '../types';
import { Details } from './audit-details';
import { More } from './more';
import { Empty } from './state';
import { type Column, Table } from './table';
import { Badge, Id, Ref, Time, type Tone } from './words';

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
export function AuditList({ query, empty }: { query: Query; empty?: ComponentChildren }) {
  const pages = usePages<{ entries: AuditEntry[] }>('audit', { limit: 50, ...query });
  const entries = pages.data?.flatMap((p) => p.entries) ?? [];
  return (
    <More
      of={pages}
      none={entries.length === 0}
      empty={
        empty ?? (
          <Empty title="No action is recorded here">
            Choose a longer period at the top, or clear the filters. The newest actions can be missing for a moment.
          </Empty>
        )
      }
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

// own are the actions of the exchange itself.
const own = ['start', 'reload'];

const columns: Column<AuditEntry>[] = [
  { head: 'Time', of: (e) => <Time at={e.at} />, phone: 'plain' },
  {
    head: 'Operator',
    phone: 'plain',
    of: (e) => (
      <>
        {e.actor ?? <span class="faint">{own.includes(e.operation) ? 'the exchange' : 'not known'}</span>}{' '}
        {!own.includes(e.operation) && (
          <small class="faint phone-none">{credentials[e.credential] ?? words(e.credential)}</small>
        )}{' '}
        <small class="faint phone-none">{e.address}</small>
      </>
    ),
  },
  {
    head: 'Action',
    phone: 'name',
    of: (e) => <span title={e.operation}>{actionOf(e.operation)}</span>,
  },
  { head: 'Target', of: (e) => <Target of={e} />, phone: 'plain' },
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
  { head: 'Details', of: (e) => <Details of={e} />, phone: 'menu' },
];

const entryKinds: { [kind: string]: 'campaigns' | 'buyers' | 'suppliers' | 'suppression' } = {
  campaign: 'campaigns',
  buyer: 'buyers',
  supplier: 'suppliers',
  suppression_list: 'suppression',
};

const targetKinds: { [kind: string]: string } = { api_token: 'API token', bench: 'Test lead' };

function Target({ of }: { of: AuditEntry }) {
  const title = targetKinds[of.target_kind ?? ''] ?? label(of.target_kind ?? '');
  if (!of.target) return <span class="faint">{title}</span>;
  if (of.target_kind === 'lead') return <Id of="leads" id={of.target} />;
  if (of.target_kind === 'webhook') return <Ref of="suppliers" id={of.target} tab="webhooks" />;
  const kind = entryKinds[of.target_kind ?? ''];
  if (kind) return <Ref of={kind} id={of.target} />;
  return (
    <>
      <span class="faint">{title}</span> {of.target}
    </>
  );
}
