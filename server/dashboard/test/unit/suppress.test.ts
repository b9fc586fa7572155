import { createHash } from 'node:crypto';
import { expect, test } from 'vitest';
import { Failure } from '../../src/call';
import { withoutMark } from '../../src/list-file';
import { normal, reasonOf } from '../../src/list-line';
import { detect, hashFile } from '../../src/suppress';

const md5 = (text: string) => createHash('md5').update(text).digest('hex');
const sha256 = (text: string) => createHash('sha256').update(text).digest('hex');
const mark = '\ufeff';
const letter = 'Dear team,\n\nplease suppress these 3 numbers.\nRegards\n';

test.each([
  ['phones', '+14155550101\n(415) 555-0102\n', 'plain', 'phone'],
  ['emails with a comment', '# export\nann@example.com\r\nbob@example.com', 'plain', 'email'],
  ['MD5 hashes', `${md5('a')}\n${md5('b').toUpperCase()}\n`, 'md5', ''],
  ['SHA-256 hashes', `${sha256('a')}\n`, 'sha256', ''],
  ['hashes with one plain value', `${md5('a')}\n${md5('b')}\n4155550101\n`, 'plain', 'phone'],
  ['nothing', '\n# only a comment\n', 'plain', ''],
  ['a letter', letter, 'plain', ''],
  ['a table', 'phone,name\n4155550101,Ann\n', 'plain', ''],
  ['binary data', '4155550101\n\0\x01', 'binary', ''],
])('%s are recognized', (_, text, form, field) => {
  expect(detect(text)).toMatchObject({ form, field });
});

test('a plain value is hashed as the exchange does it', () => {
  expect(normal('phone', '(415) 555-0101')).toBe('+14155550101');
  expect(normal('phone', '14155550101')).toBe('+14155550101');
  expect(normal('phone', '+44 20 7946 0000')).toBe('+442079460000');
  expect(normal('phone', ' +4582123456')).toBe('+4582123456');
  expect(normal('email', ' Ann@Example.COM ')).toBe('ann@example.com');
});

// The exchange's test of its own check (TestInvalidListLineErrorOmitsValue) has the same invalid lines.
test.each([
  ['phone', ['+12025550143', '2025550143', '(202) 555-0143', '+1 202.555.0143', ' 1-202-555-0143 ', '+4582123456']],
  ['phone', ['+442071838750', '44 20 7183 8750', '+376312345']],
  ['email', ['jane@example.com', 'Jane@Example.COM', 'j.d+x@a-b.example.org']],
])('%s values %s are valid', (field, lines) => {
  for (const line of lines) expect([line, reasonOf(field, line)]).toEqual([line, '']);
});

test.each([
  ['phone', ['202555014', '0000000000', '+0000000000', '++12025550143', '202555CALL', 'jane@example.com', '12']],
  ['phone', ['1'.repeat(16), '2'.repeat(100), '+1202555014', '120255501430', '1025550143', '-', '+', '2025550143,Ann']],
  ['email', ['2025550143', 'Jane <jane@example.com>', 'a..b@example.com', 'a@localhost', 'a@-b.com', 'é@example.com']],
  [
    'email',
    [`${'j'.repeat(65)}@example.com`, `j@${'e'.repeat(64)}.com`, `j@${'e.'.repeat(130)}com`, 'a@b@example.com'],
  ],
])('%s values %s are invalid', (field, lines) => {
  const why = field === 'email' ? /not an email address/ : /not a phone number that can exist/;
  for (const line of lines) expect([line, reasonOf(field, line)]).toEqual([line, expect.stringMatching(why)]);
});

const hashed = (content: BlobPart, field = 'phone', form: 'md5' | 'sha256' = 'md5') =>
  hashFile(new File([content], 'list.txt'), field, form, () => undefined);

test.each([
  ['md5', md5],
  ['sha256', sha256],
] as const)('a file is hashed by %s, line by line', async (form, hash) => {
  const made = await hashed(`# list\n415-555-0101\n\r\n+14155550102\r\n${hash('x').toUpperCase()}`, 'phone', form);
  const [first, second] = [hash('+14155550101'), hash('+14155550102')];
  expect(await made.text()).toBe(`#\n${first}\n#\n${second}\n${hash('x').toUpperCase()}\n`);
});

async function failureOf(content: BlobPart, field?: string): Promise<Failure> {
  const problem = await hashed(content, field).catch((p) => p);
  expect(problem).toBeInstanceOf(Failure);
  return problem;
}

const linesOf = (failure: Failure) => failure.fields.map((f) => f.field);

test('an invalid line is named by its number, and nothing is made of the file', async () => {
  const why = 'the line is not a phone number that can exist; correct or remove the line';
  expect((await failureOf(`# list\n4155550101\nnobody\n\n12`)).fields).toEqual([
    { field: 'line 3', code: 'invalid_format', expected: why },
    { field: 'line 5', code: 'invalid_format', expected: why },
  ]);
  expect(linesOf(await failureOf(letter))).toEqual(['line 1', 'line 3', 'line 4']);
  expect(linesOf(await failureOf('phone,name\n4155550101,Ann\n'))).toEqual(['line 1', 'line 2']);
  expect(linesOf(await failureOf('4155550101\n', 'email'))).toEqual(['line 1']);
  expect(linesOf(await failureOf(`4155550101\n${sha256('a')}\n`))).toEqual(['line 2']);
  expect(linesOf(await failureOf('4155550101\r4155550102\r'))).toEqual(['line 1']);
  expect((await failureOf('4155550101\n  \n')).fields[0]?.expected).toBe('the line is empty');
  expect(linesOf(await failureOf('x\n'.repeat(100)))).toHaveLength(20);
});

test('a line that is too long ends the check, wherever the file is cut', async () => {
  expect((await failureOf(`x\n${'1'.repeat(5 << 20)}\nx\n`)).fields.map((f) => f.expected)[1]).toBe(
    'the line is too long',
  );
  const comments = 41_942; // the block of 4 MiB ends within the phone numbers
  const text = `#${'x'.repeat(98)}\n`.repeat(comments) + '4155550101\n'.repeat(20);
  expect(await (await hashed(text)).text()).toBe('#\n'.repeat(comments) + `${md5('+14155550101')}\n`.repeat(20));
  expect(linesOf(await failureOf(`${text}x`))).toEqual([`line ${comments + 21}`]);
}, 60_000);

test('binary data is refused, and a byte order mark is ignored', async () => {
  const random = Uint8Array.from({ length: 4000 }, (_, i) => (i * 197 + (i >> 3)) % 256);
  for (const content of [random, '4155550101\n\0\n', '# \x02\n']) {
    const failure = await failureOf(content);
    expect([failure.fields, failure.message]).toEqual([[], expect.stringContaining('binary data')]);
  }
  expect(await (await hashed(`${mark}4155550101\n`)).text()).toBe(`${md5('+14155550101')}\n`);
  const bare = await withoutMark(new File([`${mark}4155550101\n`], 'list.txt'));
  expect([bare.name, new Uint8Array(await bare.arrayBuffer())[0]]).toEqual(['list.txt', '4'.charCodeAt(0)]);
  const other = new File(['x'], 'other.txt');
  expect(await withoutMark(other)).toBe(other);
});
