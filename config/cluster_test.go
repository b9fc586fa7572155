package config

import (
	"maps"
	"strings"
	"testing"

	"pingpost/config/canonical"
)

const (
	loopbackPeers   = "peers: {a: 127.0.0.1:1, b: \"[::1]:2\", c: 127.0.0.1:3}"
	onLoopback      = "cluster: {node: a, listen: 127.0.0.1:1, " + loopbackPeers + "}\n"
	onThreeMachines = "cluster: {node: a, listen: \":7400\", peers: {a: 10.0.0.1:7400, b: 10.0.0.2:7400, c: n.example:1}"
	clusterTLS      = ", tls: {certificate: a.crt, key: a.key, authority: ca.crt}}\n"
)

func TestInvalidCluster(t *testing.T) {
	inPeers := func(peers string) string { return strings.Replace(onLoopback, loopbackPeers, "peers: "+peers, 1) }
	inLoopback := func(piece, instead string) string { return strings.Replace(onLoopback, piece, instead, 1) }
	checkProblems(t, []invalidDocument{
		{"no node", inLoopback("node: a, ", ""), "cluster.node", "is not the id of a node"},
		{"a node in upper case", inLoopback("node: a", "node: A"), "cluster.node", "1 to 64 of a-z, 0-9 and -"},
		{"a long node", inLoopback("node: a", "node: "+strings.Repeat("a", 65)), "cluster.node", "1 to 64 of a-z, 0-9 and -"},
		{"a node as a number", inLoopback("node: a", "node: 1"), "cluster.node", "put it in quotes"},
		{"a node that is no peer", inLoopback("node: a", "node: d"), "cluster.node", "is not in cluster.peers"},
		{"no listen", inLoopback("listen: 127.0.0.1:1, ", ""), "cluster.listen", "is not an address to listen on"},
		{"listen without a port", inLoopback("listen: 127.0.0.1:1", "listen: localhost"), "cluster.listen", "host:port"},
		{"one address for nodes and suppliers", "listen: 127.0.0.1:1\n" + onLoopback, "cluster.listen", "same address as listen"},
		{"one address for nodes and operators", "admin: {listen: 127.0.0.1:1}\n" + onLoopback, "cluster.listen", "same address as listen or admin.listen"},
		{"no peers", inLoopback(", "+loopbackPeers, ""), "cluster.peers", "has 0 nodes"},
		{"empty peers", inPeers("{}"), "cluster.peers", "has 0 nodes; give 1 to 9"},
		{"too many peers", inPeers("{a: 127.0.0.1:1, b: x, c: x, d: x, e: x, f: x, g: x, h: x, i: x, j: x}"), "cluster.peers", "has 10 nodes"},
		{"peers as a list", inPeers("[a, b]"), "cluster.peers", "expected a mapping"},
		{"a peer twice", inPeers("{a: 127.0.0.1:1, b: 127.0.0.1:2, b: 127.0.0.1:3}"), "cluster.peers.b", "the key is repeated"},
		{"a peer in upper case", inPeers("{a: 127.0.0.1:1, B: 127.0.0.1:2}"), "cluster.peers.B", "1 to 64 of a-z, 0-9 and -"},
		{"a peer with brackets", inPeers("{a: 127.0.0.1:1, 'a[x': 127.0.0.1:3}"), "cluster.peers", "1 to 64 of a-z, 0-9 and -"},
		{"a peer without an address", inPeers("{a: 127.0.0.1:1, b: \"\"}"), "cluster.peers.b", "is not the address of a node"},
		{"a name without TLS", inPeers("{a: 127.0.0.1:1, b: localhost:2}"), "cluster.tls", "is missing"},
		{"a peer without a port", inPeers("{a: 127.0.0.1:1, b: localhost}"), "cluster.peers.b", "host:port"},
		{"a peer with port 0", inPeers("{a: 127.0.0.1:1, b: 127.0.0.1:0}"), "cluster.peers.b", "host:port"},
		{"a peer with a URL", inPeers("{a: 127.0.0.1:1, b: \"http://localhost:1\"}"), "cluster.peers.b", "host:port"},
		{"a peer with a mapping", inPeers("{a: 127.0.0.1:1, b: {address: 127.0.0.1:2}}"), "cluster.peers.b", "expected text"},
		{"one address for two peers", inPeers("{b: 127.0.0.1:1, a: 127.0.0.1:1}"), "cluster.peers.b", "is the same as cluster.peers.a"},
		{"a peer on all addresses", strings.Replace(onThreeMachines, "10.0.0.2:7400", "0.0.0.0:7400", 1) + clusterTLS, "cluster.peers.b", "leads every node to itself"},
		{"peers elsewhere without TLS", onThreeMachines + "}\n", "cluster.tls", "several machines need certificate"},
		{"one peer elsewhere without TLS", inPeers("{a: 127.0.0.1:1, b: 10.0.0.2:1}"), "cluster.tls", "is missing"},
		{"listen for all without TLS", inLoopback("listen: 127.0.0.1:1", "listen: \":1\""), "cluster.tls", "is missing"},
		{"no certificate", onThreeMachines + ", tls: {key: a.key, authority: ca.crt}}\n", "cluster.tls.certificate", "is missing; cluster.tls needs certificate, key and authority"},
		{"no key", onThreeMachines + ", tls: {certificate: a.crt, authority: ca.crt}}\n", "cluster.tls.key", "is missing"},
		{"no authority", onThreeMachines + ", tls: {certificate: a.crt, key: a.key}}\n", "cluster.tls.authority", "is missing"},
		{"a key instead of its path", onThreeMachines + ", tls: {certificate: a.crt, key: \"-----BEGIN PRIVATE KEY----- hunter2\", authority: ca.crt}}\n", "cluster.tls.key", "write the file's path"},
		{"enforce", "provisioning: enforce # here\n" + onLoopback, "provisioning", "the nodes of a cluster share the entries"},
		{"an unknown key", inLoopback("node: a", "node: a, role: leader"), "cluster.role", "unknown key"},
	})
}

func TestClusterSettings(t *testing.T) {
	env := lookup(map[string]string{"NODE": "b", "B": "10.0.0.2:7400"})
	text := "cluster: {node: \"${NODE}\", listen: \":7400\", peers: {c: \"[2001:db8::3]:7400\", b: \"${B}\", a: 10.0.0.1:7400}, tls: {certificate: b.crt, key: /keys/b.key, authority: ../ca.crt}}\n"
	built := mustCompile(t)(Parse("/etc/pingpost/exchange.yaml", []byte(text), env))
	got := built.Settings.Cluster
	checkAll(t, got, map[string]bool{
		"is set": got.IsSet() && got.TLS.IsSet(),
		"node":   got.Node == "b" && got.Listen == ":7400",
		"peers":  maps.Equal(got.Peers, map[string]string{"a": "10.0.0.1:7400", "b": "10.0.0.2:7400", "c": "[2001:db8::3]:7400"}),
		"files":  got.TLS == ClusterTLSSettings{"/etc/pingpost/b.crt", "/keys/b.key", "/etc/ca.crt"},
	})
	for _, change := range canonical.Diff(compileText(t, base, nil).Canonical, built.Canonical) {
		if strings.Contains(change.Path, "cluster") && !change.NeedsRestart() {
			t.Errorf("%s does not need a restart", change)
		}
	}
	if single := compileText(t, base+"cluster:\n", nil).Settings.Cluster; single.IsSet() || single.Peers != nil {
		t.Errorf("a document without a cluster has %+v", single)
	}
	if local := compileText(t, onLoopback, nil).Settings.Cluster; !local.IsSet() || local.TLS.IsSet() {
		t.Errorf("a cluster on loopback has %+v", local)
	}
}

// TestClusterVariables: a variable without a value is a mistake at its own place.
func TestClusterVariables(t *testing.T) {
	checkProblems(t, []invalidDocument{
		{"an unset node", strings.Replace(onLoopback, "node: a", "node: \"${UNSET}\"", 1), "cluster.node", "UNSET"},
		{"an unset address", strings.Replace(onLoopback, "c: 127.0.0.1:3", "c: \"${UNSET}\"", 1), "cluster.peers.c", "UNSET"},
	})
}
