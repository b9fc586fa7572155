import { count, share } from '../../format';
import { useReport } from '../../load-report';
import { Empty, Loaded } from '../../part/state';
import { Table } from '../../part/table';
import { Card, Cash, Facts } from '../../part/words';
import { limitsOf } from '../../period';
import { ratio, sumsOf } from '../../report';
import { to } from '../../route';
import { periodOf, useWorkspace } from '../../workspace';
import { Clients, Tokens } from '../entry/credentials';
import { Performance } from '../entry/performance';
import { Secrets } from '../entry/secrets';
import type { TabOf } from '../entry/tab';
import { InstructionsTab } from '../instructions/tab';
import { Keys } from './keys';
import { WebhookParts } from './webhook';

export const supplierTabs: TabOf[] = [
  { key: 'overview', name: 'Overview', body: (item) => <Performance kind="suppliers" id={item.id} /> },
  { key: 'sources', name: 'Sources', body: (item) => <Sources id={item.id} /> },
  {
    key: 'instructions',
    name: 'Posting instructions',
    body: (item) => <InstructionsTab kind="suppliers" id={item.id} />,
  },
  {
    key: 'keys',
    name: 'Keys',
    body: (item) => (
      <>
        <Keys id={item.id} />
        <Clients owner="suppliers" id={item.id} />
        <Tokens owner="suppliers" id={item.id} />
      </>
    ),
  },
  {
    key: 'webhooks',
    name: 'Webhooks',
    fields: ['webhook'],
    shown: ['webhook'],
    title: 'Address',
    body: (item) =>
      item.document.webhook === undefined ? (
        <Empty title="No webhook yet">A webhook tells the supplier about its leads. Set its address to start it.</Empty>
      ) : (
        <WebhookParts id={item.id} />
      ),
    after: (item) =>
      item.document.webhook !== undefined && <Secrets title="Webhook secrets" owner="supplier" id={item.id} />,
  },
  { key: 'payouts', name: 'Payouts', body: (item) => <Payouts id={item.id} /> },
  {
    key: 'settings',
    name: 'Settings',
    fields: ['name', 'ingest_rate', 'ping_rate', 'byte_rate', 'concurrent_auctions', 'test'],
  },
];

function usePeriod() {
  const space = useWorkspace();
  const period = periodOf(space);
  return { from: period.from, to: limitsOf(period, space.zone).to, zone: space.zone };
}

// Sources shows which of a supplier's sources sell.
function Sources({ id }: { id: string }) {
  const report = useReport({ ...usePeriod(), by: 'source', supplier: id });
  return (
    <Card title="Sources">
      <Loaded of={report}>
        {({ rows }) => {
          const names = [...new Set(rows.map((r) => String(r.source ?? '')))];
          const all = names.flatMap((name) =>
            sumsOf(rows.filter((r) => String(r.source ?? '') === name)).map((s) => ({ name, ...s })),
          );
          if (all.length === 0) return <Empty title="No lead in this period">Choose a longer period at the top.</Empty>;
          return (
            <Table
              caption="Sources"
              name="supplier-sources"
              most={3}
              rows={all}
              keyOf={(s) => `${s.name} ${s.currency}`}
              columns={[
                {
                  head: 'Source',
                  sort: (s) => s.name,
                  of: (s) => (
                    <a class="ref" href={to(['leads'], { supplier: id, source: s.name })}>
                      {s.name || 'none'}
                    </a>
                  ),
                },
                {
                  head: 'Revenue',
                  number: true,
                  phone: 'side',
                  of: (s) => <Cash of={s.revenue} currency={s.currency} />,
                  sort: (s) => s.revenue,
                },
                {
                  head: 'Payout',
                  number: true,
                  of: (s) => <Cash of={s.payout} currency={s.currency} />,
                  sort: (s) => s.payout,
                },
                { head: 'Leads', number: true, of: (s) => count(s.leads), sort: (s) => s.leads },
                {
                  head: 'Sold rate',
                  number: true,
                  of: (s) => share(ratio(s.sales, s.leads)),
                  sort: (s) => ratio(s.sales, s.leads),
                },
                {
                  head: 'EPL',
                  number: true,
                  of: (s) => <Cash of={ratio(s.revenue, s.leads)} currency={s.currency} />,
                  sort: (s) => ratio(s.revenue, s.leads),
                },
                {
                  head: 'Return rate',
                  number: true,
                  of: (s) => share(ratio(s.returns, s.sales)),
                  sort: (s) => ratio(s.returns, s.sales),
                },
              ]}
            />
          );
        }}
      </Loaded>
    </Card>
  );
}

// Payouts shows the money that the supplier gets for the period.
function Payouts({ id }: { id: string }) {
  const report = useReport({ ...usePeriod(), supplier: id });
  return (
    <Card title="Payouts" side={<a href={to(['reports', 'statements'], { supplier: id })}>Statement</a>}>
      <Loaded of={report}>
        {({ rows }) => {
          const sums = sumsOf(rows);
          if (sums.every((s) => s.sales === 0))
            return <Empty title="No sale in this period">Choose a longer period.</Empty>;
          return (
            <>
              {sums.map((s) => (
                <Facts
                  of={[
                    ['Payout', <Cash of={s.payout} currency={s.currency} />],
                    ['Sales', count(s.sales)],
                    ['Returned leads', count(s.returns)],
                    ['Payout per sale', <Cash of={ratio(s.payout, s.sales)} currency={s.currency} />],
                  ]}
                />
              ))}
            </>
          );
        }}
      </Loaded>
    </Card>
  );
}
