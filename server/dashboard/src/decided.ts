// tellDecided says that an action has decided an open item, so that the inbox counts again.
export function tellDecided(): void {
  dispatchEvent(new Event('decided'));
}

// runAll runs an action for each of the keys, one after another. It returns the errors by key.
export async function runAll(keys: string[], run: (key: string) => Promise<unknown>): Promise<Map<string, string>> {
  const failed = new Map<string, string>();
  for (const key of keys) {
    try {
      await run(key);
    } catch (problem) {
      failed.set(key, problem instanceof Error ? problem.message : String(problem));
    }
  }
  tellDecided();
  return failed;
}
