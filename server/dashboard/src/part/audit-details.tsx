import { useEntries } from '../entries';
import { differences, isMap } from '../form/document';
import { valueText } from '../form/value';
import { amount, count, duration, instant, label, scalar } from '../format';
import { kinds } from '../kind';
import type { AuditEntry, Doc, Kind } from '../types';
import { ChangeLine, wordsOf } from './change';
import { Copy, Id, Lines, Ref, titleOf } from './words';

const shownChanges = 3;
const longValue = 120; // characters; a longer value is folded

const labels: { [name: string]: string } = {
  off: 'Webhook',
  dead: 'Failed events',
  paused: 'State',
  hint: 'Starts with',
  id: 'Id',
  changed: 'Last change of the user',
  stored: 'Stored in the exchange',
  approve: 'Approved',
  how: 'Decision',
};

const onOff = (value: unknown): string => (value ? 'off' : 'on');

// formats has the format of values by name. Others are formatted by their type.
const formats: { [name: string]: (value: unknown) => string } = {
  off: onOff,
  paused: (value) => (value ? 'paused' : 'active'),
  status: (value) => titleOf(String(value)),
  delivery: (value) => titleOf(String(value)),
  balance: (value) => amount(Number(value)),
  amount: (value) => amount(Number(value)),
  expires_in: (value) => duration(String(value)),
  expires_at: (value) => instant(String(value)),
  until: (value) => instant(String(value)),
  changed: (value) => instant(String(value)),
};

const textOf = (name: string, value: unknown): string => (formats[name] ?? ((v) => valueText(undefined, v)))(value);

// kindOf returns the kind of the entry that an action saved or removed: its values have the labels of the form.
const kindOf = (operation: string): Kind | undefined =>
  (Object.keys(kinds) as Kind[]).find((kind) => operation.includes(`/config/${kind}/`));

// Details shows the values of the request and the changes. Many changes and long values are folded.
export function Details({ of }: { of: AuditEntry }) {
  const entries = useEntries();
  // After a failure, a missing target means that the action changed nothing.
  const changes = of.outcome === 'failed' && of.after === null ? [] : differences(of.before ?? {}, of.after ?? {});
  const kind = kindOf(of.operation);
  // The changes of an entry are also in the result, as text.
  const { changes: texts, ...rest } = of.result ?? {};
  const result = kind && changes.length > 0 ? rest : (of.result ?? {});
  const values = Object.entries({ ...(of.request ?? {}), ...result }).filter(
    ([, v]) => !Array.isArray(v) || v.length > 0,
  );
  if (values.length === 0 && changes.length === 0 && !of.request_id) return <span class="faint">–</span>;
  const list = (
    <ul class="changes">
      {changes.map((c) =>
        kind ? <ChangeLine {...wordsOf(kinds[kind].specs, c.path, c, entries)} /> : <ChangeLine {...stateWords(c)} />,
      )}
    </ul>
  );
  return (
    <>
      {values.map(([name, value]) => (
        <Value name={name} of={value} />
      ))}
      {changes.length > shownChanges ? (
        <details>
          <summary>{count(changes.length)} changes</summary>
          {list}
        </details>
      ) : (
        changes.length > 0 && list
      )}
      {of.request_id && (
        <p class="id">
          <span class="faint">Request:</span> <code>{of.request_id}</code>
          <Copy text={of.request_id} />
        </p>
      )}
    </>
  );
}

// stateWords returns the label and the values of a changed state, such as Webhook: on → off.
function stateWords({ path, before, after }: { path: string; before: unknown; after: unknown }) {
  const shown = (value: unknown) => (value === undefined || value === null ? undefined : textOf(path, value));
  return { label: labels[path] ?? label(path), before: shown(before), after: shown(after) };
}

const refs = { campaign: 'campaigns', buyer: 'buyers', supplier: 'suppliers' } as const;

function Value({ name, of }: { name: string; of: unknown }) {
  const title = labels[name] ?? label(name);
  if (Array.isArray(of) || isMap(of) || scalar(of).length > longValue) {
    const lines = Array.isArray(of) ? of.map(scalar) : isMap(of) ? pairs(of) : [scalar(of)];
    return (
      <details>
        <summary>{title}</summary>
        <Lines of={lines} />
      </details>
    );
  }
  const ref = refs[name as keyof typeof refs];
  return (
    <p>
      <span class="faint">{title}:</span>{' '}
      {ref ? <Ref of={ref} id={String(of)} /> : name === 'lead' ? <Id of="leads" id={String(of)} /> : textOf(name, of)}
    </p>
  );
}

const pairs = (of: Doc): string[] =>
  Object.entries(of).map(([name, value]) => `${label(name)}: ${textOf(name, value)}`);
