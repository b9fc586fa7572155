import { useState } from 'preact/hooks';
import { call, part } from '../../call';
import { useLoad } from '../../load';
import { Act } from '../../part/button';
import { Input, Select } from '../../part/field';
import { Secret } from '../../part/secret';
import { Empty, Loaded } from '../../part/state';
import { Table } from '../../part/table';
import { Card, Time } from '../../part/words';
import { may, roles, useSession } from '../../session';
import type { ApiToken } from '../../types';
import type { Shown } from '../entry/credentials';

// TokensTab lists the API tokens, and creates one.
export function TokensTab() {
  const session = useSession();
  const tokens = useLoad<{ tokens: ApiToken[] }>('api-tokens');
  const [name, setName] = useState('');
  const [role, setRole] = useState('viewer');
  const [ends, setEnds] = useState('30d');
  const [shown, show] = useState<Shown | undefined>();
  return (
    <Card title="API tokens">
      <Loaded of={tokens}>
        {({ tokens: all }) =>
          all.length === 0 ? (
            <Empty title="No API tokens">Programs use a token to call the admin API in your name.</Empty>
          ) : (
            <Table
              caption="API tokens"
              rows={all}
              keyOf={(t) => t.id}
              columns={[
                { head: 'Name', of: (t) => t.name },
                { head: 'Starts with', of: (t) => <code>{t.hint}…</code> },
                { head: 'User', of: (t) => t.user },
                { head: 'Role', of: (t) => t.role },
                { head: 'Created', of: (t) => <Time at={t.created_at} /> },
                { head: 'Expires', of: (t) => (t.expires_at ? <Time at={t.expires_at} /> : 'never') },
                { head: 'Last used', of: (t) => <Time at={t.last_used} /> },
                {
                  head: 'Action',
                  of: (t) => (
                    <Act
                      needs="viewer"
                      tone="quiet"
                      label={`Revoke ${t.name}`}
                      sure={{ title: `Revoke ${t.name}?`, text: <p>Requests with it are rejected from then on.</p> }}
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
        <Input label="Name of the new token" value={name} set={setName} hint="nightly export" />
        <Select label="Role" value={role} set={setRole} options={roles.filter((r) => may(session.role, r))} />
        <Select
          label="Expires"
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
          off={session.by === 'password' ? 'Tokens belong to users. Sign in as a user.' : undefined}
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
          Create API token
        </Act>
      </div>
      {shown && <Secret {...shown} close={() => show(undefined)} />}
    </Card>
  );
}
