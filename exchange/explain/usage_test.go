package explain

import (
	"fmt"
	"testing"
	"time"

	"pingpost/engine/event"
	"pingpost/engine/market"
	"pingpost/engine/market/calendar"
	"pingpost/exchange/logtest"
)

// TestPastUsageOfCapsAndFunds: the use of a cap and the money of a buyer before a decision, from the
// present value or, in a window that has ended, from the charges in it. Sales, refusals and returns
// after the decision do not count, nor do test leads.
func TestPastUsageOfCapsAndFunds(t *testing.T) {
	c := newHistory(t)
	caps := []*market.Cap{
		{Ref: 1, Scope: market.ScopeBuyer, Unit: market.UnitCount, Period: calendar.Total, Zone: time.UTC, Limit: 9},
		{Ref: 2, Scope: market.ScopeBuyer, Unit: market.UnitMoney, Period: calendar.Day, Zone: time.UTC, Limit: 9},
		{Ref: 3, Scope: market.ScopeBuyer, Unit: market.UnitCount, Period: calendar.Hour, Zone: time.UTC, Limit: 9},
	}
	given := &event.ConfigObjectNumbersAssigned{}
	for _, limit := range caps {
		given.Caps = append(given.Caps, event.CapNumberAssignment{Ref: limit.Ref, Key: market.CapKey{Scope: limit.Scope, Buyer: 1, Unit: limit.Unit, Period: limit.Period, Zone: "UTC"}})
	}
	c.Add(given)
	c.Add(&event.BuyerFundsAdjusted{Buyer: 1, Amount: 100_000_000, Opening: true, At: c.Now})
	sale := func() event.Sale {
		sale := logtest.SaleTo(1)
		for _, limit := range caps {
			from, _ := limit.Period.WindowContaining(c.Now, limit.Zone)
			sale.Charges = append(sale.Charges, event.CapCharge{Cap: limit.Ref, Window: from, Amount: limit.AmountUsedBySale(sale.Price)})
		}
		return sale
	}
	number := byte(0)
	sell := func(change func(*event.LeadDecided)) {
		number++
		lead := &event.LeadDecided{Lead: c.NewLeadID(number), Campaign: 1, Supplier: 1, Decided: c.Now, Keep: c.Now + int64(240*time.Hour), Sale: sale()}
		change(lead)
		c.Add(lead)
	}
	type moment struct {
		at   int64
		want string
	}
	var moments []moment
	remember := func(want string) {
		c.AdvanceClock(time.Second)
		moments = append(moments, moment{c.Now, want})
		c.AdvanceClock(time.Second)
	}
	remember("0 0 0, 100 0")
	sell(func(*event.LeadDecided) {})
	sell(func(lead *event.LeadDecided) { lead.Sale.Test = true })
	remember("1 12500000 1, 87.5 0")
	sold := sale()
	sell(func(lead *event.LeadDecided) { lead.Post = event.PostIntent{URL: "https://buyer.example"} })
	remember("2 25000000 2, 87.5 12.5")
	c.Add(&event.PostSettled{Lead: c.NewLeadID(number), Campaign: 1, Settlement: event.SettledRefused, Sale: sold, Reason: market.ReasonPostRejected})
	remember("1 12500000 1, 87.5 0")
	c.AdvanceClock(time.Hour)
	remember("1 12500000 0, 87.5 0")
	sell(func(*event.LeadDecided) {})
	remember("2 25000000 1, 75 0")
	c.Add(&event.BuyerFundsAdjusted{Buyer: 1, Amount: 5_000_000, At: c.Now})
	remember("2 25000000 1, 80 0")
	c.AdvanceClock(48 * time.Hour)
	sell(func(*event.LeadDecided) {})
	remember("3 12500000 1, 67.5 0")
	for i, m := range moments {
		usages, funds := c.capUsagesBefore(caps, m.at, m.at), c.fundsBefore([]market.PermanentNumber{1}, m.at)
		if got := fmt.Sprintf("%d %d %d, %s %s", usages[1].Used, usages[2].Used, usages[3].Used, funds[1].Balance, funds[1].Held); got != m.want {
			t.Errorf("moment %d: got %s, want %s", i, got, m.want)
		}
	}
	// Beyond its limits, a search finds no value. It does not guess.
	c.limits.entries = 2
	if usages, funds := c.capUsagesBefore(caps, moments[1].at, moments[1].at), c.fundsBefore([]market.PermanentNumber{1}, moments[1].at); len(usages) != 0 || len(funds) != 0 {
		t.Errorf("beyond the limits: %v %v", usages, funds)
	}
}
