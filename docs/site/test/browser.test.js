// Opens pages of the site in a browser, served by the program with its policy.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, before, test } from 'node:test';
import { chromium } from 'playwright-core';
import { startExchange } from './exchange.js';

const axe = readFileSync('node_modules/axe-core/axe.min.js', 'utf8');
const sizes = { desktop: { width: 1280, height: 800 }, phone: { width: 390, height: 844 } };
const paths = [
  '/',
  '/docs',
  '/docs/supplier',
  '/docs/dashboard',
  '/docs/auction',
  '/docs/api',
  '/docs/api-auctions',
  '/docs/admin-webhooks',
  '/docs/design-log',
];

let exchange;
let browser;
const complaints = [];

before(async () => {
  exchange = await startExchange();
  browser = await chromium.launch({
    executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium',
    args: ['--no-sandbox', '--disable-dev-shm-usage'],
  });
});

after(async () => {
  await browser?.close();
  await exchange?.stop();
});

// openPage opens a path in a new window. It collects errors of the page, such as a refused script.
async function openPage(path, options = {}) {
  const context = await browser.newContext({ viewport: sizes.desktop, reducedMotion: 'reduce', ...options });
  const page = await context.newPage();
  page.on('pageerror', (problem) => complaints.push(`${path}: ${problem}`));
  page.on('console', (line) => line.type() === 'error' && complaints.push(`${path}: ${line.text()}`));
  await page.goto(exchange.address + path);
  return page;
}

// findViolations returns all findings of axe's default rules, of every impact.
async function findViolations(page) {
  if (!(await page.evaluate(() => 'axe' in window))) await page.evaluate(axe);
  const { violations } = await page.evaluate(() => window.axe.run(document, { resultTypes: ['violations'] }));
  return violations.map((v) => `${v.id}: ${v.nodes.slice(0, 3).map((n) => n.html).join('; ')}`);
}

for (const path of paths) {
  test(`${path} is accessible, and fits a phone`, async () => {
    const page = await openPage(path);
    for (const [name, viewport] of Object.entries(sizes)) {
      await page.setViewportSize(viewport);
      const width = await page.evaluate(() => document.documentElement.scrollWidth);
      assert.ok(width <= viewport.width, `${name}: the page is ${width} pixels wide`);
      // The page marks the parts that scroll when its size changes.
      await page.evaluate(() => new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve))));
      for (const colorScheme of ['light', 'dark']) {
        await page.emulateMedia({ colorScheme });
        assert.deepEqual(await findViolations(page), [], `${name}, ${colorScheme}`);
      }
    }
    await page.context().close();
    assert.deepEqual(complaints.splice(0), []);
  });
}

test('the search finds a setting, an error and an operation', async () => {
  const page = await openPage('/docs');
  for (const [query, href] of [
    ['limits.documents', 'docs/configuration#the-exchange'],
    ['idempotency_key_reused', 'docs/errors#codes'],
    ['sendPing', 'docs/api-auctions#sendPing'],
    ['backup', 'docs/backup'],
  ]) {
    await page.keyboard.press('/');
    await page.getByRole('searchbox').fill(query);
    // Until the search answers, the list has the results of the query before.
    const near = page.locator(`.results li:nth-child(-n+5) a[href="${href}"]`).first();
    await near.waitFor({ timeout: 10_000 }).catch(() => assert.fail(`${query}: ${href} is not among the first results`));
    assert.deepEqual(await findViolations(page), []);
    await page.keyboard.press('Escape');
  }
  await page.keyboard.press('/');
  await page.getByRole('searchbox').fill('backup restore');
  await page.locator('.results li:first-child a[href="docs/backup"]').waitFor();
  await page.keyboard.press('Enter');
  await page.waitForURL(/docs\/backup$/);
  assert.deepEqual(complaints.splice(0), []);
  await page.context().close();
});

test('a chosen theme stays on the next page', async () => {
  const page = await openPage('/docs', { colorScheme: 'light' });
  const ground = () => page.evaluate(() => getComputedStyle(document.documentElement).backgroundColor);
  const light = await ground();
  await page.getByRole('button', { name: 'Dark colors' }).click();
  await page.goto(`${exchange.address}/docs/concepts`);
  assert.notEqual(await ground(), light);
  assert.deepEqual(complaints.splice(0), []);
  await page.context().close();
});

test('anchors of the former reference lead to the same operation', async () => {
  const page = await openPage('/docs#operation/sendPing');
  await page.waitForURL(/docs\/api-auctions#sendPing$/);
  await page.context().close();
});

test('without a script, a phone reads pages and opens the menu', async () => {
  const page = await openPage('/docs/supplier', { javaScriptEnabled: false, viewport: sizes.phone });
  assert.equal(await page.locator('h1').textContent(), 'Quick start for suppliers');
  assert.equal(await page.getByRole('button', { name: 'Search' }).count(), 0);
  await page.getByRole('link', { name: 'Menu', exact: true }).click();
  await page.getByRole('navigation', { name: 'All pages' }).getByRole('link', { name: 'Webhooks' }).first().click();
  assert.equal(await page.locator('h1').textContent(), 'Webhooks');
  await page.context().close();
});
