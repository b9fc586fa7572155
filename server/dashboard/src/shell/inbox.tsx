import { useEffect } from 'preact/hooks';
import { count } from '../format';
import { useLoad } from '../load';
import { useAlerts } from '../load-alerts';
import { to } from '../route';
import type { Drift, Overview } from '../types';
import { choose, workspace } from '../workspace';

const interval = 30_000;

export interface InboxItem {
  text: string;
  count: number;
  href: string;
}

export interface Inbox {
  overview?: Overview;
  items: InboxItem[]; // only those that need an action
  review: number; // items of the page Review
}

// itemsOf lists the items that need an action.
export function itemsOf(of: Overview | undefined, drift: number, alerts = 0): InboxItem[] {
  if (!of) return [];
  const all: InboxItem[] = [
    { text: 'Alerts', count: alerts, href: to(['settings', 'alerts']) },
    { text: 'Return requests', count: of.returns_waiting, href: to(['review', 'returns']) },
    { text: 'Unconfirmed deliveries', count: of.deliveries_unknown, href: to(['review', 'deliveries']) },
    { text: 'Failed events', count: of.webhooks.dead, href: to(['review', 'events']) },
    { text: 'Entries that differ from the file', count: drift, href: to(['settings', 'history']) },
  ];
  return all.filter((i) => i.count > 0);
}

// useInbox reads the number of open items again and again. Every action of a page that decides
// an item sends the event "decided", which reads it at once. The state of the exchange has its time
// zone too.
export function useInbox(): Inbox {
  const { data, reload } = useLoad<Overview>('overview');
  const drift = useLoad<Drift>('config/drift');
  const firing = useAlerts()?.firing.filter((a) => !a.silenced) ?? [];
  useEffect(() => {
    const again = () => {
      reload();
      drift.reload();
    };
    const timer = setInterval(again, interval);
    addEventListener('decided', again);
    return () => {
      clearInterval(timer);
      removeEventListener('decided', again);
    };
  }, []);
  useEffect(() => {
    if (data && data.time_zone !== workspace().exchangeZone) choose({ exchangeZone: data.time_zone });
  }, [data?.time_zone]);
  const items = itemsOf(data, drift.data?.entries.length ?? 0, firing.length);
  const review = data ? data.returns_waiting + data.deliveries_unknown + data.webhooks.dead : 0;
  return { overview: data, items, review };
}

// InboxButton opens the list of open items.
export function InboxButton({ of }: { of: Inbox }) {
  const sum = of.items.reduce((n, i) => n + i.count, 0);
  return (
    <details class="drop right">
      <summary class="button quiet" aria-label={`Inbox, ${sum} open`}>
        Inbox {sum > 0 && <span class="count">{count(sum)}</span>}
      </summary>
      <div class="drop-body">
        {of.items.length === 0 ? (
          <p class="faint">Nothing needs your action.</p>
        ) : (
          <ul class="waits">
            {of.items.map((i) => (
              <li>
                <a href={i.href}>{i.text}</a>
                <span class="count">{count(i.count)}</span>
              </li>
            ))}
          </ul>
        )}
      </div>
    </details>
  );
}
