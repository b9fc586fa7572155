import type { ComponentChildren } from 'preact';
import { type Cluster, isCluster } from '../../cluster';
import type { Loading } from '../../load';
import { Heading, Tabs } from '../../part/words';
import type { PageOf } from '../../route';
import { to } from '../../route';
import { AlertsTab } from '../alerts/alerts';
import { AccountTab } from '../team/account';
import { TeamTab } from '../team/team';
import { AuditTab } from './audit';
import { BackupsTab } from './backups';
import { ClusterTab, useCluster } from './cluster';
import { HealthTab } from './health';
import { HistoryTab } from './history';
import { TokensTab } from './tokens';

type Body = (query: PageOf['query'], cluster: Loading<Cluster>) => ComponentChildren;

const tabs: { key: string; name: string; body: Body }[] = [
  { key: 'team', name: 'Team', body: () => <TeamTab /> },
  { key: 'account', name: 'My account', body: () => <AccountTab /> },
  { key: 'alerts', name: 'Alerts', body: () => <AlertsTab /> },
  { key: 'audit', name: 'Audit log', body: (query) => <AuditTab query={query} /> },
  { key: 'tokens', name: 'API tokens', body: () => <TokensTab /> },
  { key: 'history', name: 'Configuration history', body: () => <HistoryTab /> },
  { key: 'backups', name: 'Backups', body: () => <BackupsTab /> },
  { key: 'cluster', name: 'Cluster', body: (_, cluster) => <ClusterTab of={cluster} /> },
  { key: 'health', name: 'System health', body: () => <HealthTab /> },
];

// SettingsPage lists the tab Cluster only for a cluster. Its address works for a single node too.
export function SettingsPage({ id, query }: PageOf) {
  const cluster = useCluster();
  const listed = tabs.filter((t) => t.key !== 'cluster' || isCluster(cluster.data) || id === 'cluster');
  const current = tabs.find((t) => t.key === id) ?? tabs[0];
  return (
    <>
      <Heading title="Settings" />
      <Tabs
        label="Settings"
        at={current?.key ?? ''}
        of={listed.map(({ key, name }) => ({ key, name, href: to(['settings', key]) }))}
      />
      {current?.body(query, cluster)}
    </>
  );
}
