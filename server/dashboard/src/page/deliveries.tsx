import { call, part } from '../call';
import { count } from '../format';
import { useLoad } from '../load';
import { Act } from '../part/button';
import { Empty, Loaded } from '../part/state';
import { Table } from '../part/table';
import { Badge, Ref, Status, Time } from '../part/words';
import type { PageOf } from '../route';
import { to } from '../route';
import { money } from '../timeline';
import type { Delivery } from '../types';

const words: { [how: string]: { name: string; text: string; done: string } } = {
  confirm: {
    name: 'The buyer has it',
    text: 'The sale stands, and the buyer pays. Say so only where the buyer has confirmed it.',
    done: 'The sale stands.',
  },
  release: {
    name: 'The buyer has it not',
    text: 'The sale is undone: nobody pays, and the lead counts as unmatched.',
    done: 'The sale is undone.',
  },
  resend: {
    name: 'Send again',
    text: 'The lead is posted to the same buyer once more. If the buyer has it already, it must know it again by its key.',
    done: 'It is being sent again.',
  },
};

export function DeliveriesPage({ query }: PageOf) {
  const state = query.state ?? 'unknown';
  const found = useLoad<{ total: number; deliveries: Delivery[] }>('deliveries', {
    state: state === 'all' ? undefined : state,
  });
  return (
    <>
      <h1 tabIndex={-1}>Deliveries</h1>
      <nav class="tabs" aria-label="Which">
        {[
          ['unknown', 'Fate unknown'],
          ['pending', 'Under way'],
          ['all', 'All open'],
        ].map(([word, name]) => (
          <a href={to(['deliveries'], { state: word })} aria-current={state === word ? 'page' : undefined}>
            {name}
          </a>
        ))}
      </nav>
      <Loaded of={found}>
        {({ total, deliveries }) =>
          deliveries.length === 0 ? (
            <Empty title={state === 'unknown' ? 'Nothing to decide' : 'No delivery is open'}>
              {state === 'unknown' && 'The fate of every lead is known.'}
            </Empty>
          ) : (
            <>
              <p>
                {count(total)} in all{total > deliveries.length && `, the oldest ${count(deliveries.length)} are shown`}
                .{state === 'unknown' && ' Ask the buyer whether it has the lead, and say here what it answers.'}
              </p>
              <Table
                caption="Deliveries"
                rows={deliveries}
                keyOf={(d) => d.lead_id}
                columns={[
                  { head: 'Lead', of: (d) => <Ref of="leads" id={d.lead_id} /> },
                  {
                    head: 'State',
                    of: (d) => (
                      <>
                        <Status word={d.state} /> {d.test && <Badge>test</Badge>}
                      </>
                    ),
                  },
                  { head: 'Buyer', of: (d) => <Ref of="buyers" id={d.buyer_id} /> },
                  { head: 'Price', number: true, of: (d) => money(d.price) },
                  { head: 'Attempts', number: true, of: (d) => count(d.attempts) },
                  { head: 'Decided (UTC)', of: (d) => <Time at={d.decided_at} /> },
                  { head: 'Action', of: (d) => <Orders of={d} done={found.reload} /> },
                ]}
              />
            </>
          )
        }
      </Loaded>
    </>
  );
}

function Orders({ of, done }: { of: Delivery; done: () => void }) {
  if (of.state !== 'unknown') return <span class="faint">under way</span>;
  return (
    <div class="row">
      {Object.entries(words).map(([how, word]) => (
        <Act
          needs="operator"
          tone={how === 'release' ? 'danger' : undefined}
          label={`${word.name}: ${of.lead_id}`}
          sure={{
            title: `${word.name}?`,
            text: (
              <>
                <p class="mono">{of.lead_id}</p>
                <p>{word.text}</p>
              </>
            ),
          }}
          run={async () => {
            await call('POST', `deliveries/${part(of.lead_id)}/${how}`);
            done();
          }}
          done={word.done}
        >
          {word.name}
        </Act>
      ))}
    </div>
  );
}
