import { label, scalar } from '../../format';
import { RuleText } from '../../part/rule';
import { Empty } from '../../part/state';
import { Badge, Card, Facts, Id, Ref, Status, statusOf, Tabs } from '../../part/words';
import { whyText } from '../../reason';
import { to } from '../../route';
import type { Rule, Told } from '../../types';
import { AuctionTab } from './auction';
import { MoneyTab } from './money';
import { RequestsTab } from './requests';
import { Summary } from './summary';

const tabs: [string, string][] = [
  ['summary', 'Summary'],
  ['auction', 'Auction'],
  ['data', 'Data'],
  ['requests', 'Requests and responses'],
  ['money', 'Money'],
];

export function StoryTabs({
  place,
  query = {},
  at,
  more = [],
}: {
  place: string[];
  query?: { [name: string]: string };
  at: string;
  more?: [string, string][];
}) {
  const all = [...tabs, ...more];
  return (
    <Tabs label="Views" at={at} of={all.map(([key, name]) => ({ key, name, href: to([...place, key], query) }))} />
  );
}

// Story explains a lead or an auction. Each tab shows one side of it.
export function Story({ told, at }: { told: Told; at: string }) {
  return (
    <>
      <Verdict told={told} />
      {at === 'auction' ? (
        <AuctionTab told={told} />
      ) : at === 'data' ? (
        <DataTab told={told} />
      ) : at === 'requests' ? (
        <RequestsTab told={told} />
      ) : at === 'money' ? (
        <MoneyTab told={told} />
      ) : (
        <Summary told={told} />
      )}
    </>
  );
}

// buyersIn returns the ids of all buyers that the text about a lead can name, the longest first.
const buyersIn = (told: Told): string[] => {
  const ids = new Set([told.buyer_id ?? '']);
  for (const one of [told, told.auction]) {
    for (const { buyer_id } of [...(one?.candidates ?? []), ...(one?.posts ?? [])]) ids.add(buyer_id);
  }
  ids.delete('');
  return [...ids].sort((a, b) => b.length - a.length);
};

// Reason shows the text of why a lead was sold or not. Buyers have their names.
function Reason({ told }: { told: Told }) {
  const text = whyText(told.rule ? told.why.replace(`${told.rule.text}.`, '') : told.why);
  const ids = buyersIn(told);
  if (ids.length === 0) return <>{text}</>;
  const anyId = ids.map((id) => id.replace(/[^\w-]/g, '\\$&')).join('|');
  const parts = text.split(new RegExp(`(?<![\\w.-])(${anyId})(?![\\w-])`));
  return <>{parts.map((part, i) => (i % 2 === 1 ? <Ref of="buyers" id={part} /> : part))}</>;
}

function Verdict({ told }: { told: Told }) {
  return (
    <>
      <p class="why">
        <Status word={statusOf(told)} /> {told.test && <Badge>test</Badge>}{' '}
        {told.erased && <Badge tone="warn">data deleted</Badge>} <Reason told={told} />
      </p>
      {told.rule && <RuleNote rule={told.rule} />}
      {told.truncated && (
        <p class="note warn">The log was not searched to its end: later events may be missing here.</p>
      )}
      {told.notes?.map((n) => (
        <p class="note">{n}</p>
      ))}
      {told.leads && told.leads.length > 0 && (
        <p>
          Posted as{' '}
          {told.leads.map((lead) => (
            <>
              <Id of="leads" id={lead.lead_id} /> <Status word={lead.status} />{' '}
            </>
          ))}
        </p>
      )}
    </>
  );
}

// RuleNote shows the campaign's own rule, which keeps a lead from all buyers.
export function RuleNote({ rule }: { rule: Rule }) {
  return (
    <div class="note warn">
      <p>The campaign’s rule:</p>
      <RuleText of={rule} />
    </div>
  );
}

function DataTab({ told }: { told: Told }) {
  const fields = Object.entries(told.fields);
  return (
    <Card title="Lead data" side={<span class="faint">Contact data is not shown here.</span>}>
      {fields.length === 0 ? (
        <Empty title="This lead has contact data only">Show contact, at the top, shows it.</Empty>
      ) : (
        <Facts of={fields.map(([name, value]) => [label(name), scalar(value)])} />
      )}
    </Card>
  );
}
