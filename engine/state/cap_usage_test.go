package state

import (
	"testing"
	"time"

	"pingpost/engine/event"
	"pingpost/engine/market"
	"pingpost/engine/market/calendar"
)

// CapUsage counts applied charges and reservations until the window ends. For an earlier time it
// returns the newest window.
func TestCapUsage(t *testing.T) {
	x := newTestExchange()
	limit := &market.Cap{Ref: 2, Unit: market.UnitCount, Period: calendar.Hour, Zone: time.UTC, Limit: 5}
	x.caps.applyCharges([]event.CapCharge{{Cap: 2, Window: monday, Amount: 3}})
	var reservations RequestReservations
	if result, _ := x.ReserveAllCaps(&reservations, []*market.Cap{limit}, 0, nil, monday+1); result != Reserved {
		t.Fatal("the reservation failed")
	}
	for _, row := range []struct {
		now  int64
		want CapUsage
	}{
		{monday, CapUsage{3, 1, monday, monday + hour}},
		{monday + hour - 1, CapUsage{3, 1, monday, monday + hour}},
		{monday - 1, CapUsage{3, 1, monday, monday + hour}},
		{monday + hour, CapUsage{0, 0, monday + hour, monday + 2*hour}},
	} {
		if got := x.CapUsage(limit, row.now); got != row.want {
			t.Errorf("at %d: %+v, want %+v", row.now-monday, got, row.want)
		}
	}
	x.ReleaseAll(&reservations)
	if got := x.CapUsage(limit, monday); got.Used != 3 || got.Reserved != 0 {
		t.Errorf("after the release: %+v", got)
	}
}
