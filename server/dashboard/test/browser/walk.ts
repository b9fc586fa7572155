// Counts of the clicks and fields that a task needs.

import type { Locator, Page } from 'playwright-core';
import { expect } from 'vitest';

const walks: { task: string; clicks: number; fields: number; limit: string }[] = [];

// printWalks prints the counts of all walks beside their limits, as clicks+fields.
export const printWalks = (): void => console.table(walks);

// Walk counts what a person does on a page.
export class Walk {
  private clicks = 0;
  private fields = 0;
  constructor(readonly page: Page) {}

  async click(of: Locator): Promise<void> {
    this.clicks++;
    await of.click();
  }

  async fill(of: Locator, text: string): Promise<void> {
    this.fields++;
    await of.fill(text);
    await of.blur();
  }

  async choose(of: Locator, option: string): Promise<void> {
    this.fields++;
    await of.selectOption(option);
  }

  async check(of: Locator): Promise<void> {
    this.fields++;
    await of.check();
  }

  menu(name: string | RegExp): Promise<void> {
    return this.click(this.page.getByRole('navigation', { name: 'Pages' }).getByRole('link', { name }));
  }

  ends(task: string, most: { clicks: number; fields: number }): void {
    walks.push({ task, clicks: this.clicks, fields: this.fields, limit: `${most.clicks}+${most.fields}` });
    expect(this.clicks, `${task}: clicks`).toBeLessThanOrEqual(most.clicks);
    expect(this.fields, `${task}: fields`).toBeLessThanOrEqual(most.fields);
  }
}
