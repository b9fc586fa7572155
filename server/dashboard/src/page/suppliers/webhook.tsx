import { useState } from 'preact/hooks';
import { call, part } from '../../call';
import { count } from '../../format';
import { useLoad } from '../../load';
import { Act } from '../../part/button';
import { Rotate } from '../../part/rotate';
import { Secret } from '../../part/secret';
import { Empty, Loaded } from '../../part/state';
import { Badge, Card, Facts, Time } from '../../part/words';
import { to } from '../../route';
import type { Webhook } from '../../types';
import type { Shown } from '../entry/credentials';

// WebhookParts shows the state of a supplier's webhook, and its signing secrets.
export function WebhookParts({ id }: { id: string }) {
  const found = useLoad<Webhook>(`webhooks/${part(id)}`);
  return (
    <Loaded of={found}>
      {(w) => (
        <>
          <Card title="Status" side={<Switch of={w} done={found.reload} />}>
            <Facts
              of={[
                ['State', <HookState of={w} />],
                ['Address', <span class="mono">{w.url ?? 'none'}</span>],
                ['Waiting events', count(w.pending)],
                [
                  'Failed events',
                  w.dead > 0 ? <a href={to(['review', 'events'], { supplier: id })}>{count(w.dead)}</a> : count(w.dead),
                ],
                ['Dropped events', count(w.dropped)],
                ['Failing since', <Time at={w.failing_since} />],
              ]}
            />
          </Card>
          <Secrets of={w} done={found.reload} />
        </>
      )}
    </Loaded>
  );
}

export function HookState({ of }: { of: Webhook }) {
  if (of.off) return <Badge tone="bad">off</Badge>;
  if (of.failing_since) return <Badge tone="warn">failing</Badge>;
  return <Badge tone="good">on</Badge>;
}

export function Switch({ of, done }: { of: Webhook; done: () => void }) {
  return (
    <Act
      needs="operator"
      tone="quiet"
      label={`Switch ${of.off ? 'on' : 'off'} the webhook of ${of.supplier_id}`}
      run={async () => {
        await call('POST', `webhooks/${part(of.supplier_id)}/${of.off ? 'on' : 'off'}`);
        done();
      }}
      done={`The webhook of ${of.supplier_id} is ${of.off ? 'on' : 'off'}.`}
    >
      {of.off ? 'Switch on' : 'Switch off'}
    </Act>
  );
}

function Secrets({ of, done }: { of: Webhook; done: () => void }) {
  const [shown, show] = useState<Shown | undefined>();
  const at = `webhooks/${part(of.supplier_id)}/secret`;
  const previous = of.secrets.some((s) => s.previous);
  return (
    <Card
      title="Signing secrets"
      side={
        <Rotate<{ secret: string }>
          path={at}
          what="webhook secret"
          known={of.secrets}
          made={(made) => {
            show({
              title: `New webhook secret of ${of.supplier_id}`,
              value: made.secret,
              text: 'The previous secret signs as well, until you revoke it.',
            });
            done();
          }}
        >
          Rotate the secret
        </Rotate>
      }
    >
      {of.secrets.length === 0 ? (
        <Empty title="No signing secret">Rotate the secret to create one.</Empty>
      ) : (
        <ul class="points">
          {of.secrets.map((s) => (
            <li>
              <code>{s.hint}…</code> {s.previous ? 'previous' : 'current'}
            </li>
          ))}
        </ul>
      )}
      {previous && (
        <Act
          needs="admin"
          run={async () => {
            await call('DELETE', `${at}/previous`);
            done();
          }}
          sure={{
            title: 'Revoke the previous secret?',
            text: <p>Check first that the receiver uses the current one.</p>,
          }}
          done="The previous secret is revoked."
        >
          Revoke the previous one
        </Act>
      )}
      {shown && <Secret {...shown} close={() => show(undefined)} />}
    </Card>
  );
}
