import { useLoad } from '../../load';
import { type FilterOf, Filters } from '../../part/filters';
import { Gauge } from '../../part/gauge';
import { Empty, Loaded } from '../../part/state';
import { Card, Heading, Ref, SetName, Time } from '../../part/words';
import type { PageOf } from '../../route';
import type { Cap } from '../../types';

const filters: FilterOf[] = [
  { name: 'campaign', label: 'Campaign', ids: 'campaigns' },
  { name: 'buyer', label: 'Buyer', ids: 'buyers' },
];

const whose = { campaign: 'Campaigns', terms: 'Terms', buyer: 'Buyers', seat: 'Buyers in campaign' };

export function CapsPage({ query }: PageOf) {
  return (
    <>
      <Heading title="Cap use" />
      <Filters of={filters} query={query} place={['caps']} />
      <CapUse query={query} />
    </>
  );
}

// CapUse shows how much of each cap is used.
export function CapUse({ query, brief = false }: { query: { campaign?: string; buyer?: string }; brief?: boolean }) {
  const caps = useLoad<{ caps: Cap[] }>('caps', query);
  return (
    <Loaded of={caps}>
      {({ caps: all }) =>
        all.length === 0 ? (
          brief ? null : (
            <Empty title="No caps">A cap limits the leads or the money of a campaign or a buyer in a period.</Empty>
          )
        ) : (
          (['campaign', 'terms', 'buyer', 'seat'] as const).map((of) => (
            <Caps
              title={brief ? `Cap use: ${whose[of].toLowerCase()}` : whose[of]}
              caps={all.filter((c) => c.of === of && !(brief && query.buyer && (of === 'campaign' || of === 'terms')))}
            />
          ))
        )
      }
    </Loaded>
  );
}

const per = (cap: Cap): string => (cap.per === 'total' ? 'in total' : `per ${cap.per}`);
const what = (cap: Cap): string => (cap.unit === 'money' ? 'money' : 'leads');

function Caps({ title, caps }: { title: string; caps: Cap[] }) {
  if (caps.length === 0) return null;
  return (
    <Card title={title}>
      <ul class="gauges">
        {caps.map((cap) => (
          <li>
            <p class="row">
              {cap.campaign && <Ref of="campaigns" id={cap.campaign} />}
              {cap.terms && <span>{cap.terms}</span>}
              {cap.buyer && <SetName of={{ buyer_id: cap.buyer, filter_set: cap.filter_set }} />}
              <span>
                {what(cap)} {per(cap)}
              </span>
              {cap.per === 'total' && <span class="faint">never resets</span>}
              {cap.until && (
                <span class="faint">
                  until <Time at={cap.until} />
                </span>
              )}
            </p>
            <Gauge
              cap={cap}
              name={`${cap.campaign ?? ''} ${cap.terms ?? ''} ${cap.buyer ?? ''} ${cap.filter_set ?? ''} ${what(cap)} ${per(cap)}`.trim()}
            />
          </li>
        ))}
      </ul>
    </Card>
  );
}
