import { documentOf, nameOf, useEntries } from '../../entries';
import { campaign } from '../../form/campaign';
import type { Spec } from '../../form/spec';
import { groupText } from '../../form/value';
import { capital, label } from '../../format';
import { Empty } from '../../part/state';
import { Table } from '../../part/table';
import { Card, Cash, Lines, Ref } from '../../part/words';
import { to } from '../../route';
import { capText, condition, filtersOf, sentences, statesOf } from '../../sentence';
import type { Doc, Item } from '../../types';
import { Performance } from '../entry/performance';
import type { TabOf } from '../entry/tab';
import { InstructionsTab } from '../instructions/tab';
import { CapUse } from './caps';

export const campaignTabs: TabOf[] = [
  {
    key: 'overview',
    name: 'Overview',
    body: (item) => (
      <>
        <Performance kind="campaigns" id={item.id} />
        <HowItWorks item={item} />
        <CapUse query={{ campaign: item.id }} brief />
      </>
    ),
  },
  {
    key: 'fields',
    name: 'Fields',
    fields: ['fields', 'unknown'],
    shown: ['fields'],
    body: (item) => <FieldTable item={item} />,
  },
  {
    key: 'buyers',
    name: 'Buyers',
    fields: ['buyers'],
    shown: ['buyers'],
    body: (item) => <BuyerTable item={item} />,
    title: 'Edit buyers',
  },
  {
    key: 'rules',
    name: 'Rules',
    fields: ['schedule', 'filters', 'suppression', 'duplicates', 'consent_required_sources', 'consent_hosts'],
  },
  {
    key: 'caps',
    name: 'Caps',
    fields: ['caps'],
    shown: ['caps'],
    body: (item) => <CapUse key={item.etag} query={{ campaign: item.id }} />,
  },
  { key: 'returns', name: 'Returns', fields: ['returns'] },
  {
    key: 'instructions',
    name: 'Posting instructions',
    body: (item) => <InstructionsTab kind="campaigns" id={item.id} />,
  },
  {
    key: 'settings',
    name: 'Settings',
    fields: [
      'name',
      'method',
      'vertical',
      'sub_vertical',
      'suppliers',
      'currency',
      'time_zone',
      'floor',
      'payout',
      'bid_timeout',
      'post_reserve',
      'ping_reserve',
    ],
  },
];

// HowItWorks describes a campaign in sentences.
function HowItWorks({ item }: { item: Item }) {
  const entries = useEntries();
  const lines = sentences(
    item.document,
    (kind, id) => nameOf(entries, kind, id),
    (buyer) => documentOf(entries, 'buyers', buyer),
  );
  return (
    <Card title="How it works">
      <ul class="points">
        {lines.map((l) => (
          <li>{l}</li>
        ))}
      </ul>
    </Card>
  );
}

const listOf = (value: unknown): Doc[] => (Array.isArray(value) ? (value as Doc[]) : []);
const text = (value: unknown): string => (Array.isArray(value) ? value.join(', ') : value ? String(value) : '');
const mark = (value: unknown) => (value === true ? 'yes' : <span class="faint">–</span>);

// specsOf returns the specs within a list or group of the form.
function specsOf(key: string, specs = campaign): Spec[] {
  const spec = specs.find((s) => s.key === key);
  return spec?.kind === 'list' || spec?.kind === 'group' ? spec.of : [];
}

// fieldRules are the settings of a field without an own column.
const fieldRules = specsOf('fields').filter(
  (s) => !['name', 'to', 'type', 'required', 'ping', 'contact'].includes(s.key),
);

function FieldTable({ item }: { item: Item }) {
  const fields = listOf(item.document.fields);
  if (fields.length === 0) return null;
  return (
    <Card title="Fields of a lead">
      <Table
        caption="Fields of a lead"
        rows={fields}
        keyOf={(f) => String(f.name)}
        columns={[
          {
            head: 'Name',
            of: (f) => (
              <>
                {label(text(f.name))} <code class="faint">{text(f.name)}</code>
              </>
            ),
            sort: (f) => text(f.name),
          },
          { head: 'Type', of: (f) => text(f.type) || 'string', phone: 'side' },
          { head: 'Required', of: (f) => mark(f.required) },
          { head: 'Included in ping', of: (f) => mark(f.ping) },
          { head: 'Contact data', of: (f) => mark(f.contact) },
          { head: 'Passed on as', of: (f) => text(f.to) || <span class="faint">–</span> },
          { head: 'Rules', of: (f) => groupText(fieldRules, f) || <span class="faint">–</span> },
        ]}
      />
    </Card>
  );
}

function BuyerTable({ item }: { item: Item }) {
  const entries = useEntries();
  const own = (buyer: string) => documentOf(entries, 'buyers', buyer);
  const buyers = listOf(item.document.buyers);
  const currency = text(item.document.currency) || 'USD';
  const method = text(item.document.method);
  const price = {
    head: 'Price',
    number: true,
    phone: 'side' as const,
    of: (b: Doc) => <Cash of={typeof b.price === 'number' ? b.price : null} currency={currency} />,
  };
  const schedule = {
    head: 'Schedule',
    of: (b: Doc) => groupText(specsOf('schedule', specsOf('buyers')), b.schedule) || 'always',
  };
  const modifiers = {
    head: 'Price and caps by hour',
    of: (b: Doc) => (
      <Lines of={listOf(b.modifiers).map((m) => groupText(specsOf('modifiers', specsOf('buyers')), m, currency))} />
    ),
  };
  const number = (key: string, head: string) => ({ head, number: true, of: (b: Doc) => text(b[key]) || '–' });
  return (
    <Card title="Buyers in campaign">
      {method === 'ping_post' && <p class="faint">In an auction the buyers bid: no price is set here.</p>}
      {buyers.length === 0 ? (
        <Empty title="No buyers in this campaign">
          Add one below. <a href={to(['buyers', '+'])}>Create a buyer</a> first if there is none.
        </Empty>
      ) : (
        <Table
          caption="Buyers in campaign"
          rows={buyers}
          keyOf={(b, i) => `${b.buyer} ${i}`}
          columns={[
            { head: 'Buyer', of: (b) => <Ref of="buyers" id={text(b.buyer)} /> },
            ...(method === 'ping_post' ? [] : [price]),
            ...(method === 'waterfall' || buyers.some((b, i) => (b.priority ?? i + 1) !== i + 1)
              ? [number('priority', 'Priority')]
              : []),
            ...(method === 'weighted' ? [number('weight', 'Weight')] : []),
            { head: 'States', of: (b) => statesOf(b, own).join(', ') || 'all' },
            { head: 'Filters', of: (b) => <Lines of={filtersOf(b, own).map((f) => capital(condition(f)))} /> },
            { head: 'Caps', of: (b) => <Lines of={listOf(b.caps).map((c) => capText(c, currency))} /> },
            ...(buyers.some((b) => b.schedule) ? [schedule] : []),
            ...(buyers.some((b) => b.modifiers) ? [modifiers] : []),
          ]}
        />
      )}
    </Card>
  );
}
