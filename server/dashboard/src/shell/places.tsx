// The pages by the first part of their address.

import type { ComponentType } from 'preact';
import type { EntryKind } from '../entries';
import { CapsPage } from '../page/campaigns/caps';
import { CompliancePage } from '../page/compliance/compliance';
import { EntriesPage } from '../page/entry/entries';
import { EntryPage } from '../page/entry/entry';
import { HomePage } from '../page/home/home';
import { AuctionPage, AuctionsPage } from '../page/leads/auctions';
import { FindPage } from '../page/leads/find';
import { LeadPage } from '../page/leads/lead';
import { LeadsPage } from '../page/leads/leads';
import { TestPage } from '../page/leads/test';
import { ReportsPage } from '../page/reports/reports';
import { ReviewPage } from '../page/review/review';
import { SettingsPage } from '../page/settings/settings';
import type { PageOf } from '../route';

export interface Place {
  name: string;
  area: string; // the navigation entry that it belongs to
  list: ComponentType<PageOf>;
  one?: ComponentType<PageOf>; // the page of an id; without it, list gets the id
}

const entries = (kind: EntryKind, name: string): Place => ({
  name,
  area: kind,
  list: (of: PageOf) => <EntriesPage kind={kind} {...of} />,
  one: (of: PageOf) => <EntryPage kind={kind} key={of.id} {...of} />,
});

export const places: { [path: string]: Place } = {
  '': { name: 'Home', area: '', list: HomePage },
  leads: { name: 'Leads', area: 'leads', list: LeadsPage, one: LeadPage },
  auctions: { name: 'Auctions', area: 'leads', list: AuctionsPage, one: AuctionPage },
  find: { name: 'Find a person', area: 'leads', list: FindPage },
  test: { name: 'Test a lead', area: 'leads', list: TestPage },
  campaigns: entries('campaigns', 'Campaigns'),
  caps: { name: 'Cap use', area: 'campaigns', list: CapsPage },
  buyers: entries('buyers', 'Buyers'),
  suppliers: entries('suppliers', 'Suppliers'),
  review: { name: 'Review', area: 'review', list: ReviewPage },
  reports: { name: 'Reports', area: 'reports', list: ReportsPage },
  compliance: { name: 'Compliance', area: 'compliance', list: CompliancePage },
  settings: { name: 'Settings', area: 'settings', list: SettingsPage },
};

// areas are the navigation entries, each with its second key after g.
export const areas: { path: string; key: string }[] = [
  { path: '', key: 'h' },
  { path: 'leads', key: 'l' },
  { path: 'campaigns', key: 'c' },
  { path: 'buyers', key: 'b' },
  { path: 'suppliers', key: 's' },
  { path: 'review', key: 'v' },
  { path: 'reports', key: 'r' },
  { path: 'compliance', key: 'p' },
  { path: 'settings', key: 't' },
];

// destinations are the pages that the command palette lists beside the areas.
export const destinations: { name: string; path: string[] }[] = [
  { name: 'Auctions', path: ['auctions'] },
  { name: 'Find a person', path: ['find'] },
  { name: 'Test a lead', path: ['test'] },
  { name: 'Cap use', path: ['caps'] },
  { name: 'Return requests', path: ['review', 'returns'] },
  { name: 'Unconfirmed deliveries', path: ['review', 'deliveries'] },
  { name: 'Failed events', path: ['review', 'events'] },
  { name: 'Revenue report', path: ['reports', 'revenue'] },
  { name: 'Buyers report', path: ['reports', 'buyers'] },
  { name: 'Sources report', path: ['reports', 'sources'] },
  { name: 'Unsold reasons', path: ['reports', 'unsold'] },
  { name: 'Statements', path: ['reports', 'statements'] },
  { name: 'Custom report', path: ['reports', 'custom'] },
  { name: 'Saved reports', path: ['reports', 'saved'] },
  { name: 'Suppression lists', path: ['compliance', 'suppression'] },
  { name: 'Consent', path: ['compliance', 'consent'] },
  { name: 'Delete consumer data', path: ['compliance', 'deletion'] },
  { name: 'Team', path: ['settings', 'team'] },
  { name: 'Alerts', path: ['settings', 'alerts'] },
  { name: 'Audit log', path: ['settings', 'audit'] },
  { name: 'My account', path: ['settings', 'account'] },
  { name: 'API tokens', path: ['settings', 'tokens'] },
  { name: 'Configuration history', path: ['settings', 'history'] },
  { name: 'Backups', path: ['settings', 'backups'] },
  { name: 'System health', path: ['settings', 'health'] },
  { name: 'New campaign', path: ['campaigns', '+'] },
  { name: 'New buyer', path: ['buyers', '+'] },
  { name: 'New supplier', path: ['suppliers', '+'] },
];
