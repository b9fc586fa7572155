package cluster

import (
	"testing"
	"time"

	"github.com/hashicorp/raft"
)

// TestLeaseCountsTimeOfSending: the lease depends on the times at which messages were sent, not on those of
// their answers. An answer to a message from before a suspension, or of an earlier term, does not count.
func TestLeaseCountsTimeOfSending(t *testing.T) {
	now := time.Now()
	since := now.Add(-200 * time.Millisecond)
	old, recent := since.Add(-time.Millisecond), since.Add(time.Millisecond)
	type answer struct {
		node raft.ServerID
		term uint64
		sent time.Time
	}
	three := []raft.Server{{ID: "a"}, {ID: "b"}, {ID: "c"}}
	for name, row := range map[string]struct {
		voters  []raft.Server
		answers []answer
		holds   bool
	}{
		"no answer":                        {three, nil, false},
		"one of two others":                {three, []answer{{"b", 5, recent}}, true},
		"a late answer to an old message":  {three, []answer{{"b", 5, old}, {"c", 5, old}}, false},
		"an old answer after a recent one": {three, []answer{{"b", 5, recent}, {"b", 5, old}}, true},
		"of the term before":               {three, []answer{{"b", 4, recent}}, false},
		"of a later term":                  {three, []answer{{"b", 5, recent}, {"c", 6, recent}}, false},
		"one of four others":               {append(three, raft.Server{ID: "d"}, raft.Server{ID: "e"}), []answer{{"b", 5, recent}}, false},
		"of a node that is no voter":       {append(three, raft.Server{ID: "d", Suffrage: raft.Nonvoter}), []answer{{"d", 5, recent}}, false},
		"of a node that is no member":      {three, []answer{{"x", 5, recent}}, false},
		"alone in the cluster":             {three[:1], nil, true},
	} {
		var l lease
		for _, a := range row.answers {
			l.record(a.node, a.term, a.sent)
		}
		if got := l.holds("a", row.voters, 5, since); got != row.holds {
			t.Errorf("%s: holds %v, want %v", name, got, row.holds)
		}
	}
}
