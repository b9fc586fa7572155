package cluster

import (
	"testing"
	"time"

	"pingpost/internal/must"
)

// TestFollowersNoticeTheLossOfTheLeader: Raft's own checks of the leader would come after an hour.
func TestFollowersNoticeTheLossOfTheLeader(t *testing.T) {
	t.Parallel()
	c := startCluster(t, nil)
	old, _ := c.awaitLeader()
	for _, m := range c.members {
		slow := m.raft.ReloadableConfig()
		slow.HeartbeatTimeout, slow.ElectionTimeout = time.Hour, time.Hour
		must.Succeed(t, m.raft.ReloadConfig(slow))
		m.checkLeaderContact() // makes Raft start its timer again, with an hour
		must.Succeed(t, m.raft.ReloadConfig(slow))
	}
	old.kill()
	if next, _ := c.awaitLeader(); next == old {
		t.Errorf("node %q leads after its end", old.id)
	}
}

// TestFollowersBeginElectionsInTurn: followers begin elections in the order of their names, further apart than
// the leader's heartbeats. A check while the leader answers begins no election.
func TestFollowersBeginElectionsInTurn(t *testing.T) {
	t.Parallel()
	c := startCluster(t, nil)
	leader, _ := c.awaitLeader()
	term := leader.Term()
	for _, m := range c.members {
		want := time.Duration(0)
		for _, other := range c.members {
			if other != leader && other.id < m.id {
				want += m.opt.HeartbeatTimeout / 4
			}
		}
		awaitTrue(t, "the node knows the leader and the members", func() bool {
			return m.Leader().ID == leader.id && len(m.Members()) == len(c.members)
		})
		if got := m.electionDelay(); got != want {
			t.Errorf("node %q has the delay %v, want %v", m.id, got, want)
		}
		for range 10 {
			m.checkLeaderContact()
		}
	}
	c.putUntilDone("after the checks")
	if now, _ := c.awaitLeader(); now != leader || now.Term() != term {
		t.Errorf("node %q leads in term %d after checks of the leader, want node %q in term %d", now.id, now.Term(), leader.id, term)
	}
}
