import { clients, id, name } from './shared';
import { flag, group, list, number, type Spec, secret, text, words } from './spec';

export const supplier: Spec[] = [
  id,
  name,
  number('ingest_rate', 'Leads a second'),
  number('ping_rate', 'Pings a second'),
  text('byte_rate', 'Bytes a second', { help: 'of the bodies of its requests together' }),
  number('concurrent_auctions', 'Auctions open at once'),
  flag('test', 'Every lead of it is a test'),
  group('webhook', 'Webhook', [
    text('url', 'Address', { hint: 'https://supplier.example/hooks', help: 'where it is told of its leads' }),
    secret('secret', 'Secret', { first: true, help: 'whsec_ and base64' }),
  ]),
  secret('api_key', 'First API key', { first: true, help: 'further keys are made under Credentials' }),
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
