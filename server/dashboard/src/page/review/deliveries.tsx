import { useState } from 'preact/hooks';
import { call, part } from '../../call';
import { runAll } from '../../decided';
import { count } from '../../format';
import { useLoad } from '../../load';
import { Act } from '../../part/button';
import { say } from '../../part/notice';
import { Empty, Loaded } from '../../part/state';
import { Table } from '../../part/table';
import { Badge, Cash, Id, Ref, Status, Tabs, Time } from '../../part/words';
import { to } from '../../route';
import type { Delivery } from '../../types';
import { Bulk } from './bulk';

type How = 'confirm' | 'release' | 'resend';

const orders: { how: How; name: string; text: string; done: string }[] = [
  {
    how: 'confirm',
    name: 'Confirm sale',
    text: 'The sale stands, and the buyer pays. Do this only if the buyer says that it has the lead.',
    done: 'Sale confirmed.',
  },
  {
    how: 'release',
    name: 'Undo sale',
    text: 'Do this if the buyer does not have the lead: no one pays, and the lead counts as unsold.',
    done: 'Sale undone.',
  },
  {
    how: 'resend',
    name: 'Send again',
    text: 'The same buyer gets the lead again. If it has the lead already, it must recognize it by its key.',
    done: 'The lead is sent again.',
  },
];

const views: [string, string][] = [
  ['unknown', 'Unconfirmed'],
  ['pending', 'In progress'],
  ['all', 'All open'],
];

export function DeliveriesTab({ query }: { query: { [name: string]: string } }) {
  const state = query.state ?? 'unknown';
  const found = useLoad<{ total: number; deliveries: Delivery[] }>('deliveries', {
    state: state === 'all' ? undefined : state,
  });
  return (
    <>
      <Tabs
        label="State"
        at={state}
        of={views.map(([key, name]) => ({ key, name, href: to(['review', 'deliveries'], { state: key }) }))}
      />
      <Loaded of={found}>
        {({ total, deliveries }) =>
          deliveries.length === 0 ? (
            <Empty title={state === 'unknown' ? 'All deliveries confirmed' : 'No delivery is open'} />
          ) : (
            <>
              <p>
                {count(total)} {state === 'pending' ? 'in progress' : 'open'}
                {total > deliveries.length && `; the oldest ${count(deliveries.length)} are shown`}.
                {state === 'unknown' && ' Ask the buyer whether it has the lead, then record its answer.'}
              </p>
              <Deliveries of={deliveries} done={found.reload} />
            </>
          )
        }
      </Loaded>
    </>
  );
}

function Deliveries({ of, done }: { of: Delivery[]; done: () => void }) {
  const [keys, choose] = useState<string[]>([]);
  const [failed, fail] = useState(new Map<string, string>());
  const chosen = keys.filter((k) => of.some((d) => d.lead_id === k && d.state === 'unknown'));
  const order = async (leads: string[], how: How, text: string) => {
    const wrong = await runAll(leads, (lead) => call('POST', `deliveries/${part(lead)}/${how}`));
    fail(wrong);
    choose([...wrong.keys()]);
    if (wrong.size < leads.length) say(text);
    done();
  };
  const buttons = (leads: string[], label: (name: string) => string | undefined) =>
    orders.map((o) => (
      <Act
        needs="operator"
        tone={o.how === 'release' ? 'danger' : undefined}
        label={label(o.name)}
        sure={{
          title: `${o.name}?`,
          text: (
            <>
              <p class="mono">{leads.length === 1 ? leads[0] : `${count(leads.length)} leads`}</p>
              <p>{o.text}</p>
            </>
          ),
        }}
        run={() => order(leads, o.how, o.done)}
      >
        {o.name}
      </Act>
    ));
  return (
    <>
      <Bulk chosen={chosen} failed={failed}>
        {buttons(chosen, () => undefined)}
      </Bulk>
      <Table
        caption="Deliveries"
        name="deliveries"
        rows={of}
        keyOf={(d) => d.lead_id}
        chosen={{ keys: chosen, set: choose }}
        columns={[
          { head: 'Lead', of: (d) => <Id of="leads" id={d.lead_id} /> },
          {
            head: 'State',
            phone: 'plain',
            of: (d) => (
              <>
                <Status word={d.state} /> {d.test && <Badge>test</Badge>}
              </>
            ),
          },
          { head: 'Buyer', of: (d) => <Ref of="buyers" id={d.buyer_id} />, sort: (d) => d.buyer_id, phone: 'plain' },
          {
            head: 'Price',
            number: true,
            phone: 'side',
            of: (d) => <Cash of={d.price.amount} currency={d.price.currency} />,
            sort: (d) => d.price.amount,
          },
          { head: 'Attempts', number: true, of: (d) => count(d.attempts), sort: (d) => d.attempts, phone: 'none' },
          { head: 'Decided', of: (d) => <Time at={d.decided_at} />, sort: (d) => d.decided_at, phone: 'plain' },
          {
            head: 'Action',
            phone: 'menu',
            of: (d) =>
              d.state === 'unknown' ? (
                <div class="row">{buttons([d.lead_id], (name) => `${name}: ${d.lead_id}`)}</div>
              ) : (
                <span class="faint">in progress</span>
              ),
          },
        ]}
      />
    </>
  );
}
