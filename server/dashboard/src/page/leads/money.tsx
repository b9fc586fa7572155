import { words } from '../../format';
import { Empty } from '../../part/state';
import { Table } from '../../part/table';
import { Card, Cash, Facts, Ref, Time } from '../../part/words';
import type { Money, Told } from '../../types';

const cash = (m: Money | undefined) => <Cash of={m?.amount} currency={m?.currency} />;

// MoneyTab shows a lead's price, payout and margin, and the amounts of its return.
export function MoneyTab({ told }: { told: Told }) {
  const returns = (told.reports ?? []).filter((r) => r.credit || r.reversed);
  return (
    <>
      <Card title="Sale">
        {told.price ? (
          <Facts
            of={[
              ['Buyer pays', cash(told.price)],
              ['Supplier gets', cash(told.payout)],
              ['Margin', cash(told.margin)],
              ['Winning buyer', <Ref of="buyers" id={told.buyer_id} />],
            ]}
          />
        ) : (
          <Empty title="No sale">An unsold lead moves no money.</Empty>
        )}
      </Card>
      {returns.length > 0 && (
        <Card title="Return">
          <Table
            caption="Returns"
            rows={returns}
            keyOf={(r) => r.at}
            columns={[
              { head: 'Time', of: (r) => <Time at={r.at} /> },
              { head: 'Reason', of: (r) => r.reason ?? words(r.result) },
              { head: 'Buyer credit', number: true, of: (r) => cash(r.credit), phone: 'side' },
              { head: 'Payout reversal', number: true, of: (r) => cash(r.reversed) },
            ]}
          />
        </Card>
      )}
    </>
  );
}
