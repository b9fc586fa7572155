import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { type Cluster, type ClusterNode, canLead, isCluster, problemsOf, stateOf } from '../../src/cluster';

const node = (id: string, more: Partial<ClusterNode> = {}): ClusterNode => ({
  id,
  address: '10.0.0.1:7400',
  role: 'follower',
  member: true,
  reachable: true,
  last_contact_ms: 12,
  entry: 7,
  lag_entries: 0,
  version: '1.4.0',
  error: null,
  ...more,
});

const seenFromA = (nodes: ClusterNode[], more: Partial<Cluster> = {}): Cluster => ({
  node: 'a',
  role: 'leader',
  leader: 'a',
  term: 3,
  entry: 7,
  nodes: [node('a', { role: 'leader' }), ...nodes],
  ...more,
});

test('each node has its state', () => {
  const c = seenFromA([]);
  expect(stateOf(c, node('a', { role: 'leader' }))).toEqual(['leader', 'good']);
  expect(stateOf(c, node('b'))).toEqual(['follower', 'plain']);
  expect(stateOf(c, node('b', { role: 'unknown' }))).toEqual(['unknown', 'warn']);
  expect(stateOf(c, node('b', { member: false, role: 'unknown' }))).toEqual(['no member', 'warn']);
  expect(stateOf(c, node('b', { reachable: false, member: false }))).toEqual(['not reachable', 'bad']);
  expect(stateOf(seenFromA([], { role: 'failed' }), node('a'))).toEqual(['failed', 'bad']);
  expect(stateOf(seenFromA([], { role: 'starting' }), node('a'))).toEqual(['starting', 'warn']);
});

test('the leader hands over to a follower that answers', () => {
  const c = seenFromA([]);
  expect(canLead(c, node('b'))).toBe(true);
  expect(canLead(c, node('a', { role: 'leader' }))).toBe(false);
  expect(canLead(c, node('b', { reachable: false }))).toBe(false);
  expect(canLead(c, node('b', { member: false }))).toBe(false);
  expect(canLead(seenFromA([], { leader: null }), node('b'))).toBe(false);
});

test('each problem has a sentence', () => {
  expect(problemsOf(seenFromA([node('b', { lag_entries: 10_000 })]))).toEqual([]);
  expect(problemsOf(seenFromA([node('b', { lag_entries: 10_001 })]))).toEqual([
    'Node b lacks 10,001 log entries and is catching up.',
  ]);
  const lost = seenFromA([node('c', { reachable: false, error: 'connection refused' })], { leader: null });
  expect(problemsOf(lost)).toEqual([
    expect.stringContaining('There is no leader'),
    expect.stringContaining('Node c is not reachable (connection refused).'),
  ]);
  expect(problemsOf(seenFromA([], { role: 'failed' }))[0]).toContain('Node a failed');
});

test('only a cluster has the tab', () => {
  expect(isCluster(undefined)).toBe(false);
  expect(isCluster(seenFromA([], { role: 'single', nodes: [] }))).toBe(false);
  expect(isCluster(seenFromA([]))).toBe(true);
});

test('the types have the members of the API document', () => {
  const document = readFileSync('../../api/admin.yaml', 'utf8');
  const required = (name: string) =>
    new RegExp(`^    ${name}:\\n(?:      .*\\n)*?      required: \\[(.*)\\]`, 'm')
      .exec(document)?.[1]
      ?.split(', ')
      .sort();
  expect(Object.keys(seenFromA([])).sort()).toEqual(required('Cluster'));
  expect(Object.keys(node('b')).sort()).toEqual(required('ClusterNode'));
});
