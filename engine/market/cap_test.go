package market

import (
	"math"
	"testing"
	"time"

	"pingpost/engine/market/calendar"
)

func TestParsePeriod(t *testing.T) {
	for name, p := range map[string]calendar.Period{
		"hour": calendar.Hour, "day": calendar.Day, "week": calendar.Week, "month": calendar.Month, "total": calendar.Total,
	} {
		if got, ok := calendar.ParsePeriod(name); got != p || !ok || p.String() != name {
			t.Errorf("ParsePeriod(%q) = %s, %t", name, got, ok)
		}
	}
	for _, wrong := range []string{"", "unknown", "Day", "days", "year"} {
		if p, ok := calendar.ParsePeriod(wrong); ok {
			t.Errorf("%q is parsed as %s", wrong, p)
		}
	}
}

func TestCapAmountUsedBySale(t *testing.T) {
	const price = Money(12_340_000)
	if got := (&Cap{Unit: UnitCount}).AmountUsedBySale(price); got != 1 {
		t.Errorf("a sale uses %d of a count cap, want 1", got)
	}
	if got := (&Cap{Unit: UnitMoney}).AmountUsedBySale(price); got != 12_340_000 {
		t.Errorf("a sale at %s uses %d millionths of a money cap", price, got)
	}
}

func TestCapKeysDifferByEachField(t *testing.T) {
	key := CapKey{Scope: ScopePair, Campaign: 1, Buyer: 2, Unit: UnitCount, Period: calendar.Day, Zone: "UTC"}
	others := map[string]func(*CapKey){
		"scope":    func(k *CapKey) { k.Scope = ScopeBuyer },
		"campaign": func(k *CapKey) { k.Campaign = 3 },
		"buyer":    func(k *CapKey) { k.Buyer = 3 },
		"unit":     func(k *CapKey) { k.Unit = UnitMoney },
		"period":   func(k *CapKey) { k.Period = calendar.Hour },
		"entry":    func(k *CapKey) { k.Entry = "facebook" },
		"zone":     func(k *CapKey) { k.Zone = "America/New_York" },
	}
	for name, change := range others {
		other := key
		if change(&other); other == key {
			t.Errorf("a different %s gives the same cap key", name)
		}
	}
}

func TestTotalPeriodHasOneWindow(t *testing.T) {
	for _, at := range []int64{0, 1, time.Now().UnixNano(), math.MaxInt64} {
		if start, end := calendar.Total.WindowContaining(at, time.UTC); start != 0 || end != math.MaxInt64 {
			t.Errorf("window at %d is %d to %d", at, start, end)
		}
	}
}

func TestUnknownPeriodPanics(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Error("no panic")
		}
	}()
	calendar.Period(0).WindowContaining(0, time.UTC)
}
