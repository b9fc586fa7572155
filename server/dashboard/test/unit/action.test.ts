import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { actionOf, actionOptions } from '../../src/action';

// changing returns the operations of the admin API that change something.
function changing(): string[] {
  const found: string[] = [];
  let path = '';
  for (const line of readFileSync('../../api/admin.yaml', 'utf8').split('\n')) {
    path = /^ {2}(\/\S+):/.exec(line)?.[1] ?? path;
    const method = /^ {4}(put|post|delete):/.exec(line)?.[1]?.toUpperCase();
    if (method && path.startsWith('/admin/v1/')) found.push(`${method} ${path}`);
  }
  return found;
}

test('each changing operation has a text for people', () => {
  // All secrets have one route, which records its own pattern.
  const operations = changing().map((o) => o.replace(/secrets\/(buyer|supplier)\/.*/, 'secrets/{name:*}'));
  expect(operations.length).toBeGreaterThan(60);
  for (const operation of operations) expect(actionOf(operation), operation).not.toMatch(/^[A-Z]+ /);
  expect(actionOf('POST /admin/v1/users/{name}/totp/confirm')).toBe('Turned on a second factor');
  expect(actionOf('POST /admin/v1/later/{id}')).toBe('POST later/{id}');
  expect(actionOptions).toContainEqual(['POST /admin/v1/webhooks/{id}/off', 'Turned off a webhook']);
  expect(new Set(actionOptions.map(([, text]) => text)).size).toBe(actionOptions.length);
});
