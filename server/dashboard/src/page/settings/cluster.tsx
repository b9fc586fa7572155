import { useEffect } from 'preact/hooks';
import { call } from '../../call';
import { type Cluster, type ClusterNode, canLead, isCluster, problemsOf, stateOf } from '../../cluster';
import { count, millis, none } from '../../format';
import { type Loading, useLoad } from '../../load';
import { Act } from '../../part/button';
import { Empty, Loaded } from '../../part/state';
import { type Column, Table } from '../../part/table';
import { Badge, Card, Facts } from '../../part/words';

const interval = 5000;

export const useCluster = (): Loading<Cluster> => useLoad<Cluster>('cluster');

// ClusterTab shows the nodes as the answering node sees them, and hands over to another leader.
export function ClusterTab({ of }: { of: Loading<Cluster> }) {
  useEffect(() => {
    const timer = window.setInterval(of.reload, interval);
    return () => clearInterval(timer);
  }, []);
  return (
    <Card title="Cluster">
      <Loaded of={of}>
        {(c) =>
          isCluster(c) ? (
            <>
              <Facts
                of={[
                  ['Leader', c.leader ?? <Badge tone="bad">none</Badge>],
                  ['Seen from node', c.node ?? none],
                  ['Term', count(c.term)],
                  ['Log entry', count(c.entry)],
                ]}
              />
              {problemsOf(c).map((text) => (
                <p class="note" role="alert" key={text}>
                  {text}
                </p>
              ))}
              <Table
                caption="Nodes of the cluster"
                rows={c.nodes}
                keyOf={(n) => n.id}
                columns={columnsOf(c, of.reload)}
              />
            </>
          ) : (
            <Empty title="This exchange is a single node">
              With <code>cluster</code> in the configuration, three nodes keep the same log, and another one takes over
              after a failure.
            </Empty>
          )
        }
      </Loaded>
    </Card>
  );
}

function columnsOf(c: Cluster, reload: () => void): Column<ClusterNode>[] {
  return [
    { head: 'Node', of: (n) => n.id, phone: 'name' },
    {
      head: 'Role',
      of: (n) => {
        const [text, tone] = stateOf(c, n);
        return (
          <span title={n.error ?? ''}>
            <Badge tone={tone}>{text}</Badge>
          </span>
        );
      },
      phone: 'side',
    },
    { head: 'Address', of: (n) => <code>{n.address}</code> },
    { head: 'Last contact', of: (n) => millis(n.last_contact_ms), number: true },
    { head: 'Log entry', of: (n) => count(n.entry), number: true },
    { head: 'Lag', of: (n) => count(n.lag_entries), number: true },
    { head: 'Version', of: (n) => n.version ?? none },
    {
      head: 'Action',
      of: (n) =>
        canLead(c, n) && (
          <Act
            needs="admin"
            tone="quiet"
            label={`Hand over to ${n.id}`}
            sure={{
              title: `Make ${n.id} the leader?`,
              text: (
                <p>
                  Node {c.leader} finishes the requests that it has begun, then node {n.id} leads. New requests wait a
                  moment.
                </p>
              ),
            }}
            run={async () => {
              await call('POST', 'cluster/handover', { body: { to: n.id } });
              reload();
            }}
            done={`Node ${n.id} is the leader.`}
          >
            Hand over
          </Act>
        ),
    },
  ];
}
