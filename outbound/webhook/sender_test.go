package webhook

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"pingpost/engine"
	"pingpost/engine/market"
	"pingpost/engine/state"
)

const posted, contacted, sold = market.WebhookPosted, market.WebhookContacted, market.WebhookSold

// later waits, and until nothing more happens by itself.
func later(d time.Duration) {
	time.Sleep(d)
	synctest.Wait()
}

// TestBounds: whatever is due, an endpoint has no more than its places, and all
// together have no more than there are.
func TestBounds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBox()
		b.post = func(string) market.WebhookResult {
			time.Sleep(100 * time.Millisecond)
			return market.WebhookResult{Delivered: true}
		}
		for supplier := range market.Ref(10) {
			for lead := range byte(30) {
				b.owe(supplier+1, lead, posted, 0)
			}
		}
		b.send(t, func(o *Options) { o.InFlight, o.InAll = 3, 25 })
		later(time.Minute)
		for supplier, most := range b.most {
			if most != 3 {
				t.Errorf("%d attempts at once to %d, want 3", most, supplier)
			}
		}
		if b.top != 25 || b.left() != 0 || len(b.log()) != 300 {
			t.Errorf("%d attempts at once, %d events left after %d attempts", b.top, b.left(), len(b.log()))
		}
	})
}

// TestTurns: endpoints take turns, however much each is owed and whoever came
// first.
func TestTurns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBox()
		for supplier, owed := range []byte{5, 2, 1} {
			for lead := range owed {
				b.owe(market.Ref(supplier+1), lead, posted, 0)
			}
		}
		b.send(t, func(o *Options) { o.InAll = 1 })
		later(time.Minute)
		var order []string
		for _, id := range b.log() {
			order = append(order, id[:1])
		}
		if got := strings.Join(order, ""); got != "12312111" {
			t.Errorf("in turn: %s", got)
		}
	})
}

// TestOneHangs: one endpoint answers nothing, and the others hear everything in
// the meantime.
func TestOneHangs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBox()
		b.post = func(id string) market.WebhookResult {
			if strings.HasPrefix(id, "1/") {
				time.Sleep(patience)
				return market.WebhookResult{Fault: market.FaultTimeout}
			}
			time.Sleep(5 * time.Millisecond)
			return market.WebhookResult{Delivered: true}
		}
		for supplier := range market.Ref(100) {
			for lead := range byte(20) {
				b.owe(supplier+1, lead, posted, 0)
			}
		}
		b.send(t, nil)
		later(patience - time.Nanosecond) // the first attempts of the one are under way
		if b.left() != 20 || b.underWay(1) != 8 {
			t.Errorf("%d events are left, %d attempts hang", b.left(), b.underWay(1))
		}
	})
}

// TestASecond is what an attempt has, from the instant at which it begins.
func TestASecond(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBox()
		b.owe(1, 0, posted, time.Hour)
		var left time.Duration
		b.send(t, func(o *Options) {
			o.Post = func(r *market.WebhookRequest) market.WebhookResult {
				left = time.Until(r.Deadline)
				return b.try(r)
			}
		})
		later(2 * time.Hour)
		if left != time.Second || b.left() != 0 {
			t.Errorf("an attempt has %s; %d events are left", left, b.left())
		}
	})
}

// TestManyHang: endpoints that hang have half of the places at most, so that the
// others go on.
func TestManyHang(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const hanging, sound = 80, 20
		b := newBox()
		b.post = func(id string) market.WebhookResult {
			var supplier int
			_, _ = fmt.Sscanf(id, "%d/", &supplier)
			if supplier <= hanging {
				time.Sleep(patience)
				return market.WebhookResult{Fault: market.FaultTimeout}
			}
			time.Sleep(10 * time.Millisecond)
			return market.WebhookResult{Delivered: true}
		}
		for lead := range byte(60) {
			for supplier := range market.Ref(hanging + sound) {
				b.owe(supplier+1, lead, posted, 0)
			}
		}
		b.send(t, func(o *Options) { o.InAll = 64 })
		later(2*patience - time.Nanosecond) // the first of each has shown what it is
		before := len(b.log())
		later(patience)
		if served := len(b.log()) - before; served < 32*50 && b.left() > 60*hanging {
			t.Errorf("32 places that are taken for 10 ms served %d in a second", served)
		}
		later(patience)
		if left := b.left(); left != 60*hanging {
			t.Errorf("%d events are left, want those of %d that hang", left, hanging)
		}
		if under := b.underWay(0); under > 32 {
			t.Errorf("%d attempts hang", under)
		}
	})
}

// TestSlowIsForgiven: what has answered quickly again has all places again.
func TestSlowIsForgiven(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBox()
		takes := patience
		b.post = func(string) market.WebhookResult {
			b.mu.Lock()
			d := takes
			b.mu.Unlock()
			time.Sleep(d)
			return market.WebhookResult{Delivered: true}
		}
		for lead := range byte(60) {
			b.owe(1, lead, posted, 0)
		}
		b.send(t, func(o *Options) { o.InFlight, o.InAll = 6, 6 })
		later(patience + patience/2)
		if b.underWay(1) != 3 {
			t.Errorf("%d attempts under way to a slow one", b.underWay(1))
		}
		b.set(func() { takes = slow - time.Millisecond })
		later(patience)
		if b.underWay(1) != 6 {
			t.Errorf("%d attempts under way to one that has become quick", b.underWay(1))
		}
	})
}

// TestWakes: an event is tried when it is due, whether it was there before, has
// just come, is due in an hour, or has failed; and never before.
func TestWakes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBox()
		fail := true
		b.post = func(id string) market.WebhookResult {
			b.mu.Lock()
			defer b.mu.Unlock()
			return market.WebhookResult{Delivered: !fail || id != "3/0/1"}
		}
		b.owe(1, 0, posted, 0)
		b.owe(2, 0, posted, 3*time.Hour)
		b.send(t, nil)
		check := func(when string, want ...string) {
			t.Helper()
			later(2 * leastBetween)
			if got := b.log(); !slices.Equal(got, want) {
				t.Errorf("%s: tried %v, want %v", when, got, want)
			}
		}
		check("at the start", "1/0/1")
		b.owe(3, 0, posted, 0)
		check("one that comes", "1/0/1", "3/0/1")
		later(time.Minute - 10*leastBetween)
		check("before its retry", "1/0/1", "3/0/1")
		b.set(func() { fail = false })
		later(10 * leastBetween)
		check("its retry", "1/0/1", "3/0/1", "3/0/1")
		later(2 * time.Hour)
		check("before the third hour", "1/0/1", "3/0/1", "3/0/1")
		later(time.Hour)
		check("after it", "1/0/1", "3/0/1", "3/0/1", "2/0/1")
	})
}

// TestOrderOfALead: one lead's events keep their order, without holding up those
// of others; until the earlier one has had its first retry.
func TestOrderOfALead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBox()
		b.post = func(id string) market.WebhookResult {
			time.Sleep(50 * time.Millisecond)
			return market.WebhookResult{Delivered: id != "1/2/1"}
		}
		for _, lead := range []byte{1, 2} {
			for _, what := range []market.WebhookType{posted, contacted, sold} {
				b.owe(1, lead, what, 0)
			}
		}
		b.send(t, nil)
		later(time.Second)
		first := b.log()
		slices.Sort(first[:2]) // of the two leads
		if got := strings.Join(first, " "); got != "1/1/1 1/2/1 1/1/2 1/1/4" {
			t.Errorf("at once: %s", got)
		}
		later(time.Minute)
		if got := strings.Join(b.log()[4:], " "); got != "1/2/1 1/2/2 1/2/4" {
			t.Errorf("after a minute: %s", got)
		}
	})
}

// TestClose: attempts under way come to their end and to their facts; nothing else
// is taken, and nothing is out any more.
func TestClose(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBox()
		b.post = func(string) market.WebhookResult {
			time.Sleep(patience / 2)
			return market.WebhookResult{Delivered: true}
		}
		for lead := range byte(100) {
			b.owe(1, lead, posted, 0)
		}
		s := b.send(t, nil)
		later(patience / 4)
		s.Close()
		s.Close()
		if len(b.log()) != 8 || b.left() != 92 {
			t.Errorf("%d were tried, %d are left", len(b.log()), b.left())
		}
		later(time.Minute)
		if len(b.log()) != 8 || slices.ContainsFunc(b.rows[1], func(r *row) bool { return r.out }) {
			t.Errorf("%d were tried in all, or something is out still", len(b.log()))
		}
	})
}

// TestCloseBeforeTheAttempt: what was taken and not tried goes back.
func TestCloseBeforeTheAttempt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBox()
		b.owe(1, 0, posted, 0)
		b.mu.Lock() // nothing comes out of the box
		s := New(Options{Outbox: b, Engine: slowly{b}, Post: b.try, Now: func() int64 { return time.Now().UnixNano() }, Fault: func(what string, err error) { t.Error(what, err) }})
		b.mu.Unlock()
		later(time.Minute)
		s.Close()
		if len(b.log()) != 0 || b.left() != 1 || b.only().out {
			t.Errorf("tried %v, %d left", b.log(), b.left())
		}
	})
}

// slowly is an engine that takes two minutes to say what an event is to say.
type slowly struct{ *box }

func (s slowly) WebhookMessage(h *state.QueuedWebhook) (engine.WebhookMessage, error) {
	time.Sleep(2 * time.Minute)
	return s.box.WebhookMessage(h)
}

// TestOwnFaults: where the message cannot be had, or the attempt not be logged, the
// event is due as before; the endpoint is let be for a while, and one line told.
func TestOwnFaults(t *testing.T) {
	for name, row := range map[string]struct {
		breaks func(*box, error)
		tells  bool
		pauses bool
	}{
		"no message":     {func(b *box, err error) { b.unreadable = err }, true, true},
		"no fact":        {func(b *box, err error) { b.unlogged = err }, true, true},
		"nothing at all": {func(*box, error) {}, false, false},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := newBox()
				for lead := range byte(3) {
					b.owe(1, lead, posted, 0)
				}
				broken := errors.New("broken disk")
				row.breaks(b, broken)
				s := b.send(t, nil)
				later(pause / 2)
				if told := len(b.faults) > 0; told != row.tells || len(b.faults) > 1 {
					t.Errorf("told: %q", b.faults)
				}
				if row.pauses {
					b.set(func() { b.unreadable, b.unlogged = nil, nil })
					if n := len(b.log()); n != 0 {
						t.Errorf("%d facts", n)
					}
					later(pause)
					if b.left() != 0 {
						t.Errorf("%d are left when it works again", b.left())
					}
				}
				s.Close()
			})
		})
	}
}

// TestEventsOfNothing: those of which nothing is known any more, however many, keep
// nobody waiting who is told of others.
func TestEventsOfNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBox()
		b.gone = map[string]bool{}
		for lead := range byte(100) {
			b.owe(1, lead, posted, 0)
			b.gone[fmt.Sprintf("1/%d/%d", lead, posted)] = true
		}
		b.owe(1, 200, posted, 0)
		s := b.send(t, nil)
		later(pause / 2)
		if got := b.log(); !slices.Equal(got, []string{fmt.Sprintf("1/200/%d", posted)}) || b.left() != 0 || len(b.faults) != 0 {
			t.Errorf("tried %v, %d left, told %q", got, b.left(), b.faults)
		}
		s.Close()
	})
}

// TestTemperChangesInTheQueue: an endpoint whose last attempt was slow, or no more
// is, has its next turn without anybody's waking the loop.
func TestTemperChangesInTheQueue(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBox()
		attempts := 0
		b.post = func(string) market.WebhookResult {
			if attempts++; attempts%2 == 1 {
				time.Sleep(slow)
			}
			return market.WebhookResult{Delivered: true}
		}
		for lead := range byte(9) {
			b.owe(1, lead, posted, 0)
		}
		b.send(t, func(o *Options) { o.InAll = 1 })
		later(9 * slow)
		if b.left() != 0 {
			t.Errorf("%d are left", b.left())
		}
	})
}

// TestPanic: an attempt that panics is one that failed, and the sender goes on.
func TestPanic(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBox()
		b.post = func(id string) market.WebhookResult {
			if id == "1/0/1" {
				panic("at the disco")
			}
			return market.WebhookResult{Delivered: true}
		}
		b.owe(1, 0, posted, 0)
		b.owe(1, 1, posted, 0)
		b.send(t, nil)
		later(time.Second)
		if b.only().hook.Attempts != 1 || len(b.faults) != 1 || strings.Contains(b.faults[0], "disco") {
			t.Errorf("%d left, told %.200q", b.left(), b.faults)
		}
	})
}

// TestEverythingArrives: events come at any time, to endpoints of every temper, and
// in the end each is delivered: in its lead's order, and once for each failure and
// once more.
func TestEverythingArrives(t *testing.T) {
	for seed := range uint64(10) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				chance := rand.New(rand.NewPCG(seed, 7))
				b := newBox()
				delays, failures := map[string]time.Duration{}, map[string]int{}
				suppliers := 1 + market.Ref(chance.IntN(12))
				b.post = func(id string) market.WebhookResult {
					b.mu.Lock()
					delay, failed := delays[id], failures[id] > 0
					failures[id]--
					b.mu.Unlock()
					time.Sleep(delay)
					return market.WebhookResult{Delivered: !failed}
				}
				b.send(t, func(o *Options) { o.InFlight, o.InAll = 1+chance.IntN(8), 1+chance.IntN(40) })
				want := 0
				for lead := range byte(12) {
					for supplier := range suppliers {
						for what := posted; what <= sold; what++ {
							id := fmt.Sprintf("%d/%d/%d", supplier+1, lead, what)
							b.mu.Lock()
							delays[id] = time.Duration(chance.IntN(1000)) * time.Millisecond * time.Duration(chance.IntN(2))
							failures[id] = max(0, chance.IntN(8)-5)
							want += failures[id] + 1
							b.mu.Unlock()
							b.owe(supplier+1, lead, what, time.Duration(chance.IntN(3))*time.Second)
						}
					}
					later(time.Duration(chance.IntN(100)) * time.Millisecond)
				}
				later(24 * time.Hour)
				if b.left() != 0 || len(b.log()) != want {
					t.Fatalf("%d events are left after %d attempts, want %d", b.left(), len(b.log()), want)
				}
				first := map[string]int{}
				for i, id := range b.log() {
					if _, ok := first[id]; !ok {
						first[id] = i
					}
				}
				for id, i := range first {
					var supplier, lead, what int
					_, _ = fmt.Sscanf(id, "%d/%d/%d", &supplier, &lead, &what)
					if before, ok := first[fmt.Sprintf("%d/%d/%d", supplier, lead, what-1)]; ok && before > i {
						t.Errorf("%s came before the event that it follows", id)
					}
				}
			})
		})
	}
}
