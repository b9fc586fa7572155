package exchange

import (
	"fmt"
	"testing"

	"pingpost/internal/must"
)

// TestHashAt holds what a replay comes to against the live exchange, at
// positions before and behind a snapshot.
func TestHashAt(t *testing.T) {
	x := start(t, newPlace(t, recorded))
	type position struct{ seq, hash uint64 }
	var lived []position
	note := func() {
		var p position
		must.Value(fmt.Sscanf(x.must(200, "GET", "/admin/v1/hash", "").body, `{"seq":%d,"hash":"%016x"}`, &p.seq, &p.hash))(t)
		lived = append(lived, p)
	}
	for n := range 6 {
		if n == 3 {
			x = x.again() // which leaves a snapshot
		}
		x.sold(lead(n))
		note()
	}
	x = x.again()
	note()
	for i, want := range lived {
		t.Run(fmt.Sprintf("position %d", i), func(t *testing.T) {
			seq, hash, err := StateHash(x.data(), want.seq)
			if err != nil || (position{seq, hash}) != want {
				t.Errorf("the log replays to %x at %d (%v), the live state was %x at %d", hash, seq, err, want.hash, want.seq)
			}
		})
	}
	last := lived[len(lived)-1]
	if seq, hash, err := StateHash(x.data(), 0); err != nil || (position{seq, hash}) != last {
		t.Errorf("the whole log replays to %x at %d (%v), the live state is %x at %d", hash, seq, err, last.hash, last.seq)
	}
	if _, _, err := StateHash(x.data(), last.seq+1); err == nil {
		t.Error("a position after the log's end has a hash")
	}
}
