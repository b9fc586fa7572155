package engine

import (
	"fmt"
	"strings"
	"testing"

	"pingpost/engine/event"
	"pingpost/engine/market"
)

const dollar = market.Money(1_000_000)

// moved is what a fact moves of a party's money: each movement's kind, amount and,
// where it has one, its hold.
func moved(p Party, fact event.Event) string {
	var words []string
	for _, e := range p.Movements(nil, fact) {
		word := fmt.Sprintf("%s %s", e.Kind, e.Amount)
		if e.Held != 0 {
			word += fmt.Sprintf(" held %s", e.Held)
		}
		words = append(words, word)
	}
	return strings.Join(words, ", ")
}

// TestWhatMovesMoney: of every fact that has to do with money, what it does to the
// first buyer, the second one, and the supplier.
func TestWhatMovesMoney(t *testing.T) {
	usd := market.Currency{'U', 'S', 'D'}
	red := event.Sale{Buyer: 1, Price: 12 * dollar, Payout: 9 * dollar, Currency: usd}
	green := event.Sale{Buyer: 2, Price: 7 * dollar, Payout: 5 * dollar, Currency: usd}
	test := red
	test.Test = true
	way := event.Post{URL: "https://buyer.example/v1/post"}
	decided := func(sale event.Sale, post event.Post) event.Event {
		return &event.LeadDecided{Lead: market.LeadID{1}, Campaign: 3, Supplier: 1, Sale: sale, Post: post}
	}
	settled := func(how event.Settlement, sale, next event.Sale, post event.Post) event.Event {
		return &event.PostSettled{Lead: market.LeadID{1}, Campaign: 3, Supplier: 1, Settlement: how, Sale: sale, Next: next, Post: post}
	}
	came := func(result event.ChangeResult, back event.Return) event.Event {
		return &event.StatusChanged{Buyer: 1, Changes: []event.Change{{Lead: market.LeadID{1}, Supplier: 1, Result: result, To: market.StatusReturned, Return: back}}}
	}
	whole := event.Return{Campaign: 3, Credit: 12 * dollar, Reverse: 9 * dollar, Currency: usd, Month: 1}
	kept, free := whole, whole
	kept.Reverse, free.Credit, free.Reverse = 0, 0, 0
	none, nowhere := event.Sale{}, event.Post{}
	for _, row := range []struct {
		what                 string
		fact                 event.Event
		red, green, supplier string
	}{
		{"the account begins", &event.FundsMoved{Buyer: 1, Amount: 500 * dollar, Opening: true}, "opening 500", "", ""},
		{"a top-up", &event.FundsMoved{Buyer: 1, Amount: 4_100_001}, "top_up 4.100001", "", ""},
		{"a lead nobody wants", decided(none, nowhere), "", "", ""},
		{"a lead is recorded", decided(red, nowhere), "sale -12", "", "sale 9"},
		{"a lead is posted", decided(red, way), "held 0 held 12", "", ""},
		{"the supplier is answered", settled(event.SettledPending, red, none, nowhere), "", "", ""},
		{"the tries are used up", settled(event.SettledUnknown, red, none, nowhere), "", "", ""},
		{"it is sent again", settled(event.SettledResent, red, none, nowhere), "", "", ""},
		{"delivered", settled(event.SettledDelivered, red, none, nowhere), "sale -12 held -12", "", "sale 9"},
		{"confirmed", settled(event.SettledConfirmed, red, none, nowhere), "sale -12 held -12", "", "sale 9"},
		{"refused", settled(event.SettledRefused, red, none, nowhere), "held 0 held -12", "", ""},
		{"released", settled(event.SettledReleased, red, none, nowhere), "held 0 held -12", "", ""},
		{"refused, posted to the next", settled(event.SettledRefused, red, green, way), "held 0 held -12", "held 0 held 7", ""},
		{"refused, recorded for the next", settled(event.SettledRefused, red, green, nowhere), "held 0 held -12", "sale -7", "sale 5"},
		{"refused, and the next is the same", settled(event.SettledRefused, red, red, nowhere), "held 0 held -12, sale -12", "", "sale 9"},
		{"returned", came(event.ChangeDone, whole), "return 12", "", "reversal -9"},
		{"returned, and the supplier keeps its payout", came(event.ChangeDone, kept), "return 12", "", ""},
		{"a lead that cost nothing is returned", came(event.ChangeDone, free), "return 0", "", ""},
		{"a return waits", came(event.ChangeWaits, event.Return{Month: 1}), "", "", ""},
		{"a return is refused", came(event.ChangeRefused, event.Return{Month: 1}), "", "", ""},
		{"a report that came twice", came(event.ChangeNone, whole), "", "", ""},
		{"a test lead is recorded", decided(test, nowhere), "", "", ""},
		{"a test lead is posted", decided(test, way), "", "", ""},
		{"a test lead is delivered", settled(event.SettledDelivered, test, none, nowhere), "", "", ""},
		{"a test lead is refused", settled(event.SettledRefused, test, none, nowhere), "", "", ""},
		{"a test lead is refused, and recorded for the next", settled(event.SettledRefused, test, test, nowhere), "", "", ""},
		{"a test lead is returned", came(event.ChangeDone, event.Return{Campaign: 3}), "", "", ""},
		{"a try fails", &event.PostTried{Lead: market.LeadID{1}, Attempt: 1}, "", "", ""},
		{"a pause", &event.DoorSet{Door: event.NameBuyer, Ref: 1, Paused: true}, "", "", ""},
	} {
		t.Run(row.what, func(t *testing.T) {
			for _, who := range []struct {
				Party
				want string
			}{
				{Party{event.NameBuyer, 1}, row.red},
				{Party{event.NameBuyer, 2}, row.green},
				{Party{event.NameSupplier, 1}, row.supplier},
				{Party{event.NameSupplier, 2}, ""},
				{Party{event.NameBuyer, 3}, ""},
			} {
				if got := moved(who.Party, row.fact); got != who.want {
					t.Errorf("of %+v it moves %q, want %q", who.Party, got, who.want)
				}
			}
		})
	}
}

// TestABatchOfReturns: one report may bring back many leads, each an entry.
func TestABatchOfReturns(t *testing.T) {
	fact := &event.StatusChanged{Buyer: 1}
	for n := range byte(4) {
		fact.Changes = append(fact.Changes, event.Change{
			Lead: market.LeadID{n}, Supplier: market.Ref(n%2 + 1), Result: event.ChangeDone,
			Return: event.Return{Credit: market.Money(n+1) * dollar, Reverse: dollar, Month: 1},
		})
	}
	if got := moved(Party{event.NameBuyer, 1}, fact); got != "return 1, return 2, return 3, return 4" {
		t.Error(got)
	}
	if got := moved(Party{event.NameSupplier, 2}, fact); got != "reversal -1, reversal -1" {
		t.Error(got)
	}
}

func TestEveryEntryKindHasAName(t *testing.T) {
	seen := map[string]bool{}
	for k := range entryKinds {
		if name := k.String(); name == "" || seen[name] {
			t.Errorf("kind %d is called %q", k, name)
		}
		seen[k.String()] = true
	}
}
