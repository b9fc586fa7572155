import type { AlertChange } from '../../alerts';
import { words } from '../../format';
import { usePages } from '../../load';
import { More } from '../../part/more';
import { Empty } from '../../part/state';
import { Table } from '../../part/table';
import { Badge, Card, Time, type Tone } from '../../part/words';

const tones: { [transition in AlertChange['transition']]: Tone } = {
  fired: 'bad',
  announced: 'warn',
  resolved: 'good',
};

// History lists the alerts that fired and were resolved, with the result of each notification.
export function History() {
  const pages = usePages<{ entries: AlertChange[] }>('alerts/history', { limit: 20 });
  const entries = pages.data?.flatMap((p) => p.entries) ?? [];
  return (
    <Card title="History">
      <More of={pages} none={entries.length === 0} empty={<Empty title="No alert has fired yet" />}>
        <Table
          caption="History"
          rows={entries}
          keyOf={(e) => String(e.number)}
          columns={[
            { head: 'Alert', of: (e) => <a href={e.link.startsWith('#/') ? e.link : '#/'}>{e.title}</a> },
            {
              head: 'Change',
              phone: 'side',
              of: (e) => <Badge tone={tones[e.transition]}>{e.transition}</Badge>,
            },
            { head: 'Time', of: (e) => <Time at={e.at} /> },
            { head: 'Rule', of: (e) => e.name || e.rule },
            {
              head: 'Notifications',
              of: (e) =>
                e.notifications
                  .map((n) => `${n.channel}: ${words(n.outcome)}${n.error ? ` (${n.error})` : ''}`)
                  .join('; ') || 'none',
            },
          ]}
        />
      </More>
    </Card>
  );
}
