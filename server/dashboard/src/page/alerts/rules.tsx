import { useState } from 'preact/hooks';
import { type Channel, conditionOf, entriesOf, quantity, type Rule, type RuleList } from '../../alerts';
import { call, part } from '../../call';
import { currencyOf, nameOf, useEntries } from '../../entries';
import { Act, Button } from '../../part/button';
import { Empty } from '../../part/state';
import { Table } from '../../part/table';
import { Badge, Card } from '../../part/words';
import { may, useSession } from '../../session';
import { documentOf, RuleForm } from './rule-form';

// Rules lists the rules. Administrators edit, add and delete them.
export function Rules({ of, channels, done }: { of: RuleList; channels: Channel[]; done: () => void }) {
  const entries = useEntries();
  const admin = may(useSession().role, 'admin');
  const [edited, edit] = useState<Rule | 'new' | undefined>();
  const isBelow = (rule: Rule): boolean => of.kinds.find((k) => k.kind === rule.kind)?.below ?? false;
  const watched = (rule: Rule): string => {
    const kind = entriesOf(rule.subject_type);
    if (!kind) return 'the exchange';
    return rule.subject ? nameOf(entries, kind, rule.subject) : `all ${kind}`;
  };
  // A rule of all buyers watches those with an account.
  const shown = (rule: Rule, value: number): string => {
    const funded = entries.buyers?.filter((b) => b.document.funds !== undefined).map((b) => b.id) ?? [];
    return quantity(value, rule.unit, currencyOf(entries, rule.subject ? [rule.subject] : funded));
  };
  const nameOfChannel = (id: string): string => channels.find((c) => c.id === id)?.name || id;
  return (
    <Card
      title="Rules"
      side={
        <Act needs="admin" run={async () => edit('new')}>
          Add rule
        </Act>
      }
    >
      {of.rules.length === 0 ? (
        <Empty title="No rules">Add a rule to get alerts.</Empty>
      ) : (
        <Table
          caption="Rules"
          rows={of.rules}
          keyOf={(r) => r.id}
          columns={[
            { head: 'Rule', of: (r) => r.name || r.id },
            {
              head: 'State',
              phone: 'side',
              of: (r) => (r.off ? <Badge>off</Badge> : <Badge tone="good">on</Badge>),
            },
            { head: 'Measures', phone: 'none', of: (r) => `${r.title}, ${watched(r)}` },
            {
              head: 'Fires',
              of: (r) => conditionOf(shown(r, r.threshold), isBelow(r), r.for_s),
            },
            {
              head: 'Resolves',
              phone: 'none',
              of: (r) => conditionOf(shown(r, r.resolve_threshold), !isBelow(r), r.resolve_for_s),
            },
            { head: 'Channels', of: (r) => r.channels.map(nameOfChannel).join(', ') || 'all' },
            ...(admin
              ? [
                  {
                    head: 'Action',
                    phone: 'menu' as const,
                    of: (r: Rule) => <Actions rule={r} edit={() => edit(r)} done={done} />,
                  },
                ]
              : []),
          ]}
        />
      )}
      {edited && (
        <RuleForm
          rule={edited === 'new' ? undefined : edited}
          kinds={of.kinds}
          channels={channels}
          close={() => edit(undefined)}
          done={() => {
            edit(undefined);
            done();
          }}
        />
      )}
    </Card>
  );
}

function Actions({ rule, edit, done }: { rule: Rule; edit: () => void; done: () => void }) {
  const path = `alerts/rules/${part(rule.id)}`;
  const headers = { 'If-Match': rule.etag };
  const name = rule.name || rule.id;
  return (
    <div class="row">
      <Button tone="quiet" label={`Edit the rule ${name}`} onClick={edit}>
        Edit
      </Button>
      <Act
        needs="admin"
        tone="quiet"
        label={`Turn ${rule.off ? 'on' : 'off'} the rule ${name}`}
        run={async () => {
          await call('PUT', path, { headers, body: { ...documentOf(rule), off: !rule.off } });
          done();
        }}
        done={`${name} is ${rule.off ? 'on' : 'off'}.`}
      >
        {rule.off ? 'Turn on' : 'Turn off'}
      </Act>
      <Act
        needs="admin"
        tone="danger"
        label={`Delete the rule ${name}`}
        sure={{ title: `Delete ${name}?`, text: <p>Its alerts end at the next evaluation.</p> }}
        run={async () => {
          await call('DELETE', path, { headers });
          done();
        }}
        done={`${name} is deleted.`}
      >
        Delete
      </Act>
    </div>
  );
}
