package engine_test

import (
	"errors"
	"sync"
	"testing"
	"time"

	"pingpost/engine"
)

// slowHistory takes so long for every fact.
type slowHistory struct {
	engine.History
	took time.Duration
}

func (h slowHistory) At(seq uint64) ([]byte, error) {
	time.Sleep(h.took)
	return h.History.At(seq)
}

// readsSlowly makes an exchange read its log back like that.
func readsSlowly(took time.Duration) func(*engine.Options) {
	return func(o *engine.Options) { o.History = slowHistory{o.History, took} }
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
			x := opened(t, bidders(), readsSlowly(test.took))
			a, b := x.quoted(inquiry(1)), x.offered(availability())
			x.crash() // what it remembered of them is gone
			time.Sleep(2 * time.Second)
			chosen := x.goSend(person(2, "flo_ping_id", b.id, "flo_buyer_id", "blue"))
			if got := x.posted(postOf(1, a)) + ", " + chosen.wait(); got != test.want {
				t.Errorf("%s, want %s", got, test.want)
			}
		})
	}
}

// Few facts are read back at once, and whoever has waited for its turn up to the
// ceiling waits no longer.
func TestReadingBackEndsAtTheCeiling(t *testing.T) {
	bubble(t, "", func(t *testing.T) {
		x := opened(t, bidders(), readsSlowly(time.Minute))
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
		if x.log.len() != entries {
			t.Errorf("%d entries", x.log.len()-entries)
		}
	})
}
