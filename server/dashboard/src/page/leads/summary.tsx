import { nameOf, useEntries } from '../../entries';
import { capital, millis, words } from '../../format';
import { RuleText } from '../../part/rule';
import { Empty } from '../../part/state';
import { type Column, Table } from '../../part/table';
import { Badge, Card, Cash, Copy, Facts, Id, Ref, SetName, Status, Time, titleOf } from '../../part/words';
import { notOfferedText } from '../../reason';
import { isUnanswered, noAnswer, outcomeTone } from '../../timeline';
import type { Candidate, Settlement, Told } from '../../types';

// methods has the names of the ways by which a lead comes.
const methods: { [kind: string]: string } = {
  ingest: 'Direct post',
  post: 'Ping, then post',
  ping: 'Ping',
  availability: 'Availability request',
};

// Summary shows a lead's outcome, the decision about each buyer, and its details.
export function Summary({ told }: { told: Told }) {
  return (
    <>
      <Candidates told={told.candidates.length === 0 && told.auction ? told.auction : told} />
      <Card title="Details">
        <Facts of={factsOf(told)} />
      </Card>
    </>
  );
}

// answerColumns are the columns of buyers that got a ping.
const answerColumns: Column<Candidate>[] = [
  {
    head: 'Answered in',
    number: true,
    of: (c) => (c.elapsed_ms === undefined || isUnanswered(c) ? <span class="faint">–</span> : millis(c.elapsed_ms)),
    sort: (c) => c.elapsed_ms,
  },
  {
    head: 'Bid',
    number: true,
    of: (c) => <Cash of={c.bid?.amount} currency={c.bid?.currency} />,
    sort: (c) => c.bid?.amount,
  },
];

function Candidates({ told }: { told: Told }) {
  const posted = (buyer: string) => told.posts.find((p) => p.buyer_id === buyer);
  return (
    <Card title="Buyers in campaign">
      {told.candidates.length === 0 ? (
        <Empty title="No buyer was considered">The text above has the reason.</Empty>
      ) : (
        <Table
          caption="Buyers in campaign"
          rows={told.candidates}
          keyOf={(c) => `${c.buyer_id} ${c.seat}`}
          columns={[
            { head: 'Buyer', of: (c) => <SetName of={c} />, sort: (c) => c.buyer_id },
            {
              head: 'Outcome',
              phone: 'side',
              sort: (c) => c.outcome,
              of: (c) => <Badge tone={outcomeTone(c.outcome)}>{words(c.outcome)}</Badge>,
            },
            {
              head: 'Why',
              of: (c) => (
                <Why
                  of={c}
                  told={told}
                  settled={c.outcome === 'other_filter_set' ? undefined : posted(c.buyer_id)?.settlements.at(-1)}
                />
              ),
            },
            ...(told.candidates.some((c) => c.asked) ? answerColumns : []),
          ]}
        />
      )}
    </Card>
  );
}

// Why shows the rule by which a buyer dropped out, and the parts of its answer that the rule lacks. The
// rule has a fault and the end of a post in words. A sale has a code if the body of the accepting
// answer looks like a rejection.
function Why({ of, told, settled }: { of: Candidate; told: Told; settled?: Settlement }) {
  const entries = useEntries();
  if (isUnanswered(of) && (of.rule?.kind ?? 'deadline') === 'deadline') return <>{capital(noAnswer(of.elapsed_ms))}</>;
  const all = [
    of.reason,
    !of.rule && of.fault && of.fault !== of.outcome && words(of.fault),
    of.status && of.status !== 200 ? `HTTP ${of.status}` : '',
    of.rule?.kind !== 'post' && settled?.reason && words(settled.reason),
    settled?.settlement === 'delivered' && settled.code && `answer looks like a rejection: ${settled.code}`,
  ].filter((text) => text && !of.rule?.text.includes(text));
  const before = notOfferedText(of.outcome, told, nameOf(entries, 'buyers', told.buyer_id ?? ''));
  if (before) return <>{before}</>;
  if (!of.rule && all.length === 0) return <span class="faint">–</span>;
  return (
    <>
      {of.rule && <RuleText of={of.rule} />} {all.join(', ')}
    </>
  );
}

function factsOf(told: Told): [string, preact.ComponentChildren][] {
  const all: [string, preact.ComponentChildren][] = [
    ['Campaign', <Ref of="campaigns" id={told.campaign_id} />],
    ['Supplier', <Ref of="suppliers" id={told.supplier_id} />],
    ['Received', <Time at={told.received_at} fine />],
    ['Decided', `after ${millis(Date.parse(told.decided_at) - Date.parse(told.received_at))}`],
    ['Method', methods[told.kind] ?? words(told.kind)],
    ['Distribution', words(told.method)],
  ];
  if (told.buyer_id) all.push(['Winning buyer', <Ref of="buyers" id={told.buyer_id} />]);
  if (told.price) all.push(['Price', <Cash of={told.price.amount} currency={told.price.currency} />]);
  if (told.payout) all.push(['Payout', <Cash of={told.payout.amount} currency={told.payout.currency} />]);
  if (told.margin) all.push(['Margin', <Cash of={told.margin.amount} currency={told.margin.currency} />]);
  if (told.terms) all.push(['Terms', told.terms]);
  if (told.delivery) all.push(['Delivery', <Status word={told.delivery} />]);
  if (told.reason) all.push(['Unsold reason', words(told.reason)]);
  if (told.duplicate_of) all.push(['Duplicate of', <Id of="leads" id={told.duplicate_of} />]);
  if (told.lead_id && told.lead_id !== told.id) all.push(['Lead', <Id of="leads" id={told.lead_id} />]);
  if (told.auction_id) all.push(['Auction', <Id of="auctions" id={told.auction_id} />]);
  if (told.answer) {
    all.push([
      'Answer to the supplier',
      `HTTP ${told.answer.status}, ${titleOf(told.answer.says)}${told.answer.reason ? `: ${words(told.answer.reason)}` : ''}`,
    ]);
  }
  if (told.seller_id) all.push(["Supplier's id", <code>{told.seller_id}</code>]);
  all.push(
    [
      'Request',
      <span class="id">
        <code>{told.request_id}</code>
        <Copy text={told.request_id} />
      </span>,
    ],
    ['Configuration', `version ${told.catalog_version}`],
  );
  return all;
}
