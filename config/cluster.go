package config

import (
	"maps"
	"net"
	"net/netip"
	"slices"
	"strconv"
	"strings"

	"pingpost/config/schema"
	"pingpost/config/syntax"
)

// ClusterSettings make the exchange a node of a cluster. Zero: it is a single node.
type ClusterSettings struct {
	Node   string            `key:"cluster.node"`
	Listen string            `key:"cluster.listen"`
	Peers  map[string]string `key:"cluster.peers"` // host:port of each node by its id, with this node
	TLS    ClusterTLSSettings
}

// IsSet reports whether the exchange is a node of a cluster.
func (s *ClusterSettings) IsSet() bool { return s.Node != "" }

// ClusterTLSSettings are the files for the connections between nodes, with resolved paths. Zero: plain
// TCP, which is allowed between nodes of one machine.
type ClusterTLSSettings struct {
	CertFile      string `key:"cluster.tls.certificate"`
	KeyFile       string `key:"cluster.tls.key"`
	AuthorityFile string `key:"cluster.tls.authority"`
}

// IsSet reports whether the connections between nodes use TLS.
func (t ClusterTLSSettings) IsSet() bool { return t != ClusterTLSSettings{} }

const maxPeers = 9

func (c *compiler) compileCluster(at syntax.KeyPath, d *schema.Document) ClusterSettings {
	cluster := d.Cluster
	if cluster == nil {
		return ClusterSettings{}
	}
	if d.Provisioning == schema.ProvisioningEnforce {
		c.reportMistake("provisioning", "is enforce, but the nodes of a cluster share the entries that the exchange keeps; write seed, or remove cluster")
	}
	c.checkPeers(at.Key("peers"), cluster.Peers)
	if c.checkNodeID(at.Key("node"), cluster.Node) && len(cluster.Peers) > 0 {
		if _, isPeer := cluster.Peers[cluster.Node]; !isPeer {
			c.reportMistake(at.Key("node"), "is not in cluster.peers; add this node with the address at which the others reach it")
		}
	}
	c.checkListenAddress(at.Key("listen"), cluster.Listen)
	if _, port, err := net.SplitHostPort(cluster.Listen); err == nil && port != "0" && (cluster.Listen == d.Listen || cluster.Listen == d.Admin.Listen) {
		c.reportMistake(at.Key("listen"), "is the same address as listen or admin.listen; the other nodes need one more")
	}
	if cluster.TLS == nil && !isClusterOnLoopback(cluster) {
		c.reportMistake(at.Key("tls"), "is missing; nodes on several machines need certificate, key and authority. Only a cluster on loopback addresses, such as 127.0.0.1, may omit it")
	}
	return ClusterSettings{Node: cluster.Node, Listen: cluster.Listen, Peers: cluster.Peers, TLS: c.compileClusterTLS(at.Key("tls"), cluster.TLS)}
}

// checkPeers checks the ids and addresses of all nodes, in the order of the ids.
func (c *compiler) checkPeers(at syntax.KeyPath, peers map[string]string) {
	if len(peers) < 1 || len(peers) > maxPeers {
		c.reportMistake(at, "has "+strconv.Itoa(len(peers))+" nodes; give 1 to "+strconv.Itoa(maxPeers)+" with this one, such as {a: 10.0.0.1:7400, b: 10.0.0.2:7400, c: 10.0.0.3:7400}")
		return
	}
	pathsByAddress := make(map[string]syntax.KeyPath, len(peers))
	for _, id := range slices.Sorted(maps.Keys(peers)) {
		here := at
		if syntax.CanBeUnquotedInPath(id) {
			here = at.Key(id)
		}
		if c.checkNodeID(here, id) && c.checkPeerAddress(here, peers[id]) {
			c.checkUnique(here, pathsByAddress, peers[id])
		}
	}
}

// checkNodeID reports a mistake and returns false unless the id has 1 to 64 characters of a-z 0-9 -.
func (c *compiler) checkNodeID(at syntax.KeyPath, id string) (valid bool) {
	if id == "" || len(id) > maxID || strings.ContainsFunc(id, isNotNodeIDCharacter) {
		c.reportMistake(at, "is not the id of a node; use 1 to 64 of a-z, 0-9 and -")
		return false
	}
	return true
}

func isNotNodeIDCharacter(r rune) bool {
	return !('a' <= r && r <= 'z' || '0' <= r && r <= '9' || r == '-')
}

// checkPeerAddress reports a mistake and returns false unless other nodes can connect to the address.
func (c *compiler) checkPeerAddress(at syntax.KeyPath, address string) (valid bool) {
	host, port, err := net.SplitHostPort(address)
	number, portErr := strconv.ParseUint(port, 10, 16)
	ip, ipErr := netip.ParseAddr(host)
	switch {
	case err != nil || portErr != nil || number == 0 || host == "" || len(host) > 253 || strings.ContainsAny(host, " /@"):
		c.reportMistake(at, "is not the address of a node; write host:port, such as 10.0.0.1:7400")
		return false
	case ipErr == nil && ip.IsUnspecified():
		c.reportMistake(at, "leads every node to itself; write the host at which the other nodes reach this one")
		return false
	}
	return true
}

// isClusterOnLoopback reports whether all addresses of the cluster are loopback addresses in digits. A name such as
// localhost can have two addresses: a node may listen on one, and another program on the other.
func isClusterOnLoopback(cluster *schema.Cluster) bool {
	for _, address := range append(slices.Collect(maps.Values(cluster.Peers)), cluster.Listen) {
		host, _, err := net.SplitHostPort(address)
		if ip, ipErr := netip.ParseAddr(host); err == nil && (ipErr != nil || !ip.Unmap().IsLoopback()) {
			return false
		}
	}
	return true
}

// compileClusterTLS checks the paths of the three files. Like compileTLS it does not read them.
func (c *compiler) compileClusterTLS(at syntax.KeyPath, t *schema.ClusterTLS) ClusterTLSSettings {
	if t == nil {
		return ClusterTLSSettings{}
	}
	const needed = "cluster.tls needs certificate, key and authority, the paths of three PEM files"
	c.reportMissingPathOrPEMText(at.Key("certificate"), t.Certificate, needed)
	c.reportMissingPathOrPEMText(at.Key("key"), t.Key, needed)
	c.reportMissingPathOrPEMText(at.Key("authority"), t.Authority, needed)
	return ClusterTLSSettings{CertFile: c.source.resolvePath(t.Certificate), KeyFile: c.source.resolvePath(t.Key), AuthorityFile: c.source.resolvePath(t.Authority)}
}
