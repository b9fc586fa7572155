import { actionOptions } from '../../action';
import { address, type Query } from '../../call';
import { AuditList } from '../../part/audit';
import { type FilterOf, Filters } from '../../part/filters';
import { Card } from '../../part/words';
import { limitsOf } from '../../period';
import type { PageOf } from '../../route';
import { may, useSession } from '../../session';
import { periodOf, useWorkspace } from '../../workspace';

const filters: FilterOf[] = [
  { name: 'actor', label: 'Operator', hint: 'anna' },
  { name: 'operation', label: 'Action', options: actionOptions },
  {
    name: 'target_kind',
    label: 'Kind of target',
    hint: 'buyer',
  },
  { name: 'target', label: 'Target', hint: 'buy_blue' },
  {
    name: 'outcome',
    label: 'Outcome',
    options: [
      ['done', 'Done'],
      ['failed', 'Failed'],
      ['unknown', 'Not recorded'],
    ],
  },
  {
    name: 'credential',
    label: 'Credential',
    options: [
      ['session', 'Session'],
      ['api_token', 'API token'],
      ['account_password', 'Password of the account'],
      ['shared_password', 'Shared password'],
      ['shared_password_session', 'Session with the shared password'],
      ['none', 'None'],
    ],
  },
  { name: 'q', label: 'Contains', hint: 'text' },
];

// AuditTab lists the operators' actions of the header's period, and exports them.
export function AuditTab({ query }: { query: PageOf['query'] }) {
  const space = useWorkspace();
  const { role } = useSession();
  if (!may(role, 'operator')) {
    return (
      <Card title="Audit log">
        <p class="note">Needs the role operator; yours is {role}.</p>
      </Card>
    );
  }
  const { preset, from, to: until, ...rest } = query;
  const all: Query = { ...rest, ...limitsOf(periodOf(space, query), space.zone) };
  return (
    <Card
      title="Audit log"
      side={['csv', 'ndjson'].map((format) => (
        <a class="button quiet" href={address('audit', { ...all, format })} download={`audit.${format}`}>
          Export {format.toUpperCase()}
        </a>
      ))}
    >
      <Filters of={filters} query={rest} place={['settings', 'audit']} />
      <AuditList query={all} />
    </Card>
  );
}
