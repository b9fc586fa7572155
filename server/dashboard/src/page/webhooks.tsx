import { useState } from 'preact/hooks';
import { call, part } from '../call';
import { count } from '../format';
import { useLoad, usePages } from '../load';
import { Act } from '../part/button';
import { More } from '../part/more';
import { Rotate } from '../part/rotate';
import { Secret } from '../part/secret';
import { Empty, Loaded } from '../part/state';
import { Table } from '../part/table';
import { Badge, Card, Facts, Ref, Time } from '../part/words';
import type { PageOf } from '../route';
import { to } from '../route';
import type { DeadLetter, Webhook } from '../types';
import type { Shown } from './credentials';

export function WebhooksPage() {
  const found = useLoad<{ webhooks: Webhook[] }>('webhooks');
  return (
    <>
      <h1 tabIndex={-1}>Webhooks</h1>
      <Loaded of={found}>
        {({ webhooks }) =>
          webhooks.length === 0 ? (
            <Empty title="No supplier has a webhook">
              Give a supplier one under its settings, to tell it of its leads.
            </Empty>
          ) : (
            <Table
              caption="Webhooks"
              rows={webhooks}
              keyOf={(w) => w.supplier_id}
              columns={[
                { head: 'Supplier', of: (w) => <a href={to(['webhooks', w.supplier_id])}>{w.supplier_id}</a> },
                { head: 'Address', of: (w) => <span class="mono">{w.url ?? 'none any more'}</span> },
                { head: 'State', of: (w) => <State of={w} /> },
                { head: 'Waiting', number: true, of: (w) => count(w.pending) },
                { head: 'Dead', number: true, of: (w) => count(w.dead) },
                { head: 'Dropped', number: true, of: (w) => count(w.dropped) },
                { head: 'Action', of: (w) => <Switch of={w} done={found.reload} /> },
              ]}
            />
          )
        }
      </Loaded>
    </>
  );
}

function State({ of }: { of: Webhook }) {
  if (of.off) return <Badge tone="bad">off</Badge>;
  if (of.failing_since) return <Badge tone="warn">failing</Badge>;
  return <Badge tone="good">on</Badge>;
}

function Switch({ of, done }: { of: Webhook; done: () => void }) {
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

export function WebhookPage({ id }: PageOf) {
  const found = useLoad<Webhook>(`webhooks/${part(id)}`);
  return (
    <>
      <div class="title">
        <h1 tabIndex={-1}>Webhook of {id}</h1>
        <a href={to(['webhooks'])}>All webhooks</a>
      </div>
      <Loaded of={found}>
        {(w) => (
          <>
            <Card title="How it goes" side={<Switch of={w} done={found.reload} />}>
              <Facts
                of={[
                  ['State', <State of={w} />],
                  ['Supplier', <Ref of="suppliers" id={w.supplier_id} />],
                  ['Address', <span class="mono">{w.url ?? 'none any more'}</span>],
                  ['Waiting', count(w.pending)],
                  ['Dead', count(w.dead)],
                  ['Dropped', count(w.dropped)],
                  ['Failing since', <Time at={w.failing_since} />],
                ]}
              />
            </Card>
            <Secrets of={w} done={found.reload} />
            <Dead id={id} total={w.dead} done={found.reload} />
          </>
        )}
      </Loaded>
    </>
  );
}

function Secrets({ of, done }: { of: Webhook; done: () => void }) {
  const [shown, show] = useState<Shown | undefined>();
  const at = `webhooks/${part(of.supplier_id)}/secret`;
  const previous = of.secrets.some((s) => s.previous);
  return (
    <Card
      title="Secrets that sign"
      side={
        <Rotate<{ secret: string }>
          path={at}
          made={(made) => {
            show({
              title: `New webhook secret of ${of.supplier_id}`,
              value: made.secret,
              text: 'The one before it signs as well, until you end it.',
            });
            done();
          }}
        >
          Rotate the secret
        </Rotate>
      }
    >
      {of.secrets.length === 0 ? (
        <Empty title="There is no secret" />
      ) : (
        <ul class="points">
          {of.secrets.map((s) => (
            <li>
              <code>{s.hint}…</code> {s.previous ? 'the one before' : 'the present one'}
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
          sure={{ title: 'End the secret before?', text: <p>See that the receiver checks by the present one.</p> }}
          done="The secret before is ended."
        >
          End the one before
        </Act>
      )}
      {shown && <Secret {...shown} close={() => show(undefined)} />}
    </Card>
  );
}

function Dead({ id, total, done }: { id: string; total: number; done: () => void }) {
  const pages = usePages<{ dead: DeadLetter[] }>(`webhooks/${part(id)}/dead`, { limit: 100 });
  const dead = pages.data?.flatMap((p) => p.dead) ?? [];
  const again = () => {
    pages.reload();
    done();
  };
  return (
    <Card
      title="Dead letters"
      side={
        total > 0 && (
          <Act
            needs="operator"
            tone="main"
            run={async () => {
              await call('POST', `webhooks/${part(id)}/resend`);
              again();
            }}
            done="All are tried again."
          >
            Resend all
          </Act>
        )
      }
    >
      <More
        of={pages}
        none={dead.length === 0}
        empty={<Empty title="None">Every event was told, or waits its turn.</Empty>}
      >
        <Table
          caption="Dead letters"
          rows={dead}
          keyOf={(d) => d.id}
          columns={[
            { head: 'Event', of: (d) => <span class="mono">{d.id}</span> },
            { head: 'Type', of: (d) => d.type },
            { head: 'Lead', of: (d) => <Ref of="leads" id={d.lead_id} /> },
            { head: 'Attempts', number: true, of: (d) => count(d.attempts) },
            { head: 'Died (UTC)', of: (d) => <Time at={d.died_at} /> },
            {
              head: 'Action',
              of: (d) => (
                <div class="row">
                  <Act
                    needs="operator"
                    tone="quiet"
                    label={`Resend ${d.id}`}
                    run={async () => {
                      await call('POST', `webhooks/${part(id)}/dead/${part(d.id)}/resend`);
                      again();
                    }}
                    done="It is tried again."
                  >
                    Resend
                  </Act>
                  <Act
                    needs="operator"
                    tone="quiet"
                    label={`Drop ${d.id}`}
                    sure={{ title: 'Drop the event?', text: <p>The supplier is never told of it.</p> }}
                    run={async () => {
                      await call('DELETE', `webhooks/${part(id)}/dead/${part(d.id)}`);
                      again();
                    }}
                    done="It is dropped."
                  >
                    Drop
                  </Act>
                </div>
              ),
            },
          ]}
        />
      </More>
    </Card>
  );
}
