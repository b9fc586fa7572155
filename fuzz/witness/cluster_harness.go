//go:build unix

package witness

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"testing"
	"time"

	"pingpost/wal"
)

const (
	// clientPatience is shorter than the longest faults, so that clients repeat requests at another node
	// while the first one still has them.
	clientPatience = 1500 * time.Millisecond
	// readPatience limits the repeats of reads that fail because the cluster has no leader.
	readPatience = 20 * time.Second
	// catchUpTimeout limits the wait until a node has the entries of the leader.
	catchUpTimeout = time.Minute
)

// leadershipLost matches the errors of work that a node could not finish because it lost the leadership.
var leadershipLost = regexp.MustCompile(`lost the leadership before it knew|is not the leader|does not lead the cluster`)

// NewClusterHarness is NewHarness for a cluster of three nodes. The suppliers send to all nodes in turn.
// arrange may change the addresses of the nodes.
func NewClusterHarness(t testing.TB, program, dir string, config *Config, seed uint64, arrange func(*Cluster)) *Harness {
	t.Helper()
	s := &Harness{Exchange: NewExchange(t, program, dir), config: config}
	s.startPeers(program, seed)
	c := NewCluster(t, program, dir, config.document(0), "a", "b", "c")
	arrange(c)
	addresses := make([]string, 0, len(c.Nodes))
	for _, n := range c.Nodes {
		n.readPatience, n.expectedError = readPatience, leadershipLost
		addresses = append(addresses, fmt.Sprintf("http://%s:%d", n.PublicIP, nodePublicPort))
	}
	c.Create()
	s.Cluster, s.locator = c, newClusterLocator(clientPatience, addresses...)
	s.FollowLeader()
	s.startClients(editorTarget{adminURL: c.nextAdminURL(), isUp: func() bool { return true }, patience: readPatience}, seed)
	return s
}

// nextAdminURL returns a function that returns the admin URL of a random node.
func (c *Cluster) nextAdminURL() func() string {
	return func() string {
		n := c.Nodes[rand.IntN(len(c.Nodes))]
		return fmt.Sprintf("http://%s:%d", n.PublicIP, nodeAdminPort)
	}
}

// FollowLeader waits for a leader. The methods of Exchange act on it until the next call.
func (s *Harness) FollowLeader() {
	s.t.Helper()
	s.Exchange = s.Cluster.AwaitLeader().Exchange
}

// AwaitWhileRunning is Await, and fails the test if a process ends in the meantime that the test did not end.
func (s *Harness) AwaitWhileRunning(what string, is func() bool) {
	s.t.Helper()
	if s.Cluster == nil {
		s.Exchange.AwaitWhileRunning(what, is)
		return
	}
	Await(s.t, what, func() bool {
		for _, n := range s.Cluster.Nodes {
			if end := n.ExitReport(); end != "" && !n.mayEnd {
				s.t.Fatal(end)
			}
		}
		return is()
	})
}

// TakeAttempts returns the number of the suppliers' attempts by result since the last call.
func (s *Harness) TakeAttempts() map[string]int { return s.locator.takeAttempts() }

// CollectClusterEvidence is CollectEvidence from a leader that leads the whole time.
func (s *Harness) CollectClusterEvidence() *Evidence {
	s.t.Helper()
	for {
		s.FollowLeader()
		term := s.Metric("pingpost_cluster_term")
		p := s.CollectEvidence()
		if s.Metric("pingpost_cluster_leader") == "1" && s.Metric("pingpost_cluster_term") == term {
			return p
		}
	}
}

// AuditNodes compares the nodes with the leader, after the evidence was collected: each node has the same
// log, which verifies and replays to the leader's state, and the keys of the same leads. No erasure may be
// in flight.
func (s *Harness) AuditNodes(p *Evidence) {
	s.t.Helper()
	leader := s.Exchange
	live := s.ReadStateHash()
	for _, n := range s.Cluster.Nodes {
		s.awaitEntry(n, live.Seq)
		n.VerifyLog()
		n.CheckReplayHash(live)
		s.compareLogs(leader, n)
		for _, finding := range p.model.checkLeadKeys(n.DataDir()) {
			s.t.Error(finding)
		}
		for _, line := range n.ErrorLines() {
			s.t.Errorf("node %s: %s", n.ID, line)
		}
		n.ClearErrors()
	}
}

// awaitEntry waits until the node has applied a log entry.
func (s *Harness) awaitEntry(n *ClusterNode, seq uint64) {
	s.t.Helper()
	awaitFor(s.t, fmt.Sprintf("node %s has entry %d", n.ID, seq), catchUpTimeout, func() bool {
		var status struct {
			Entry uint64 `json:"entry"`
			Role  string `json:"role"`
		}
		n.AdminGet("/admin/v1/cluster", &status)
		if status.Role == "failed" {
			s.t.Fatalf("node %s failed:\n%s", n.ID, n.LastLines())
		}
		return status.Entry >= seq
	})
}

// compareLogs compares the bytes of the segments that a node and the leader have.
func (s *Harness) compareLogs(leader *Exchange, n *ClusterNode) {
	s.t.Helper()
	ours, err := wal.Segments(leader.DataDir())
	if err != nil {
		s.t.Fatal(err)
	}
	theirs, err := wal.Segments(n.DataDir())
	if err != nil {
		s.t.Fatal(err)
	}
	for _, segment := range theirs {
		i := slices.IndexFunc(ours, func(own wal.Segment) bool { return own.First == segment.First && own.Archived == segment.Archived })
		if i < 0 {
			continue
		}
		one, err1 := os.ReadFile(ours[i].Path)
		two, err2 := os.ReadFile(segment.Path)
		common := min(len(one), len(two))
		if err1 == nil && err2 == nil && !bytes.Equal(one[:common], two[:common]) {
			s.t.Errorf("the segments %s and %s differ", ours[i].Path, segment.Path)
		}
	}
}

// CheckEqualStates makes each node the leader in turn, because only a leader shows the hash of its state. The
// hash must be that of a replay of the node's log. The nodes must have the files of the leader. No edit
// may be in flight.
func (s *Harness) CheckEqualStates() (live StateHash) {
	s.t.Helper()
	for _, n := range s.Cluster.Nodes {
		s.makeLeader(n)
		live = s.ReadStateHash()
		n.CheckReplayHash(live)
	}
	needed := listFiles(s.DataDir(), "catalogs", "lists") // the present leader has removed unused lists when it began to lead
	for _, n := range s.Cluster.Nodes {
		s.awaitEntry(n, live.Seq)
		own := listFiles(n.DataDir(), "catalogs", "lists")
		for name, size := range needed {
			if own[name] != size {
				s.t.Errorf("node %s has %d bytes of the file %s, the leader %d", n.ID, own[name], name, size)
			}
		}
	}
	return live
}

// makeLeader hands over to the node until it leads.
func (s *Harness) makeLeader(n *ClusterNode) {
	s.t.Helper()
	awaitFor(s.t, "node "+n.ID+" leads", leaderTimeout, func() bool {
		if s.FollowLeader(); s.Exchange == n.Exchange {
			return true
		}
		s.awaitEntry(n, s.ReadStateHash().Seq)
		status, text := s.Cluster.HandOver(n.ID)
		if status >= 300 {
			s.t.Logf("hand-over to node %s: %d %s", n.ID, status, text)
		}
		return false
	})
}

// listFiles returns the sizes of the files in some folders, by their names.
func listFiles(dir string, folders ...string) map[string]int64 {
	sizes := map[string]int64{}
	for _, folder := range folders {
		entries, _ := os.ReadDir(filepath.Join(dir, folder))
		for _, e := range entries {
			if info, err := e.Info(); err == nil {
				sizes[folder+"/"+e.Name()] = info.Size()
			}
		}
	}
	return sizes
}

// StopTogether stops nodes in order at the same time.
func (s *Harness) StopTogether(nodes ...*ClusterNode) {
	s.t.Helper()
	for _, n := range nodes {
		n.beginStop()
	}
	for _, n := range nodes {
		n.awaitStop()
	}
}

// CheckClusterRestart stops all nodes in order and starts them again. The states must be unchanged.
func (s *Harness) CheckClusterRestart(random *rand.Rand) {
	s.t.Helper()
	before := s.CheckEqualStates()
	s.StopTogether(s.Cluster.Nodes...)
	for _, n := range s.Cluster.Nodes {
		n.VerifyLog()
		n.CheckReplayHash(before)
	}
	for _, n := range s.Cluster.Nodes {
		n.Start()
	}
	s.FollowLeader()
	s.Suppliers.RepeatRequests(200, random)
	s.AwaitAnswers(random)
	p := s.CollectClusterEvidence()
	s.Audit(p)
	s.AuditNodes(p)
	s.CheckEqualStates()
	s.StopTogether(s.Cluster.Nodes...)
}
