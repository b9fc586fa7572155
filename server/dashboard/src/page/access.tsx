import { useState } from 'preact/hooks';
import { call, over, part } from '../call';
import { useLoad } from '../load';
import { Act } from '../part/button';
import { Input, Select } from '../part/field';
import { Secret } from '../part/secret';
import { Empty, Loaded } from '../part/state';
import { Table } from '../part/table';
import { Card, Time } from '../part/words';
import { may, roles, useSession } from '../session';
import type { ApiToken, Role, User } from '../types';
import type { Shown } from './credentials';

const meanings: { [role in Role]: string } = {
  viewer: 'sees everything but secrets',
  operator: 'also decides, pauses, resends, tests, uploads',
  admin: 'also configuration, users, keys, money',
};

export function AccessPage() {
  const session = useSession();
  const admin = may(session.role, 'admin');
  return (
    <>
      <h1 tabIndex={-1}>Access</h1>
      <Users admin={admin} />
      {session.by !== 'password' && <OwnPassword name={session.name} />}
      <ApiTokens />
    </>
  );
}

function Users({ admin }: { admin: boolean }) {
  const users = useLoad<{ users: User[] }>('users');
  return (
    <Card title="Users">
      <Loaded of={users}>
        {({ users: all }) =>
          all.length === 0 ? (
            <Empty title="There is no user yet">
              Until there is one, everybody signs in with <code>admin.password</code>.
            </Empty>
          ) : (
            <Table
              caption="Users"
              rows={all}
              keyOf={(u) => u.name}
              columns={[
                { head: 'Name', of: (u) => u.name },
                { head: 'Role', of: (u) => <RoleOf user={u} done={users.reload} /> },
                { head: 'Since', of: (u) => <Time at={u.created_at} /> },
                { head: 'Last seen', of: (u) => <Time at={u.last_seen} /> },
                { head: 'Action', of: (u) => <UserOrders user={u} done={users.reload} /> },
              ]}
            />
          )
        }
      </Loaded>
      <NewUser admin={admin} done={users.reload} />
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
          done={`${user.name} is ${role}. Sessions and tokens of before have ended.`}
        >
          Change
        </Act>
      )}
    </div>
  );
}

function UserOrders({ user, done }: { user: User; done: () => void }) {
  const [password, set] = useState('');
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
              help="at least 12 characters"
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

function NewUser({ admin, done }: { admin: boolean; done: () => void }) {
  const [name, setName] = useState('');
  const [role, setRole] = useState<Role>('viewer');
  const [password, setPassword] = useState('');
  return (
    <div class="row foot">
      <Input label="Name of a new user" value={name} set={setName} disabled={!admin} />
      <Select
        label="Role"
        value={role}
        set={(r) => setRole(r as Role)}
        options={roles}
        help={meanings[role]}
        disabled={!admin}
      />
      <Input
        label="First password"
        type="password"
        auto="new-password"
        help="at least 12 characters"
        value={password}
        set={setPassword}
        disabled={!admin}
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
        done={`${name} may sign in.`}
      >
        Make the user
      </Act>
    </div>
  );
}

function OwnPassword({ name }: { name: string }) {
  const [old, setOld] = useState('');
  const [password, setPassword] = useState('');
  return (
    <Card title="Your password">
      <div class="row foot">
        <Input label="Present password" type="password" auto="current-password" value={old} set={setOld} />
        <Input
          label="New password"
          type="password"
          auto="new-password"
          help="at least 12 characters"
          value={password}
          set={setPassword}
        />
        <Act
          needs="viewer"
          disabled={old === '' || password === ''}
          run={async () => {
            await call('PUT', `users/${part(name)}/password`, { body: { old, new: password } });
            setOld('');
            setPassword('');
            over();
          }}
          done="Your password is changed. Sign in with it."
        >
          Change it
        </Act>
      </div>
    </Card>
  );
}

function ApiTokens() {
  const session = useSession();
  const tokens = useLoad<{ tokens: ApiToken[] }>('api-tokens');
  const [name, setName] = useState('');
  const [role, setRole] = useState<string>(session.role);
  const [ends, setEnds] = useState('30d');
  const [shown, show] = useState<Shown | undefined>();
  return (
    <Card title="API tokens">
      <Loaded of={tokens}>
        {({ tokens: all }) =>
          all.length === 0 ? (
            <Empty title="There is no token">A token is for programs that ask in your name.</Empty>
          ) : (
            <Table
              caption="API tokens"
              rows={all}
              keyOf={(t) => t.id}
              columns={[
                { head: 'Name', of: (t) => t.name },
                { head: 'Begins', of: (t) => <code>{t.hint}…</code> },
                { head: 'User', of: (t) => t.user },
                { head: 'Role', of: (t) => t.role },
                { head: 'Since', of: (t) => <Time at={t.created_at} /> },
                { head: 'Until', of: (t) => (t.expires_at ? <Time at={t.expires_at} /> : 'no end') },
                { head: 'Last used', of: (t) => <Time at={t.last_used} /> },
                {
                  head: 'Action',
                  of: (t) => (
                    <Act
                      needs="viewer"
                      tone="quiet"
                      label={`Revoke ${t.name}`}
                      sure={{ title: `Revoke ${t.name}?`, text: <p>Whatever uses it is refused from then on.</p> }}
                      run={async () => {
                        await call('DELETE', `api-tokens/${part(t.id)}`);
                        tokens.reload();
                      }}
                      done={`${t.name} is revoked.`}
                    >
                      Revoke
                    </Act>
                  ),
                },
              ]}
            />
          )
        }
      </Loaded>
      <div class="row foot">
        <Input label="Name of a new token" value={name} set={setName} hint="nightly export" />
        <Select label="Role" value={role} set={setRole} options={roles.filter((r) => may(session.role, r))} />
        <Select
          label="Ends"
          value={ends}
          set={setEnds}
          options={[
            ['1d', 'in a day'],
            ['30d', 'in 30 days'],
            ['365d', 'in a year'],
            ['', 'never'],
          ]}
        />
        <Act
          needs="viewer"
          tone="main"
          off={session.by === 'password' ? 'Tokens belong to users; sign in as one.' : undefined}
          disabled={name === ''}
          run={async () => {
            const made = await call<{ token: string }>('POST', 'api-tokens', {
              body: { name, role, expires_in: ends || undefined },
            });
            show({ title: `Token ${name}`, value: made.token, text: 'Send it as Authorization: Bearer.' });
            setName('');
            tokens.reload();
          }}
        >
          Make the token
        </Act>
      </div>
      {shown && <Secret {...shown} close={() => show(undefined)} />}
    </Card>
  );
}
