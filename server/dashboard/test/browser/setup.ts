import type { TestProject } from 'vitest/node';
import { open, type Place } from './exchange';

declare module 'vitest' {
  interface ProvidedContext {
    place: Place;
  }
}

// One exchange for all tests: what one does another may see.
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  if (!process.env.PINGPOST_PROGRAM)
    throw new Error('PINGPOST_PROGRAM must be the program: make dashboard-test says it');
  const { place, close } = await open();
  project.provide('place', place);
  return close;
}
