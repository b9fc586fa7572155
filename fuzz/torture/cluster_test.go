//go:build linux

package torture

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"syscall"
	"testing"
	"text/tabwriter"
	"time"

	"pingpost/fuzz/witness"
)

// TestTortureCluster injects random faults into the three nodes of a cluster.
func TestTortureCluster(t *testing.T) {
	span := time.Duration(*minutes * float64(time.Minute))
	switch {
	case *minutes == 0:
		t.Skip("long: make torture-cluster")
	case *short:
		span = 40 * time.Second
	}
	if os.Getenv(inNetworkNamespace) == "" && repeatInNetworkNamespace(t) {
		return
	}
	runTorture(t, span, *only, (*torture).createCluster)
}

// inNetworkNamespace is set in the process that has a network namespace of its own.
const inNetworkNamespace = "TORTURE_NETWORK_NAMESPACE"

// repeatInNetworkNamespace runs the test in a process with a network namespace of its own, in which it may
// create and partition networks. It returns false if the machine does not permit that.
func repeatInNetworkNamespace(t *testing.T) bool {
	probe := exec.Command("true")
	probe.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWNET}
	if probe.Run() != nil {
		return false
	}
	args := append([]string{"-test.run=^" + t.Name() + "$", "-test.v", "-test.timeout=0"}, os.Args[1:]...)
	cmd := exec.Command(os.Args[0], args...)
	cmd.Env = append(os.Environ(), inNetworkNamespace+"=1")
	cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWNET, Pdeathsig: syscall.SIGTERM}
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	if err := cmd.Run(); err != nil {
		t.Errorf("the test in its network namespace: %v", err)
	}
	return true
}

// createCluster starts the nodes: on networks of their own if the machine permits it, else on loopback
// addresses.
func (t *torture) createCluster(program string, config *witness.Config, seed uint64) {
	t.test.Helper()
	arrange := func(*witness.Cluster) {}
	if os.Getenv(inNetworkNamespace) != "" {
		t.network = newClusterNetwork(t)
		config.PeerIP = hubIP(publicNetwork)
		arrange = t.network.arrange
	}
	t.Harness = witness.NewClusterHarness(t.test, program, t.dir, config, seed, arrange)
}

func (t *torture) countStarts() (n int) {
	if t.Cluster == nil {
		return t.Starts
	}
	for _, node := range t.Cluster.Nodes {
		n += node.Starts
	}
	return n
}

// auditClusterRound compares all sources with the leader's log, and all nodes with the leader.
func (t *torture) auditClusterRound() {
	p := t.CollectClusterEvidence()
	t.Audit(p)
	t.AdminEditor.CheckEdits()
	t.tally = p.Tally()
	t.AdminEditor.AddCountsTo(t.tally)
	t.AuditNodes(p)
	t.Suppliers.RepeatRequests(10, t.random)
	t.ResolveDeliveries(t.random)
	t.DecideReturns(t.random)
	t.SendStatusReports(p, statusReports, t.random)
	if t.rounds%5 == 0 {
		resume := t.AdminEditor.PauseEdits()
		defer resume()
		t.hashes = append(t.hashes, t.CheckEqualStates())
	}
	if t.rounds%15 == 0 {
		t.AwaitAnswers(t.random) // takes up to the retries of a delivery
	}
}

// runFinalClusterAudit waits until all work is done, and runs the final audit.
func (t *torture) runFinalClusterAudit() {
	t.test.Logf("%7s  no more faults; waiting for open work", t.elapsed())
	t.AdminEditor.Close()
	t.FollowLeader()
	t.SettleDeliveries(t.random)
	t.DrainWebhooks()
	t.AdminEditor.CheckEdits()
	p := t.CollectClusterEvidence()
	p.WebhooksDrained = true
	t.Audit(p)
	t.AuditNodes(p)
	t.tally = p.Tally()
	t.AdminEditor.AddCountsTo(t.tally)
	for i := 0; i < len(t.hashes); i += 1 + len(t.hashes)/5 {
		for _, n := range t.Cluster.Nodes {
			n.CheckReplayHash(t.hashes[i])
		}
	}
	t.CheckClusterRestart(t.random)
}

// countAttempts adds the attempts of the clients since the last call to a fault's counts.
func (t *torture) countAttempts(r *faultCounts) {
	if t.Cluster == nil {
		return
	}
	if r.attempts == nil {
		r.attempts = map[string]int{}
	}
	for result, n := range t.TakeAttempts() {
		r.attempts[result] += n
	}
}

// printClusterCounts prints the attempts of a cluster's clients by fault, and the times without a leader.
func (t *torture) printClusterCounts(out io.Writer) {
	if t.Cluster == nil {
		return
	}
	fmt.Fprintln(out)
	w := tabwriter.NewWriter(out, 0, 8, 2, ' ', 0)
	fmt.Fprintf(w, "ATTEMPTS DURING\tresults\n")
	for _, f := range t.known {
		if r := t.records[f]; r != nil && len(r.attempts) > 0 {
			fmt.Fprintf(w, "%s\t%s\n", f.name, formatAnswerCounts(r.attempts))
		}
	}
	_ = w.Flush()
	if slices.Sort(t.failovers); len(t.failovers) > 0 {
		fmt.Fprintf(out, "\nfrom a leader's kill until another node decided: %d times, median %v, longest %v\n", len(t.failovers),
			t.failovers[len(t.failovers)/2].Round(time.Millisecond), t.failovers[len(t.failovers)-1].Round(time.Millisecond))
	}
}
