package state

import (
	"testing"
	"time"

	"pingpost/engine/event"
	"pingpost/engine/market"
)

// TestCapStanding: what facts have used and requests hold, until the window has passed;
// and asked at a time before the others', the window that they count in.
func TestCapStanding(t *testing.T) {
	w := newWorld()
	limit := &market.Cap{Ref: 2, Unit: market.UnitCount, Period: market.PeriodHour, Zone: time.UTC, Limit: 5}
	w.caps.charge([]event.Charge{{Cap: 2, Window: monday, Amount: 3}})
	var hold Hold
	if room, _ := w.TakeCaps(&hold, []*market.Cap{limit}, 0, nil, monday+1); room != RoomTaken {
		t.Fatal("no room")
	}
	for _, row := range []struct {
		now  int64
		want CapStanding
	}{
		{monday, CapStanding{3, 1, monday, monday + hour}},
		{monday + hour - 1, CapStanding{3, 1, monday, monday + hour}},
		{monday - 1, CapStanding{3, 1, monday, monday + hour}},
		{monday + hour, CapStanding{0, 0, monday + hour, monday + 2*hour}},
	} {
		if got := w.CapStanding(limit, row.now); got != row.want {
			t.Errorf("at %d: %+v, want %+v", row.now-monday, got, row.want)
		}
	}
	w.Release(&hold)
	if got := w.CapStanding(limit, monday); got.Used != 3 || got.Held != 0 {
		t.Errorf("given back: %+v", got)
	}
}
