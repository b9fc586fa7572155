import { type EntryKind, nameOf, useEntries } from '../../entries';
import { instant, millis, words } from '../../format';
import { Empty } from '../../part/state';
import { Table } from '../../part/table';
import { Card, Ref, Status, Time, titleOf } from '../../part/words';
import { attemptText, numbered, webhookTitle } from '../../reason';
import { requestsOf } from '../../requests';
import { cameTo, money } from '../../timeline';
import type { Told } from '../../types';

// RequestsTab lists the requests to buyers with their answers, and the log's events.
export function RequestsTab({ told }: { told: Told }) {
  const entries = useEntries();
  const requests = requestsOf(told, (buyer) => nameOf(entries, 'buyers', buyer));
  return (
    <>
      <Card title="Requests and responses">
        {requests.length === 0 ? (
          <Empty title="No request was sent">No buyers pinged, and no buyer got a post.</Empty>
        ) : (
          <Table
            caption="Requests and responses"
            rows={requests}
            keyOf={(_, i) => String(i)}
            columns={[
              { head: 'Buyer', of: (r) => <Ref of="buyers" id={r.to} /> },
              { head: 'Request', of: (r) => r.kind, phone: 'side' },
              {
                head: 'Sent',
                phone: 'none',
                of: (r) =>
                  r.recorded ? (
                    <>
                      <span class="faint">recorded</span> <Time at={r.recorded} fine />
                    </>
                  ) : (
                    <Time at={r.at} fine />
                  ),
              },
              { head: 'Response', of: (r) => r.answer, phone: 'plain' },
              {
                head: 'After',
                number: true,
                of: (r) => (r.elapsed === undefined ? <span class="faint dash">–</span> : millis(r.elapsed)),
                phone: 'plain',
              },
            ]}
          />
        )}
      </Card>
      <Webhooks told={told} />
      <EventLog told={told} />
    </>
  );
}

function Webhooks({ told }: { told: Told }) {
  const hooks = told.webhooks ?? [];
  if (hooks.length === 0) return null;
  return (
    <Card title="Webhooks to the supplier">
      <Table
        caption="Webhooks"
        rows={hooks}
        keyOf={(h, i) => `${h.type} ${i}`}
        columns={[
          { head: 'Event', of: (h) => <span title={h.type}>{webhookTitle(h.type)}</span> },
          { head: 'State', of: (h) => <Status word={h.state} />, phone: 'side' },
          { head: 'Since', of: (h) => <Time at={h.owed_at} /> },
          {
            head: 'Attempts',
            of: (h) => h.attempts.map(numbered).join('; ') || 'none yet',
          },
        ]}
      />
    </Card>
  );
}

interface Event {
  at: string;
  what: string;
}

// EventLog lists the events after the decision, in order.
function EventLog({ told }: { told: Told }) {
  const entries = useEntries();
  const events = eventsOf(told, (kind, id) => nameOf(entries, kind, id)).sort((a, b) => a.at.localeCompare(b.at));
  if (events.length === 0) return null;
  return (
    <Card title="Event log">
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

function eventsOf(told: Told, name: (kind: EntryKind, id: string) => string): Event[] {
  const events: Event[] = [];
  for (const p of told.posts) {
    const buyer = name('buyers', p.buyer_id);
    events.push({
      at: p.intended_at,
      what: `Posted to ${buyer} for ${money(p.price)}, payout ${money(p.payout)}.`,
    });
    for (const t of p.tries) {
      const answer = t.status ? `HTTP ${t.status}` : words(t.fault);
      const rest = `${t.code ? `, ${t.code}` : ''}${t.verdict ? ` (${words(t.verdict)})` : ''}`;
      events.push({ at: t.ended_at, what: `${buyer}, attempt ${t.attempt}: ${answer}${rest}.` });
    }
    for (const s of p.settlements)
      events.push({ at: s.at, what: `${buyer}: ${cameTo(s, (id) => name('buyers', id))}.` });
  }
  if (told.answer) {
    const supplier = name('suppliers', told.supplier_id);
    events.push({ at: told.answer.at, what: `${supplier} got the answer HTTP ${told.answer.status}.` });
  }
  for (const r of told.reports ?? []) {
    const back = r.credit ? ` Buyer credit ${money(r.credit)}.` : '';
    const why = r.reason ? `: ${r.reason}` : '';
    events.push({ at: r.at, what: `The ${r.by} reported ${words(r.to)} (${words(r.result)})${why}.${back}` });
  }
  for (const h of told.webhooks ?? []) {
    for (const a of h.attempts) {
      events.push({
        at: a.at,
        what: `Webhook “${webhookTitle(h.type)}”: ${a.outcome === 'failed' ? 'failed: ' : ''}${attemptText(a)}.`,
      });
    }
    if (h.attempts.length === 0)
      events.push({ at: h.owed_at, what: `Webhook “${webhookTitle(h.type)}”: ${titleOf(h.state).toLowerCase()}.` });
  }
  return events;
}
