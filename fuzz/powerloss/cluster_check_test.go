package main

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"pingpost/cluster"
	"pingpost/fuzz/mutant"
	"pingpost/internal/must"
	"pingpost/wal"
)

func TestClusterMutationsApply(t *testing.T) {
	names := map[string]bool{}
	for _, broken := range clusterMutants {
		if names[broken[0].Name] {
			t.Errorf("two are called %q", broken[0].Name)
		}
		names[broken[0].Name] = true
		if _, err := mutant.WriteOverlay(root, t.TempDir(), slices.Concat(broken, shorterLimits, shorterClusterLimits)...); err != nil {
			t.Error(err)
		}
	}
}

// Of each two nodes, one can be elected by the other, or either if their Raft logs end equally.
func TestMajoritiesHavePromises(t *testing.T) {
	written := &writtenLog{}
	for n := range uint64(5) {
		written.entries = append(written.entries, wal.Entry{Seq: n + 1, At: int64(n), Data: fmt.Append(nil, "lead ", n)})
	}
	type logs struct{ term, index, entries uint64 }
	for name, row := range map[string]struct {
		nodes    [3]logs
		promised uint64
		wrong    string // "": the promise is kept
	}{
		"one node lacks the entry":                    {[3]logs{{2, 9, 4}, {2, 9, 4}, {2, 8, 3}}, 4, ""},
		"only the leader has the entry":               {[3]logs{{2, 9, 4}, {2, 8, 3}, {2, 8, 3}}, 4, "node b can be elected by node c"},
		"a node without the entry has a later term":   {[3]logs{{2, 9, 4}, {2, 9, 4}, {3, 4, 3}}, 4, "node c can be elected by node a"},
		"two equal Raft logs, but one own log behind": {[3]logs{{2, 9, 4}, {2, 9, 2}, {2, 9, 4}}, 4, "node b can be elected by node a"},
		"all nodes lack entries without a promise":    {[3]logs{{2, 5, 1}, {2, 5, 1}, {1, 5, 0}}, 1, ""},
	} {
		var nodes []*openedNode
		for i, of := range row.nodes {
			nodes = append(nodes, &openedNode{id: string(rune('a' + i)), at: cluster.RaftPosition{Term: of.term, Index: of.index}, entries: written.entries[:of.entries]})
		}
		err := checkMajorities(nodes, written, row.promised)
		if (err == nil) != (row.wrong == "") || err != nil && !strings.Contains(err.Error(), row.wrong) {
			t.Errorf("%s: %v, want %q", name, err, row.wrong)
		}
	}
	other := slices.Clone(written.entries)
	other[1].Data = []byte("another lead")
	if err := (&openedNode{entries: other}).checkPromised(written, 2); err == nil {
		t.Error("another entry in the place of a promised one is no violation")
	}
}

// Messages between nodes look like requests and answers, but promise nothing.
func TestMessagesBetweenNodesAreNoAcks(t *testing.T) {
	for text, between := range map[string]bool{
		"POST /v1/post HTTP/1.1\r\nX-Pingpost-Forwarded-Kind: public\r\n\r\n{}": true,
		"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\n":            true,
		"POST /v1/post HTTP/1.1\r\nHost: buyer\r\n\r\n{}":                       false,
		"HTTP/1.1 201 Created\r\nX-Request-Id: req_1\r\n\r\n{}":                 false,
	} {
		if got := isBetweenNodes([]byte(text)); got != between {
			t.Errorf("%q: %v", text, got)
		}
	}
}

// The whole run, with few points.
func TestPowerLossOfRealCluster(t *testing.T) {
	s := shortSession(t)
	s.Cluster, s.Points, s.Serve = true, 60, 40
	must.Succeed(t, s.recordUntilDone(context.Background()))
	if s.stats.points != 180 || s.stats.served > 1 || s.stats.lostWrites == 0 || s.acks < 20 || s.calls < 150 {
		t.Errorf("\n%s", s.table())
	}
}
