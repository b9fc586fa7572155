package cluster

import (
	"net"
	"testing"
	"time"

	"github.com/hashicorp/raft"

	"pingpost/internal/must"
)

func newGuard(holdsLease bool) *voteGuard {
	return &voteGuard{heartbeatTimeout: time.Hour, holdsLease: func() bool { return holdsLease }}
}

// TestVotesWithinHeartbeat: within the heartbeat timeout of a message that the node accepted it grants no vote
// and requests none, except in the hand-over of that leader.
func TestVotesWithinHeartbeat(t *testing.T) {
	const ago, recent = 2 * time.Hour, time.Minute
	for name, row := range map[string]struct {
		since      time.Duration // since the message of the leader in term 5
		holdsLease bool
		term       uint64
		handOver   bool
		grants     bool
		mayRequest bool // after a hand-over in term 5
	}{
		"a recent message":                     {recent, false, 6, false, false, false},
		"an old message":                       {ago, false, 6, false, true, true},
		"hand-over":                            {recent, false, 6, true, true, true},
		"hand-over of an earlier leader":       {recent, false, 5, true, false, false},
		"hand-over in a later term":            {recent, false, 7, true, false, false},
		"hand-over after an old message":       {ago, false, 7, true, true, true},
		"this node holds the lease":            {ago, true, 6, false, false, true},
		"this node holds the lease, hand-over": {ago, true, 6, true, false, true},
	} {
		g := newGuard(row.holdsLease)
		g.accept(5, func() bool { return true })
		g.beginHandOver(5)
		g.accepted = time.Now().Add(-row.since)
		processed := false
		if got := g.grant(row.term, row.handOver, func() { processed = true }); got != row.grants || processed != row.grants {
			t.Errorf("%s: grants %v, Raft decides %v, want %v", name, got, processed, row.grants)
		}
		if got := g.mayRequestVotes(row.term, row.handOver); got != row.mayRequest {
			t.Errorf("%s: may request votes %v, want %v", name, got, row.mayRequest)
		}
	}
	g := newGuard(false)
	g.accept(5, func() bool { return true })
	if g.mayRequestVotes(6, true) {
		t.Error("a node that is no successor requests the votes of a hand-over")
	}
	g = newGuard(false)
	g.accept(5, func() bool { return false })
	if !g.grant(6, false, func() {}) {
		t.Error("a message that Raft refused prevents a vote")
	}
}

// TestVoteDuringHeartbeat: a vote that is requested while Raft processes a heartbeat waits for its result. A
// heartbeat waits for a vote, and Raft then refuses it because of the new term.
func TestVoteDuringHeartbeat(t *testing.T) {
	g := newGuard(false)
	var granted, requested, overlapped bool
	votes := make(chan struct{}, 2)
	g.accept(5, func() bool {
		go func() { granted = g.grant(6, false, func() {}); votes <- struct{}{} }()
		go func() { requested = g.mayRequestVotes(6, false); votes <- struct{}{} }()
		time.Sleep(20 * time.Millisecond)
		return len(votes) == 0
	})
	<-votes
	<-votes
	if granted || requested {
		t.Errorf("during a heartbeat the node grants a vote: %v, requests votes: %v", granted, requested)
	}
	g = newGuard(false)
	ended := make(chan struct{})
	g.grant(6, false, func() {
		go func() {
			g.accept(5, func() bool { overlapped = false; return false })
			close(ended)
		}()
		overlapped = true
		time.Sleep(20 * time.Millisecond)
		if !overlapped {
			t.Error("a heartbeat was processed during a vote")
		}
	})
	<-ended
}

// intruder returns a transport that sends messages of another node.
func intruder(t *testing.T) *raft.NetworkTransport {
	t.Helper()
	tr := must.Value(raft.NewTCPTransport("127.0.0.1:0", &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 1}, 1, time.Second, nil))(t)
	t.Cleanup(func() { tr.Close(); tr.CloseStreams() })
	return tr
}

// TestLateHandOverElectsNoLeader: a late message of a hand-over, and votes that result from one, do not
// replace the leader, who still holds the lease.
func TestLateHandOverElectsNoLeader(t *testing.T) {
	t.Parallel()
	c := startCluster(t, nil)
	c.putUntilDone("lead")
	leader, _ := c.awaitLeader()
	awaitTrue(t, "the leader gets the lease", leader.HoldsLease)
	term := leader.raft.CurrentTerm()
	from := intruder(t)
	var other *member
	for _, m := range c.members {
		if m != leader {
			other = m
		}
	}
	for _, m := range c.members {
		if m == leader {
			continue
		}
		address := raft.ServerAddress(m.address)
		header := raft.RPCHeader{ProtocolVersion: raft.ProtocolVersionMax, ID: []byte(other.id), Addr: []byte(other.address)}
		_ = from.TimeoutNow("", address, &raft.TimeoutNowRequest{RPCHeader: header}, &raft.TimeoutNowResponse{})
		index, lastTerm := m.raft.LastIndex(), term
		request := &raft.RequestVoteRequest{RPCHeader: header, Term: term + 2, LastLogIndex: index, LastLogTerm: lastTerm, LeadershipTransfer: true}
		var vote raft.RequestVoteResponse
		must.Succeed(t, from.RequestVote("", address, request, &vote))
		if vote.Granted {
			t.Errorf("node %s votes for another leader within the heartbeat timeout", m.id)
		}
	}
	time.Sleep(600 * time.Millisecond)
	if got := leader.raft.CurrentTerm(); got != term || !leader.HoldsLease() {
		t.Errorf("the term is %d, want %d; the leader holds the lease: %v", got, term, leader.HoldsLease())
	}
}

// TestLeaderAfterFailedHandOver: the message of a hand-over is lost, or arrives late. The old leader never
// leads again in its term.
func TestLeaderAfterFailedHandOver(t *testing.T) {
	t.Parallel()
	c := startCluster(t, func(o *Options) { o.loseHandOver = true })
	leader, _ := c.awaitLeader()
	term := leader.raft.CurrentTerm()
	if err := leader.HandOver(""); err == nil {
		t.Error("a hand-over whose message is lost succeeds")
	}
	awaitTrue(t, "a node leads", func() bool {
		for _, m := range c.members {
			if l := m.leading.Load(); l != nil {
				if l.term == term {
					t.Fatal("the old leader leads again in the term of its hand-over")
				}
				return true
			}
		}
		return false
	})
}
