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
	sale.Turn = event.Turn{Set: 7}
	sale.Ping = ping
	return sale
}

// A test lead is decided, delivered, refused, given up and returned in every way,
// and but for its own row, and what its supplier is owed, the state is the same.
func TestATestLeadTouchesNothing(t *testing.T) {
	test, next := asTest(red), asTest(green)
	after := func(how event.Settlement) []event.Event {
		return []event.Event{decided(test, way, 0), settled(how, test)}
	}
	toNext := func(post event.Post) []event.Event {
		fact := settled(event.SettledRefused, test)
		fact.Next, fact.Post = next, post
		return []event.Event{decided(test, way, 0), fact}
	}
	for name, facts := range map[string][]event.Event{
		"unsold":            {decided(event.Sale{Test: true}, event.Post{}, market.ReasonNoBuyer)},
		"recorded":          {decided(test, event.Post{}, 0)},
		"returned":          {decided(test, event.Post{}, 0), reported(event.ChangeDone, market.StatusReturned, event.Return{})},
		"delivered":         after(event.SettledDelivered),
		"promised":          after(event.SettledPending),
		"confirmed":         append(after(event.SettledUnknown), settled(event.SettledConfirmed, test)),
		"released":          append(after(event.SettledUnknown), settled(event.SettledReleased, test)),
		"refused":           after(event.SettledRefused),
		"sent to the next":  toNext(way),
		"recorded for next": toNext(event.Post{}),
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
			if !ok || !lead.Test() {
				t.Errorf("the lead is %+v, %t", lead, ok)
			}
			if auction, _ := w.Auction(ping, monday); auction.Sold() {
				t.Error("it has used an auction up")
			}
			if n := w.Unknown(1); n != 0 {
				t.Errorf("%d leads of unknown fate", n)
			}
			rows := w.leadShard(&history)
			rows.table, rows.posts = table[Lead, *Lead]{}, nil
			_, hash := w.Hash()
			if _, want := without.Hash(); hash != want {
				t.Error("it has changed something beside its own row")
			}
		})
	}
}

// Marks share one byte, and neither disturbs the other.
func TestMarksOfALead(t *testing.T) {
	for _, test := range []bool{false, true} {
		var m Marks
		if test {
			m = markTest
		}
		for _, state := range []market.ReturnState{
			market.ReturnWaits, market.ReturnRefused, market.ReturnApproved, market.ReturnNone, market.ReturnWaits,
		} {
			m.setReturn(state)
			if m.Return() != state || m.Test() != test {
				t.Errorf("%s, test %t: %s, %t", state, test, m.Return(), m.Test())
			}
		}
	}
}
