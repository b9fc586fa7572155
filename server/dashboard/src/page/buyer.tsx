import { useState } from 'preact/hooks';
import { call, part } from '../call';
import { numberOf } from '../form/editor';
import { amount } from '../format';
import { useLoad } from '../load';
import { Act } from '../part/button';
import { Input } from '../part/field';
import { Loaded } from '../part/state';
import { Card, Facts } from '../part/words';
import { to } from '../route';
import type { Doc } from '../types';
import { Clients, Tokens } from './credentials';
import { Secrets } from './secrets';

// BuyerParts shows a buyer's funds, the credentials that it uses here, and the credentials
// that the exchange uses there. None of them is part of its settings.
export function BuyerParts({ id, document }: { id: string; document: Doc }) {
  return (
    <>
      {document.funds !== undefined && <Funds id={id} />}
      <h2>Credentials</h2>
      <Secrets title="Buyer credentials" owner="buyer" id={id} />
      <Clients owner="buyers" id={id} />
      <Tokens owner="buyers" id={id} />
    </>
  );
}

function Funds({ id }: { id: string }) {
  const funds = useLoad<{ balance?: number; held: number }>(`buyers/${part(id)}/funds`);
  const [sum, setSum] = useState('');
  const [note, setNote] = useState('');
  return (
    <Card title="Funds" side={<a href={to(['statements'], { buyer: id })}>Statement</a>}>
      <Loaded of={funds}>
        {(f) => (
          <Facts
            of={[
              ['Balance', amount(f.balance)],
              ['Held by open posts', amount(f.held)],
            ]}
          />
        )}
      </Loaded>
      <div class="row foot">
        <Input label="Pay in" value={sum} set={setSum} hint="500" help="below zero takes back" />
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
          done="The account is changed."
        >
          Book it
        </Act>
      </div>
    </Card>
  );
}
