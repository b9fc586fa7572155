import { clients, id, name } from './shared';
import { flag, group, list, number, type Spec, secret, text, words } from './spec';

export const supplier: Spec[] = [
  id,
  name,
  number('ingest_rate', 'Leads a second'),
  number('ping_rate', 'Pings a second'),
  text('byte_rate', 'Bytes a second', { unit: 'bytes', help: 'of all request bodies together' }),
  number('concurrent_auctions', 'Auctions open at once'),
  flag('test', 'Test supplier: all of its leads are test leads'),
  group('webhook', 'Webhook', [
    text('url', 'Address', {
      hint: 'https://supplier.example/hooks',
      help: 'receives events about the supplier’s leads',
    }),
    secret('secret', 'Secret', { first: true, help: 'whsec_ and base64' }),
  ]),
  secret('api_key', 'First API key', { first: true, help: 'later keys: tab Keys' }),
  clients('ping, post'),
  list(
    'bearer_tokens',
    'Bearer tokens',
    'token',
    [secret('token', 'Token', { first: true }), words('scopes', 'Scopes', { hint: 'ping, post' })],
    () => ({}),
    { first: true, help: 'in a sandbox only' },
  ),
];
