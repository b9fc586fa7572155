import { useState } from 'preact/hooks';
import { call, Failure, part } from '../call';
import { asFailure, useLoad } from '../load';
import { Act } from '../part/button';
import { Labelled } from '../part/field';
import { Ids } from '../part/filters';
import { Loaded } from '../part/state';
import { Badge, Card, Ref } from '../part/words';
import { Wrong } from '../part/wrong';
import { useDenied } from '../session';
import type { BenchAnswer, Doc, FieldError, Told } from '../types';
import { Story } from './story';

export function BenchPage() {
  const [campaign, setCampaign] = useState('');
  const [supplier, setSupplier] = useState('');
  const [text, write] = useState('');
  const [failure, fail] = useState<Failure | undefined>();
  const [answer, take] = useState<BenchAnswer | undefined>();
  const denied = useDenied('operator');
  const example = async () => {
    const found = await call<{ lead?: Doc }>('GET', 'bench/example', { query: { campaign } });
    write(JSON.stringify(found.lead ?? found, null, 2));
  };
  const send = async () => {
    fail(undefined);
    take(undefined);
    let lead: Doc;
    try {
      lead = JSON.parse(text) as Doc;
    } catch (problem) {
      fail(new Failure(0, 'malformed_json', `This is not JSON: ${(problem as Error).message}`));
      return;
    }
    try {
      take(await call<BenchAnswer>('POST', 'bench', { body: { campaign, supplier, lead } }));
    } catch (problem) {
      fail(asFailure(problem));
    }
  };
  return (
    <>
      <h1 tabIndex={-1}>Test bench</h1>
      <p>
        A test lead goes the way of every lead. It takes no cap, no money and no turn, and reaches only buyers that have
        an endpoint for tests, or none at all.
      </p>
      <Card title="The lead">
        <div class="row filters">
          <Ids of="campaigns" label="Campaign" any="choose" value={campaign} set={setCampaign} />
          <Ids of="suppliers" label="Supplier" any="choose" value={supplier} set={setSupplier} />
        </div>
        <Labelled
          label="Lead"
          help={
            campaign === '' || supplier === ''
              ? 'choose a campaign and a supplier first'
              : 'as its supplier would send it: have one made up, or write it'
          }
        >
          {(of) => (
            <textarea
              {...of}
              class="mono"
              rows={14}
              spellcheck={false}
              disabled={denied !== ''}
              value={text}
              onInput={(e) => write(e.currentTarget.value)}
            />
          )}
        </Labelled>
        <div class="row">
          <Act needs="viewer" run={example} disabled={campaign === ''}>
            Make one up
          </Act>
          <Act needs="operator" tone="main" run={send} disabled={campaign === '' || supplier === '' || text === ''}>
            Send the test
          </Act>
        </div>
        <Wrong failure={failure} />
      </Card>
      {answer && <Answered of={answer} />}
    </>
  );
}

function Answered({ of }: { of: BenchAnswer }) {
  const body = of.answer as { field_errors?: FieldError[]; message?: string } | null;
  const good = of.status < 300;
  return (
    <>
      <Card title="What the supplier is answered" side={<Badge tone={good ? 'good' : 'bad'}>HTTP {of.status}</Badge>}>
        {!good && body?.message && <p class="note bad">{body.message}</p>}
        {body?.field_errors && (
          <ul>
            {body.field_errors.map((e) => (
              <li>
                <code>{e.field}</code>: {e.expected}
              </li>
            ))}
          </ul>
        )}
        {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a scrolling element must be reachable by keyboard */}
        <pre tabIndex={0}>{JSON.stringify(of.answer, null, 2)}</pre>
      </Card>
      {of.lead && <What key={of.lead} id={of.lead} />}
    </>
  );
}

function What({ id }: { id: string }) {
  const told = useLoad<Told>(`explain/${part(id)}`);
  return (
    <>
      <h2>
        What became of <Ref of="leads" id={id} />
      </h2>
      <Loaded of={told}>{(t) => <Story told={t} />}</Loaded>
    </>
  );
}
