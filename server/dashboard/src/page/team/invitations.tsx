import { useState } from 'preact/hooks';
import { call, part } from '../../call';
import { instant } from '../../format';
import { useLoad } from '../../load';
import { Act } from '../../part/button';
import { Input, Select } from '../../part/field';
import { Secret } from '../../part/secret';
import { Empty, Loaded } from '../../part/state';
import { Table } from '../../part/table';
import { Badge, Card, Time, type Tone } from '../../part/words';
import { may, roles, useSession } from '../../session';
import { type Invitation, meanings, type NewInvitation } from '../../team';
import type { Role } from '../../types';
import { useWorkspace } from '../../workspace';

const lifetimes: [string, string][] = [
  ['24h', '1 day'],
  ['72h', '3 days'],
  ['7d', '7 days'],
  ['30d', '30 days'],
];

const tones: { [status in Invitation['status']]: Tone } = {
  open: 'warn',
  used: 'good',
  revoked: 'plain',
  expired: 'plain',
};

// Invitations invites a teammate by a link, and lists the invitations.
export function Invitations() {
  const admin = may(useSession().role, 'admin');
  const found = useLoad<{ invitations: Invitation[] }>(admin ? 'invitations' : null);
  const { zone } = useWorkspace();
  const [role, setRole] = useState<Role>('operator');
  const [name, setName] = useState('');
  const [lifetime, last] = useState('72h');
  const [made, show] = useState<NewInvitation | undefined>();
  const invite = async () => {
    const body = { role, expires_in: lifetime, ...(name.trim() && { name: name.trim() }) };
    show(await call<NewInvitation>('POST', 'invitations', { body }));
    setName('');
    found.reload();
  };
  return (
    <Card title="Invite a teammate">
      <p>The link opens one account. Its owner chooses the password.</p>
      <div class="row foot">
        <Select
          label="Role of the teammate"
          value={role}
          set={(r) => setRole(r as Role)}
          options={roles}
          help={meanings[role]}
          disabled={!admin}
        />
        <Input
          label="Name of the account"
          value={name}
          set={setName}
          help="optional; otherwise the teammate chooses it"
          disabled={!admin}
        />
        <Select label="The link works for" value={lifetime} set={last} options={lifetimes} disabled={!admin} />
        <Act needs="admin" tone="main" run={invite}>
          Invite
        </Act>
      </div>
      {admin && (
        <Loaded of={found}>
          {({ invitations }) =>
            invitations.length === 0 ? (
              <Empty title="No invitations" />
            ) : (
              <Table
                caption="Invitations"
                rows={invitations}
                keyOf={(i) => i.id}
                columns={[
                  { head: 'Name', of: (i) => i.name ?? <span class="faint">chosen by the teammate</span> },
                  { head: 'Status', phone: 'side', of: (i) => <Badge tone={tones[i.status]}>{i.status}</Badge> },
                  { head: 'Role', of: (i) => i.role },
                  { head: 'Invited by', of: (i) => i.by },
                  { head: 'Created', of: (i) => <Time at={i.created_at} /> },
                  { head: 'Expires', of: (i) => <Time at={i.expires_at} /> },
                  { head: 'Ended', of: (i) => <Time at={i.closed_at} /> },
                  { head: 'Action', of: (i) => i.status === 'open' && <Revoke of={i} done={found.reload} /> },
                ]}
              />
            )
          }
        </Loaded>
      )}
      {made && (
        <Secret
          title="Invitation link"
          value={made.url ?? location.origin + made.link}
          text={`Send it over a private channel: any holder can open the account, with the role ${made.role}, until ${instant(made.expires_at)} (${zone}).`}
          close={() => show(undefined)}
        />
      )}
    </Card>
  );
}

function Revoke({ of, done }: { of: Invitation; done: () => void }) {
  return (
    <Act
      needs="admin"
      tone="quiet"
      label={`Revoke the invitation ${of.name ?? of.id}`}
      run={async () => {
        await call('DELETE', `invitations/${part(of.id)}`);
        done();
      }}
      done="The invitation is revoked. Its link no longer works."
    >
      Revoke
    </Act>
  );
}
