import { useEntries } from '../../entries';
import { Empty, Waiting } from '../../part/state';
import { Table } from '../../part/table';
import { Badge, Card, Ref } from '../../part/words';
import { to } from '../../route';

const textOf = (value: unknown): string => (Array.isArray(value) ? value.join(', ') : '');

// ConsentTab shows which campaigns require a proof of consent, and from which sources.
export function ConsentTab() {
  const { campaigns } = useEntries();
  if (!campaigns) return <Waiting />;
  return (
    <Card title="Proof of consent by campaign">
      {campaigns.length === 0 ? (
        <Empty title="No campaigns yet">
          <a href={to(['campaigns', '+'])}>Create a campaign</a>, then choose its sources requiring TCPA proof.
        </Empty>
      ) : (
        <Table
          caption="Proof of consent by campaign"
          rows={campaigns}
          keyOf={(c) => c.id}
          columns={[
            { head: 'Campaign', of: (c) => <Ref of="campaigns" id={c.id} />, sort: (c) => c.id },
            {
              head: 'TCPA proof',
              phone: 'side',
              of: (c) =>
                textOf(c.document.consent_required_sources) ? (
                  <Badge tone="good">required</Badge>
                ) : (
                  <Badge>optional</Badge>
                ),
            },
            {
              head: 'Sources requiring TCPA proof',
              of: (c) => textOf(c.document.consent_required_sources) || <span class="faint">none</span>,
            },
            {
              head: 'Accepted hosts of proofs',
              of: (c) => textOf(c.document.consent_hosts) || <span class="faint">any</span>,
            },
            {
              head: 'Action',
              of: (c) => (
                <a href={to(['campaigns', c.id, 'rules'])} aria-label={`Rules of ${c.id}`}>
                  Rules
                </a>
              ),
            },
          ]}
        />
      )}
    </Card>
  );
}
