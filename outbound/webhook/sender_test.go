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

// advance lets time pass and waits until all goroutines are blocked.
func advance(d time.Duration) {
	time.Sleep(d)
	synctest.Wait()
}

// The number of attempts in flight respects both limits.
func TestInFlightLimits(t *testing.T) {
	testOutbox(t, func(t *testing.T, b *fakeOutbox) {
		b.delay = 100 * time.Millisecond
		for supplier := range market.PermanentNumber(10) {
			b.addLeads(supplier+1, 30)
		}
		b.startSender(t, func(o *SenderOptions) { o.MaxPerEndpoint, o.MaxTotal = 3, 25 })
		advance(time.Minute)
		for supplier, got := range b.maxInFlight {
			if got != 3 {
				t.Errorf("%d attempts at once to %d, want 3", got, supplier)
			}
		}
		if b.maxTotal != 25 || b.pending() != 0 || len(b.attemptLog()) != 300 {
			t.Errorf("%d attempts at once, %d events left after %d attempts", b.maxTotal, b.pending(), len(b.attemptLog()))
		}
	})
}

// Endpoints take turns, regardless of their number of events and of their order.
func TestEndpointsTakeTurns(t *testing.T) {
	testOutbox(t, func(t *testing.T, b *fakeOutbox) {
		for supplier, count := range []byte{5, 2, 1} {
			b.addLeads(market.PermanentNumber(supplier+1), count)
		}
		b.startSender(t, func(o *SenderOptions) { o.MaxTotal = 1 })
		advance(time.Minute)
		var order []string
		for _, id := range b.attemptLog() {
			order = append(order, id[:1])
		}
		if got := strings.Join(order, ""); got != "12312111" {
			t.Errorf("order of suppliers %s, want 12312111", got)
		}
	})
}

// An attempt has one second from its beginning, or the time of the option.
func TestAttemptTimeout(t *testing.T) {
	for option, want := range map[time.Duration]time.Duration{0: time.Second, 20 * time.Second: 20 * time.Second} {
		testOutbox(t, func(t *testing.T, b *fakeOutbox) {
			b.add(1, 0, posted, time.Hour)
			var left time.Duration
			b.startSender(t, func(o *SenderOptions) {
				o.AttemptTimeout = option
				o.Post = func(r *market.WebhookRequest) market.WebhookAttemptResult {
					left = time.Until(r.Deadline)
					return b.postCounted(r)
				}
			})
			advance(2 * time.Hour)
			if left != want || b.pending() != 0 {
				t.Errorf("an attempt has %s, want %s; %d events are left", left, want, b.pending())
			}
		})
	}
}

// Hanging endpoints use at most half of the slots, so that the others continue.
func TestHangingEndpointsUseHalfOfSlots(t *testing.T) {
	testOutbox(t, func(t *testing.T, b *fakeOutbox) {
		const hanging, fast = 80, 20
		b.post = func(id string) market.WebhookAttemptResult {
			var supplier int
			_, _ = fmt.Sscanf(id, "%d/", &supplier)
			if supplier <= hanging {
				time.Sleep(attemptTimeout)
				return market.WebhookAttemptResult{Fault: market.FaultTimeout}
			}
			time.Sleep(10 * time.Millisecond)
			return market.WebhookAttemptResult{Delivered: true}
		}
		for lead := range byte(60) {
			for supplier := range market.PermanentNumber(hanging + fast) {
				b.add(supplier+1, lead, posted, 0)
			}
		}
		b.startSender(t, func(o *SenderOptions) { o.MaxTotal = 64 })
		advance(2*attemptTimeout - time.Nanosecond) // the first attempt to each has ended
		before := len(b.attemptLog())
		advance(attemptTimeout)
		if made := len(b.attemptLog()) - before; made < 32*50 && b.pending() > 60*hanging {
			t.Errorf("32 slots for attempts of 10 ms made %d attempts in a second", made)
		}
		advance(attemptTimeout)
		if left := b.pending(); left != 60*hanging {
			t.Errorf("%d events are left, want those of %d that hang", left, hanging)
		}
		if got := b.inFlightTo(0); got > 32 {
			t.Errorf("%d attempts hang, want at most 32", got)
		}
	})
}

// An endpoint that answers fast again may use all slots.
func TestEndpointBecomesFastAgain(t *testing.T) {
	testOutbox(t, func(t *testing.T, b *fakeOutbox) {
		b.delay = attemptTimeout
		b.addLeads(1, 60)
		b.startSender(t, func(o *SenderOptions) { o.MaxPerEndpoint, o.MaxTotal = 6, 6 })
		advance(attemptTimeout + attemptTimeout/2)
		if b.inFlightTo(1) != 3 {
			t.Errorf("%d attempts in flight to a slow endpoint, want 3", b.inFlightTo(1))
		}
		b.update(func() { b.delay = slowThreshold - time.Millisecond })
		advance(attemptTimeout)
		if b.inFlightTo(1) != 6 {
			t.Errorf("%d attempts in flight to an endpoint that is fast again, want 6", b.inFlightTo(1))
		}
	})
}

// The sender attempts an event when it is due and never earlier: an old event, a new one,
// one due in hours, and a retry.
func TestAttemptsStartWhenDue(t *testing.T) {
	testOutbox(t, func(t *testing.T, b *fakeOutbox) {
		b.failing = map[string]bool{"3/0/1": true}
		b.add(1, 0, posted, 0)
		b.add(2, 0, posted, 3*time.Hour)
		b.startSender(t, nil)
		check := func(when string, want ...string) {
			t.Helper()
			advance(2 * minScanInterval)
			if got := b.attemptLog(); !slices.Equal(got, want) {
				t.Errorf("%s: attempts %v, want %v", when, got, want)
			}
		}
		check("at the start", "1/0/1")
		b.add(3, 0, posted, 0)
		check("after a new event", "1/0/1", "3/0/1")
		advance(time.Minute - 10*minScanInterval)
		check("before its retry", "1/0/1", "3/0/1")
		b.update(func() { b.failing = nil })
		advance(10 * minScanInterval)
		check("after its retry", "1/0/1", "3/0/1", "3/0/1")
		advance(2 * time.Hour)
		check("before the third hour", "1/0/1", "3/0/1", "3/0/1")
		advance(time.Hour)
		check("after the third hour", "1/0/1", "3/0/1", "3/0/1", "2/0/1")
	})
}

// One lead's events keep their order and do not delay other leads' events. After its first
// retry an event no longer blocks later ones.
func TestLeadEventsKeepOrder(t *testing.T) {
	testOutbox(t, func(t *testing.T, b *fakeOutbox) {
		b.delay, b.failing = 50*time.Millisecond, map[string]bool{"1/2/1": true}
		for _, lead := range []byte{1, 2} {
			for _, webhookType := range []market.WebhookType{posted, contacted, sold} {
				b.add(1, lead, webhookType, 0)
			}
		}
		b.startSender(t, nil)
		advance(time.Second)
		first := b.attemptLog()
		slices.Sort(first[:2]) // one event of each lead
		if got := strings.Join(first, " "); got != "1/1/1 1/2/1 1/1/2 1/1/4" {
			t.Errorf("first attempts %s, want 1/1/1 1/2/1 1/1/2 1/1/4", got)
		}
		advance(time.Minute)
		if got := strings.Join(b.attemptLog()[4:], " "); got != "1/2/1 1/2/2 1/2/4" {
			t.Errorf("attempts after a minute %s, want 1/2/1 1/2/2 1/2/4", got)
		}
	})
}

// Close waits until the attempts in flight have ended and are logged. It takes no other
// event and leaves no event claimed.
func TestClose(t *testing.T) {
	testOutbox(t, func(t *testing.T, b *fakeOutbox) {
		b.delay = attemptTimeout / 2
		b.addLeads(1, 100)
		s := b.startSender(t, nil)
		advance(attemptTimeout / 4)
		s.Close()
		s.Close()
		if len(b.attemptLog()) != 8 || b.pending() != 92 {
			t.Errorf("%d attempts, %d events are left; want 8 and 92", len(b.attemptLog()), b.pending())
		}
		advance(time.Minute)
		if len(b.attemptLog()) != 8 || slices.ContainsFunc(b.rows[1], func(r *row) bool { return r.claimed }) {
			t.Errorf("%d attempts, want 8, or an event is still claimed", len(b.attemptLog()))
		}
	})
}

// Close returns claimed events that were not attempted.
func TestCloseBeforeAttempt(t *testing.T) {
	testOutbox(t, func(t *testing.T, b *fakeOutbox) {
		b.add(1, 0, posted, 0)
		b.mu.Lock() // blocks the outbox
		s := New(SenderOptions{Outbox: b, Engine: slowEngine{b}, Post: b.postCounted, Now: func() int64 { return time.Now().UnixNano() }, ReportFault: func(action string, err error) { t.Error(action, err) }})
		b.mu.Unlock()
		advance(time.Minute)
		s.Close()
		if len(b.attemptLog()) != 0 || b.pending() != 1 || b.onlyRow().claimed {
			t.Errorf("attempts %v, %d events are left", b.attemptLog(), b.pending())
		}
	})
}

// slowEngine takes two minutes to encode a message.
type slowEngine struct{ *fakeOutbox }

func (s slowEngine) BuildWebhookMessageOrDeadLetter(h *state.OutboxWebhook) (engine.WebhookMessage, error) {
	time.Sleep(2 * time.Minute)
	return s.fakeOutbox.BuildWebhookMessageOrDeadLetter(h)
}

// If the engine cannot encode the message or log the attempt, the event stays due. The endpoint
// is paused, and one fault is reported.
func TestEngineFaultPausesEndpoint(t *testing.T) {
	for name, row := range map[string]struct {
		inject  func(*fakeOutbox, error)
		reports bool
		pauses  bool
	}{
		"no message":         {func(b *fakeOutbox, err error) { b.messageErr = err }, true, true},
		"attempt not logged": {func(b *fakeOutbox, err error) { b.logErr = err }, true, true},
		"no failure":         {func(*fakeOutbox, error) {}, false, false},
	} {
		t.Run(name, func(t *testing.T) {
			testOutbox(t, func(t *testing.T, b *fakeOutbox) {
				b.addLeads(1, 3)
				broken := errors.New("broken disk")
				row.inject(b, broken)
				s := b.startSender(t, nil)
				advance(faultPause / 2)
				if reported := len(b.faults) > 0; reported != row.reports || len(b.faults) > 1 {
					t.Errorf("reported faults: %q", b.faults)
				}
				if row.pauses {
					b.update(func() { b.messageErr, b.logErr = nil, nil })
					if n := len(b.attemptLog()); n != 0 {
						t.Errorf("%d attempts are logged", n)
					}
					advance(faultPause)
					if b.pending() != 0 {
						t.Errorf("%d events are left after the pause", b.pending())
					}
				}
				s.Close()
			})
		})
	}
}

// Many events whose leads are unknown do not delay an event of a known lead.
func TestGoneEventsDoNotDelayOthers(t *testing.T) {
	testOutbox(t, func(t *testing.T, b *fakeOutbox) {
		b.gone = map[string]bool{}
		for lead := range byte(100) {
			b.add(1, lead, posted, 0)
			b.gone[fmt.Sprintf("1/%d/%d", lead, posted)] = true
		}
		b.add(1, 200, posted, 0)
		s := b.startSender(t, nil)
		advance(faultPause / 2)
		if got := b.attemptLog(); !slices.Equal(got, []string{fmt.Sprintf("1/200/%d", posted)}) || b.pending() != 0 || len(b.faults) != 0 {
			t.Errorf("attempts %v, %d events are left, reported faults %q", got, b.pending(), b.faults)
		}
		s.Close()
	})
}

// An endpoint that became slow or fast while queued gets its next turn without another
// event to wake the loop.
func TestEndpointChangesSpeedInQueue(t *testing.T) {
	testOutbox(t, func(t *testing.T, b *fakeOutbox) {
		attempts := 0
		b.post = func(string) market.WebhookAttemptResult {
			if attempts++; attempts%2 == 1 {
				time.Sleep(slowThreshold)
			}
			return market.WebhookAttemptResult{Delivered: true}
		}
		b.addLeads(1, 9)
		b.startSender(t, func(o *SenderOptions) { o.MaxTotal = 1 })
		advance(9 * slowThreshold)
		if b.pending() != 0 {
			t.Errorf("%d events are left", b.pending())
		}
	})
}

// An attempt that panics counts as failed, and the sender continues.
func TestAttemptPanicCountsAsFailure(t *testing.T) {
	testOutbox(t, func(t *testing.T, b *fakeOutbox) {
		b.post = func(id string) market.WebhookAttemptResult {
			if id == "1/0/1" {
				panic("secret detail")
			}
			return market.WebhookAttemptResult{Delivered: true}
		}
		b.add(1, 0, posted, 0)
		b.add(1, 1, posted, 0)
		b.startSender(t, nil)
		advance(time.Second)
		if b.onlyRow().webhook.Attempts != 1 || len(b.faults) != 1 || strings.Contains(b.faults[0], "secret detail") {
			t.Errorf("%d events are left, reported faults %.200q", b.pending(), b.faults)
		}
	})
}

// Events arrive at any time, for endpoints with random delays and failures. Each is
// delivered in the end, in its lead's order, with one attempt per failure and one more.
func TestAllEventsAreDelivered(t *testing.T) {
	for seed := range uint64(10) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			testOutbox(t, func(t *testing.T, b *fakeOutbox) {
				chance := rand.New(rand.NewPCG(seed, 7))
				delays, failures := map[string]time.Duration{}, map[string]int{}
				suppliers := 1 + market.PermanentNumber(chance.IntN(12))
				b.post = func(id string) market.WebhookAttemptResult {
					b.mu.Lock()
					delay, failed := delays[id], failures[id] > 0
					failures[id]--
					b.mu.Unlock()
					time.Sleep(delay)
					return market.WebhookAttemptResult{Delivered: !failed}
				}
				b.startSender(t, func(o *SenderOptions) { o.MaxPerEndpoint, o.MaxTotal = 1+chance.IntN(8), 1+chance.IntN(40) })
				want := 0
				for lead := range byte(12) {
					for supplier := range suppliers {
						for webhookType := posted; webhookType <= sold; webhookType++ {
							id := fmt.Sprintf("%d/%d/%d", supplier+1, lead, webhookType)
							b.mu.Lock()
							delays[id] = time.Duration(chance.IntN(1000)) * time.Millisecond * time.Duration(chance.IntN(2))
							failures[id] = max(0, chance.IntN(8)-5)
							want += failures[id] + 1
							b.mu.Unlock()
							b.add(supplier+1, lead, webhookType, time.Duration(chance.IntN(3))*time.Second)
						}
					}
					advance(time.Duration(chance.IntN(100)) * time.Millisecond)
				}
				advance(24 * time.Hour)
				if b.pending() != 0 || len(b.attemptLog()) != want {
					t.Fatalf("%d events are left after %d attempts, want %d", b.pending(), len(b.attemptLog()), want)
				}
				first := map[string]int{}
				for i, id := range b.attemptLog() {
					if _, ok := first[id]; !ok {
						first[id] = i
					}
				}
				for id, i := range first {
					var supplier, lead, what int
					_, _ = fmt.Sscanf(id, "%d/%d/%d", &supplier, &lead, &what)
					if before, ok := first[fmt.Sprintf("%d/%d/%d", supplier, lead, what-1)]; ok && before > i {
						t.Errorf("the first attempt of %s precedes that of the earlier event", id)
					}
				}
			})
		})
	}
}
