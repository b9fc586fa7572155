package state

import (
	"testing"
	"time"

	"pgregory.net/rapid"

	"pingpost/engine/event"
	"pingpost/engine/market"
	"pingpost/engine/market/calendar"
)

// capModel is a cap by its definition: what was sold and what is out, by window.
type capModel struct {
	sold   map[int64]int64
	out    map[int64]int64
	newest int64 // window that anybody asked in
}

// windowOf is the window that a request at now counts in: never one that has
// passed for others.
func (m *capModel) windowOf(now int64) int64 { return max(now-now%hour, m.newest) }

// The cell, asked and told in any order that requests and facts may come, by
// clocks that disagree, promises exactly what the definition has room for.
func TestCapKeepsToItsDefinition(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := newWorld()
		unit := market.CapUnit(rapid.IntRange(1, 2).Draw(t, "unit"))
		limit := &market.Cap{Ref: 2, Unit: unit, Period: calendar.Hour, Zone: time.UTC, Limit: int64(rapid.IntRange(0, 6).Draw(t, "limit"))}
		m := capModel{sold: map[int64]int64{}, out: map[int64]int64{}}
		var holds []*RequestReservations
		var sales []event.CapCharge
		now := monday
		take := func(from int) *RequestReservations {
			h := holds[from]
			holds = append(holds[:from], holds[from+1:]...)
			return h
		}
		for range rapid.IntRange(1, 80).Draw(t, "steps") {
			switch step := rapid.IntRange(0, 9).Draw(t, "step"); {
			case step == 0:
				now += int64(rapid.IntRange(1, 70).Draw(t, "minutes")) * int64(time.Minute)
			case step == 1:
				limit.Limit = int64(rapid.IntRange(0, 6).Draw(t, "limit"))
			case step == 2 && len(sales) > 0: // a sale comes back
				charge := sales[len(sales)-1]
				sales = sales[:len(sales)-1]
				m.sold[charge.Window] -= charge.Amount
				w.caps.replaceCharges([]event.CapCharge{charge}, nil)
			case step <= 4 && len(holds) > 0: // one is given up
				h := take(rapid.IntRange(0, len(holds)-1).Draw(t, "given up"))
				m.out[h.CapCharges()[0].Window] -= h.CapCharges()[0].Amount
				w.ReleaseAll(h)
			case step <= 6 && len(holds) > 0: // one becomes a fact
				h := take(rapid.IntRange(0, len(holds)-1).Draw(t, "sold"))
				charge := h.CapCharges()[0]
				m.sold[charge.Window] += charge.Amount
				m.out[charge.Window] -= charge.Amount
				sales = append(sales, charge)
				w.caps.applyCharges(h.CapCharges())
				w.ReleaseAll(h)
			default:
				h := new(RequestReservations)
				price := market.Money(rapid.IntRange(0, 3).Draw(t, "price"))
				asked := now - int64(rapid.IntRange(0, 1).Draw(t, "late"))*hour/2
				window, amount := m.windowOf(asked), limit.AmountUsedBySale(price)
				want := Reserved
				if m.sold[window]+amount > limit.Limit {
					want = Full
				} else if m.sold[window]+m.out[window]+amount > limit.Limit {
					want = Contended
				}
				room, wait := w.ReserveAllCaps(h, []*market.Cap{limit}, price, nil, asked)
				if room != want || (wait != nil) != (room == Contended) {
					t.Fatalf("room %d (wait %t), want %d: limit %d, sold %d, out %d, amount %d",
						room, wait != nil, want, limit.Limit, m.sold[window], m.out[window], amount)
				}
				if room == Reserved {
					if charge := h.CapCharges()[0]; charge != (event.CapCharge{Cap: 2, Window: window, Amount: amount}) {
						t.Fatalf("charged %+v, want window %d and amount %d", charge, window, amount)
					}
					m.newest = window
					m.out[window] += amount
					holds = append(holds, h)
				}
			}
			if got := w.ReservationCount(); got != int64(len(holds)) {
				t.Fatalf("%d reservations out, %d holds", got, len(holds))
			}
		}
	})
}

// A request from before the hour struck asks beside those from after it.
func TestASlowRequestJoinsTheWindowOfOthers(t *testing.T) {
	w := newWorld()
	limits := []*market.Cap{{Ref: 2, Unit: market.UnitCount, Period: calendar.Hour, Zone: time.UTC, Limit: 1}}
	before, after := monday+hour-1, monday+hour
	var first, slow, third RequestReservations
	if room, _ := w.ReserveAllCaps(&first, limits, 0, nil, after); room != Reserved {
		t.Fatal("no room in an empty cap")
	}
	if room, _ := w.ReserveAllCaps(&slow, limits, 0, nil, before); room != Contended {
		t.Errorf("a slow request got %d, and the only place is taken", room)
	}
	if room, _ := w.ReserveAllCaps(&third, limits, 0, nil, after); room != Contended {
		t.Errorf("after a slow request another got %d, and the only place is taken", room)
	}
}

func TestAChargeOfAClosedWindowGoesToNone(t *testing.T) {
	w := newWorld()
	limit := &market.Cap{Ref: 2, Unit: market.UnitCount, Period: calendar.Hour, Zone: time.UTC, Limit: 2}
	charge := func(window, amount int64) {
		w.caps.applyCharges([]event.CapCharge{{Cap: 2, Window: window, Amount: amount}})
	}
	used := func(now int64) int64 {
		for room := int64(0); ; room++ {
			if full, _ := w.caps.counterOf(2).isFullAndRecordThreshold(limit, limit.Limit-room+1, now); !full {
				t.Fatal("a cap that is never full")
			}
			if full, _ := w.caps.counterOf(2).isFullAndRecordThreshold(limit, limit.Limit-room, now); !full {
				return room
			}
		}
	}
	charge(monday, 1)
	charge(monday+hour, 1)
	charge(monday, 1)  // decided before the hour, logged after one of the next hour
	charge(monday, -1) // and one of the old hour that comes back
	if got := used(monday + hour); got != 1 {
		t.Errorf("%d used in the new hour, want 1", got)
	}
	charge(monday+hour, -1)
	if got := used(monday + hour); got != 0 {
		t.Errorf("%d used after the sale came back, want 0", got)
	}
	charge(monday+5*hour, -1) // what nobody sold there
	if got := used(monday + 5*hour); got != 0 {
		t.Errorf("%d used in an hour without sales", got)
	}
}

func TestALimitThatChangesKeepsTheCount(t *testing.T) {
	w := newWorld()
	limit := &market.Cap{Ref: 1, Unit: market.UnitCount, Period: calendar.Day, Zone: time.UTC, Limit: 5}
	for range 4 {
		w.caps.applyCharges([]event.CapCharge{{Cap: 1, Window: monday, Amount: 1}})
	}
	for _, test := range []struct {
		limit int64
		full  bool
	}{{5, false}, {4, true}, {1, true}, {0, true}, {6, false}} {
		limit.Limit = test.limit
		if full, until := w.IsCapFull(limit, 0, monday+hour); full != test.full || until != monday+day {
			t.Errorf("limit %d, 4 sold: full %t until %d", test.limit, full, until)
		}
	}
}

func TestCapsAreTakenAllOrNone(t *testing.T) {
	w := newWorld()
	of := func(ref market.PermanentNumber, limit int64) *market.Cap {
		return &market.Cap{Ref: ref, Unit: market.UnitCount, Period: calendar.Day, Zone: time.UTC, Limit: limit}
	}
	var h RequestReservations
	if room, wait := w.ReserveAllCaps(&h, []*market.Cap{of(1, 1), of(2, 1), of(3, 0)}, 0, nil, monday); room != Full || wait != nil {
		t.Errorf("room %d with a cap of nothing", room)
	}
	if len(h.CapCharges()) != 0 || w.ReservationCount() != 0 {
		t.Errorf("%d charges held after a refusal, %d reservations", len(h.CapCharges()), w.ReservationCount())
	}
	if room, _ := w.ReserveAllCaps(&h, []*market.Cap{of(1, 1), of(2, 1), of(3, 1)}, 0, nil, monday); room != Reserved || len(h.CapCharges()) != 3 {
		t.Errorf("room %d, charges %v", room, h.CapCharges())
	}
	w.ReleaseAll(&h)
	if w.ReservationCount() != 0 {
		t.Errorf("%d reservations out", w.ReservationCount())
	}
}

func TestBugsPanic(t *testing.T) {
	for what, f := range map[string]func(w *world){
		"cap zero":           func(w *world) { w.caps.counterOf(0) },
		"a cap too far":      func(w *world) { w.caps.counterOf(99) },
		"a gap":              func(w *world) { w.caps.add(99, market.CapKey{}) },
		"a number again":     func(w *world) { w.caps.add(1, market.CapKey{}) },
		"a double release":   func(w *world) { w.caps.counterOf(1).releaseCapacity(0, 1) },
		"a name's gap":       func(w *world) { w.names.add(event.ObjectBuyer, 99, "x") },
		"funds let go twice": func(w *world) { w.accounts.releaseFunds(1, 1) },
		"a claim let go":     func(w *world) { w.idempotency[0].endClaim([16]byte{1}) },
		"a second auction": func(w *world) {
			var h RequestReservations
			w.ClaimAuctionName(&h, ping, w.at)
			w.ClaimAuctionName(&h, [16]byte{8}, w.at)
		},
		"a webhook of no supplier": func(w *world) {
			w.fact(&event.PostSettled{Settlement: event.SettledDelivered, Webhook: market.WebhookPosted})
		},
		"a fact left out": func(w *world) { w.Apply(w.seq+2, w.at, &event.PausedOrResumed{}) },
		"a fact again":    func(w *world) { w.Apply(w.seq, w.at, &event.PausedOrResumed{}) },
	} {
		t.Run(what, func(t *testing.T) {
			defer func() {
				if recover() == nil {
					t.Error("no panic")
				}
			}()
			f(newWorld())
		})
	}
}
