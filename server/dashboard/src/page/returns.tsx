import { useState } from 'preact/hooks';
import { call, part } from '../call';
import { amount, count } from '../format';
import { usePages } from '../load';
import { Act } from '../part/button';
import { Input } from '../part/field';
import { More } from '../part/more';
import { Empty } from '../part/state';
import { Badge, Card, Facts, Ref, Status, Time } from '../part/words';
import type { WaitingReturn } from '../types';

export function ReturnsPage() {
  const pages = usePages<{ total: number; returns: WaitingReturn[] }>('returns', { limit: 50 });
  const all = pages.data?.flatMap((p) => p.returns) ?? [];
  return (
    <>
      <h1 tabIndex={-1}>Returns to decide</h1>
      <More
        of={pages}
        none={all.length === 0}
        empty={
          <Empty title="Nothing to decide">
            Returns wait here where a campaign’s rule says <code>approval: manual</code>.
          </Empty>
        }
      >
        <p>{count(pages.data?.[0]?.total)} wait.</p>
        {all.map((r) => (
          <One key={r.lead_id} of={r} done={pages.reload} />
        ))}
      </More>
    </>
  );
}

function One({ of, done }: { of: WaitingReturn; done: () => void }) {
  const [note, set] = useState('');
  const decide = (approve: boolean) => async () => {
    await call('POST', `returns/${part(of.lead_id)}`, { body: { approve, note: note || undefined } });
    done();
  };
  return (
    <Card
      title={of.reason || 'Without a reason'}
      side={
        <>
          <Status word={of.status} />
          {of.test && <Badge>test</Badge>}
        </>
      }
    >
      <Facts
        of={[
          ['Lead', <Ref of="leads" id={of.lead_id} />],
          ['Buyer', <Ref of="buyers" id={of.buyer_id} />],
          ['Supplier', <Ref of="suppliers" id={of.supplier_id} />],
          ['Campaign', <Ref of="campaigns" id={of.campaign_id} />],
          ['Asked', <Time at={of.asked_at} />],
          ['Back to the buyer', amount(of.credit, of.currency)],
          ['From the supplier', amount(of.reverse, of.currency)],
        ]}
      />
      <div class="row foot">
        <Input label="Note" value={note} set={set} />
        <Act
          needs="operator"
          tone="main"
          label={`Approve ${of.lead_id}`}
          run={decide(true)}
          done="The return is approved."
        >
          Approve
        </Act>
        <Act
          needs="operator"
          tone="danger"
          label={`Refuse ${of.lead_id}`}
          sure={{ title: 'Refuse the return?', text: <p>It is for good: the buyer cannot ask for it again.</p> }}
          run={decide(false)}
          done="The return is refused."
        >
          Refuse
        </Act>
      </div>
    </Card>
  );
}
