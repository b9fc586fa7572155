import type { ComponentChildren } from 'preact';
import { Heading, Tabs } from '../../part/words';
import type { PageOf } from '../../route';
import { to } from '../../route';
import { AlertsTab } from '../alerts/alerts';
import { AccountTab } from '../team/account';
import { TeamTab } from '../team/team';
import { AuditTab } from './audit';
import { BackupsTab } from './backups';
import { HealthTab } from './health';
import { HistoryTab } from './history';
import { TokensTab } from './tokens';

const tabs: { key: string; name: string; body: (query: PageOf['query']) => ComponentChildren }[] = [
  { key: 'team', name: 'Team', body: () => <TeamTab /> },
  { key: 'account', name: 'My account', body: () => <AccountTab /> },
  { key: 'alerts', name: 'Alerts', body: () => <AlertsTab /> },
  { key: 'audit', name: 'Audit log', body: (query) => <AuditTab query={query} /> },
  { key: 'tokens', name: 'API tokens', body: () => <TokensTab /> },
  { key: 'history', name: 'Configuration history', body: () => <HistoryTab /> },
  { key: 'backups', name: 'Backups', body: () => <BackupsTab /> },
  { key: 'health', name: 'System health', body: () => <HealthTab /> },
];

export function SettingsPage({ id, query }: PageOf) {
  const current = tabs.find((t) => t.key === id) ?? tabs[0];
  return (
    <>
      <Heading title="Settings" />
      <Tabs
        label="Settings"
        at={current?.key ?? ''}
        of={tabs.map(({ key, name }) => ({ key, name, href: to(['settings', key]) }))}
      />
      {current?.body(query)}
    </>
  );
}
