// An exchange that owns the entries of its configuration file.

import { afterAll, beforeAll, expect, test } from 'vitest';
import { openSeeded } from './exchange';
import { browse, button, dialog, hasCount, newPage, said, shows, signIn, visit } from './page';

browse();

let exchange: Awaited<ReturnType<typeof openSeeded>>;
beforeAll(async () => {
  exchange = await openSeeded('buyers:\n  - {id: buy_blue, states: [CA, NV]}\n');
});
afterAll(() => exchange?.close());

async function signedInThere(at: string) {
  const page = await newPage({ baseURL: exchange.admin });
  await page.goto(`/#/${at}`);
  await signIn(page, 'op', exchange.password);
  await page.locator('nav#menu').waitFor({ state: 'attached' });
  return page;
}

test('an entry of the file is edited in the browser', async () => {
  const page = await signedInThere('buyers/buy_blue/targeting');
  await page.getByRole('textbox', { name: 'States', exact: false }).fill('CA, NV, WA');
  await button(page, 'Review changes').click();
  await button(dialog(page), 'Save').click();
  await said(page, 'is saved and in force.');
  await hasCount(page.getByLabel('Configuration file'), 0);
});

test('a later change of the file is shown on each page, until one side is taken', async () => {
  exchange.write('buyers:\n  - {id: buy_blue, states: [OR]}\n');
  const page = await signedInThere('');
  const note = page.getByLabel('Configuration file');
  await shows(note.getByText('One entry of'));
  await visit(page, 'buyers');
  await note.getByText('One entry of').click();
  await shows(note.getByText('buyers[buy_blue].states'));
  await button(note, 'Use the file’s version').click();
  await button(dialog(page), 'Use the file’s version').click();
  await said(page, 'has the file’s version');
  await note.waitFor({ state: 'detached' });
  await visit(page, 'buyers/buy_blue/targeting');
  expect(await page.getByRole('textbox', { name: 'States', exact: false }).inputValue()).toBe('OR');
});
