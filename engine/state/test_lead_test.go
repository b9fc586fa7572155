package state

import (
	"testing"

	"pingpost/engine/event"
	"pingpost/engine/market"
)

// asTest is the sale of a test lead. Its fact says more than the engine would
// write: nothing of it may count.
func asTest(sale event.Sale) event.Sale {
	sale.Test = true
	sale.Turn = event.RotationTurn{Set: 7}
	return sale
}

// A test lead is decided, delivered, refused, given up and returned in every way,
// and but for its own row, and what its supplier is owed, the state is the same.
func TestATestLeadTouchesNothing(t *testing.T) {
	test, next := asTest(red), asTest(green)
	after := func(how event.PostSettlement) []event.Event {
		return []event.Event{decided(test, way, 0), settled(how, test)}
	}
	toNext := func(post event.PostIntent) []event.Event {
		fact := settled(event.SettledRefused, test)
		fact.Next, fact.Post = next, post
		return []event.Event{decided(test, way, 0), fact}
	}
	for name, facts := range map[string][]event.Event{
		"unsold":            {decided(event.Sale{Test: true}, event.PostIntent{}, market.ReasonNoBuyer)},
		"recorded":          {decided(test, event.PostIntent{}, 0)},
		"returned":          {decided(test, event.PostIntent{}, 0), reported(event.ChangeDone, market.StatusReturned, event.ResourcesFreedByReturn{})},
		"delivered":         after(event.SettledDelivered),
		"promised":          after(event.SettledPending),
		"confirmed":         append(after(event.SettledUnknown), settled(event.SettledConfirmed, test)),
		"released":          append(after(event.SettledUnknown), settled(event.SettledReleased, test)),
		"refused":           after(event.SettledRefused),
		"sent to the next":  toNext(way),
		"recorded for next": toNext(event.PostIntent{}),
	} {
		t.Run(name, func(t *testing.T) {
			w, without := newWorld(), newWorld()
			for _, w := range []*world{w, without} {
				w.fact(held(monday + 90*day))
			}
			for _, fact := range facts {
				w.fact(fact)
			}
			lead, ok := w.Lead(history)
			if !ok || !lead.IsTest() {
				t.Errorf("the lead is %+v, %t", lead, ok)
			}
			if n := w.CountUnknownDeliveries(1, false) + w.CountUnknownDeliveriesExceptTests(); n != 0 {
				t.Errorf("%d leads of unknown fate", n)
			}
			rows := w.leadShardOf(&history)
			rows.table, rows.posts = table[Lead, *Lead]{}, nil
			_, hash := w.Hash()
			if _, want := without.Hash(); hash != want {
				t.Error("it has changed something beside its own row")
			}
		})
	}
}

// What a test lead does use up is the auction it was sold in, which is a test's
// itself: who sells at a bid twice is to hear of it there, too.
func TestATestLeadUsesItsAuctionUp(t *testing.T) {
	test := asTest(red)
	test.Ping = ping
	for name, row := range map[string]struct {
		facts []event.Event
		sold  bool
	}{
		"recorded":   {[]event.Event{decided(test, event.PostIntent{}, 0)}, true},
		"on its way": {[]event.Event{decided(test, way, 0)}, true},
		"delivered":  {[]event.Event{decided(test, way, 0), settled(event.SettledDelivered, test)}, true},
		"lost":       {[]event.Event{decided(test, way, 0), settled(event.SettledUnknown, test)}, true},
		"refused":    {[]event.Event{decided(test, way, 0), settled(event.SettledRefused, test)}, false},
		"released":   {[]event.Event{decided(test, way, 0), settled(event.SettledUnknown, test), settled(event.SettledReleased, test)}, false},
	} {
		w := newWorld()
		w.fact(held(monday + 90*day))
		for _, fact := range row.facts {
			w.fact(fact)
		}
		if auction, _ := w.FindAuction(ping, monday); auction.IsSoldOrBeingPosted() != row.sold {
			t.Errorf("%s: sold to %s", name, auction.Lead)
		}
	}
}

// Marks share one byte, and neither disturbs the other.
func TestMarksOfALead(t *testing.T) {
	for _, test := range []bool{false, true} {
		var m LeadFlags
		if test {
			m = markTest
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
