import { useState } from 'preact/hooks';
import { call, part } from '../../call';
import { useLoad } from '../../load';
import { Act } from '../../part/button';
import { Input } from '../../part/field';
import { Rotate } from '../../part/rotate';
import { Secret } from '../../part/secret';
import { Empty, Loaded } from '../../part/state';
import { Table } from '../../part/table';
import { Card, LastUsed, Time } from '../../part/words';
import type { Client, Token } from '../../types';

export interface Shown {
  title: string;
  value: string;
  text: string;
}

export type Owner = 'suppliers' | 'buyers';

// Clients lists an owner's OAuth clients and the valid secrets of each.
export function Clients({ owner, id }: { owner: Owner; id: string }) {
  const clients = useLoad<{ clients: Client[] }>(`${owner}/${part(id)}/clients`);
  const [shown, show] = useState<Shown | undefined>();
  const [name, set] = useState('');
  const secretsOf = (client: string) => `${owner}/${part(id)}/clients/${part(client)}/secrets`;
  const added = (made: { client_id: string; client_secret: string }) => {
    show({
      title: `Secret of ${made.client_id}`,
      value: made.client_secret,
      text: 'Two secrets work side by side. The earlier one works until you revoke it.',
    });
    set('');
    clients.reload();
  };
  return (
    <Card title="OAuth clients" level={3}>
      <Loaded of={clients}>
        {({ clients: list }) =>
          list.length === 0 ? (
            <Empty title="No OAuth client">
              A client gets its tokens at /oauth/token. Add one with an id below. Its secret is shown once.
            </Empty>
          ) : (
            list.map((c) => (
              <div class="client">
                <div class="row">
                  <strong class="mono">{c.client_id}</strong>
                  <Rotate
                    what="client secret"
                    label={`New secret for ${c.client_id}`}
                    path={secretsOf(c.client_id)}
                    made={added}
                  >
                    New secret
                  </Rotate>
                  <Act
                    needs="admin"
                    tone="danger"
                    label={`Revoke client ${c.client_id}`}
                    sure={{
                      title: `Revoke ${c.client_id}?`,
                      text: <p>All its secrets and tokens stop working at once.</p>,
                    }}
                    run={async () => {
                      await call('DELETE', `${owner}/${part(id)}/clients/${part(c.client_id)}`);
                      clients.reload();
                    }}
                    done={`${c.client_id} is revoked.`}
                  >
                    Revoke client
                  </Act>
                </div>
                <Table
                  caption={`Secrets of ${c.client_id}`}
                  rows={c.secrets}
                  keyOf={(s) => s.hint}
                  columns={[
                    { head: 'Starts with', of: (s) => <code>{s.hint}…</code> },
                    { head: 'Created', of: (s) => <Time at={s.since} /> },
                    { head: 'Last used', of: (s) => <LastUsed at={s.last_used} created={s.since} /> },
                    { head: 'Scopes', of: (s) => s.scopes.join(', ') },
                    {
                      head: 'Action',
                      of: (s) => (
                        <Act
                          needs="admin"
                          tone="quiet"
                          label={`Revoke secret ${s.hint}`}
                          sure={{
                            title: `Revoke ${s.hint}…?`,
                            text: <p>Tokens that were issued for it stop working too.</p>,
                          }}
                          run={async () => {
                            await call('DELETE', `${secretsOf(c.client_id)}/${part(s.hint)}`);
                            clients.reload();
                          }}
                          done={`${s.hint}… is revoked.`}
                        >
                          Revoke secret
                        </Act>
                      ),
                    },
                  ]}
                />
              </div>
            ))
          )
        }
      </Loaded>
      <div class="row foot">
        <Input label="Client id" value={name} set={set} />
        <Rotate what="client secret" disabled={name === ''} path={secretsOf(name)} made={added}>
          Add OAuth client
        </Rotate>
      </div>
      {shown && <Secret {...shown} close={() => show(undefined)} />}
    </Card>
  );
}

// Tokens lists an owner's static tokens, which only a sandbox has.
export function Tokens({ owner, id }: { owner: Owner; id: string }) {
  const tokens = useLoad<{ tokens: Token[] }>(`${owner}/${part(id)}/tokens`);
  const [shown, show] = useState<Shown | undefined>();
  const none = tokens.failure?.status === 404;
  return (
    <Card
      title="Bearer tokens"
      level={3}
      side={
        <Act
          needs="admin"
          off={none ? 'Only in a sandbox.' : undefined}
          run={async () => {
            const made = await call<{ token: string }>('POST', `${owner}/${part(id)}/tokens`);
            show({ title: 'New bearer token', value: made.token, text: 'It works until you revoke it.' });
            tokens.reload();
          }}
        >
          New token
        </Act>
      }
    >
      {none ? (
        <Empty title="Only a sandbox has static tokens">
          In production, an OAuth client gets its tokens at /oauth/token.
        </Empty>
      ) : (
        <Loaded of={tokens}>
          {({ tokens: list }) =>
            list.length === 0 ? (
              <Empty title="No token">Create one to try this sandbox. It is shown once.</Empty>
            ) : (
              <Table
                caption="Bearer tokens"
                rows={list}
                keyOf={(t) => t.id}
                columns={[
                  { head: 'Starts with', of: (t) => <code>{t.hint}…</code> },
                  { head: 'Created', of: (t) => <Time at={t.since} /> },
                  { head: 'Last used', of: (t) => <LastUsed at={t.last_used} created={t.since} /> },
                  { head: 'Scopes', of: (t) => t.scopes.join(', ') },
                  {
                    head: 'Action',
                    of: (t) => (
                      <Act
                        needs="admin"
                        tone="quiet"
                        label={`Revoke the token ${t.hint}`}
                        sure={{ title: `Revoke ${t.hint}…?`, text: <p>Requests with it are rejected from then on.</p> }}
                        run={async () => {
                          await call('DELETE', `${owner}/${part(id)}/tokens/${part(t.id)}`);
                          tokens.reload();
                        }}
                        done="The token is revoked."
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
      )}
      {shown && <Secret {...shown} close={() => show(undefined)} />}
    </Card>
  );
}
