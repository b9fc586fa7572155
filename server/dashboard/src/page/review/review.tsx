import { useEffect } from 'preact/hooks';
import { count } from '../../format';
import { useLoad } from '../../load';
import { Heading, Tabs } from '../../part/words';
import type { PageOf } from '../../route';
import { to } from '../../route';
import type { Overview } from '../../types';
import { DeliveriesTab } from './deliveries';
import { EventsTab } from './events';
import { ReturnsTab } from './returns';

// ReviewPage has the items that need an operator's decision.
export function ReviewPage({ id, query }: PageOf) {
  const overview = useLoad<Overview>('overview');
  useEffect(() => {
    addEventListener('decided', overview.reload);
    return () => removeEventListener('decided', overview.reload);
  }, []);
  const at = id || 'returns';
  const of = overview.data;
  const tab = (key: string, name: string, n: number | undefined) => ({
    key,
    href: to(['review', key]),
    name: (
      <>
        {name} {n ? <span class="count">{count(n)}</span> : null}
      </>
    ),
  });
  return (
    <>
      <Heading title="Needs review" />
      <Tabs
        label="Review"
        at={at}
        of={[
          tab('returns', 'Return requests', of?.returns_waiting),
          tab('deliveries', 'Unconfirmed deliveries', of?.deliveries_unknown),
          tab('events', 'Failed events', of?.webhooks.dead),
        ]}
      />
      {at === 'deliveries' ? (
        <DeliveriesTab query={query} />
      ) : at === 'events' ? (
        <EventsTab query={query} />
      ) : (
        <ReturnsTab />
      )}
    </>
  );
}
