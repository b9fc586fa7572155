package state

import (
	"testing"
	"time"

	"pgregory.net/rapid"

	"pingpost/engine/event"
	"pingpost/engine/market"
	"pingpost/engine/market/calendar"
)

// capModel is the definition of a cap: the sold and the reserved amount of each window.
type capModel struct {
	sold     map[int64]int64
	reserved map[int64]int64
	newest   int64 // newest window of any request
}

// windowOf returns the window that a request at now counts in. It is never older than the window
// of an earlier request.
func (m *capModel) windowOf(now int64) int64 { return max(now-now%hour, m.newest) }

// Requests and events use the cap in any order, with clocks that disagree. It reserves exactly
// the amounts that the definition allows.
func TestCapMatchesModel(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		x := newTestExchange()
		unit := market.CapUnit(rapid.IntRange(1, 2).Draw(t, "unit"))
		limit := &market.Cap{Ref: 2, Unit: unit, Period: calendar.Hour, Zone: time.UTC, Limit: int64(rapid.IntRange(0, 6).Draw(t, "limit"))}
		m := capModel{sold: map[int64]int64{}, reserved: map[int64]int64{}}
		var reservations []*RequestReservations
		var sales []event.CapCharge
		now := monday
		remove := func(from int) *RequestReservations {
			h := reservations[from]
			reservations = append(reservations[:from], reservations[from+1:]...)
			return h
		}
		for range rapid.IntRange(1, 80).Draw(t, "steps") {
			switch step := rapid.IntRange(0, 9).Draw(t, "step"); {
			case step == 0:
				now += int64(rapid.IntRange(1, 70).Draw(t, "minutes")) * int64(time.Minute)
			case step == 1:
				limit.Limit = int64(rapid.IntRange(0, 6).Draw(t, "limit"))
			case step == 2 && len(sales) > 0: // a sale is returned
				charge := sales[len(sales)-1]
				sales = sales[:len(sales)-1]
				m.sold[charge.Window] -= charge.Amount
				x.caps.replaceCharges([]event.CapCharge{charge}, nil)
			case step <= 4 && len(reservations) > 0: // a request gives up
				h := remove(rapid.IntRange(0, len(reservations)-1).Draw(t, "released"))
				m.reserved[h.CapChargesForEvent()[0].Window] -= h.CapChargesForEvent()[0].Amount
				x.ReleaseAll(h)
			case step <= 6 && len(reservations) > 0: // a sale is applied
				h := remove(rapid.IntRange(0, len(reservations)-1).Draw(t, "sold"))
				charge := h.CapChargesForEvent()[0]
				m.sold[charge.Window] += charge.Amount
				m.reserved[charge.Window] -= charge.Amount
				sales = append(sales, charge)
				x.caps.applyCharges(h.CapChargesForEvent())
				x.ReleaseAll(h)
			default:
				h := new(RequestReservations)
				price := market.Money(rapid.IntRange(0, 3).Draw(t, "price"))
				at := now - int64(rapid.IntRange(0, 1).Draw(t, "late"))*hour/2
				window, amount := m.windowOf(at), limit.AmountUsedBySale(price)
				want := Reserved
				if m.sold[window]+amount > limit.Limit {
					want = Full
				} else if m.sold[window]+m.reserved[window]+amount > limit.Limit {
					want = Contended
				}
				result, wait := x.ReserveAllCaps(h, []*market.Cap{limit}, price, nil, at)
				if result != want || (wait != nil) != (result == Contended) {
					t.Fatalf("got result %d (wait %t), want %d: limit %d, sold %d, reserved %d, amount %d",
						result, wait != nil, want, limit.Limit, m.sold[window], m.reserved[window], amount)
				}
				if result == Reserved {
					if charge := h.CapChargesForEvent()[0]; charge != (event.CapCharge{Cap: 2, Window: window, Amount: amount}) {
						t.Fatalf("charged %+v, want window %d and amount %d", charge, window, amount)
					}
					m.newest = window
					m.reserved[window] += amount
					reservations = append(reservations, h)
				}
			}
			if got := x.ReservationCount(); got != int64(len(reservations)) {
				t.Fatalf("%d reservations, want %d", got, len(reservations))
			}
		}
	})
}

// A request from before the full hour counts in the window of requests from after it.
func TestSlowRequestUsesNewestCapWindow(t *testing.T) {
	x := newTestExchange()
	limits := []*market.Cap{{Ref: 2, Unit: market.UnitCount, Period: calendar.Hour, Zone: time.UTC, Limit: 1}}
	before, after := monday+hour-1, monday+hour
	var first, slow, third RequestReservations
	if result, _ := x.ReserveAllCaps(&first, limits, 0, nil, after); result != Reserved {
		t.Fatal("an empty cap rejected a reservation")
	}
	if result, _ := x.ReserveAllCaps(&slow, limits, 0, nil, before); result != Contended {
		t.Errorf("slow request: got result %d, want Contended", result)
	}
	if result, _ := x.ReserveAllCaps(&third, limits, 0, nil, after); result != Contended {
		t.Errorf("request after the slow one: got result %d, want Contended", result)
	}
}

func TestChargeOfPastWindowIsIgnored(t *testing.T) {
	x := newTestExchange()
	limit := &market.Cap{Ref: 2, Unit: market.UnitCount, Period: calendar.Hour, Zone: time.UTC, Limit: 2}
	charge := func(window, amount int64) {
		x.caps.applyCharges([]event.CapCharge{{Cap: 2, Window: window, Amount: amount}})
	}
	used := func(now int64) int64 {
		for free := int64(0); ; free++ {
			if full, _ := x.caps.mustFindCounter(2).isFullAndRecordInvalidationThreshold(limit, limit.Limit-free+1, now); !full {
				t.Fatal("the cap is never full")
			}
			if full, _ := x.caps.mustFindCounter(2).isFullAndRecordInvalidationThreshold(limit, limit.Limit-free, now); !full {
				return free
			}
		}
	}
	charge(monday, 1)
	charge(monday+hour, 1)
	charge(monday, 1)  // decided before the full hour, logged after one of the next hour
	charge(monday, -1) // a return of the old hour
	if got := used(monday + hour); got != 1 {
		t.Errorf("%d used in the new hour, want 1", got)
	}
	charge(monday+hour, -1)
	if got := used(monday + hour); got != 0 {
		t.Errorf("%d used after the return, want 0", got)
	}
	charge(monday+5*hour, -1) // a return without a sale
	if got := used(monday + 5*hour); got != 0 {
		t.Errorf("%d used in an hour without sales, want 0", got)
	}
}

func TestChangedCapLimitKeepsCount(t *testing.T) {
	x := newTestExchange()
	limit := &market.Cap{Ref: 1, Unit: market.UnitCount, Period: calendar.Day, Zone: time.UTC, Limit: 5}
	for range 4 {
		x.caps.applyCharges([]event.CapCharge{{Cap: 1, Window: monday, Amount: 1}})
	}
	for _, test := range []struct {
		limit int64
		full  bool
	}{{5, false}, {4, true}, {1, true}, {0, true}, {6, false}} {
		limit.Limit = test.limit
		if full, until := x.IsCapFull(limit, 0, monday+hour); full != test.full || until != monday+day {
			t.Errorf("limit %d, 4 sold: full %t until %d", test.limit, full, until)
		}
	}
}

func TestCapsAreReservedAllOrNone(t *testing.T) {
	x := newTestExchange()
	of := func(ref market.PermanentNumber, limit int64) *market.Cap {
		return &market.Cap{Ref: ref, Unit: market.UnitCount, Period: calendar.Day, Zone: time.UTC, Limit: limit}
	}
	var h RequestReservations
	if result, wait := x.ReserveAllCaps(&h, []*market.Cap{of(1, 1), of(2, 1), of(3, 0)}, 0, nil, monday); result != Full || wait != nil {
		t.Errorf("got result %d with a limit of 0, want Full", result)
	}
	if len(h.CapChargesForEvent()) != 0 || x.ReservationCount() != 0 {
		t.Errorf("%d charges after a rejection, %d reservations, want 0", len(h.CapChargesForEvent()), x.ReservationCount())
	}
	if result, _ := x.ReserveAllCaps(&h, []*market.Cap{of(1, 1), of(2, 1), of(3, 1)}, 0, nil, monday); result != Reserved || len(h.CapChargesForEvent()) != 3 {
		t.Errorf("got result %d, charges %v", result, h.CapChargesForEvent())
	}
	x.ReleaseAll(&h)
	if x.ReservationCount() != 0 {
		t.Errorf("%d reservations are left, want 0", x.ReservationCount())
	}
}

func TestMisuseOfStatePanics(t *testing.T) {
	for what, f := range map[string]func(x *testExchange){
		"cap 0":              func(x *testExchange) { x.caps.mustFindCounter(0) },
		"an unknown cap":     func(x *testExchange) { x.caps.mustFindCounter(99) },
		"a gap in the caps":  func(x *testExchange) { x.caps.add(99, market.CapKey{}) },
		"a repeated cap":     func(x *testExchange) { x.caps.add(1, market.CapKey{}) },
		"a double release":   func(x *testExchange) { x.caps.mustFindCounter(1).releaseCapacity(0, 1) },
		"a gap in the names": func(x *testExchange) { x.names.add(event.ObjectBuyer, 99, "x") },
		"unreserved funds":   func(x *testExchange) { x.accounts.releaseFunds(1, 1) },
		"an unknown claim":   func(x *testExchange) { x.idempotency[0].endClaim([16]byte{1}) },
		"a second auction": func(x *testExchange) {
			var h RequestReservations
			x.ClaimNewAuctionName(&h, testAuction, x.at)
			x.ClaimNewAuctionName(&h, [16]byte{8}, x.at)
		},
		"a webhook of no supplier": func(x *testExchange) {
			x.logAndApply(&event.PostSettled{Settlement: event.SettledDelivered, Webhook: market.WebhookPosted})
		},
		"a skipped event":  func(x *testExchange) { x.Apply(x.seq+2, x.at, &event.CampaignOrBuyerPausedOrResumed{}) },
		"a repeated event": func(x *testExchange) { x.Apply(x.seq, x.at, &event.CampaignOrBuyerPausedOrResumed{}) },
	} {
		t.Run(what, func(t *testing.T) {
			defer func() {
				if recover() == nil {
					t.Error("no panic")
				}
			}()
			f(newTestExchange())
		})
	}
}
