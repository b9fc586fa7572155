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

func isClosed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

// acceptLead applies the sale of a lead with duplicate keys.
func (x *testExchange) acceptLead(lead market.LeadID, until int64, keys ...market.DuplicateKey) {
	sale := event.Sale{Buyer: 3, Price: dollar}
	for _, key := range keys {
		sale.Duplicates = append(sale.Duplicates, event.DuplicateCheckValue{Key: key, Until: until})
	}
	x.logAndApply(&event.LeadDecided{Lead: lead, Campaign: 1, Supplier: 1, Keep: x.at + 90*day, Sale: sale})
}

func TestDuplicateKeysOfAcceptedLeads(t *testing.T) {
	x := newTestExchange()
	phone, mail, other := market.DuplicateKey{1}, market.DuplicateKey{2}, market.DuplicateKey{3}
	first := market.LeadID{9}
	x.acceptLead(first, x.at+30*day, phone, mail)
	tests := []struct {
		name   string
		keys   []market.DuplicateKey
		now    int64
		result ReserveResult
	}{
		{"no keys", nil, x.at, Reserved},
		{"another person", []market.DuplicateKey{other}, x.at, Reserved},
		{"the same phone", []market.DuplicateKey{other, phone}, x.at, Full},
		{"the same mail, a second before the window ends", []market.DuplicateKey{mail}, x.at + 30*day - second, Full},
		{"the same mail when the window has ended", []market.DuplicateKey{mail, other}, x.at + 30*day, Reserved},
		{"one value in both fields", []market.DuplicateKey{other, other}, x.at, Reserved},
	}
	for _, test := range tests {
		var h RequestReservations
		result, lead, wait := x.mustClaimDuplicateKeys(&h, test.keys, test.now)
		if result != test.result || wait != nil || (result == Full) != (lead == first) {
			t.Errorf("%s: got result %d, first lead %s", test.name, result, lead)
		}
		if result == Full && x.ReservationCount() != 0 {
			t.Errorf("%s: %d claims are left, want 0", test.name, x.ReservationCount())
		}
		x.ReleaseAll(&h)
		if x.ReservationCount() != 0 {
			t.Errorf("%s: %d reservations after the release, want 0", test.name, x.ReservationCount())
		}
	}
}

func TestClaimOfReservedKeyWaits(t *testing.T) {
	x := newTestExchange()
	a, b, c := market.DuplicateKey{1}, market.DuplicateKey{2}, market.DuplicateKey{3}
	var first, second, third RequestReservations
	x.mustClaimDuplicateKeys(&first, []market.DuplicateKey{b}, x.at)
	result, _, wait := x.mustClaimDuplicateKeys(&second, []market.DuplicateKey{a, b}, x.at)
	if result != Contended || isClosed(wait) {
		t.Fatalf("got result %d, wait already over: %t", result, isClosed(wait))
	}
	if result, _, _ := x.mustClaimDuplicateKeys(&third, []market.DuplicateKey{a, c}, x.at); result != Reserved {
		t.Error("a contended claim kept one of its keys")
	}
	x.ReleaseAll(&third)
	if isClosed(wait) {
		t.Error("the end of an unrelated claim ended the wait")
	}
	x.ReleaseAll(&first)
	if !isClosed(wait) {
		t.Error("the end of the claim did not end the wait")
	}
	if result, _, _ := x.mustClaimDuplicateKeys(&second, []market.DuplicateKey{a, b}, x.at); result != Reserved {
		t.Error("the claim after the wait failed")
	}
	x.ReleaseDuplicateKeyClaims(&second)
	if x.ReservationCount() != 0 {
		t.Errorf("%d reservations are left, want 0", x.ReservationCount())
	}
}

// The claims of a posted lead outlive the request that logged it.
func TestTransferredClaimsOutliveRequest(t *testing.T) {
	x := newTestExchange()
	var h, posting RequestReservations
	x.mustClaimDuplicateKeys(&h, []market.DuplicateKey{{1}, {2}}, x.at)
	x.ReserveRotationTurn(&h, 1, 7, []int32{1})
	h.TransferDuplicateKeyClaims(&posting)
	x.ReleaseAll(&h)
	if result, _, _ := x.mustClaimDuplicateKeys(&h, []market.DuplicateKey{{2}}, x.at); result != Contended {
		t.Error("the release of the request ended a transferred claim")
	}
	x.ReleaseAll(&posting)
	x.ReleaseAll(&posting) // has no effect
	if x.ReservationCount() != 0 {
		t.Errorf("%d reservations are left, want 0", x.ReservationCount())
	}
}

// A released lead frees only the keys that no newer lead has taken since.
func TestReleaseForgetsOnlyOwnDuplicateKeys(t *testing.T) {
	x := newTestExchange()
	key := market.DuplicateKey{1}
	older, newer := market.LeadID{8}, market.LeadID{9}
	x.acceptLead(older, x.at+day, key)
	x.at += 2 * day
	x.acceptLead(newer, x.at+day, key)
	x.logAndApply(&event.PostSettled{Lead: older, Settlement: event.SettledReleased, Sale: event.Sale{Buyer: 3, Duplicates: []event.DuplicateCheckValue{{Key: key}}}})
	if result, first, _ := x.mustClaimDuplicateKeys(new(RequestReservations), []market.DuplicateKey{key}, x.at); result != Full || first != newer {
		t.Errorf("got result %d, first lead %s; want Full and the newer lead", result, first)
	}
	x.logAndApply(&event.PostSettled{Lead: newer, Settlement: event.SettledReleased, Sale: event.Sale{Buyer: 3, Duplicates: []event.DuplicateCheckValue{{Key: key}, {Key: market.DuplicateKey{77}}}}})
	if result, _, _ := x.mustClaimDuplicateKeys(new(RequestReservations), []market.DuplicateKey{key}, x.at); result != Reserved {
		t.Errorf("got result %d after the release, want Reserved", result)
	}
}

func TestIdempotencyKeyIsUsedOnce(t *testing.T) {
	x := newTestExchange()
	key, lead := [16]byte{1}, market.LeadID{9}
	var h, later RequestReservations
	if keyed := x.mustClaimIdempotencyKey(&h, key, 5, x.at); keyed != (IdempotencyKeyClaimResult{}) {
		t.Fatalf("new key: got %+v", keyed)
	}
	keyed := x.mustClaimIdempotencyKey(&later, key, 5, x.at)
	if keyed.Wait == nil || isClosed(keyed.Wait) {
		t.Fatalf("key of a running request: got %+v", keyed)
	}
	x.logAndApply(&event.LeadDecided{Lead: lead, Campaign: 1, Keep: x.at + day, Idempotency: event.RequestIdempotencyKey{Key: key, Fingerprint: 5, ExpiresAt: x.at + day}})
	x.ReleaseAll(&h)
	if !isClosed(keyed.Wait) {
		t.Error("the end of the first request did not end the wait")
	}
	for _, test := range []struct {
		name  string
		print uint64
		now   int64
		want  IdempotencyKeyClaimResult
	}{
		{"the same body", 5, x.at, IdempotencyKeyClaimResult{Lead: lead, Seq: x.seq, SameBody: true}},
		{"another body", 6, x.at, IdempotencyKeyClaimResult{Lead: lead, Seq: x.seq}},
		{"a second before the end", 5, x.at + day - second, IdempotencyKeyClaimResult{Lead: lead, Seq: x.seq, SameBody: true}},
		{"after the end", 5, x.at + day, IdempotencyKeyClaimResult{}},
	} {
		if got := x.mustClaimIdempotencyKey(&later, key, test.print, test.now); got != test.want {
			t.Errorf("%s: %+v, want %+v", test.name, got, test.want)
		}
		x.ReleaseIdempotencyKeyClaim(&later)
	}
	if x.ReservationCount() != 0 {
		t.Errorf("%d reservations are left, want 0", x.ReservationCount())
	}
}

// 64 requests have one key and one phone. One at a time proceeds, the others wait. When its lead
// is logged, all of them get that lead.
func TestConcurrentRequestsWithOneKeyMakeOneLead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		x := newTestExchange()
		var committer sync.Mutex
		var working, wins, repeats atomic.Int64
		var all sync.WaitGroup
		for g := range 64 {
			all.Go(func() {
				var h RequestReservations
				for try := 0; ; try++ {
					keyed := x.mustClaimIdempotencyKey(&h, [16]byte{1}, 5, x.at)
					if keyed.Wait != nil {
						<-keyed.Wait
						continue
					}
					if !keyed.Lead.IsZero() {
						repeats.Add(1)
						return
					}
					if result, _, _ := x.mustClaimDuplicateKeys(&h, []market.DuplicateKey{{1}, {2}}, x.at); result != Reserved {
						t.Errorf("the owner of the key got result %d for its duplicate keys", result)
					}
					if working.Add(1) > 1 {
						t.Error("two requests own one key")
					}
					time.Sleep(time.Millisecond)
					working.Add(-1)
					if g%8 > 0 && try == 0 { // refused: uses up no key
						x.ReleaseAll(&h)
						time.Sleep(time.Second)
						continue
					}
					wins.Add(1)
					committer.Lock()
					x.logAndApply(&event.LeadDecided{
						Lead: market.LeadID{byte(g), 1}, Campaign: 1, Keep: monday + day,
						Idempotency: event.RequestIdempotencyKey{Key: [16]byte{1}, Fingerprint: 5, ExpiresAt: monday + day},
					})
					committer.Unlock()
					x.ReleaseAll(&h)
					return
				}
			})
		}
		all.Wait()
		if wins.Load() != 1 || repeats.Load() != 63 || x.ReservationCount() != 0 {
			t.Errorf("%d leads, %d repeats, %d reservations; want 1, 63, 0", wins.Load(), repeats.Load(), x.ReservationCount())
		}
	})
}

// Requests share keys pairwise and claim them in every order.
func TestClaimsInAnyOrderDoNotDeadlock(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		x := newTestExchange()
		orders := [][]market.DuplicateKey{{{1}, {2}}, {{2}, {1}}, {{2}, {3}}, {{3}, {1}}, {{1}, {2}, {3}}, {{3}, {2}, {1}}}
		var all sync.WaitGroup
		for g := range 64 {
			all.Go(func() {
				var h RequestReservations
				for range 50 {
					for {
						result, _, wait := x.mustClaimDuplicateKeys(&h, orders[g%len(orders)], x.at)
						if result == Reserved {
							break
						}
						<-wait
					}
					time.Sleep(time.Microsecond)
					x.ReleaseDuplicateKeyClaims(&h)
				}
			})
		}
		all.Wait()
		if x.ReservationCount() != 0 {
			t.Errorf("%d reservations are left, want 0", x.ReservationCount())
		}
	})
}
