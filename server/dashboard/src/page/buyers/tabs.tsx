import { CapUse } from '../campaigns/caps';
import { Clients, Tokens } from '../entry/credentials';
import { Performance } from '../entry/performance';
import { Secrets } from '../entry/secrets';
import type { TabOf } from '../entry/tab';
import { Funds } from './billing';

export const buyerTabs: TabOf[] = [
  {
    key: 'overview',
    name: 'Overview',
    body: (item) => (
      <>
        <Performance kind="buyers" id={item.id} funds={item.document.funds !== undefined} />
        <CapUse query={{ buyer: item.id }} brief />
      </>
    ),
  },
  {
    key: 'delivery',
    name: 'Delivery',
    fields: [
      'endpoint',
      'post_timeout',
      'ping_rate',
      'max_connections',
      'idempotent',
      'auth',
      'ping_url',
      'post_url',
      'test_endpoint',
      'test_ping_url',
      'test_post_url',
      'secrets',
      'adapter',
    ],
    after: (item) => <Secrets title="Delivery secrets" owner="buyer" id={item.id} />,
  },
  { key: 'targeting', name: 'Targeting', fields: ['states', 'time_zone', 'schedule', 'filters', 'suppression'] },
  {
    key: 'caps',
    name: 'Caps',
    fields: ['caps'],
    shown: ['caps'],
    body: (item) => <CapUse key={item.etag} query={{ buyer: item.id }} />,
  },
  { key: 'billing', name: 'Billing', fields: ['funds'], title: 'Credit', body: (item) => <Funds item={item} /> },
  {
    key: 'access',
    name: 'Access',
    body: (item) => (
      <>
        <h2>Buyer credentials</h2>
        <Clients owner="buyers" id={item.id} />
        <Tokens owner="buyers" id={item.id} />
      </>
    ),
  },
  { key: 'settings', name: 'Settings', fields: ['name'] },
];
