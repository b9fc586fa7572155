//go:build linux

package main

import (
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"pingpost/internal/must"
)

// machineCluster is a cluster of three machines: a, b and c.
type machineCluster struct {
	t        *testing.T
	machines map[string]*machine
}

// startMachineCluster makes the machine, which has sold a lead, node a of a new cluster with two more
// machines. Node a leads it.
func startMachineCluster(t *testing.T, m *machine) *machineCluster {
	t.Helper()
	c := &machineCluster{t: t, machines: map[string]*machine{"a": m, "b": newMachine(t), "c": newMachine(t)}}
	var peers []string
	listen := map[string]string{}
	for _, node := range slices.Sorted(maps.Keys(c.machines)) {
		listen[node] = freeAddress(t)
		peers = append(peers, node+": "+listen[node])
	}
	m.systemctl("stop")
	for node, of := range c.machines {
		cluster := fmt.Sprintf("cluster: {node: %s, listen: %s, peers: {%s}}\n", node, listen[node], strings.Join(peers, ", "))
		writeFile(t, of.path("etc/pingpost/pingpost.yaml"), of.localize(machineConfig)+cluster)
	}
	m.bash("set -a; . /etc/pingpost/env; set +a\npingpost cluster init -c /etc/pingpost/pingpost.yaml\nsystemctl start pingpost")
	c.waitForLeader()
	for _, node := range []string{"b", "c"} {
		c.copyKey("a", node)
		c.machines[node].systemctl("start")
		m.bash("pingpost cluster add " + node + " --admin $A")
	}
	m.bash("until pingpost cluster --admin $A; do sleep 0.1; done")
	return c
}

// copyKey copies the exchange's key to the empty data directory of another machine.
func (c *machineCluster) copyKey(from, to string) {
	c.t.Helper()
	must.Succeed(c.t, os.MkdirAll(c.machines[to].path("lib/data/keys"), 0o700))
	key := must.Value(os.ReadFile(c.machines[from].path("lib/data/keys/exchange.key")))(c.t)
	writeFile(c.t, c.machines[to].path("lib/data/keys/exchange.key"), string(key))
}

// waitForLeader waits for the leader and returns its id.
func (c *machineCluster) waitForLeader() (id string) {
	c.t.Helper()
	waitFor(c.t, func() bool {
		for node, m := range c.machines {
			if out, err := m.run("bash", "-c", "curl -fsS $ADMIN/metrics"); err == nil && strings.Contains(out, "\npingpost_cluster_leader 1\n") {
				id = node
				return true
			}
		}
		return false
	})
	return id
}

// mustHaveAllLeads checks that the leader has the leads that a machine has sold, and sells another one.
func (c *machineCluster) mustHaveAllLeads(answers map[string][]byte) {
	c.t.Helper()
	leader := c.machines[c.waitForLeader()]
	leader.answers = maps.Clone(answers)
	leader.mustHaveAllLeads()
}

// members returns the output of pingpost cluster on a machine: its nodes without an error.
func (c *machineCluster) members(on string) string {
	c.t.Helper()
	out, _ := c.machines[on].run("bash", "-c", "pingpost cluster --admin $ADMIN")
	return out
}

// prepareLostNode kills node c.
func prepareLostNode(t *testing.T, m *machine) (after func(*testing.T, string)) {
	c := startMachineCluster(t, m)
	c.machines["c"].kill()
	return func(t *testing.T, output string) {
		if nodes := c.members("a"); !strings.Contains(output, "removed  c") || !strings.Contains(nodes, "\nc     no member ") {
			t.Errorf("node c is still a member: %s\n%s", output, nodes)
		}
		c.mustHaveAllLeads(m.answers)
	}
}

// prepareUnusableData ends the membership of the machine's node.
func prepareUnusableData(t *testing.T, m *machine) (after func(*testing.T, string)) {
	c := startMachineCluster(t, m)
	m.bash("pingpost cluster handover b --admin $A")
	c.machines["b"].bash("pingpost cluster remove a --admin $A")
	return func(t *testing.T, _ string) {
		if !strings.Contains(m.journal(), "copied the data of another node") {
			t.Errorf("the node did not copy the data of another one:\n%s", m.journal())
		}
		c.machines["b"].bash("pingpost cluster add a --admin $A\nuntil pingpost cluster --admin $A; do sleep 0.1; done\npingpost cluster handover a --admin $A")
		c.mustHaveAllLeads(m.answers)
	}
}

// prepareNewMachine ends the membership of the machine's node, and deletes its data. The key is in another folder.
func prepareNewMachine(t *testing.T, m *machine) (after func(*testing.T, string)) {
	after = prepareUnusableData(t, m)
	m.systemctl("stop")
	must.Succeed(t, os.Rename(m.path("lib/data/keys/exchange.key"), m.path("root/exchange.key")))
	must.Succeed(t, os.RemoveAll(m.data()))
	return after
}

// prepareNewNode replaces node c by one without a membership.
func prepareNewNode(t *testing.T, m *machine) (after func(*testing.T, string)) {
	c := startMachineCluster(t, m)
	lost := c.machines["c"]
	lost.kill()
	m.bash("pingpost cluster remove c --admin $A")
	must.Succeed(t, os.RemoveAll(lost.data()))
	c.copyKey("a", "c")
	lost.systemctl("start")
	return func(t *testing.T, output string) {
		if nodes := c.members("a"); !strings.Contains(nodes, "\nc     follower ") {
			t.Errorf("node c is no member:\n%s\n%s", output, nodes)
		}
		c.machines["b"].kill() // the two others are a majority only if c is a member
		c.mustHaveAllLeads(m.answers)
	}
}

// loseMajority kills the nodes b and c, and deletes their data.
func (c *machineCluster) loseMajority() {
	c.t.Helper()
	for _, lost := range []string{"b", "c"} {
		c.machines[lost].kill()
		must.Succeed(c.t, os.RemoveAll(c.machines[lost].data()))
	}
}

// removeClusterSection makes a stopped machine's configuration that of a single exchange.
func removeClusterSection(m *machine) {
	writeFile(m.t, m.path("etc/pingpost/pingpost.yaml"), m.localize(machineConfig))
}

// prepareLostMajority loses two nodes with their data.
func prepareLostMajority(t *testing.T, m *machine) (after func(*testing.T, string)) {
	c := startMachineCluster(t, m)
	m.sell("ACCEPTED")
	c.loseMajority()
	return func(t *testing.T, output string) {
		if !strings.Contains(output, "log entries up to ") {
			t.Errorf("the last entry is missing in\n%s", output)
		}
		removeClusterSection(m)
		m.systemctl("start")
		m.mustHaveAllLeads()
	}
}

// prepareNewCluster makes the last node of a cluster a single exchange.
func prepareNewCluster(t *testing.T, m *machine) (after func(*testing.T, string)) {
	c := startMachineCluster(t, m)
	c.loseMajority()
	m.systemctl("stop")
	m.bash("set -a; . /etc/pingpost/env; set +a\npingpost cluster recover -c /etc/pingpost/pingpost.yaml --yes")
	return func(t *testing.T, _ string) {
		c.mustHaveAllLeads(m.answers)
		for _, id := range []string{"b", "c"} {
			c.copyKey("a", id)
			c.machines[id].systemctl("start")
			m.bash("pingpost cluster add " + id + " --admin $A")
		}
		m.kill()
		c.mustHaveAllLeads(m.answers)
	}
}

// prepareEndOfCluster starts a cluster that node a leads.
func prepareEndOfCluster(t *testing.T, m *machine) (after func(*testing.T, string)) {
	startMachineCluster(t, m)
	return func(t *testing.T, _ string) {
		removeClusterSection(m)
		m.systemctl("start")
		m.mustHaveAllLeads()
	}
}

// prepareNodeUpgrade installs a new release beside the leader's program.
func prepareNodeUpgrade(t *testing.T, m *machine) (after func(*testing.T, string)) {
	c := startMachineCluster(t, m)
	check := provideNewRelease(t, m)
	return func(t *testing.T, output string) {
		check(t, output)
		if leader := c.waitForLeader(); leader == "a" {
			t.Error("the leader did not hand over before its restart")
		}
		c.mustHaveAllLeads(m.answers)
	}
}
