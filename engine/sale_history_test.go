package engine_test

import (
	"errors"
	"sync"
	"testing"
	"time"

	"pingpost/engine"
)

// readsSlowly makes an exchange take so long to read an event back from its log.
func readsSlowly(took time.Duration) func(*engine.Options) {
	return func(o *engine.Options) {
		history := o.History
		o.History = historyFunc(func(seq uint64) ([]byte, error) {
			time.Sleep(took)
			return history.At(seq)
		})
	}
}

// A bid whose window has ended while its auction was read back is over: nobody
// stands by it any more, whenever the request came.
func TestWindowEndsWhileTheLogIsRead(t *testing.T) {
	tests := []struct {
		what string
		took time.Duration
		want string
	}{
		{"in time", 2 * time.Second, "blue theirs 8, blue"},
		{"too late", 4 * time.Second, "bid_expired, bid_expired"},
	}
	for _, test := range tests {
		bubble(t, test.what, func(t *testing.T) {
			x := begin(t, bidders(), readsSlowly(test.took))
			a, b := x.quoted(inquiry(1)), x.offered(availability())
			x.crash() // what it remembered of them is gone
			time.Sleep(2 * time.Second)
			chosen := x.goSend(person(2, "flo_ping_id", b.id, "flo_buyer_id", "blue"))
			expectEqual(t, x.posted(postOf(1, a))+", "+chosen.wait(), test.want)
		})
	}
}

// Few facts are read back at once, and whoever has waited for its turn up to the
// ceiling waits no longer.
func TestReadingBackEndsAtTheCeiling(t *testing.T) {
	bubble(t, "", func(t *testing.T) {
		x := begin(t, bidders(), readsSlowly(time.Minute))
		a := x.quoted(inquiry(1))
		b := x.offered(availability())
		x.crash()
		var readers sync.WaitGroup
		for n := range 4 {
			readers.Go(func() { _, _ = x.sell(postOf(10+n, a)) })
		}
		time.Sleep(time.Second)
		entries := x.log.len()
		waits := map[string]func() error{
			"a post":                  func() error { _, err := x.sell(postOf(1, a)); return err },
			"a lead for a buyer":      func() error { _, err := x.send(person(2, "flo_ping_id", b.id, "flo_buyer_id", "blue")); return err },
			"a ping that came before": func() error { _, err := x.ping(inquiry(1)); return err },
		}
		for what, call := range waits {
			readers.Go(func() {
				start := time.Now()
				if err := call(); !errors.Is(err, engine.ErrUnavailable) || time.Since(start) != 5*time.Second {
					t.Errorf("%s: %v after %s", what, err, time.Since(start))
				}
			})
		}
		readers.Wait()
		expectEqual(t, x.log.len(), entries, "entries in the log")
	})
}

// An auction of which history has nothing left, while memory has its name still,
// as after history was shortened: its window is long over, and that is an answer.
// It is no fault, and a refused post uses up no key.
func TestHistoryIsShorterThanMemory(t *testing.T) {
	bubble(t, "", func(t *testing.T) {
		var cut error
		x := begin(t, bidders(), historyThatFails(&cut))
		open, sold, refused := x.quoted(inquiry(1)), x.quoted(inquiry(2)), x.quoted(inquiry(3))
		choice := x.offered(availability())
		expectEqual(t, x.posted(postOf(2, sold)), "blue theirs 8")
		x.world.script("blue", refuses)
		expectEqual(t, x.posted(postOf(3, refused)), "post_rejected post_rejected")
		x.crash() // what it remembered of them is gone
		time.Sleep(25 * time.Hour)
		cut = engine.ErrGone
		entries := x.log.len()
		for _, row := range []struct {
			what string
			post posting
			want string
		}{
			{"one that nobody took up", postOf(11, open), "bid_expired"},
			{"the same again", postOf(11, open), "bid_expired"},
			{"by a token that cannot be judged any more", func() posting { p := postOf(12, open); p.token = "bid_x"; return p }(), "bid_expired"},
			{"one that was sold", postOf(13, sold), "already_sold"},
			{"one whose sale was refused", postOf(14, refused), "bid_expired"},
			{"another supplier's", func() posting { p := postOf(15, open); p.supplier = "other"; return p }(), "invalid_bid_token"},
		} {
			expectEqual(t, x.posted(row.post), row.want, row.what)
		}
		expectEqual(t, x.posted(postOf(16, open, "phone", "1")), "invalid_payload lead.phone:invalid_format", "a lead with a fault")
		expectEqual(t, x.log.len(), entries, "entries in the log")
		expectEqual(t, x.tell(person(17, "flo_ping_id", choice.id, "flo_buyer_id", "blue")), "bid_expired", "a lead for a buyer")
		expectEqual(t, x.noted.faults.Load(), 0, "faults")
		// The answer to the ping itself is what cannot be had again.
		if _, err := x.ping(inquiry(1)); !errors.Is(err, engine.ErrUnavailable) || x.noted.faults.Load() != 1 {
			t.Errorf("the ping again: %v, %d faults", err, x.noted.faults.Load())
		}
		x.noted.faults.Store(0)
	})
}
