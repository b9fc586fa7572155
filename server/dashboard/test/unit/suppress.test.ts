import { createHash } from 'node:crypto';
import { expect, test } from 'vitest';
import { detect, hashFile, normal } from '../../src/suppress';

const md5 = (text: string) => createHash('md5').update(text).digest('hex');
const sha256 = (text: string) => createHash('sha256').update(text).digest('hex');

test.each([
  ['phones', '+14155550101\n(415) 555-0102\n', 'plain', 'phone'],
  ['emails with a comment', '# export\nann@example.com\r\nbob@example.com', 'plain', 'email'],
  ['MD5 hashes', `${md5('a')}\n${md5('b').toUpperCase()}\n`, 'md5', ''],
  ['SHA-256 hashes', `${sha256('a')}\n`, 'sha256', ''],
  ['hashes with one plain value', `${md5('a')}\n4155550101\n`, 'plain', 'phone'],
  ['nothing', '\n# only a comment\n', 'plain', ''],
])('%s are recognized', (_, text, form, field) => {
  expect(detect(text)).toMatchObject({ form, field });
});

test('a plain value is hashed as the exchange does it', () => {
  expect(normal('phone', '(415) 555-0101')).toBe('+14155550101');
  expect(normal('phone', '14155550101')).toBe('+14155550101');
  expect(normal('phone', '+44 20 7946 0000')).toBe('+442079460000');
  expect(normal('email', ' Ann@Example.COM ')).toBe('ann@example.com');
});

test.each([
  ['md5', md5],
  ['sha256', sha256],
] as const)('a file is hashed by %s, line by line', async (form, hash) => {
  const file = new File(['# list\n415-555-0101\n\n+14155550102'], 'list.txt');
  const made = await hashFile(file, 'phone', form, () => undefined);
  expect(await made.text()).toBe(`${hash('+14155550101')}\n${hash('+14155550102')}\n`);
});
