import { useLoad } from '../load';
import { type FilterOf, Filters } from '../part/filters';
import { Gauge } from '../part/gauge';
import { Empty, Loaded } from '../part/state';
import { Card, Ref, Time } from '../part/words';
import type { PageOf } from '../route';
import type { Cap } from '../types';

const filters: FilterOf[] = [
  { name: 'campaign', label: 'Campaign', ids: 'campaigns' },
  { name: 'buyer', label: 'Buyer', ids: 'buyers' },
];

const whose = { campaign: 'Campaigns', buyer: 'Buyers', seat: 'Seats' };

export function CapsPage({ query }: PageOf) {
  const caps = useLoad<{ caps: Cap[] }>('caps', query);
  return (
    <>
      <h1 tabIndex={-1}>Caps</h1>
      <Filters of={filters} query={query} place={['caps']} />
      <Loaded of={caps}>
        {({ caps: all }) =>
          all.length === 0 ? (
            <Empty title="There is no cap here">
              A cap bounds the leads or the money of a campaign, a buyer or a seat.
            </Empty>
          ) : (
            (['campaign', 'buyer', 'seat'] as const).map((of) => (
              <Caps title={whose[of]} caps={all.filter((c) => c.of === of)} />
            ))
          )
        }
      </Loaded>
    </>
  );
}

const per = (cap: Cap): string => (cap.per === 'total' ? 'in all' : `per ${cap.per}`);
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
              {cap.buyer && <Ref of="buyers" id={cap.buyer} />}
              <span>
                {what(cap)} {per(cap)}
              </span>
              {cap.until && (
                <span class="faint">
                  until <Time at={cap.until} /> UTC
                </span>
              )}
            </p>
            <Gauge cap={cap} name={`${cap.campaign ?? ''} ${cap.buyer ?? ''} ${what(cap)} ${per(cap)}`.trim()} />
          </li>
        ))}
      </ul>
    </Card>
  );
}
