import { amount, instant, millis, scalar, words } from '../format';
import { Empty } from '../part/state';
import { Table } from '../part/table';
import { Timeline } from '../part/timeline';
import { Badge, Card, Facts, Ref, Status, Time } from '../part/words';
import { cameTo, money } from '../timeline';
import type { Told } from '../types';

// Story explains a lead or an auction: a summary, a timeline and the log's events.
export function Story({ told }: { told: Told }) {
  return (
    <>
      <p class="why">
        <Status word={told.status} /> {told.test && <Badge>test</Badge>}{' '}
        {told.erased && <Badge tone="warn">erased</Badge>} {told.why}
      </p>
      {told.truncated && <p class="note warn">The log was not searched to its end: what came later may be missing.</p>}
      {told.notes?.map((n) => (
        <p class="note">{n}</p>
      ))}
      <Card title="Timeline">
        <Timeline told={told} />
        <Legend told={told} />
      </Card>
      <div class="columns">
        <Card title="What it is">
          <Facts of={facts(told)} />
        </Card>
        <Card title="What was said of it">
          {Object.keys(told.fields).length === 0 ? (
            <Empty title="Nothing but contact data" />
          ) : (
            <Facts of={Object.entries(told.fields).map(([name, value]) => [name, scalar(value)])} />
          )}
        </Card>
      </div>
      <Offers told={told} />
      <After told={told} />
      {told.auction && (
        <>
          <h2>The auction before</h2>
          <Story told={told.auction} />
        </>
      )}
      {told.leads?.map((lead) => (
        <>
          <h2>
            The lead <Ref of="leads" id={lead.lead_id} />
          </h2>
          <Story told={lead} />
        </>
      ))}
    </>
  );
}

function Legend({ told }: { told: Told }) {
  const asked = told.candidates.some((c) => c.asked);
  return (
    <p class="legend faint">
      {asked && (
        <span>
          <i class="swatch key-ask" aria-hidden="true" />
          asked for a bid
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
      {told.bids_due_at && (
        <span>
          <i class="swatch key-due" aria-hidden="true" />
          bids due
        </span>
      )}
    </p>
  );
}

function facts(told: Told): [string, preact.ComponentChildren][] {
  const all: [string, preact.ComponentChildren][] = [
    ['Came by', told.kind],
    ['Campaign', <Ref of="campaigns" id={told.campaign_id} />],
    ['Supplier', <Ref of="suppliers" id={told.supplier_id} />],
    ['Method', words(told.method)],
    ['Arrived', <Time at={told.received_at} fine />],
    ['Decided', `after ${millis(Date.parse(told.decided_at) - Date.parse(told.received_at))}`],
  ];
  if (told.lead_id && told.lead_id !== told.id) all.push(['Lead', <Ref of="leads" id={told.lead_id} />]);
  if (told.auction_id) all.push(['Auction', <Ref of="auctions" id={told.auction_id} />]);
  if (told.buyer_id) all.push(['Buyer', <Ref of="buyers" id={told.buyer_id} />]);
  if (told.delivery) all.push(['Delivery', <Status word={told.delivery} />]);
  if (told.reason) all.push(['Reason', words(told.reason)]);
  if (told.price) all.push(['Price', money(told.price)]);
  if (told.payout) all.push(['Payout', money(told.payout)]);
  if (told.margin) all.push(['Margin', money(told.margin)]);
  if (told.duplicate_of) all.push(['Duplicate of', <Ref of="leads" id={told.duplicate_of} />]);
  if (told.answer) {
    all.push([
      'Answered',
      `HTTP ${told.answer.status}, ${words(told.answer.says)}${told.answer.reason ? `: ${words(told.answer.reason)}` : ''}`,
    ]);
  }
  all.push(['Configuration', `version ${told.catalog_version}`], ['Request', <code>{told.request_id}</code>]);
  if (told.seller_id) all.push(["Supplier's id", <code>{told.seller_id}</code>]);
  return all;
}

function Offers({ told }: { told: Told }) {
  if (!told.offers || told.offers.length === 0) return null;
  return (
    <Card title="What was offered">
      <Table
        caption="Offers"
        rows={told.offers}
        keyOf={(o, i) => `${o.buyer_id} ${i}`}
        columns={[
          { head: 'Buyer', of: (o) => <Ref of="buyers" id={o.buyer_id} /> },
          { head: 'Price', number: true, of: (o) => money(o.price) },
          { head: 'Payout', number: true, of: (o) => money(o.payout) },
          { head: 'Until', of: (o) => <Time at={o.valid_until} fine /> },
          {
            head: 'Taken by',
            of: (o) =>
              o.taken_by?.map((t) => (
                <span>
                  <Ref of="leads" id={t.lead_id} /> <Status word={t.status} />{' '}
                </span>
              )) ?? '–',
          },
        ]}
      />
    </Card>
  );
}

interface Event {
  at: string;
  what: string;
  tone?: string;
}

// After lists the events that followed the decision, in order.
function After({ told }: { told: Told }) {
  const events: Event[] = [];
  for (const p of told.posts) {
    events.push({
      at: p.intended_at,
      what: `Posted to ${p.buyer_id} for ${money(p.price)}, payout ${money(p.payout)}.`,
    });
    for (const t of p.tries) {
      events.push({
        at: t.ended_at,
        what: `${p.buyer_id}, try ${t.attempt}: ${t.status ? `HTTP ${t.status}` : words(t.fault)}${t.code ? `, ${t.code}` : ''}${t.verdict ? ` (${words(t.verdict)})` : ''}.`,
      });
    }
    for (const s of p.settlements) events.push({ at: s.at, what: `${p.buyer_id}: ${cameTo(s)}.` });
  }
  if (told.answer)
    events.push({ at: told.answer.at, what: `${told.supplier_id} is answered HTTP ${told.answer.status}.` });
  for (const r of told.reports ?? []) {
    const back = r.credit ? ` ${amount(r.credit.amount, r.credit.currency)} went back.` : '';
    events.push({
      at: r.at,
      what: `The ${r.by} reports ${r.to} (${words(r.result)})${r.reason ? `: ${r.reason}` : ''}.${back}`,
    });
  }
  for (const h of told.webhooks ?? []) {
    for (const a of h.attempts) {
      events.push({
        at: a.at,
        what: `Webhook ${h.type}: ${words(a.outcome)}${a.status ? `, HTTP ${a.status}` : ''}${a.fault ? `, ${words(a.fault)}` : ''}.`,
      });
    }
    if (h.attempts.length === 0) events.push({ at: h.owed_at, what: `Webhook ${h.type}: ${words(h.state)}.` });
  }
  if (events.length === 0) return null;
  events.sort((a, b) => a.at.localeCompare(b.at));
  return (
    <Card title="Entry by entry">
      <ol class="events">
        {events.map((e) => (
          <li>
            <time dateTime={e.at}>{instant(e.at, true)}</time> {e.what}
          </li>
        ))}
      </ol>
    </Card>
  );
}
