import { useState } from 'preact/hooks';
import { call, part } from '../call';
import { isSet } from '../form/document';
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

// BuyerParts is what lives on beside a buyer's settings: its money, and what is shown to it
// and by it.
export function BuyerParts({ id, document }: { id: string; document: Doc }) {
  return (
    <>
      {document.funds !== undefined && <Funds id={id} />}
      <h2>Credentials</h2>
      <Presented id={id} document={document} />
      <Clients owner="buyers" id={id} />
      <Tokens owner="buyers" id={id} />
    </>
  );
}

function Funds({ id }: { id: string }) {
  const funds = useLoad<{ balance: number; held: number }>(`buyers/${part(id)}/funds`);
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

const names: [string, string][] = [
  ['bearer', 'bearer token'],
  ['api_key', 'API key'],
];

// Presented is what the exchange shows to the buyer's endpoint.
function Presented({ id, document }: { id: string; document: Doc }) {
  const auth = (document.auth ?? {}) as Doc;
  const there = names.filter(([name]) => isSet(auth[name]));
  if (there.length === 0) return null;
  return (
    <Card title="What it is shown" level={3}>
      {there.map(([name, words]) => (
        <Replace id={id} name={name} words={words} />
      ))}
    </Card>
  );
}

function Replace({ id, name, words }: { id: string; name: string; words: string }) {
  const [value, set] = useState('');
  return (
    <div class="row foot">
      <Input label={`New ${words}`} type="password" auto="new-password" value={value} set={set} />
      <Act
        needs="admin"
        disabled={value === ''}
        run={async () => {
          await call('PUT', `secrets/buyer/${part(id)}/${name}`, { body: { value } });
          set('');
        }}
        done={`The ${words} is changed: the next request shows it.`}
      >
        Replace
      </Act>
    </div>
  );
}
