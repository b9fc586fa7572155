import { useState } from 'preact/hooks';
import { call, part } from '../call';
import { since } from '../format';
import { useLoad } from '../load';
import { Act } from '../part/button';
import { Rotate } from '../part/rotate';
import { Secret } from '../part/secret';
import { Empty, Loaded } from '../part/state';
import { Table } from '../part/table';
import { Card, LastUsed, Time } from '../part/words';
import { to } from '../route';
import type { Doc, Key } from '../types';
import { Clients, type Shown, Tokens } from './credentials';
import { Secrets } from './secrets';

// SupplierParts shows a supplier's credentials, which are not part of its settings.
export function SupplierParts({ id, document }: { id: string; document: Doc }) {
  return (
    <>
      <h2>Credentials</h2>
      <Keys id={id} />
      <Clients owner="suppliers" id={id} />
      <Tokens owner="suppliers" id={id} />
      {document.webhook !== undefined && (
        <>
          <Secrets title="Webhook secrets" owner="supplier" id={id} />
          <p>
            It is told of its leads: <a href={to(['webhooks', id])}>its webhook</a>.
          </p>
        </>
      )}
    </>
  );
}

function Keys({ id }: { id: string }) {
  const keys = useLoad<{ keys: Key[] }>(`suppliers/${part(id)}/keys`);
  const [shown, show] = useState<Shown | undefined>();
  const rotated = (made: { api_key: string }) => {
    show({
      title: `New API key of ${id}`,
      value: made.api_key,
      text: 'The key before it is good beside it, until you end it.',
    });
    keys.reload();
  };
  return (
    <Card
      title="API keys"
      level={3}
      side={
        <Rotate tone="main" path={`suppliers/${part(id)}/keys`} made={rotated}>
          Rotate the key
        </Rotate>
      }
    >
      <Loaded of={keys}>
        {({ keys: list }) =>
          list.length === 0 ? (
            <Empty title="There is no key">Rotate to make the first.</Empty>
          ) : (
            <Table
              caption="API keys"
              rows={list}
              keyOf={(k) => k.hint}
              columns={[
                { head: 'Begins', of: (k) => <code>{k.hint}…</code> },
                { head: 'Since', of: (k) => <Time at={k.since} /> },
                { head: 'Age', of: (k) => since(k.since) },
                { head: 'Last used', of: (k) => <LastUsed at={k.last_used} /> },
                {
                  head: 'Action',
                  of: (k) => (
                    <Act
                      needs="admin"
                      tone="quiet"
                      label={`End the key ${k.hint}`}
                      sure={{
                        title: `End ${k.hint}…?`,
                        text: <p>Requests with it are refused at once. See that the newer one is in use.</p>,
                      }}
                      run={async () => {
                        await call('DELETE', `suppliers/${part(id)}/keys/${part(k.hint)}`);
                        keys.reload();
                      }}
                      done={`${k.hint}… is ended.`}
                    >
                      End
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
