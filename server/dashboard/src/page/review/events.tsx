import { useState } from 'preact/hooks';
import { call, part } from '../../call';
import { runAll, tellDecided } from '../../decided';
import { nameOf, useEntries } from '../../entries';
import { count } from '../../format';
import { useLoad, usePages } from '../../load';
import { Act } from '../../part/button';
import { More } from '../../part/more';
import { say } from '../../part/notice';
import { Empty, Loaded } from '../../part/state';
import { Table } from '../../part/table';
import { Card, Copy, Id, Ref, Time } from '../../part/words';
import { attemptText, webhookTitle } from '../../reason';
import { to } from '../../route';
import type { DeadLetter, Told, Webhook } from '../../types';
import { HookState, Switch } from '../suppliers/webhook';
import { Bulk } from './bulk';

// EventsTab shows the webhooks of all suppliers, and the events that failed for good.
export function EventsTab({ query }: { query: { [name: string]: string } }) {
  const found = useLoad<{ webhooks: Webhook[] }>('webhooks');
  return (
    <Loaded of={found}>
      {({ webhooks }) =>
        webhooks.length === 0 ? (
          <Empty title="No supplier has a webhook">
            A webhook tells a supplier about its leads. Set its address on the supplier’s tab{' '}
            <a href={to(['suppliers'])}>Webhooks</a>.
          </Empty>
        ) : (
          <>
            <Hooks of={webhooks} done={found.reload} />
            {webhooks
              .filter((w) => w.dead > 0 && (!query.supplier || query.supplier === w.supplier_id))
              .map((w) => (
                <Failed key={w.supplier_id} id={w.supplier_id} total={w.dead} done={found.reload} />
              ))}
            {webhooks.every((w) => w.dead === 0) && (
              <Empty title="No failed events">Every event reached its supplier, or waits for its next attempt.</Empty>
            )}
          </>
        )
      }
    </Loaded>
  );
}

function Hooks({ of, done }: { of: Webhook[]; done: () => void }) {
  return (
    <Card title="Webhooks">
      <Table
        caption="Webhooks"
        rows={of}
        keyOf={(w) => w.supplier_id}
        columns={[
          {
            head: 'Supplier',
            of: (w) => (
              <>
                <Ref of="suppliers" id={w.supplier_id} />{' '}
                <a href={to(['suppliers', w.supplier_id, 'webhooks'])} aria-label={`Webhook of ${w.supplier_id}`}>
                  webhook
                </a>
              </>
            ),
          },
          { head: 'Address', of: (w) => <span class="mono">{w.url ?? 'none'}</span> },
          { head: 'State', of: (w) => <HookState of={w} />, phone: 'side' },
          { head: 'Waiting', number: true, of: (w) => count(w.pending) },
          { head: 'Failed', number: true, of: (w) => count(w.dead) },
          { head: 'Dropped', number: true, of: (w) => count(w.dropped) },
          { head: 'Action', of: (w) => <Switch of={w} done={done} /> },
        ]}
      />
    </Card>
  );
}

function Failed({ id, total, done }: { id: string; total: number; done: () => void }) {
  const pages = usePages<{ dead: DeadLetter[] }>(`webhooks/${part(id)}/dead`, { limit: 100 });
  const dead = pages.data?.flatMap((p) => p.dead) ?? [];
  const [keys, choose] = useState<string[]>([]);
  const [failed, fail] = useState(new Map<string, string>());
  const chosen = keys.filter((k) => dead.some((d) => d.id === k));
  const again = () => {
    pages.reload();
    done();
    tellDecided();
  };
  const name = nameOf(useEntries(), 'suppliers', id);
  const at = (event: string) => `webhooks/${part(id)}/dead/${part(event)}`;
  const order = async (events: string[], drop: boolean) => {
    const wrong = await runAll(events, (e) => (drop ? call('DELETE', at(e)) : call('POST', `${at(e)}/resend`)));
    fail(wrong);
    choose([...wrong.keys()]);
    if (wrong.size < events.length) say(drop ? 'Dropped.' : 'Sending again.');
    again();
  };
  const dropText = <p>The supplier never gets a dropped event.</p>;
  return (
    <Card
      title={`Failed events of ${name}`}
      side={
        <Act
          needs="operator"
          tone="main"
          run={async () => {
            await call('POST', `webhooks/${part(id)}/resend`);
            again();
          }}
          done="All are sent again."
        >
          Resend all
        </Act>
      }
    >
      <More of={pages} none={dead.length === 0} empty={<Empty title="No failed events" />}>
        <p>
          {count(total)} {total === 1 ? 'event' : 'events'}
          {total > dead.length && `; ${count(dead.length)} are shown`}.
        </p>
        <Bulk chosen={chosen} failed={failed}>
          <Act needs="operator" run={() => order(chosen, false)}>
            Resend selected
          </Act>
          <Act
            needs="operator"
            tone="danger"
            sure={{ title: `Drop ${count(chosen.length)} events?`, text: dropText }}
            run={() => order(chosen, true)}
          >
            Drop selected
          </Act>
        </Bulk>
        <Table
          caption={`Failed events of ${name}`}
          rows={dead}
          keyOf={(d) => d.id}
          chosen={{ keys: chosen, set: choose }}
          columns={[
            {
              head: 'Event',
              of: (d) => <span title={d.type}>{webhookTitle(d.type)}</span>,
              sort: (d) => webhookTitle(d.type),
            },
            {
              head: 'Id',
              phone: 'none',
              of: (d) => (
                <span class="id mono" title={d.id}>
                  <span class="id-head">{d.id.slice(0, -8)}</span>
                  {d.id.slice(-8)}
                  <Copy text={d.id} />
                </span>
              ),
            },
            { head: 'Lead', of: (d) => <Id of="leads" id={d.lead_id} />, phone: 'plain' },
            { head: 'Attempts', number: true, of: (d) => count(d.attempts), sort: (d) => d.attempts },
            { head: 'Error', of: (d) => <LastError of={d} />, phone: 'menu' },
            { head: 'Failed', of: (d) => <Time at={d.died_at} />, sort: (d) => d.died_at, phone: 'plain' },
            {
              head: 'Action',
              phone: 'menu',
              of: (d) => (
                <div class="row">
                  <Act needs="operator" tone="quiet" label={`Resend ${d.id}`} run={() => order([d.id], false)}>
                    Resend
                  </Act>
                  <Act
                    needs="operator"
                    tone="danger"
                    label={`Drop ${d.id}`}
                    sure={{ title: 'Drop the event?', text: dropText }}
                    run={() => order([d.id], true)}
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

// LastError shows why the last attempt of an event failed. It reads the lead's log on request only, because a
// page has up to a hundred events.
function LastError({ of }: { of: DeadLetter }) {
  const [text, tell] = useState('');
  if (text) return <>{text}</>;
  return (
    <Act
      needs="viewer"
      tone="quiet"
      label={`Show the error of ${of.id}`}
      run={async () => {
        const told = await call<Told>('GET', `explain/${part(of.lead_id)}`);
        const last = told.webhooks
          ?.find((w) => w.type === of.type)
          ?.attempts.filter((a) => a.status || a.fault)
          .at(-1);
        tell(last ? attemptText(last) : 'not recorded');
      }}
    >
      Show
    </Act>
  );
}
