package market

import (
	"math"
	"testing"
	"time"

	"pingpost/engine/market/calendar"
)

func TestCapNames(t *testing.T) {
	for name, p := range map[string]calendar.Period{
		"hour": calendar.Hour, "day": calendar.Day, "week": calendar.Week, "month": calendar.Month, "total": calendar.Total,
	} {
		if got, ok := calendar.ParsePeriod(name); got != p || !ok || p.String() != name {
			t.Errorf("%s: %s, %t", name, got, ok)
		}
	}
	for _, wrong := range []string{"", "unknown", "Day", "days", "year"} {
		if p, ok := calendar.ParsePeriod(wrong); ok {
			t.Errorf("%q is taken for %s", wrong, p)
		}
	}
	for want, got := range map[string]string{
		"count": UnitCount.String(), "money": UnitMoney.String(),
		"campaign": ScopeCampaign.String(), "buyer": ScopeBuyer.String(), "pair": ScopePair.String(),
	} {
		if got != want {
			t.Errorf("%s is called %s", want, got)
		}
	}
	for _, got := range []string{calendar.Period(0).String(), calendar.Period(99).String(), CapUnit(0).String(), CapScope(4).String()} {
		if got != "unknown" {
			t.Errorf("a number without a name is called %s", got)
		}
	}
}

// The log holds these numbers.
func TestCapNumbersAreFrozen(t *testing.T) {
	if calendar.Hour != 1 || calendar.Day != 2 || calendar.Week != 3 || calendar.Month != 4 || calendar.Total != 5 {
		t.Error("a period has changed its number")
	}
	if UnitCount != 1 || UnitMoney != 2 || ScopeCampaign != 1 || ScopeBuyer != 2 || ScopePair != 3 {
		t.Error("a unit or a scope has changed its number")
	}
}

func TestCapAmount(t *testing.T) {
	const price = Money(12_340_000)
	if got := (&Cap{Unit: UnitCount}).AmountOfSale(price); got != 1 {
		t.Errorf("a sale counts as %d leads", got)
	}
	if got := (&Cap{Unit: UnitMoney}).AmountOfSale(price); got != 12_340_000 {
		t.Errorf("a sale at %s counts as %d millionths", price, got)
	}
}

func TestCapKeyKeepsCountsOverLimits(t *testing.T) {
	key := CapKey{Scope: ScopePair, Campaign: 1, Buyer: 2, Unit: UnitCount, Period: calendar.Day, Zone: "UTC"}
	others := map[string]func(*CapKey){
		"scope":    func(k *CapKey) { k.Scope = ScopeBuyer },
		"campaign": func(k *CapKey) { k.Campaign = 3 },
		"buyer":    func(k *CapKey) { k.Buyer = 3 },
		"unit":     func(k *CapKey) { k.Unit = UnitMoney },
		"period":   func(k *CapKey) { k.Period = calendar.Hour },
		"zone":     func(k *CapKey) { k.Zone = "America/New_York" },
	}
	for name, change := range others {
		other := key
		if change(&other); other == key {
			t.Errorf("another %s is the same cap", name)
		}
	}
}

func TestTotalHasOneWindow(t *testing.T) {
	for _, at := range []int64{0, 1, time.Now().UnixNano(), math.MaxInt64} {
		if start, end := calendar.Total.WindowContaining(at, time.UTC); start != 0 || end != math.MaxInt64 {
			t.Errorf("at %d: %d to %d", at, start, end)
		}
	}
}

func TestUnknownPeriodIsABug(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Error("no panic")
		}
	}()
	calendar.Period(0).WindowContaining(0, time.UTC)
}
