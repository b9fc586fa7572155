import { useState } from 'preact/hooks';
import { call, part } from '../../call';
import { since } from '../../format';
import { useLoad } from '../../load';
import { Act } from '../../part/button';
import { Rotate } from '../../part/rotate';
import { Secret } from '../../part/secret';
import { Empty, Loaded } from '../../part/state';
import { Table } from '../../part/table';
import { Card, LastUsed, Time } from '../../part/words';
import type { Key } from '../../types';
import type { Shown } from '../entry/credentials';

// Keys lists a supplier's API keys with the last use of each, and rotates them.
export function Keys({ id }: { id: string }) {
  const keys = useLoad<{ keys: Key[] }>(`suppliers/${part(id)}/keys`);
  const [shown, show] = useState<Shown | undefined>();
  const rotated = (made: { api_key: string }) => {
    show({
      title: `New API key of ${id}`,
      value: made.api_key,
      text: 'The earlier key works until you revoke it.',
    });
    keys.reload();
  };
  return (
    <Card
      title="API keys"
      side={
        <Rotate what="API key" tone="main" known={keys.data?.keys} path={`suppliers/${part(id)}/keys`} made={rotated}>
          {keys.data?.keys.length === 0 ? 'Create API key' : 'Rotate the key'}
        </Rotate>
      }
    >
      <Loaded of={keys}>
        {({ keys: list }) =>
          list.length === 0 ? (
            <Empty title="No API key">Create the first key, and give it to the supplier.</Empty>
          ) : (
            <Table
              caption="API keys"
              rows={list}
              keyOf={(k) => k.hint}
              columns={[
                { head: 'Starts with', of: (k) => <code>{k.hint}…</code> },
                { head: 'Created', of: (k) => <Time at={k.since} /> },
                { head: 'Age', of: (k) => since(k.since) },
                { head: 'Last used', of: (k) => <LastUsed at={k.last_used} created={k.since} /> },
                {
                  head: 'Action',
                  of: (k) => (
                    <Act
                      needs="admin"
                      tone="quiet"
                      label={`Revoke the key ${k.hint}`}
                      sure={{
                        title: `Revoke ${k.hint}…?`,
                        text: (
                          <p>
                            Requests with it are rejected at once. Last use:{' '}
                            <LastUsed at={k.last_used} created={k.since} />.
                          </p>
                        ),
                      }}
                      run={async () => {
                        await call('DELETE', `suppliers/${part(id)}/keys/${part(k.hint)}`);
                        keys.reload();
                      }}
                      done={`${k.hint}… is revoked.`}
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
      {shown && <Secret {...shown} close={() => show(undefined)} />}
    </Card>
  );
}
