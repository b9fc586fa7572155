import { useState } from 'preact/hooks';
import { call, Failure, part } from '../../call';
import { words } from '../../format';
import { asFailure, useLoad } from '../../load';
import { Act } from '../../part/button';
import { Labelled } from '../../part/field';
import { Ids } from '../../part/filters';
import { RuleText } from '../../part/rule';
import { Loaded } from '../../part/state';
import { Table } from '../../part/table';
import { Badge, Card, Heading, Id, Ref, SetName } from '../../part/words';
import { Wrong } from '../../part/wrong';
import { meaning } from '../../reason';
import { useDenied } from '../../session';
import { outcomeTone } from '../../timeline';
import type { BenchAnswer, BenchExample, Doc, DryRun, FieldError, Told } from '../../types';
import { AuctionTab } from './auction';
import { LeadsTabs } from './leads';
import { RuleNote, Story } from './story';

export function TestPage() {
  const [campaign, setCampaign] = useState('');
  const [supplier, setSupplier] = useState('');
  const [text, write] = useState('');
  const [failure, fail] = useState<Failure | undefined>();
  const [answer, take] = useState<BenchAnswer | undefined>();
  const [sample, know] = useState<BenchExample | undefined>();
  const denied = useDenied('operator');
  const example = async () => {
    const found = await call<BenchExample>('GET', 'bench/example', { query: { campaign } });
    write(JSON.stringify(found.lead, null, 2));
    if (supplier === '' && found.supplier) setSupplier(found.supplier);
    know(found);
  };
  const send = async (dry: boolean) => {
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
      const body = { campaign, supplier, lead, dry_run: dry || undefined };
      take(await call<BenchAnswer>('POST', 'bench', { body }));
    } catch (problem) {
      fail(asFailure(problem));
    }
  };
  const incomplete = campaign === '' || supplier === '' || text === '';
  return (
    <>
      <Heading title="Test a lead" />
      <LeadsTabs at="test" />
      <p>
        A test lead is handled like a live lead, but it does not count against caps, balances or the rotation of buyers.
        It reaches only buyers with a test endpoint, and buyers without any endpoint. A dry run shows the decision about
        each buyer, without sending.
      </p>
      <Card title="Lead">
        <div class="row filters">
          <Ids of="campaigns" label="Campaign" any="Choose" value={campaign} set={setCampaign} />
          <Ids of="suppliers" label="Supplier" any="Choose" value={supplier} set={setSupplier} />
        </div>
        <Labelled
          label="Lead"
          help={
            campaign === '' || supplier === ''
              ? 'choose a campaign and a supplier first'
              : 'as the supplier sends it: generate a sample, or write one'
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
            Generate sample
          </Act>
          <Act needs="operator" run={() => send(true)} disabled={incomplete}>
            Dry run
          </Act>
          <Act needs="operator" tone="main" run={() => send(false)} disabled={incomplete}>
            Send test lead
          </Act>
        </div>
        {sample?.campaign === campaign && <Sample of={sample} />}
        <Wrong failure={failure} />
      </Card>
      {answer?.dry_run ? <Decision of={answer.dry_run} /> : answer && <Answered of={answer} />}
    </>
  );
}

// Sample names the buyers that can get the sample, or the rules that exclude all of them.
function Sample({ of }: { of: BenchExample }) {
  if (of.contradictions.length === 0) {
    return (
      <p>
        The states and filters of {of.eligible_buyers.length === 1 ? 'this buyer' : 'these buyers'} accept the sample:{' '}
        {of.eligible_buyers.map((id, i) => (
          <>
            {i > 0 && ', '}
            <Ref of="buyers" id={id} />
          </>
        ))}
      </p>
    );
  }
  return (
    <div class="note warn" role="status">
      <p>No buyer of this campaign can accept any lead:</p>
      <ul>
        {of.contradictions.map((text) => (
          <li>{text}</li>
        ))}
      </ul>
    </div>
  );
}

const pinged = 'would get a ping';

// Decision shows a dry run: the outcome, and each buyer with the rule that excludes it.
function Decision({ of }: { of: DryRun }) {
  const asked = of.candidates.filter((c) => c.asked).length;
  return (
    <Card title="Dry run" side={<span class="faint">Nothing was sent.</span>}>
      <p class="why" role="status">
        {of.decision === 'sold' ? (
          <>
            <Badge tone="good">sold</Badge> The lead would go to <Ref of="buyers" id={of.buyer_id} />.
          </>
        ) : of.decision === 'pinged' ? (
          <>
            <Badge>pinged</Badge> {asked === 1 ? '1 buyer' : `${asked} buyers`} would get a ping. The bids decide.
          </>
        ) : (
          <>
            <Badge tone="warn">unsold</Badge> {of.reason ? `${words(of.reason)}: ${meaning(of.reason)}` : ''}
          </>
        )}
      </p>
      {of.rule && <RuleNote rule={of.rule} />}
      {of.candidates.length > 0 && (
        <Table
          caption="Decision about each buyer"
          rows={of.candidates}
          keyOf={(c) => `${c.buyer_id} ${c.seat}`}
          columns={[
            { head: 'Buyer', of: (c) => <SetName of={c} />, sort: (c) => c.buyer_id },
            {
              head: 'Outcome',
              phone: 'side',
              sort: (c) => c.outcome,
              of: (c) => <Badge tone={outcomeTone(c.outcome)}>{c.asked ? pinged : words(c.outcome)}</Badge>,
            },
            { head: 'Why', of: (c) => (c.rule ? <RuleText of={c.rule} /> : <span class="faint">–</span>) },
          ]}
        />
      )}
    </Card>
  );
}

function Answered({ of }: { of: BenchAnswer }) {
  const body = of.answer as { field_errors?: FieldError[]; message?: string } | null;
  const good = of.status < 300;
  return (
    <>
      <Card title="Answer to the supplier" side={<Badge tone={good ? 'good' : 'bad'}>HTTP {of.status}</Badge>}>
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
      {of.lead && <Outcome key={of.lead} id={of.lead} />}
    </>
  );
}

function Outcome({ id }: { id: string }) {
  const told = useLoad<Told>(`explain/${part(id)}`);
  return (
    <>
      <h2>
        Outcome of <Id of="leads" id={id} />
      </h2>
      <Loaded of={told}>
        {(t) => (
          <>
            <Story told={t} at="summary" />
            <AuctionTab told={t} />
          </>
        )}
      </Loaded>
    </>
  );
}
