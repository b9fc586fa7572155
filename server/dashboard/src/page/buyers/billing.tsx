import { useState } from 'preact/hooks';
import { call, part } from '../../call';
import { currencyOf, useEntries } from '../../entries';
import { numberOf } from '../../form/editor';
import { amount } from '../../format';
import { useLoad } from '../../load';
import { Act } from '../../part/button';
import { Input } from '../../part/field';
import { Empty, Loaded } from '../../part/state';
import { Card, Facts } from '../../part/words';
import { to } from '../../route';
import type { Item } from '../../types';

// Funds shows a buyer's balance and adds to it.
export function Funds({ item }: { item: Item }) {
  if (item.document.funds === undefined) {
    return (
      <Empty title="This buyer has no prepaid balance">
        It is billed by <a href={to(['reports', 'statements'], { buyer: item.id })}>statement</a>. Set a balance or a
        credit below to keep an account.
      </Empty>
    );
  }
  return <Balance id={item.id} />;
}

function Balance({ id }: { id: string }) {
  const funds = useLoad<{ balance?: number; held: number; currency?: string }>(`buyers/${part(id)}/funds`);
  const entries = useEntries();
  const currency = funds.data?.currency || currencyOf(entries, [id]);
  const [sum, setSum] = useState('');
  const [note, setNote] = useState('');
  return (
    <Card title="Balance" side={<a href={to(['reports', 'statements'], { buyer: id })}>Statement</a>}>
      <Loaded of={funds}>
        {(f) => (
          <Facts
            of={[
              ['Balance', amount(f.balance, f.currency)],
              ['Reserved by deliveries in progress', amount(f.held, f.currency)],
            ]}
          />
        )}
      </Loaded>
      <div class="row foot">
        <Input
          label="Add funds"
          value={sum}
          set={setSum}
          hint="500"
          help={`${currency && `in ${currency}; `}a negative amount withdraws`}
        />
        <Input label="Note" value={note} set={setNote} hint="wire 17" />
        <Act
          needs="admin"
          disabled={sum === ''}
          run={async () => {
            await call('POST', `buyers/${part(id)}/funds`, {
              body: { amount: numberOf(sum), note: note || undefined },
            });
            setSum('');
            setNote('');
            funds.reload();
          }}
          done="The balance is changed."
        >
          Apply
        </Act>
      </div>
    </Card>
  );
}
