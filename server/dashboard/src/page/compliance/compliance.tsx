import { Heading, Tabs } from '../../part/words';
import type { PageOf } from '../../route';
import { to } from '../../route';
import { ConsentTab } from './consent';
import { DeletionTab } from './deletion';
import { ListPage } from './list';
import { ListsTab } from './lists';

const tabs: [string, string][] = [
  ['suppression', 'Suppression lists'],
  ['consent', 'Consent'],
  ['deletion', 'Delete consumer data'],
];

export function CompliancePage({ id, tab, query }: PageOf) {
  const at = id || 'suppression';
  if (at === 'suppression' && tab) return <ListPage key={tab} id={tab} />;
  return (
    <>
      <Heading title={at === 'deletion' ? 'Delete consumer data' : 'Compliance'} />
      <Tabs label="Compliance" at={at} of={tabs.map(([key, name]) => ({ key, name, href: to(['compliance', key]) }))} />
      {at === 'consent' ? (
        <ConsentTab />
      ) : at === 'deletion' ? (
        <DeletionTab key={query.lead ?? ''} query={query} />
      ) : (
        <ListsTab />
      )}
    </>
  );
}
