// The page in a browser, as a person uses it.

import { type Browser, type BrowserContextOptions, chromium, type Locator, type Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, expect, inject } from 'vitest';

export const place = inject('place');

let browser: Browser;

// browse opens the browser for a file's tests. What the page complains of fails the test that
// was under way. With keep a page is there for the next test too.
export function browse({ keep = false } = {}): void {
  beforeAll(async () => {
    browser = await chromium.launch({
      executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium',
      args: ['--no-sandbox', '--disable-dev-shm-usage'],
    });
  });
  afterEach(async () => {
    if (!keep) for (const context of browser.contexts()) await context.close();
    expect(complaints.splice(0)).toEqual([]);
  });
  afterAll(() => browser?.close());
}

const complaints: string[] = [];

// A browser tells of every answer over 399, which the page shows itself.
const ours = /Failed to load resource/;

export async function newPage(options: BrowserContextOptions = {}): Promise<Page> {
  const context = await browser.newContext({
    viewport: { width: 1280, height: 800 },
    reducedMotion: 'reduce',
    baseURL: place.admin,
    acceptDownloads: true,
    ...options,
  });
  const page = await context.newPage();
  page.setDefaultTimeout(15_000);
  page.on('pageerror', (problem) => complaints.push(String(problem)));
  page.on('console', (m) => {
    if (m.type() === 'error' && !ours.test(m.text())) complaints.push(m.text());
  });
  return page;
}

export async function signIn(page: Page, name = 'op', password = place.password): Promise<void> {
  const form = page.locator('.alone');
  await form.getByLabel('Name').fill(name);
  await form.getByLabel('Password').fill(password);
  await form.getByRole('button', { name: 'Sign in' }).click();
}

// signedIn is a page of an operator who may do everything, at an address.
export async function signedIn(at = '', options: BrowserContextOptions = {}): Promise<Page> {
  const page = await newPage(options);
  await page.goto(`/#/${at}`);
  await signIn(page);
  await page.locator('nav#menu').waitFor({ state: 'attached' });
  return page;
}

export async function visit(page: Page, at: string): Promise<void> {
  await page.goto(`/#/${at}`);
  await page.locator('#main h1').waitFor();
  await settled(page);
}

// settled waits until nothing on the page is being loaded.
export async function settled(page: Page): Promise<void> {
  await page.waitForFunction(() => {
    const main = document.querySelector('#main');
    return main && !main.textContent?.includes('Loading…') && !main.querySelector('[aria-busy="true"]');
  });
}

export const shows = async (of: Locator): Promise<void> => of.first().waitFor({ state: 'visible' });

// hasCount waits until a locator has this many elements: a list loads again after an action.
export async function hasCount(of: Locator, count: number): Promise<void> {
  await expect.poll(() => of.count(), { timeout: 15_000 }).toBe(count);
}

export const button = (of: Page | Locator, name: string | RegExp): Locator => of.getByRole('button', { name });

// dialog is what stands over the page.
export const dialog = (page: Page): Locator => page.getByRole('dialog');

// said waits for the line that tells what was done.
export const said = (page: Page, text: string | RegExp): Promise<void> =>
  shows(page.locator('.notice').getByText(text));
