import { expect, test } from 'vitest';
import { buyer } from '../../src/form/buyer';
import { campaign } from '../../src/form/campaign';
import { leadFields, pathOf } from '../../src/form/document';
import { numberHelp, numberOf, wordsOf } from '../../src/form/editor';
import { type Spec, specsFor, titleOf } from '../../src/form/spec';
import { supplier } from '../../src/form/supplier';
import { answerText, groupText, settingLabel, specAt, valueText } from '../../src/form/value';

test('numbers are numbers, and what is none is left to the exchange to judge', () => {
  expect(numberOf(' 12.5 ')).toBe(12.5);
  expect(numberOf('-3')).toBe(-3);
  expect(numberOf('0')).toBe(0);
  expect(numberOf('')).toBeUndefined();
  for (const text of ['1e3', '0x10', '01', '1,5', 'ten', '0.1234567890123456789', '99999999999999999999']) {
    expect(numberOf(text)).toBe(text);
  }
});

test('words are what stands between commas', () => {
  expect(wordsOf(' CA, NV ,,TX')).toEqual(['CA', 'NV', 'TX']);
  expect(wordsOf(' , ')).toEqual([]);
});

test('a group that is left out shows the values in force', () => {
  const of = (key: string) => (campaign.find((s) => s.key === key) as Extract<Spec, { kind: 'group' }>).of;
  expect(groupText(of('payout'), { share: 1 })).toBe('Share of the price: 100%');
  expect(groupText(of('duplicates'), { fields: ['phone', 'email'], match: 'any', window: '30d' })).toBe(
    'Fields: phone, email; Match: any of these fields; Window: 30 days',
  );
  expect(groupText(of('returns'), { window: '14d', cap_back: false, reverse_payout: true })).toBe(
    'Window: 14 days; Reverse payout',
  );
  expect(groupText(of('payout'), undefined)).toBe('');
});

test('a value has the words and units of its input', () => {
  const value = (specs: Spec[], path: string, of: unknown) => valueText(specAt(specs, pathOf(path)), of, 'USD');
  expect(value(campaign, 'duplicates.scope', 'buyer')).toBe('each buyer’s own leads');
  expect(value(campaign, 'duplicates.window', '0s')).toBe('none');
  expect(value(campaign, 'method', 'round_robin')).toBe('round robin');
  expect(value(campaign, 'buyers[buy_a].price', 12.5)).toBe('$12.50');
  expect(value(campaign, 'fields[2].min', 1990)).toBe('1990');
  expect(value(supplier, 'ingest_rate', 100_000)).toBe('100,000');
  expect(value(supplier, 'byte_rate', '800800KiB')).toBe('820 MB');
  expect(value(supplier, 'webhook.secret', { set: true })).toBe('set');
  expect(value(supplier, 'test', true)).toBe('yes');
  expect(value(supplier, 'name', undefined)).toBe('–');
  expect(valueText(undefined, { max_connections: 1000, on: false })).toBe('Maximum connections: 1,000; On: no');
  expect(valueText(undefined, '45d')).toBe('45 days');
  expect(valueText(undefined, '64KiB')).toBe('65.5 KB');
  expect(valueText(undefined, '/var/lib')).toBe('/var/lib');
  expect(settingLabel('data_dir')).toBe('Data directory');
  expect(settingLabel('limits.max_conns_per_ip')).toBe('Limits, maximum connections per IP');
  expect(answerText({ format: 'json', accepted: 'ok', yes: ['true'] })).toBe('Accepted when the field ok is true');
  expect(answerText({ format: 'xml', accepted: 'r', no: ['0'], price: 'p' })).toBe(
    'Rejected when the field r is 0; price in the field p; format xml',
  );
});

test('a buyer in a campaign has the settings that the method uses', () => {
  const buyers = campaign.find((s) => s.key === 'buyers') as Extract<Spec, { kind: 'list' }>;
  const shown = (method: string) => {
    const keys = specsFor(buyers.of, { method }).map((s) => s.key);
    return ['price', 'priority', 'weight'].filter((key) => keys.includes(key)).join();
  };
  expect(shown('ping_post')).toBe('priority');
  expect(shown('waterfall')).toBe('price,priority');
  expect(shown('weighted')).toBe('price,priority,weight');
  expect(shown('round_robin')).toBe('price,priority');
});

test('a field with a mistake has the labels of the form', () => {
  expect(titleOf(campaign, pathOf('buyers[0].price'))).toBe('Buyers in campaign 1, Price');
  expect(titleOf(campaign, pathOf('buyers[1].filters[0].field'))).toBe('Buyers in campaign 2, Filters 1, Field');
  expect(titleOf(buyer, pathOf('states[1]'))).toBe('States 2');
  expect(titleOf(buyer, pathOf('auth.bearer'))).toBe('Delivery authentication, Bearer token');
  expect(titleOf(campaign, pathOf('later_key'))).toBe('Later key');
  expect(titleOf(campaign, pathOf('buyers[buy.a].caps[0].count'))).toBe('Buyers in campaign buy.a, Caps 1, Leads');
});

test('a filter can name the fields of campaigns after mapping, and the standard fields', () => {
  const names = leadFields([{ fields: [{ name: 'cars', to: 'vehicle_count' }, { name: 'zip' }] }, {}]);
  expect(names.slice(0, 3)).toEqual(['vehicle_count', 'zip', 'first_name']);
  expect(names).not.toContain('cars');
  expect(names.filter((n) => n === 'zip')).toHaveLength(1);
});

test('the help of a number has the currency of an amount and the percents of a share', () => {
  const payout = campaign.find((s) => s.key === 'payout');
  const [part, fixed] = payout?.kind === 'group' ? payout.of : [];
  if (!part || !fixed) throw new Error('the payout has no fields');
  expect(numberHelp(part, 0.7, 'USD')).toBe('0 to 1; 0.7 is 70%');
  expect(numberHelp(part, undefined, 'USD')).toBe('0 to 1');
  expect(numberHelp(fixed, 3, 'EUR')).toBe('in EUR; or a fixed amount');
});
