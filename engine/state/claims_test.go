package state

import (
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"pingpost/engine/event"
	"pingpost/engine/market"
)

func closed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

// accept makes a lead an accepted one that is remembered by its values.
func (w *world) accept(lead market.LeadID, until int64, keys ...market.DuplicateKey) {
	sale := event.Sale{Buyer: 3, Price: dollar}
	for _, key := range keys {
		sale.Duplicates = append(sale.Duplicates, event.DuplicateCheckValue{Key: key, Until: until})
	}
	w.fact(&event.LeadDecided{Lead: lead, Campaign: 1, Supplier: 1, Keep: w.at + 90*day, Sale: sale})
}

func TestADuplicateIsOneOfAnAcceptedLead(t *testing.T) {
	w := newWorld()
	phone, mail, other := market.DuplicateKey{1}, market.DuplicateKey{2}, market.DuplicateKey{3}
	first := market.LeadID{9}
	w.accept(first, w.at+30*day, phone, mail)
	tests := []struct {
		what string
		keys []market.DuplicateKey
		now  int64
		room ReserveResult
	}{
		{"nothing to know it by", nil, w.at, Reserved},
		{"another person", []market.DuplicateKey{other}, w.at, Reserved},
		{"the same phone", []market.DuplicateKey{other, phone}, w.at, Full},
		{"the same mail, a second before the window ends", []market.DuplicateKey{mail}, w.at + 30*day - second, Full},
		{"the same mail when the window has ended", []market.DuplicateKey{mail, other}, w.at + 30*day, Reserved},
		{"one value in both fields", []market.DuplicateKey{other, other}, w.at, Reserved},
	}
	for _, test := range tests {
		var h RequestReservations
		room, lead, wait := w.ClaimAllDuplicateKeys(&h, test.keys, test.now)
		if room != test.room || wait != nil || (room == Full) != (lead == first) {
			t.Errorf("%s: room %d, first %s", test.what, room, lead)
		}
		if room == Full && w.ReservationCount() != 0 {
			t.Errorf("%s: %d claims are left", test.what, w.ReservationCount())
		}
		w.ReleaseAll(&h)
		if w.ReservationCount() != 0 {
			t.Errorf("%s: %d reservations after the release", test.what, w.ReservationCount())
		}
	}
}

func TestWhoClaimsAValueInFlightWaits(t *testing.T) {
	w := newWorld()
	a, b, c := market.DuplicateKey{1}, market.DuplicateKey{2}, market.DuplicateKey{3}
	var first, second, third RequestReservations
	w.ClaimAllDuplicateKeys(&first, []market.DuplicateKey{b}, w.at)
	room, _, wait := w.ClaimAllDuplicateKeys(&second, []market.DuplicateKey{a, b}, w.at)
	if room != Contended || closed(wait) {
		t.Fatalf("room %d, woken at once %t", room, closed(wait))
	}
	if room, _, _ := w.ClaimAllDuplicateKeys(&third, []market.DuplicateKey{a, c}, w.at); room != Reserved {
		t.Error("a claim of all or none has kept one")
	}
	w.ReleaseAll(&third)
	if closed(wait) {
		t.Error("woken by the end of another claim")
	}
	w.ReleaseAll(&first)
	if !closed(wait) {
		t.Error("not woken by the end of the claim")
	}
	if room, _, _ := w.ClaimAllDuplicateKeys(&second, []market.DuplicateKey{a, b}, w.at); room != Reserved {
		t.Error("after the wait there is no room")
	}
	w.ReleaseDuplicateKeyClaims(&second)
	if w.ReservationCount() != 0 {
		t.Errorf("%d reservations", w.ReservationCount())
	}
}

// The claims of a lead that is posted outlive the fact that logged it.
func TestClaimsMoveToAnotherHold(t *testing.T) {
	w := newWorld()
	var h, posting RequestReservations
	w.ClaimAllDuplicateKeys(&h, []market.DuplicateKey{{1}, {2}}, w.at)
	w.ReserveRotationTurn(&h, 1, 7, []int32{1})
	h.TransferDuplicateKeyClaims(&posting)
	w.ReleaseAll(&h)
	if room, _, _ := w.ClaimAllDuplicateKeys(&h, []market.DuplicateKey{{2}}, w.at); room != Contended {
		t.Error("the claim ended with the hold that it had left")
	}
	w.ReleaseAll(&posting)
	w.ReleaseAll(&posting) // nothing is left to release
	if w.ReservationCount() != 0 {
		t.Errorf("%d reservations", w.ReservationCount())
	}
}

// What is taken back is what this lead is remembered by, not what another has
// been remembered by since.
func TestOnlyItsOwnValuesAreForgotten(t *testing.T) {
	w := newWorld()
	key := market.DuplicateKey{1}
	older, newer := market.LeadID{8}, market.LeadID{9}
	w.accept(older, w.at+day, key)
	w.at += 2 * day
	w.accept(newer, w.at+day, key)
	w.fact(&event.PostSettled{Lead: older, Settlement: event.SettledReleased, Sale: event.Sale{Buyer: 3, Duplicates: []event.DuplicateCheckValue{{Key: key}}}})
	if room, first, _ := w.ClaimAllDuplicateKeys(new(RequestReservations), []market.DuplicateKey{key}, w.at); room != Full || first != newer {
		t.Errorf("room %d, first %s: the newer lead was forgotten", room, first)
	}
	w.fact(&event.PostSettled{Lead: newer, Settlement: event.SettledReleased, Sale: event.Sale{Buyer: 3, Duplicates: []event.DuplicateCheckValue{{Key: key}, {Key: market.DuplicateKey{77}}}}})
	if room, _, _ := w.ClaimAllDuplicateKeys(new(RequestReservations), []market.DuplicateKey{key}, w.at); room != Reserved {
		t.Errorf("room %d: a lead that was taken back is remembered", room)
	}
}

func TestAnIdempotencyKeyIsUsedOnce(t *testing.T) {
	w := newWorld()
	key, lead := [16]byte{1}, market.LeadID{9}
	var h, later RequestReservations
	if keyed := w.ClaimIdempotencyKey(&h, key, 5, w.at); keyed != (IdempotencyKeyClaimResult{}) {
		t.Fatalf("a new key is %+v", keyed)
	}
	keyed := w.ClaimIdempotencyKey(&later, key, 5, w.at)
	if keyed.Wait == nil || closed(keyed.Wait) {
		t.Fatalf("a key that is being worked on is %+v", keyed)
	}
	w.fact(&event.LeadDecided{Lead: lead, Campaign: 1, Keep: w.at + day, Idempotency: event.RequestIdempotencyKey{Key: key, Fingerprint: 5, ExpiresAt: w.at + day}})
	w.ReleaseAll(&h)
	if !closed(keyed.Wait) {
		t.Error("the second is not woken")
	}
	for _, test := range []struct {
		what  string
		print uint64
		now   int64
		want  IdempotencyKeyClaimResult
	}{
		{"the same body", 5, w.at, IdempotencyKeyClaimResult{Lead: lead, Seq: w.seq, SameBody: true}},
		{"another body", 6, w.at, IdempotencyKeyClaimResult{Lead: lead, Seq: w.seq}},
		{"a second before the end", 5, w.at + day - second, IdempotencyKeyClaimResult{Lead: lead, Seq: w.seq, SameBody: true}},
		{"after the end", 5, w.at + day, IdempotencyKeyClaimResult{}},
	} {
		if got := w.ClaimIdempotencyKey(&later, key, test.print, test.now); got != test.want {
			t.Errorf("%s: %+v, want %+v", test.what, got, test.want)
		}
		w.ReleaseIdempotencyKeyClaim(&later)
	}
	if w.ReservationCount() != 0 {
		t.Errorf("%d reservations", w.ReservationCount())
	}
}

// 64 requests with one key and one phone: one at a time works on it, the others
// are woken, and when its lead is logged all of them are told of that one.
func TestOf64RequestsOneWins(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld()
		var committer sync.Mutex
		var working, wins, told atomic.Int64
		var all sync.WaitGroup
		for g := range 64 {
			all.Go(func() {
				var h RequestReservations
				for try := 0; ; try++ {
					keyed := w.ClaimIdempotencyKey(&h, [16]byte{1}, 5, w.at)
					if keyed.Wait != nil {
						<-keyed.Wait
						continue
					}
					if !keyed.Lead.IsZero() {
						told.Add(1)
						return
					}
					if room, _, _ := w.ClaimAllDuplicateKeys(&h, []market.DuplicateKey{{1}, {2}}, w.at); room != Reserved {
						t.Errorf("the holder of the key found room %d for its values", room)
					}
					if working.Add(1) > 1 {
						t.Error("two work on one key")
					}
					time.Sleep(time.Millisecond)
					working.Add(-1)
					if g%8 > 0 && try == 0 { // refused: uses up no key
						w.ReleaseAll(&h)
						time.Sleep(time.Second)
						continue
					}
					wins.Add(1)
					committer.Lock()
					w.fact(&event.LeadDecided{
						Lead: market.LeadID{byte(g), 1}, Campaign: 1, Keep: monday + day,
						Idempotency: event.RequestIdempotencyKey{Key: [16]byte{1}, Fingerprint: 5, ExpiresAt: monday + day},
					})
					committer.Unlock()
					w.ReleaseAll(&h)
					return
				}
			})
		}
		all.Wait()
		if wins.Load() != 1 || told.Load() != 63 || w.ReservationCount() != 0 {
			t.Errorf("%d leads, %d told of it, %d reservations", wins.Load(), told.Load(), w.ReservationCount())
		}
	})
}

// Requests that share values pairwise, in every order: none waits for ever.
func TestClaimsInEveryOrderEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld()
		orders := [][]market.DuplicateKey{{{1}, {2}}, {{2}, {1}}, {{2}, {3}}, {{3}, {1}}, {{1}, {2}, {3}}, {{3}, {2}, {1}}}
		var all sync.WaitGroup
		for g := range 64 {
			all.Go(func() {
				var h RequestReservations
				for range 50 {
					for {
						room, _, wait := w.ClaimAllDuplicateKeys(&h, orders[g%len(orders)], w.at)
						if room == Reserved {
							break
						}
						<-wait
					}
					time.Sleep(time.Microsecond)
					w.ReleaseDuplicateKeyClaims(&h)
				}
			})
		}
		all.Wait()
		if w.ReservationCount() != 0 {
			t.Errorf("%d reservations", w.ReservationCount())
		}
	})
}
