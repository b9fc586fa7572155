import { Table } from '../../part/table';
import { Timeline } from '../../part/timeline';
import { Card, Cash, Id, Ref, Status, Time } from '../../part/words';
import { draw } from '../../timeline';
import type { Told } from '../../types';

// AuctionTab draws the pings, bids and posts, of the lead itself and of the auction before it.
export function AuctionTab({ told }: { told: Told }) {
  return (
    <>
      <Card title="Timeline">
        <Timeline told={told} />
        <Legend told={told} />
      </Card>
      <Offers told={told} />
      {told.auction && (
        <>
          <h2>The ping before it</h2>
          <Card title="Timeline of the ping">
            <Timeline told={told.auction} />
            <Legend told={told.auction} />
          </Card>
          <Offers told={told.auction} />
        </>
      )}
    </>
  );
}

function Legend({ told }: { told: Told }) {
  const asked = told.candidates.some((c) => c.asked);
  const { marks, end } = draw(told, (buyer) => buyer);
  const at = (text: string) => marks.find((m) => m.text === text)?.at ?? Number.NaN;
  const due = Math.abs(at('bids due') - at('decided')) > end / 100; // else the one line covers the other
  return (
    <p class="legend faint">
      {asked && (
        <span>
          <i class="swatch key-ask" aria-hidden="true" />
          pinged
        </span>
      )}
      <span>
        <i class="swatch key-post" aria-hidden="true" />
        posted
      </span>
      <span>
        <i class="swatch key-decided" aria-hidden="true" />
        decided
      </span>
      {due && (
        <span>
          <i class="swatch key-due" aria-hidden="true" />
          bids due
        </span>
      )}
    </p>
  );
}

function Offers({ told }: { told: Told }) {
  if (!told.offers || told.offers.length === 0) return null;
  return (
    <Card title="Offers to the supplier">
      <Table
        caption="Offers"
        rows={told.offers}
        keyOf={(o, i) => `${o.buyer_id} ${i}`}
        columns={[
          { head: 'Buyer', of: (o) => <Ref of="buyers" id={o.buyer_id} /> },
          { head: 'Price', number: true, of: (o) => <Cash of={o.price.amount} currency={o.price.currency} /> },
          { head: 'Payout', number: true, of: (o) => <Cash of={o.payout.amount} currency={o.payout.currency} /> },
          { head: 'Valid until', of: (o) => <Time at={o.valid_until} fine /> },
          {
            head: 'Accepted by',
            of: (o) =>
              o.taken_by?.map((t) => (
                <span>
                  <Id of="leads" id={t.lead_id} /> <Status word={t.status} />{' '}
                </span>
              )) ?? <span class="faint">–</span>,
          },
        ]}
      />
    </Card>
  );
}
