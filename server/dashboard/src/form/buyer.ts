import { caps, clients, filters, id, name, schedule, span, states, suppliers, zone } from './shared';
import { choice, flag, group, lines, list, number, refs, type Spec, secret, text, words } from './spec';

const dialect = (key: string, label: string): Spec =>
  group(key, label, [
    choice('method', 'Method', ['POST', 'PUT', 'GET'], { otherwise: 'POST' }),
    choice('format', 'Format', ['json', 'form', 'xml']),
    text('content_type', 'Content type'),
    text('key_header', 'Header of the idempotency key'),
    list('headers', 'Headers', 'header', [text('name', 'Name', { required: true }), text('value', 'Value')], () => ({
      name: '',
      value: '',
    })),
    lines('body', 'Body', { help: 'a template', docs: 'adapters' }),
    group('answer', 'Answer', [
      choice('format', 'Format', ['json', 'form', 'xml']),
      text('accepted', 'Accepted', { help: 'the place of the decision in the answer' }),
      words('yes', 'Yes'),
      words('no', 'No'),
      text('price', 'Price'),
      text('currency', 'Currency'),
      text('token', 'Token'),
      text('id', 'Id'),
      text('reason', 'Reason'),
    ]),
  ]);

export const buyer: Spec[] = [
  id,
  name,
  text('endpoint', 'Endpoint', {
    hint: 'https://buyer.example',
    help: 'the exchange adds /v1/ping and /v1/post; without an endpoint, sales are only recorded',
  }),
  span('post_timeout', 'Post timeout'),
  number('ping_rate', 'Pings a second'),
  number('max_connections', 'Connections at once', { help: 'for pings, and again for posts' }),
  flag('idempotent', 'Certified: a repeated post gets the answer to the first one'),
  states,
  zone('of its caps and schedule; default: UTC'),
  caps,
  schedule,
  filters('all must match'),
  ...suppliers,
  refs('suppression', 'Suppression lists', 'suppression_lists', {
    help: 'this buyer gets no lead of a person on them',
  }),
  group('funds', 'Billing', [
    number('balance', 'Opening balance', { unit: 'money', first: true, help: 'later changes: Add funds' }),
    number('credit', 'Credit', { unit: 'money', help: 'how far below zero the balance may go' }),
  ]),
  group('auth', 'Delivery authentication', [
    secret('bearer', 'Bearer token', { first: true }),
    secret('api_key', 'API key', { first: true }),
    text('header', 'Header of the API key', { hint: 'x-api-key' }),
    group('oauth', 'OAuth', [
      text('token_url', 'Token address'),
      text('client_id', 'Client id'),
      secret('client_secret', 'Client secret', { first: true }),
      text('scope', 'Scope'),
    ]),
  ]),
  text('ping_url', 'Ping address', { help: 'instead of the endpoint, for other paths' }),
  text('post_url', 'Post address'),
  text('test_endpoint', 'Test endpoint', { help: 'for test leads' }),
  text('test_ping_url', 'Test ping address'),
  text('test_post_url', 'Test post address'),
  list(
    'secrets',
    'Secrets in addresses, headers and bodies',
    'secret',
    [
      text('name', 'Name', { required: true, help: 'use it as {{secret "name"}}' }),
      secret('value', 'Value', { first: true }),
    ],
    () => ({ name: '' }),
  ),
  group('adapter', 'Adapter', [
    flag('idempotent', 'Certified: a repeated post gets the answer to the first one'),
    dialect('ping', 'Ping'),
    dialect('post', 'Post'),
  ]),
  clients('webhook'),
];
