//go:build linux

package torture

import (
	"fmt"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"pingpost/fuzz/witness"
)

// clusterNetwork is a network for the nodes' own connections and one for all others, each with a bridge in
// this process's network namespace. Each node runs in a namespace of its own with a port at both bridges, so
// that a partition of the nodes leaves them reachable for clients and buyers.
type clusterNetwork struct {
	t       *torture
	holders map[string]int // process that keeps the namespace of a node open
}

// The numbers of the networks, in their addresses and bridges.
const (
	clusterLinks  = 77
	publicNetwork = 78
)

func hubIP(network int) string        { return fmt.Sprintf("10.%d.0.1", network) }
func nodeIP(network, node int) string { return fmt.Sprintf("10.%d.0.%d", network, 10+node) }

// portName returns the name of a node's port at a bridge, and the name of its other end in the node's
// namespace.
func portName(network int, id string) (hub, node string) {
	return fmt.Sprintf("p%d%s", network, id), fmt.Sprintf("n%d", network)
}

func newClusterNetwork(t *torture) *clusterNetwork {
	n := &clusterNetwork{t: t, holders: map[string]int{}}
	n.ip("link", "set", "lo", "up")
	for _, network := range []int{clusterLinks, publicNetwork} {
		bridge := fmt.Sprintf("br%d", network)
		n.ip("link", "add", bridge, "type", "bridge")
		n.ip("addr", "add", hubIP(network)+"/24", "dev", bridge)
		n.ip("link", "set", bridge, "up")
	}
	return n
}

// arrange creates the namespaces of the nodes, and certificates for their connections.
func (n *clusterNetwork) arrange(c *witness.Cluster) {
	c.TLS = map[string]witness.Object{}
	authority := newAuthority(n.t)
	for i, node := range c.Nodes {
		holder := exec.Command("sleep", "infinity")
		holder.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWNET, Pdeathsig: syscall.SIGKILL}
		n.t.failOnError(holder.Start())
		n.t.test.Cleanup(func() { _ = holder.Process.Kill(); _ = holder.Wait() })
		pid := strconv.Itoa(holder.Process.Pid)
		n.holders[node.ID] = holder.Process.Pid
		inside := []string{"nsenter", "--net=/proc/" + pid + "/ns/net", "--"}
		for _, network := range []int{clusterLinks, publicNetwork} {
			hub, own := portName(network, node.ID)
			n.ip("link", "add", hub, "type", "veth", "peer", "name", own, "netns", pid)
			n.ip("link", "set", hub, "master", fmt.Sprintf("br%d", network), "up")
			n.run(append(inside, "ip", "addr", "add", nodeIP(network, i)+"/24", "dev", own)...)
			n.run(append(inside, "ip", "link", "set", own, "up")...)
		}
		n.run(append(inside, "ip", "link", "set", "lo", "up")...)
		node.PublicIP, node.ClusterIP, node.Through = nodeIP(publicNetwork, i), nodeIP(clusterLinks, i), inside
		c.TLS[node.ID] = authority.certify(n.t, filepath.Join(n.t.dir, node.ID), node.ClusterIP)
	}
}

func (n *clusterNetwork) ip(args ...string) { n.run(append([]string{"ip"}, args...)...) }

func (n *clusterNetwork) run(args ...string) {
	if out, err := exec.Command(args[0], args[1:]...).CombinedOutput(); err != nil {
		n.t.test.Fatalf("%s: %v %s", strings.Join(args, " "), err, out)
	}
}

// linkFault is a way to disturb the connections between nodes. begin and end are commands of ip, bridge and
// tc; %s is the port of a node.
type linkFault struct {
	begin, end []string
	atNode     bool // at the end of the port in the node's namespace, instead of at the bridge
}

// sendNoPacket makes an end of a port send no packet, because each packet is larger than the bucket.
const (
	sendNoPacket = "tc qdisc add dev %s root tbf rate 1kbit burst 1 limit 1"
	sendAgain    = "tc qdisc del dev %s root"
)

var (
	// unplugged: the port is no longer at the bridge. Packets vanish in both directions.
	unplugged = linkFault{begin: []string{"ip link set %s nomaster"}, end: []string{"ip link set %s master br77"}}
	// carrierLost: the interface itself reports the loss.
	carrierLost = linkFault{begin: []string{"ip link set %s down"}, end: []string{"ip link set %s up"}}
	// deaf: the node sends, and receives no packet.
	deaf = linkFault{begin: []string{sendNoPacket}, end: []string{sendAgain}}
	// mute: the node receives, and no packet of it arrives.
	mute = linkFault{begin: []string{sendNoPacket}, end: []string{sendAgain}, atNode: true}
	// slow: the node receives at the speed of a bad line.
	slow = linkFault{begin: []string{"tc qdisc add dev %s root tbf rate 1mbit burst 4kb latency 300ms"}, end: []string{sendAgain}}
	// isolated ports do not reach each other, but all others.
	isolated = linkFault{begin: []string{"bridge link set dev %s isolated on"}, end: []string{"bridge link set dev %s isolated off"}}
)

// disturb applies a fault to the cluster's ports of some nodes for a time.
func (n *clusterNetwork) disturb(f linkFault, span time.Duration, nodes ...*witness.ClusterNode) {
	apply := func(commands []string) {
		for _, node := range nodes {
			port, own := portName(clusterLinks, node.ID)
			var inside []string
			if f.atNode {
				port, inside = own, node.Through
			}
			for _, command := range commands {
				n.run(slices.Concat(inside, strings.Fields(fmt.Sprintf(command, port)))...)
			}
		}
	}
	apply(f.begin)
	time.Sleep(span)
	apply(f.end)
}

// whyNoNetwork returns the reason why the nodes have no networks of their own, or "".
func whyNoNetwork(t *torture) string {
	if t.network == nil {
		return "network namespaces are not permitted"
	}
	return ""
}

// Each name of a port fits into the 15 bytes of an interface's name.
func TestPortNames(t *testing.T) {
	if hub, node := portName(clusterLinks, "a"); hub != "p77a" || node != "n77" {
		t.Errorf("ports %q and %q", hub, node)
	}
}
