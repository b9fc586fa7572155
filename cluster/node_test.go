package cluster

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/hashicorp/raft"

	"pingpost/cluster/clusterid"
	"pingpost/internal/must"
	"pingpost/wal"
)

// TestEveryNodeAppliesTheSame: entries of many callers reach all nodes in one order, and their logs have
// the same bytes.
func TestEveryNodeAppliesTheSame(t *testing.T) {
	t.Parallel()
	c := startCluster(t, nil)
	var callers sync.WaitGroup
	for n := range 16 {
		callers.Go(func() {
			for i := range 50 {
				c.putUntilDone(fmt.Sprintf("lead %d of supplier %d", i, n))
			}
		})
	}
	callers.Wait()
	c.awaitEqual(800)
	var logs []string
	for _, m := range c.members {
		var bytes string
		for _, s := range must.Value(wal.Segments(m.dir))(t) {
			bytes += filepath.Base(s.Path) + string(must.Value(os.ReadFile(s.Path))(t))
		}
		logs = append(logs, bytes)
	}
	if logs[0] != logs[1] || logs[0] != logs[2] {
		t.Error("the nodes' logs differ")
	}
}

// TestKilledLeaderLosesNoAcknowledgedEntry kills the leader under load several times, and restarts it.
// Every acknowledged entry is on all nodes once. An entry with an unknown result may be there too.
func TestKilledLeaderLosesNoAcknowledgedEntry(t *testing.T) {
	t.Parallel()
	c := startCluster(t, nil)
	acknowledged := make([]bool, 4*1000)
	var unknown sync.Map
	var mu sync.Mutex // a member is killed between two entries of a caller
	var callers sync.WaitGroup
	for caller := range 4 {
		callers.Go(func() {
			for i := range 1000 {
				n := caller*1000 + i
				mu.Lock()
				m, _ := c.awaitLeader()
				result := make(chan error, 1)
				w := &commit{machine: m.machine, data: fmt.Appendf(nil, "lead %d", n), done: result}
				err := m.appendEntry(w.data, w)
				mu.Unlock()
				if err == nil {
					err = <-result
				}
				switch {
				case err == nil:
					acknowledged[n] = true
				case errors.Is(err, ErrUnknown):
					unknown.Store(n, true)
				case !errors.Is(err, ErrNotLeader):
					t.Errorf("lead %d: %v", n, err)
				}
			}
		})
	}
	for range 3 {
		m, _ := c.awaitLeader()
		time.Sleep(50 * time.Millisecond) // under load
		m.network.closeAll()
		mu.Lock()
		m.kill()
		mu.Unlock()
		c.awaitLeader()
		mu.Lock()
		m.start()
		mu.Unlock()
	}
	callers.Wait()
	c.putUntilDone("last")
	applied := c.awaitEqual(1)
	counts := map[string]int{}
	for _, e := range applied {
		counts[e]++
	}
	done := 0
	for n, ok := range acknowledged {
		got := counts[fmt.Sprintf("lead %d", n)]
		_, open := unknown.Load(n)
		switch {
		case ok && got != 1:
			t.Errorf("lead %d was acknowledged, and is applied %d times", n, got)
		case !ok && !open && got != 0:
			t.Errorf("lead %d was refused, and is applied %d times", n, got)
		case got > 1:
			t.Errorf("lead %d is applied %d times", n, got)
		}
		if ok {
			done++
		}
	}
	if done < 100 {
		t.Errorf("only %d entries were acknowledged", done)
	}
}

// TestAllNodesRestart: after all nodes stopped, their logs have the entries once.
func TestAllNodesRestart(t *testing.T) {
	t.Parallel()
	c := startCluster(t, nil)
	var want []string
	for round := range 3 {
		for i := range 20 {
			want = append(want, fmt.Sprintf("lead %d of round %d", i, round))
			c.putUntilDone(want[len(want)-1])
		}
		if got := c.awaitEqual(len(want)); !slices.Equal(got, want) {
			t.Fatalf("round %d: applied %q, want %q", round, got, want)
		}
		for _, m := range c.members {
			m.kill()
		}
		for _, m := range c.members {
			m.start()
		}
	}
	c.putUntilDone("last")
	c.awaitEqual(len(want) + 1)
}

// TestFollowerRefusesEntries: only the leader accepts entries.
func TestFollowerRefusesEntries(t *testing.T) {
	t.Parallel()
	c := startCluster(t, nil)
	c.putUntilDone("lead")
	accepted := 0
	for _, m := range c.members {
		switch err := m.put("another lead"); {
		case err == nil:
			accepted++
		case !errors.Is(err, ErrNotLeader):
			t.Errorf("node %s: %v, want %v", m.id, err, ErrNotLeader)
		}
	}
	if accepted > 1 {
		t.Errorf("%d nodes accepted an entry", accepted)
	}
}

// TestBootstrapCreatesOneCluster: the first node gives its cluster an id, which a repeated Bootstrap keeps.
func TestBootstrapCreatesOneCluster(t *testing.T) {
	t.Parallel()
	m := newMember(t, "a", nil)
	m.start()
	must.Succeed(t, m.Bootstrap())
	id := must.Value(clusterid.Read(m.dir))(t)
	if id == (clusterid.ID{}) {
		t.Error("the cluster has no id")
	}
	if err := m.Bootstrap(); !errors.Is(err, raft.ErrCantBootstrap) {
		t.Errorf("the second Bootstrap: %v, want %v", err, raft.ErrCantBootstrap)
	}
	if again := must.Value(clusterid.Read(m.dir))(t); again != id {
		t.Errorf("the second Bootstrap changed the id from %x to %x", id, again)
	}
}

// TestAddressLeadsToOneNode: an address that is the same on every machine is refused.
func TestAddressLeadsToOneNode(t *testing.T) {
	for address, valid := range map[string]bool{"10.0.0.1:7000": true, "node-a:7000": true, ":7000": false, "[::]:7000": false, "0.0.0.0:7000": false, "node-a": false} {
		if err := checkAddress(address); (err == nil) != valid {
			t.Errorf("%s: %v", address, err)
		}
	}
}
