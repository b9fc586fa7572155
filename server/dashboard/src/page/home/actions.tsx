import { count } from '../../format';
import { Empty } from '../../part/state';
import { Badge, Card } from '../../part/words';
import { to } from '../../route';
import type { Overview } from '../../types';

// ActionItems lists the decisions and failures that need an operator.
export function ActionItems({ of }: { of: Overview | undefined }) {
  const failing = of?.buyers.filter((b) => b.health === 'failing' && !b.paused) ?? [];
  const items: [string, number, string][] = of
    ? [
        ['Return requests', of.returns_waiting, to(['review', 'returns'])],
        ['Unconfirmed deliveries', of.deliveries_unknown, to(['review', 'deliveries'])],
        ['Failed events', of.webhooks.dead, to(['review', 'events'])],
        ...failing.map((b): [string, number, string] => [`${b.name || b.id} is failing`, 1, to(['buyers', b.id])]),
      ]
    : [];
  const open = items.filter(([, n]) => n > 0);
  return (
    <Card title="Action items">
      {open.length === 0 ? (
        <Empty title="Nothing needs your action">All deliveries confirmed, no return request, no failed event.</Empty>
      ) : (
        <ul class="waits">
          {open.map(([name, n, href]) => (
            <li>
              <a href={href}>{name}</a>
              <Badge tone="warn">{count(n)}</Badge>
            </li>
          ))}
        </ul>
      )}
    </Card>
  );
}
