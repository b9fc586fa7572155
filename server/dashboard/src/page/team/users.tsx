import { useState } from 'preact/hooks';
import { call, part } from '../../call';
import { useLoad } from '../../load';
import { Act } from '../../part/button';
import { Input, Select } from '../../part/field';
import { Empty, Loaded } from '../../part/state';
import { Table } from '../../part/table';
import { Badge, Card, Time } from '../../part/words';
import { may, roles, useSession } from '../../session';
import { meanings, passwordHelp } from '../../team';
import type { Role, User } from '../../types';

// Users lists the accounts with their roles, and adds one with a password.
export function Users() {
  const admin = may(useSession().role, 'admin');
  const users = useLoad<{ users: User[] }>('users');
  return (
    <Card title="Users">
      <Loaded of={users}>
        {({ users: all }) =>
          all.length === 0 ? (
            <Empty title="No users yet">
              Until you invite one below, all operators sign in with the shared password of the configuration.
            </Empty>
          ) : (
            <Table
              caption="Users"
              rows={all}
              keyOf={(u) => u.name}
              columns={[
                { head: 'Name', of: (u) => u.name },
                { head: 'Role', of: (u) => <RoleOf user={u} done={users.reload} /> },
                {
                  head: 'Second factor',
                  of: (u) => (u.totp ? <Badge tone="good">on</Badge> : <span class="faint">off</span>),
                },
                { head: 'Added', of: (u) => <Time at={u.created_at} /> },
                { head: 'Last seen', of: (u) => <Time at={u.last_seen} /> },
                { head: 'Action', of: (u) => <UserActions user={u} done={users.reload} /> },
              ]}
            />
          )
        }
      </Loaded>
      {admin && (
        <details class="fold more">
          <summary>Add a user with a password of your choice</summary>
          <NewUser done={users.reload} />
        </details>
      )}
    </Card>
  );
}

function RoleOf({ user, done }: { user: User; done: () => void }) {
  const [role, set] = useState<string>(user.role);
  return (
    <div class="row">
      <select
        aria-label={`Role of ${user.name}`}
        value={role}
        disabled={!may(useSession().role, 'admin')}
        onChange={(e) => set(e.currentTarget.value)}
      >
        {roles.map((r) => (
          <option value={r}>{r}</option>
        ))}
      </select>
      {role !== user.role && (
        <Act
          needs="admin"
          label={`Give ${user.name} the role ${role}`}
          run={async () => {
            await call('PUT', `users/${part(user.name)}`, { body: { role } });
            done();
          }}
          done={`${user.name} is ${role}. Earlier sessions and tokens have ended.`}
        >
          Change
        </Act>
      )}
    </div>
  );
}

function UserActions({ user, done }: { user: User; done: () => void }) {
  const [password, set] = useState('');
  const own = useSession().name === user.name;
  return (
    <div class="row">
      <Act
        needs="admin"
        tone="quiet"
        label={`New password for ${user.name}`}
        sure={{
          title: `A new password for ${user.name}`,
          text: (
            <Input
              label="Password"
              type="password"
              auto="new-password"
              help={passwordHelp}
              value={password}
              set={set}
            />
          ),
        }}
        run={async () => {
          await call('PUT', `users/${part(user.name)}/password`, { body: { new: password } });
          set('');
          done();
        }}
        done={`${user.name} has a new password.`}
      >
        New password
      </Act>
      {user.totp && !own && (
        <Act
          needs="admin"
          tone="quiet"
          label={`Turn off the second factor of ${user.name}`}
          sure={{
            title: `Turn off the second factor of ${user.name}?`,
            text: <p>The password alone then signs in. Do this, for example, after the loss of a telephone.</p>,
          }}
          run={async () => {
            await call('DELETE', `users/${part(user.name)}/totp`);
            done();
          }}
          done={`The second factor of ${user.name} is off.`}
        >
          Turn off second factor
        </Act>
      )}
      <Act
        needs="admin"
        tone="danger"
        label={`Remove ${user.name}`}
        sure={{ title: `Remove ${user.name}?`, text: <p>Sessions and tokens of this user end at once.</p> }}
        run={async () => {
          await call('DELETE', `users/${part(user.name)}`);
          done();
        }}
        done={`${user.name} is removed.`}
      >
        Remove
      </Act>
    </div>
  );
}

function NewUser({ done }: { done: () => void }) {
  const [name, setName] = useState('');
  const [role, setRole] = useState<Role>('viewer');
  const [password, setPassword] = useState('');
  return (
    <div class="row foot">
      <Input label="Name of the new user" value={name} set={setName} />
      <Select label="Role" value={role} set={(r) => setRole(r as Role)} options={roles} help={meanings[role]} />
      <Input
        label="First password"
        type="password"
        auto="new-password"
        help={passwordHelp}
        value={password}
        set={setPassword}
      />
      <Act
        needs="admin"
        tone="main"
        disabled={name === '' || password === ''}
        run={async () => {
          await call('PUT', `users/${part(name)}`, { body: { role, password } });
          setName('');
          setPassword('');
          done();
        }}
        done={`${name} can sign in.`}
      >
        Add user
      </Act>
    </div>
  );
}
