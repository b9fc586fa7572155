import { useState } from 'preact/hooks';
import { type Alert, entriesOf, type Rule, type Silence } from '../../alerts';
import { call, part } from '../../call';
import { Act, Button } from '../../part/button';
import { Dialog } from '../../part/dialog';
import { Input, Select } from '../../part/field';
import { Ids } from '../../part/filters';
import { Empty } from '../../part/state';
import { Table } from '../../part/table';
import { Ref, Time } from '../../part/words';

// Silences lists the silences that have not ended.
export function Silences({ of, rules, done }: { of: Silence[]; rules: Rule[]; done: () => void }) {
  if (of.length === 0)
    return <Empty title="No silences">A silence stops the notifications of a rule for a time.</Empty>;
  const nameOf = (s: Silence): string => rules.find((r) => r.id === s.rule)?.name || s.rule;
  const subjectOf = (s: Silence) => {
    const kind = entriesOf(rules.find((r) => r.id === s.rule)?.subject_type ?? '');
    if (!s.subject) return 'all';
    return kind ? <Ref of={kind} id={s.subject} /> : s.subject;
  };
  return (
    <Table
      caption="Silences"
      rows={of}
      keyOf={(s) => s.id}
      columns={[
        { head: 'Rule', of: nameOf },
        { head: 'Only', of: subjectOf },
        { head: 'Until', phone: 'side', of: (s) => <Time at={s.until} /> },
        { head: 'By', of: (s) => s.by },
        { head: 'Note', of: (s) => s.note || '–' },
        {
          head: 'Action',
          of: (s) => (
            <Act
              needs="operator"
              tone="quiet"
              label={`End the silence of ${nameOf(s)}`}
              run={async () => {
                await call('DELETE', `alerts/silences/${part(s.id)}`);
                done();
              }}
              done="The silence has ended."
            >
              End
            </Act>
          ),
        },
      ]}
    />
  );
}

const hour = 3_600_000;
const lengths: [string, string][] = [
  [String(hour), '1 hour'],
  [String(4 * hour), '4 hours'],
  [String(24 * hour), '1 day'],
  [String(7 * 24 * hour), '7 days'],
  [String(30 * 24 * hour), '30 days'],
];

// NewSilence silences a rule, or one of its subjects. first has the choices of an alert.
export function NewSilence({
  rules,
  first,
  close,
  done,
}: {
  rules: Rule[];
  first: Partial<Alert>;
  close: () => void;
  done: () => void;
}) {
  const [rule, choose] = useState(first.rule ?? rules[0]?.id ?? '');
  const [subject, only] = useState(first.subject ?? '');
  const [length, last] = useState(String(24 * hour));
  const [note, write] = useState('');
  const kind = entriesOf(rules.find((r) => r.id === rule)?.subject_type ?? '');
  return (
    <Dialog title="Silence" close={close}>
      <p>The alert still fires in the console, but sends no notifications.</p>
      <div class="fields">
        <Select
          label="Rule"
          value={rule}
          set={(r) => {
            choose(r);
            only('');
          }}
          options={rules.map((r) => [r.id, r.name || r.id])}
        />
        {kind && <Ids of={kind} label="Only" value={subject} set={only} any={`All ${kind}`} />}
        <Select label="Ends after" value={length} set={last} options={lengths} />
        <Input label="Note" value={note} set={write} />
      </div>
      <div class="row end">
        <Button onClick={close}>Cancel</Button>
        <Act
          needs="operator"
          tone="main"
          disabled={rule === ''}
          run={async () => {
            const until = new Date(Date.now() + Number(length)).toISOString();
            await call('POST', 'alerts/silences', { body: { rule, until, note, ...(kind && subject && { subject }) } });
            done();
          }}
          done="The silence has begun."
        >
          Start silence
        </Act>
      </div>
    </Dialog>
  );
}
