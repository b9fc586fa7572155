import { useState } from 'preact/hooks';
import { call, part } from '../../call';
import { runAll, tellDecided } from '../../decided';
import { count, share, since } from '../../format';
import { usePages } from '../../load';
import { useReport } from '../../load-report';
import { Act } from '../../part/button';
import { ContactLines, Reveal, useContacts } from '../../part/contact';
import { Input } from '../../part/field';
import { More } from '../../part/more';
import { say } from '../../part/notice';
import { Empty } from '../../part/state';
import { Table } from '../../part/table';
import { Badge, Cash, Id, Ref, Time } from '../../part/words';
import { dayOf, shift } from '../../period';
import { ratio } from '../../report';
import type { Contact, WaitingReturn } from '../../types';
import { Bulk } from './bulk';

const rateDays = 30;

// useReturnRates returns each buyer's returned share of its sales in the last 30 days.
function useReturnRates(): (buyer: string) => number | null {
  const from = shift(dayOf(new Date(), 'UTC'), -rateDays);
  const rows = useReport({ by: 'buyer', from }).data?.rows ?? [];
  return (buyer) => {
    const own = rows.filter((r) => r.buyer_id === buyer);
    const add = (measure: string) => own.reduce((sum, r) => sum + Number(r[measure] ?? 0), 0);
    return ratio(add('returns'), add('sales'));
  };
}

export function ReturnsTab() {
  const pages = usePages<{ total: number; returns: WaitingReturn[] }>('returns', { limit: 50 });
  const all = pages.data?.flatMap((p) => p.returns) ?? [];
  const rates = useReturnRates();
  const [contacts, reveal] = useContacts();
  const [keys, choose] = useState<string[]>([]);
  const [note, write] = useState('');
  const [failed, fail] = useState(new Map<string, string>());
  const chosen = keys.filter((k) => all.some((r) => r.lead_id === k));
  const decide = async (leads: string[], approve: boolean) => {
    const found = await runAll(leads, (lead) =>
      call('POST', `returns/${part(lead)}`, { body: { approve, note: note || undefined } }),
    );
    fail(found);
    choose([...found.keys()]);
    pages.reload();
    const done = leads.length - found.size;
    if (done > 0) say(`${count(done)} ${done === 1 ? 'return' : 'returns'} ${approve ? 'approved' : 'denied'}.`);
    tellDecided();
  };
  const denyText = <p>This is final: the buyer cannot request these returns again.</p>;
  return (
    <More
      of={pages}
      none={all.length === 0}
      empty={
        <Empty title="No return requests">
          Returns of campaigns with <code>approval: manual</code> wait here for your decision.
        </Empty>
      }
    >
      <p>{count(pages.data?.[0]?.total)} pending.</p>
      <Bulk chosen={chosen} failed={failed}>
        <Input label="Note" value={note} set={write} hint="optional" />
        <Act needs="operator" tone="main" run={() => decide(chosen, true)}>
          Approve selected
        </Act>
        <Act
          needs="operator"
          tone="danger"
          sure={{ title: `Deny ${count(chosen.length)} returns?`, text: denyText }}
          run={() => decide(chosen, false)}
        >
          Deny selected
        </Act>
      </Bulk>
      <Table
        caption="Return requests"
        name="returns"
        rows={all}
        keyOf={(r) => r.lead_id}
        chosen={{ keys: chosen, set: choose }}
        columns={[
          {
            head: 'Lead',
            of: (r) => (
              <>
                <Id of="leads" id={r.lead_id} />
                <Checked of={contacts.get(r.lead_id)} lead={r.lead_id} take={(c) => reveal(r.lead_id, c)} />
              </>
            ),
          },
          {
            head: 'Reason',
            sort: (r) => r.reason,
            of: (r) => (
              <>
                {r.reason || 'no reason'} {r.test && <Badge>test</Badge>}
              </>
            ),
          },
          { head: 'Buyer', of: (r) => <Ref of="buyers" id={r.buyer_id} />, sort: (r) => r.buyer_id },
          {
            head: 'Return rate',
            number: true,
            of: (r) => (
              <>
                {share(rates(r.buyer_id))} <small class="phone-none">{rateDays} days</small>
              </>
            ),
            sort: (r) => rates(r.buyer_id),
          },
          {
            head: 'Supplier',
            phone: 'none',
            sort: (r) => r.supplier_id,
            of: (r) => (
              <>
                <Ref of="suppliers" id={r.supplier_id} />{' '}
                <small>
                  <Ref of="campaigns" id={r.campaign_id} />
                </small>
              </>
            ),
          },
          {
            head: 'Requested',
            phone: 'none',
            sort: (r) => r.asked_at,
            of: (r) => (
              <>
                <Time at={r.asked_at} /> <small>{since(r.asked_at)} ago</small>
              </>
            ),
          },
          {
            head: 'Buyer credit',
            number: true,
            phone: 'side',
            of: (r) => <Cash of={r.credit} currency={r.currency} />,
            sort: (r) => r.credit,
          },
          {
            head: 'Payout reversal',
            number: true,
            phone: 'none',
            of: (r) => <Cash of={r.reverse} currency={r.currency} />,
            sort: (r) => r.reverse,
          },
          {
            head: 'Action',
            of: (r) => (
              <div class="row">
                <Act needs="operator" label={`Approve ${r.lead_id}`} run={() => decide([r.lead_id], true)}>
                  Approve
                </Act>
                <Act
                  needs="operator"
                  tone="danger"
                  label={`Deny ${r.lead_id}`}
                  sure={{ title: 'Deny the return?', text: denyText }}
                  run={() => decide([r.lead_id], false)}
                >
                  Deny
                </Act>
              </div>
            ),
          },
        ]}
      />
    </More>
  );
}

// Checked shows a lead's contact data, to check the reason of a return, or the button for it.
function Checked({ of, lead, take }: { of: Contact | undefined; lead: string; take: (contact: Contact) => void }) {
  return (
    <div class="checked">
      {of ? <ContactLines of={of} /> : <Reveal lead={lead} label={`Show contact of ${lead}`} take={take} />}
    </div>
  );
}
