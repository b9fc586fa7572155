import { useState } from 'preact/hooks';
import { type Channel, entriesOf, type Rule, type RuleDocument, type RuleKind } from '../../alerts';
import { part } from '../../call';
import { Act, Button } from '../../part/button';
import { Dialog } from '../../part/dialog';
import { Check, Input, Select } from '../../part/field';
import { Ids } from '../../part/filters';
import { say } from '../../part/notice';
import { Wrong } from '../../part/wrong';
import { slug } from '../../slug';
import { Conflict } from './met';
import { useSave } from './save';

// documentOf returns the part of a rule that a change sends.
export function documentOf(rule: Rule): RuleDocument {
  const { id: _id, title: _title, subject_type: _type, unit: _unit, etag: _etag, ...document } = rule;
  return document;
}

const units: { [unit: string]: string } = {
  percent: 'percent',
  money: 'in the account’s currency',
  days: 'days',
  minutes: 'minutes',
  gigabytes: 'gigabytes',
};

type Numbers = {
  [name in 'threshold' | 'resolve_threshold' | 'for_s' | 'resolve_for_s' | 'window_s' | 'minimum']: string;
};

// numbersOf returns a rule's numbers as they are typed. An empty one gets the exchange's default.
const numbersOf = (rule: Rule | undefined): Numbers => {
  const text = (n: number | undefined) => (n === undefined ? '' : String(n));
  return {
    threshold: text(rule?.threshold),
    resolve_threshold: text(rule?.resolve_threshold),
    for_s: text(rule?.for_s),
    resolve_for_s: text(rule?.resolve_for_s),
    window_s: text(rule?.window_s),
    minimum: text(rule?.minimum),
  };
};

interface Of {
  rule: Rule | undefined; // undefined: a new one
  kinds: RuleKind[];
  channels: Channel[];
  close: () => void;
  done: () => void;
}

// RuleForm edits a rule, or adds one.
export function RuleForm({ rule, kinds, channels, close, done }: Of) {
  const [name, setName] = useState(rule?.name ?? '');
  const [kindName, choose] = useState(rule?.kind ?? kinds[0]?.kind ?? '');
  const [subject, watch] = useState(rule?.subject ?? '');
  const [numbers, setNumbers] = useState(numbersOf(rule));
  const [chosen, send] = useState<string[]>(rule?.channels ?? []);
  const [off, turn] = useState(rule?.off ?? false);
  const { save, met, failure } = useSave<Rule>(rule);
  const kind = kinds.find((k) => k.kind === kindName);
  const id = rule?.id ?? slug('', name);
  const entries = entriesOf(kind?.subject ?? '');
  const errors = (field: string) => failure?.fields.filter((f) => f.field === field) ?? [];
  const names: (keyof Numbers)[] = ['threshold', 'resolve_threshold', 'for_s', 'resolve_for_s'];
  if (kind?.window) names.push('window_s', 'minimum');
  const given = names.filter((n) => numbers[n] !== '').map((n) => [n, Number(numbers[n])]);
  const body = {
    name: name.trim(),
    kind: kindName,
    ...(entries && subject && { subject }),
    ...Object.fromEntries(given),
    channels: chosen,
    off,
  };
  const number = (field: keyof Numbers, label: string, help?: string, required = false) => (
    <Input
      label={label}
      type="number"
      value={numbers[field]}
      set={(v) => setNumbers({ ...numbers, [field]: v })}
      help={help}
      errors={errors(field)}
      required={required}
    />
  );
  const store = async () => {
    const saved = await save(`alerts/rules/${part(id)}`, body);
    if (!saved) return;
    say(`${saved.name || saved.id} is saved.`);
    done();
  };
  return (
    <Dialog title={rule ? `Edit ${rule.name || rule.id}` : 'New rule'} close={close}>
      <div class="fields">
        <Input label="Name" value={name} set={setName} required errors={[...errors('name'), ...errors('id')]} />
        <Select
          label="Measures"
          value={kindName}
          set={choose}
          options={kinds.map((k) => [k.kind, k.title])}
          disabled={rule !== undefined}
          errors={errors('kind')}
        />
        {entries && (
          <Ids of={entries} label={`Which ${kind?.subject}`} value={subject} set={watch} any={`All ${entries}`} />
        )}
        {number('threshold', kind?.below ? 'Fires below' : 'Fires at or above', units[kind?.unit ?? ''], true)}
        {number('resolve_threshold', kind?.below ? 'Resolves at or above' : 'Resolves below', units[kind?.unit ?? ''])}
        {number('for_s', 'Fires after', 'seconds; 60 if empty')}
        {number('resolve_for_s', 'Resolves after', 'seconds; 60 if empty')}
        {kind?.window && number('window_s', 'Window', 'seconds over which the rate is measured; 900 if empty')}
        {kind?.window && number('minimum', 'Minimum', 'requests below which there is no rate; 50 if empty')}
      </div>
      <fieldset class="field some">
        <legend>Channels</legend>
        {channels.map((c) => (
          <Check
            label={c.name || c.id}
            value={chosen.includes(c.id)}
            set={(on) => send(on ? [...chosen, c.id] : chosen.filter((one) => one !== c.id))}
          />
        ))}
        <p class="help">{channels.length > 0 ? 'Without a choice: all channels.' : 'There are no channels yet.'}</p>
      </fieldset>
      <Check
        label="Turned off"
        value={off}
        set={turn}
        help={off ? 'The exchange does not evaluate the rule.' : 'Tick it to stop the evaluation of the rule.'}
      />
      <Conflict met={met} mine={body} />
      <Wrong failure={failure} />
      <div class="row end">
        <Button onClick={close}>Cancel</Button>
        <Act needs="admin" tone="main" disabled={id === '' || numbers.threshold === ''} run={store}>
          Save rule
        </Act>
      </div>
    </Dialog>
  );
}
