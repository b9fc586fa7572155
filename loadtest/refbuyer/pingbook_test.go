package refbuyer

import (
	"fmt"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// TestPingBook compares the book with a list that is searched from its end.
func TestPingBook(t *testing.T) {
	type noted struct {
		key, body string
		until     int64
	}
	rapid.Check(t, func(t *rapid.T) {
		limit := rapid.IntRange(1, 5).Draw(t, "limit")
		book := newPingBook(limit)
		var kept []noted
		var want pingStats
		for i := range rapid.IntRange(1, 60).Draw(t, "pings") {
			ping := noted{fmt.Sprint("k", rapid.IntRange(0, 7).Draw(t, "key")), fmt.Sprint("b", rapid.IntRange(0, 1).Draw(t, "body")), int64(i)}
			as := rapid.SampledFrom([]intent{toBid, toPass, toDamage}).Draw(t, "as")
			until, use := book.note([]byte(ping.key), []byte(ping.body), ping.until, as)
			wantUntil, wantStands := ping.until, firstUse
			for _, old := range kept {
				if old.key == ping.key {
					if wantUntil, wantStands = old.until, repeatedKey; old.body != ping.body {
						wantUntil, wantStands = 0, reusedKey
					}
				}
			}
			if until != wantUntil || use != wantStands {
				t.Fatalf("%+v: %d, %d, want %d, %d", ping, until, use, wantUntil, wantStands)
			}
			if use == reusedKey {
				continue
			}
			want.pings++
			if use == repeatedKey {
				want.repeated++
				continue
			}
			want.bids += int64(btoi(as == toBid))
			want.noBids += int64(btoi(as == toPass))
			want.malformed += int64(btoi(as == toDamage))
			if kept = append(kept, ping); len(kept) > limit {
				kept = kept[1:]
			}
		}
		if got := book.snapshot(); got != want {
			t.Fatalf("got %+v, want %+v", got, want)
		}
		if len(book.index) != len(kept) {
			t.Fatalf("%d keys are known, want %d", len(book.index), len(kept))
		}
	})
}

func btoi(b bool) int {
	if b {
		return 1
	}
	return 0
}

func TestPeak(t *testing.T) {
	book := newPingBook(1)
	for second, pings := range []int{3, 0, 7, 5, 7, 1} {
		for i := range pings {
			book.arrive(noon.Add(time.Duration(second)*time.Second + time.Duration(i)*time.Millisecond))
		}
	}
	if got := book.snapshot().peak; got != 7 {
		t.Errorf("at most %d pings in a second, want 7", got)
	}
}
