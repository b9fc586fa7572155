package state

import (
	"testing"
	"time"

	"pingpost/engine/event"
	"pingpost/engine/market"
	"pingpost/engine/market/calendar"
)

// TestCapStanding: what facts have used and requests hold, until the window has passed;
// and asked at a time before the others', the window that they count in.
func TestCapStanding(t *testing.T) {
	w := newWorld()
	limit := &market.Cap{Ref: 2, Unit: market.UnitCount, Period: calendar.Hour, Zone: time.UTC, Limit: 5}
	w.caps.applyCharges([]event.CapCharge{{Cap: 2, Window: monday, Amount: 3}})
	var hold RequestReservations
	if room, _ := w.ReserveAllCaps(&hold, []*market.Cap{limit}, 0, nil, monday+1); room != Reserved {
		t.Fatal("no room")
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
		if got := w.CapUsage(limit, row.now); got != row.want {
			t.Errorf("at %d: %+v, want %+v", row.now-monday, got, row.want)
		}
	}
	w.ReleaseAll(&hold)
	if got := w.CapUsage(limit, monday); got.Used != 3 || got.Reserved != 0 {
		t.Errorf("given back: %+v", got)
	}
}
