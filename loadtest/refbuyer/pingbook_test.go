package refbuyer

import (
	"testing"
	"time"
)

// TestPingBook: a book of two pings forgets the oldest one.
func TestPingBook(t *testing.T) {
	book := newPingBook(2)
	for i, step := range []struct {
		key, body string
		as        intent
		until     int64
		use       repetition
	}{
		{"a", "x", toBid, 0, firstUse},
		{"b", "x", toPass, 1, firstUse},
		{"a", "x", toBid, 0, repeatedKey},
		{"a", "y", toBid, 0, reusedKey},
		{"c", "x", toDamage, 4, firstUse}, // replaces a
		{"b", "x", toBid, 1, repeatedKey},
		{"a", "y", toBid, 6, firstUse}, // replaces b
		{"b", "y", toBid, 7, firstUse},
	} {
		if until, use := book.recordPing([]byte(step.key), []byte(step.body), int64(i), step.as); until != step.until || use != step.use {
			t.Errorf("step %d: %d, %d, want %d, %d", i, until, use, step.until, step.use)
		}
	}
	if got := book.snapshot(); got != (Stats{Pings: 7, Bids: 3, NoBids: 1, PingsReplayed: 2, Malformed: 1}) || len(book.index) != 2 {
		t.Errorf("%+v, %d keys are known", got, len(book.index))
	}
}

func TestPeak(t *testing.T) {
	book := newPingBook(1)
	for second, pings := range []int{3, 0, 7, 5, 7, 1} {
		for i := range pings {
			book.countArrival(noon.Add(time.Duration(second)*time.Second + time.Duration(i)*time.Millisecond))
		}
	}
	if got := book.snapshot().PeakPings; got != 7 {
		t.Errorf("at most %d pings in a second, want 7", got)
	}
}
