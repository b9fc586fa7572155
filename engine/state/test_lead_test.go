package state

import (
	"testing"

	"pingpost/engine/event"
	"pingpost/engine/market"
)

// asTestSale returns the sale of a test lead, with a turn, which the engine would not write and
// which must not count.
func asTestSale(sale event.Sale) event.Sale {
	sale.Test = true
	sale.Turn = event.RotationTurn{Set: 7}
	return sale
}

// A test lead is decided, delivered, refused, released and returned in every way. Only its own
// row and its supplier's webhooks change.
func TestTestLeadChangesOnlyItsRow(t *testing.T) {
	test, next := asTestSale(redSale), asTestSale(greenSale)
	after := func(how event.PostSettlement) []event.Event {
		return []event.Event{leadDecided(test, intent, 0), postSettled(how, test)}
	}
	toNext := func(post event.PostIntent) []event.Event {
		ev := postSettled(event.SettledRefused, test)
		ev.Next, ev.Post = next, post
		return []event.Event{leadDecided(test, intent, 0), ev}
	}
	for name, events := range map[string][]event.Event{
		"unsold":            {leadDecided(event.Sale{Test: true}, event.PostIntent{}, market.ReasonNoBuyer)},
		"recorded":          {leadDecided(test, event.PostIntent{}, 0)},
		"returned":          {leadDecided(test, event.PostIntent{}, 0), statusReported(event.ChangeDone, market.StatusReturned, event.MoneyAndCapsReversedByReturn{})},
		"delivered":         after(event.SettledDelivered),
		"promised":          after(event.SettledPending),
		"confirmed":         append(after(event.SettledUnknown), postSettled(event.SettledConfirmed, test)),
		"released":          append(after(event.SettledUnknown), postSettled(event.SettledReleased, test)),
		"refused":           after(event.SettledRefused),
		"sent to the next":  toNext(intent),
		"recorded for next": toNext(event.PostIntent{}),
	} {
		t.Run(name, func(t *testing.T) {
			x, without := newTestExchange(), newTestExchange()
			for _, x := range []*testExchange{x, without} {
				x.logAndApply(auctionCompleted(monday + 90*day))
			}
			for _, ev := range events {
				x.logAndApply(ev)
			}
			lead, ok := x.LeadInMemory(testLead)
			if !ok || !lead.IsTest() {
				t.Errorf("the lead is %+v, %t", lead, ok)
			}
			if n := x.CountUnknownDeliveries(1, false) + x.CountUnknownDeliveriesExceptTests(); n != 0 {
				t.Errorf("%d unknown deliveries, want 0", n)
			}
			rows := x.leadShardOf(&testLead)
			_, position, _ := rows.table.findWithExpired((*[16]byte)(&testLead))
			rows.table.removeRow(position)
			rows.posts = nil
			_, hash := x.Hash()
			if _, want := without.Hash(); hash != want {
				t.Error("the test lead changed more than its own row")
			}
		})
	}
}

// A test lead does sell its auction, which is a test auction. A supplier that sells to one bid
// twice gets the error there, too.
func TestTestLeadSellsItsAuction(t *testing.T) {
	test := asTestSale(redSale)
	test.Ping = testAuction
	for name, row := range map[string]struct {
		events []event.Event
		sold   bool
	}{
		"recorded":  {[]event.Event{leadDecided(test, event.PostIntent{}, 0)}, true},
		"posted":    {[]event.Event{leadDecided(test, intent, 0)}, true},
		"delivered": {[]event.Event{leadDecided(test, intent, 0), postSettled(event.SettledDelivered, test)}, true},
		"unknown":   {[]event.Event{leadDecided(test, intent, 0), postSettled(event.SettledUnknown, test)}, true},
		"refused":   {[]event.Event{leadDecided(test, intent, 0), postSettled(event.SettledRefused, test)}, false},
		"released":  {[]event.Event{leadDecided(test, intent, 0), postSettled(event.SettledUnknown, test), postSettled(event.SettledReleased, test)}, false},
	} {
		x := newTestExchange()
		x.logAndApply(auctionCompleted(monday + 90*day))
		for _, ev := range row.events {
			x.logAndApply(ev)
		}
		if auction, _ := x.FindAuction(testAuction, monday); auction.IsSoldOrBeingPosted() != row.sold {
			t.Errorf("%s: sold to %s", name, auction.Lead)
		}
	}
}

// The flags share one byte.
func TestLeadFlagsAreIndependent(t *testing.T) {
	for _, test := range []bool{false, true} {
		var m LeadFlags
		if test {
			m = testLeadFlag
		}
		for _, state := range []market.ReturnState{
			market.ReturnPending, market.ReturnRefused, market.ReturnApproved, market.ReturnNone, market.ReturnPending,
		} {
			m.setReturnState(state)
			if m.ReturnState() != state || m.IsTest() != test {
				t.Errorf("%s, test %t: %s, %t", state, test, m.ReturnState(), m.IsTest())
			}
		}
	}
}
