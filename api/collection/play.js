// Runs the collection with newman and returns the results.
import { readFileSync } from 'node:fs';
import newman from 'newman';

const place = new URL('pingpost.postman_collection.json', import.meta.url);

/** The collection as it is kept. */
export const readCollection = () => JSON.parse(readFileSync(place, 'utf8'));

/** Every request of the collection: {id, name, folder}. */
export function requestsOf(collection) {
  return collection.item.flatMap((folder) => folder.item.map(({ id, name }) => ({ id, name, folder: folder.name })));
}

/** Runs it, or a part of it by name or id, with what was kept by an earlier run. {sent, assertions, wrong: [{request, assertion, why}]} */
export async function play(environment, folder, kept = {}) {
  const collection = readCollection();
  collection.variable = Object.entries(kept).map(([key, value]) => ({ key, value }));
  const summary = await new Promise((resolve, reject) => {
    newman.run({ collection, environment, folder, reporters: [], timeoutRequest: 60_000, timeoutScript: 60_000 }, (error, made) => {
      if (error) reject(error);
      else resolve(made);
    });
  });
  const { failures, executions, stats } = summary.run;
  return {
    sent: [...new Set(executions.filter((one) => one.response).map((one) => one.item.name))],
    assertions: stats.assertions.total,
    wrong: failures.map(({ source, error }) => ({ request: source?.name, assertion: error.test ?? error.name, why: error.message })),
  };
}

/** What was wrong, for a person. */
export const tell = (wrong) => wrong.map(({ request, assertion, why }) => `  ${request}\n    ${assertion}: ${why}`).join('\n');
