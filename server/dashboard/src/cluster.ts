// The nodes of a cluster: GET cluster.

import { count } from './format';

export type ClusterRole = 'leader' | 'follower' | 'starting' | 'failed' | 'single' | 'unknown';

export interface ClusterNode {
  id: string;
  address: string;
  role: ClusterRole;
  member: boolean;
  reachable: boolean;
  last_contact_ms: number | null;
  entry: number | null;
  lag_entries: number | null;
  version: string | null;
  error: string | null;
}

export interface Cluster {
  node: string | null;
  role: ClusterRole;
  leader: string | null;
  term: number;
  entry: number;
  nodes: ClusterNode[];
}

// isCluster reports whether the exchange has several nodes.
export const isCluster = (c: Cluster | undefined): boolean => c !== undefined && c.role !== 'single';

// stateOf returns the text for a node and its tone. Only the answering node knows that it starts or has failed.
export function stateOf(c: Cluster, n: ClusterNode): [string, 'good' | 'bad' | 'warn' | 'plain'] {
  if (!n.reachable) return ['not reachable', 'bad'];
  const role = n.id === c.node ? c.role : n.role;
  if (role === 'failed') return ['failed', 'bad'];
  if (role === 'starting') return ['starting', 'warn'];
  if (!n.member) return ['no member', 'warn'];
  if (role === 'leader') return ['leader', 'good'];
  return role === 'follower' ? ['follower', 'plain'] : ['unknown', 'warn'];
}

// canLead reports whether the leader can hand over to a node.
export const canLead = (c: Cluster, n: ClusterNode): boolean =>
  c.leader !== null && n.id !== c.leader && stateOf(c, n)[0] === 'follower';

// problemsOf returns a sentence with a remedy for each problem.
export function problemsOf(c: Cluster): string[] {
  const list: string[] = [];
  if (c.role === 'failed')
    list.push(`Node ${c.node} failed and takes no further log entries. Repair the cause in its log, then restart it.`);
  if (c.leader === null)
    list.push('There is no leader, so the exchange accepts no leads. More than half of the members must run.');
  for (const n of c.nodes) {
    if (!n.reachable)
      list.push(`Node ${n.id} is not reachable (${n.error ?? 'no answer'}). Start it, or check the network.`);
  }
  const slow = c.nodes.filter((n) => n.reachable && (n.lag_entries ?? 0) > muchLag);
  for (const n of slow) list.push(`Node ${n.id} lacks ${count(n.lag_entries)} log entries and is catching up.`);
  return list;
}

// muchLag is the number of missing entries that is a problem. A working follower lacks a few at each moment.
const muchLag = 10_000;
