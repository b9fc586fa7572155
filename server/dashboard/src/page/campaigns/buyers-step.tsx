import { campaign } from '../../form/campaign';
import { errorsWithin, pathOf, put } from '../../form/document';
import { type Editing, Fields, numberOf, wordsOf } from '../../form/editor';
import { titleOf } from '../../form/spec';
import { Draft } from '../../part/draft';
import { Empty } from '../../part/state';
import { type Column, Table } from '../../part/table';
import { Card } from '../../part/words';
import { to } from '../../route';
import type { Doc } from '../../types';

// BuyersStep chooses the buyers of a campaign in a table, with price, daily cap and states.
export function BuyersStep({ form }: { form: Editing }) {
  const all = form.ids.buyers ?? [];
  const list = Array.isArray(form.document.buyers) ? (form.document.buyers as Doc[]) : [];
  const save = (next: Doc[]) => form.set(put(form.document, ['buyers'], next.length > 0 ? next : undefined));
  const of = (id: string) => list.find((b) => b.buyer === id);
  const set = (id: string, key: string, value: unknown) =>
    save(
      list.map((b) => {
        if (b.buyer !== id) return b;
        const { [key]: _, ...rest } = b;
        return value === undefined ? rest : { ...rest, [key]: value };
      }),
    );
  const input = (id: string, name: string, label: string, value: string, put: (v: string) => void) => (
    <Draft aria-label={`${label} of ${name}`} class="short" disabled={form.locked || !of(id)} value={value} set={put} />
  );
  const number = (key: string, label: string): Column<[string, string]> => ({
    head: label,
    number: true,
    of: ([id, name]) => input(id, name, label, shown(of(id)?.[key]), (v) => set(id, key, numberOf(v))),
  });
  const auction = form.document.method === 'ping_post';
  const columns: Column<[string, string]>[] = [
    {
      head: 'Buyer',
      of: ([id, name]) => (
        <label class="row">
          <input
            type="checkbox"
            disabled={form.locked}
            checked={of(id) !== undefined}
            onChange={(e) =>
              save(e.currentTarget.checked ? [...list, { buyer: id }] : list.filter((b) => b.buyer !== id))
            }
          />
          {name}
        </label>
      ),
    },
    ...(auction ? [] : [number('price', 'Price')]),
    ...(form.document.method === 'weighted' ? [number('weight', 'Weight')] : []),
    ...(form.document.method === 'waterfall' ? [number('priority', 'Priority')] : []),
    {
      head: 'Daily cap',
      number: true,
      of: ([id, name]) =>
        input(id, name, 'Daily cap', dailyCap(of(id)), (v) => set(id, 'caps', withDailyCap(of(id)?.caps, v))),
    },
    {
      head: 'States',
      of: ([id, name]) =>
        input(id, name, 'States', listed(of(id)?.states), (v) =>
          set(id, 'states', v.trim() === '' ? undefined : wordsOf(v)),
        ),
    },
  ];
  return (
    <Card title="Buyers in campaign">
      {auction && <p class="faint">In an auction the buyers bid: no price is set here.</p>}
      {errorsWithin(form.errors, ['buyers']).map((e) => (
        <p class="error">
          {titleOf(campaign, pathOf(e.field))}: {e.expected}
        </p>
      ))}
      {all.length === 0 ? (
        <Empty title="No buyers yet">
          <a href={to(['buyers', '+'])}>Create a buyer</a> first. Your input here is lost then.
        </Empty>
      ) : (
        <Table caption="Buyers in campaign" rows={all} keyOf={([id]) => id} columns={columns} />
      )}
      <details class="fold more">
        <summary>Filters, schedules and more caps of each buyer</summary>
        <Fields of={campaign.filter((s) => s.key === 'buyers')} path={[]} form={form} />
      </details>
    </Card>
  );
}

const shown = (value: unknown): string => (value === undefined || value === null ? '' : String(value));
const listed = (value: unknown): string => (Array.isArray(value) ? value.join(', ') : '');

const isDaily = (cap: Doc): boolean => cap.per === 'day' && cap.money === undefined;

function dailyCap(of: Doc | undefined): string {
  const caps = Array.isArray(of?.caps) ? (of.caps as Doc[]) : [];
  return shown(caps.find(isDaily)?.count);
}

// withDailyCap replaces the daily cap of leads among the caps.
export function withDailyCap(value: unknown, text: string): Doc[] | undefined {
  const rest = (Array.isArray(value) ? (value as Doc[]) : []).filter((c) => !isDaily(c));
  const count = numberOf(text);
  const caps = count === undefined ? rest : [...rest, { per: 'day', count }];
  return caps.length > 0 ? caps : undefined;
}
