import { expect, test } from 'vitest';
import { order } from './exchange';
import { browse, button, place, shows, signedIn } from './page';

browse();

test('a file for a list of hashes is checked before it replaces the list', async () => {
  const at = 'config/suppression_lists/hashed';
  await order(place, 'PUT', at, { id: 'hashed', field: 'phone', hash: 'md5' }, { 'If-None-Match': '*' });
  const page = await signedIn('suppression/hashed');
  const choose = (content: string | Buffer, name = 'list.txt') =>
    page
      .getByLabel('File', { exact: true })
      .first()
      .setInputFiles({ name, mimeType: 'text/plain', buffer: Buffer.from(content) });
  await choose('\ufeff4155550998\n# a line\n+1 (415) 555-0998\n44 20 7183 8750\n');
  await button(page, 'Hash and upload').click();
  await shows(page.getByText('2 entries, 1 duplicates, 1 lines skipped.'));

  const alert = page.getByRole('alert');
  for (const [text, line] of [
    ['Dear team,\n\nplease suppress these 3 numbers.\n', 'line 3: the line is not a phone number that can exist'],
    ['4155550101\nphone,name\n4155550102\n', 'line 2: the line is not a phone number that can exist'],
  ] as const) {
    await choose(text);
    await button(page, 'Hash and upload').click();
    await shows(alert.getByText(line));
    await shows(page.getByText('The list is unchanged.'));
  }
  await choose(Buffer.from(Array.from({ length: 4000 }, (_, i) => (i * 197 + (i >> 3)) % 256)));
  await shows(page.getByText('The file has binary data.'));
  expect(await button(page, 'Hash and upload').count()).toBe(0);
  expect(await button(page, 'Upload').isDisabled()).toBe(true);

  const { lists } = await order<{ lists: { id: string; entries: number }[] }>(place, 'GET', 'suppression');
  expect(lists.find((l) => l.id === 'hashed')?.entries).toBe(2);
  const { etag } = await order<{ etag: string }>(place, 'GET', at);
  await order(place, 'DELETE', at, undefined, { 'If-Match': `"${etag}"` });
});
