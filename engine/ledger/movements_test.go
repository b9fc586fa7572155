package ledger

import (
	"fmt"
	"strings"
	"testing"

	"pingpost/engine/event"
	"pingpost/engine/market"
)

const dollar = market.Money(1_000_000)

// describeMovements lists the party's entries of one event: kind, amount and, if not
// zero, the change of the reservation.
func describeMovements(p Party, record event.Event) string {
	var words []string
	for _, e := range p.AppendEntriesOfEvent(nil, record) {
		word := fmt.Sprintf("%s %s", e.Kind, e.Amount)
		if e.Held != 0 {
			word += fmt.Sprintf(" held %s", e.Held)
		}
		words = append(words, word)
	}
	return strings.Join(words, ", ")
}

// TestMovements checks the entries of every event that concerns money, for two buyers
// and a supplier.
func TestMovements(t *testing.T) {
	usd := market.Currency{'U', 'S', 'D'}
	red := event.Sale{Buyer: 1, Price: 12 * dollar, Payout: 9 * dollar, Currency: usd}
	green := event.Sale{Buyer: 2, Price: 7 * dollar, Payout: 5 * dollar, Currency: usd}
	test := red
	test.Test = true
	endpoint := event.PostIntent{URL: "https://buyer.example/v1/post"}
	decided := func(sale event.Sale, post event.PostIntent) event.Event {
		return &event.LeadDecided{Lead: market.LeadID{1}, Campaign: 3, Supplier: 1, Sale: sale, Post: post}
	}
	settled := func(how event.PostSettlement, sale, next event.Sale, post event.PostIntent) event.Event {
		return &event.PostSettled{Lead: market.LeadID{1}, Campaign: 3, Supplier: 1, Settlement: how, Sale: sale, Next: next, Post: post}
	}
	returned := func(result event.LeadStatusChangeResult, back event.MoneyAndCapsReversedByReturn) event.Event {
		return &event.LeadStatusChangesDecided{Buyer: 1, Changes: []event.DecidedLeadStatusChange{{Lead: market.LeadID{1}, Supplier: 1, Result: result, To: market.StatusReturned, Return: back}}}
	}
	whole := event.MoneyAndCapsReversedByReturn{Campaign: 3, Credit: 12 * dollar, Reverse: 9 * dollar, Currency: usd, Month: 1}
	kept, free := whole, whole
	kept.Reverse, free.Credit, free.Reverse = 0, 0, 0
	noSale, noPost := event.Sale{}, event.PostIntent{}
	for _, row := range []struct {
		name                 string
		record               event.Event
		red, green, supplier string
	}{
		{"the account is opened", &event.BuyerFundsAdjusted{Buyer: 1, Amount: 500 * dollar, Opening: true}, "opening 500", "", ""},
		{"a top-up", &event.BuyerFundsAdjusted{Buyer: 1, Amount: 4_100_001}, "top_up 4.100001", "", ""},
		{"an unsold lead", decided(noSale, noPost), "", "", ""},
		{"a recorded lead", decided(red, noPost), "sale -12", "", "sale 9"},
		{"a posted lead", decided(red, endpoint), "held 0 held 12", "", ""},
		{"the supplier is answered before the delivery", settled(event.SettledPending, red, noSale, noPost), "", "", ""},
		{"all attempts failed", settled(event.SettledUnknown, red, noSale, noPost), "", "", ""},
		{"resent", settled(event.SettledResent, red, noSale, noPost), "", "", ""},
		{"delivered", settled(event.SettledDelivered, red, noSale, noPost), "sale -12 held -12", "", "sale 9"},
		{"confirmed", settled(event.SettledConfirmed, red, noSale, noPost), "sale -12 held -12", "", "sale 9"},
		{"refused", settled(event.SettledRefused, red, noSale, noPost), "held 0 held -12", "", ""},
		{"released", settled(event.SettledReleased, red, noSale, noPost), "held 0 held -12", "", ""},
		{"refused, posted to the next", settled(event.SettledRefused, red, green, endpoint), "held 0 held -12", "held 0 held 7", ""},
		{"refused, recorded for the next", settled(event.SettledRefused, red, green, noPost), "held 0 held -12", "sale -7", "sale 5"},
		{"refused, recorded for the same buyer again", settled(event.SettledRefused, red, red, noPost), "held 0 held -12, sale -12", "", "sale 9"},
		{"returned", returned(event.ChangeDone, whole), "return 12", "", "reversal -9"},
		{"returned; the supplier keeps its payout", returned(event.ChangeDone, kept), "return 12", "", ""},
		{"a free lead returned", returned(event.ChangeDone, free), "return 0", "", ""},
		{"a pending return", returned(event.ChangePending, event.MoneyAndCapsReversedByReturn{Month: 1}), "", "", ""},
		{"a rejected return", returned(event.ChangeRefused, event.MoneyAndCapsReversedByReturn{Month: 1}), "", "", ""},
		{"a repeated report", returned(event.ChangeNone, whole), "", "", ""},
		{"a test lead is recorded", decided(test, noPost), "", "", ""},
		{"a test lead is posted", decided(test, endpoint), "", "", ""},
		{"a test lead is delivered", settled(event.SettledDelivered, test, noSale, noPost), "", "", ""},
		{"a test lead is refused", settled(event.SettledRefused, test, noSale, noPost), "", "", ""},
		{"a test lead is refused, and recorded for the next", settled(event.SettledRefused, test, test, noPost), "", "", ""},
		{"a test lead is returned", returned(event.ChangeDone, event.MoneyAndCapsReversedByReturn{Campaign: 3}), "", "", ""},
		{"a failed attempt", &event.PostAttemptFailed{Lead: market.LeadID{1}, Attempt: 1}, "", "", ""},
		{"a pause", &event.CampaignOrBuyerPausedOrResumed{Target: event.ObjectBuyer, Ref: 1, Paused: true}, "", "", ""},
	} {
		t.Run(row.name, func(t *testing.T) {
			for _, account := range []struct {
				Party
				want string
			}{
				{Party{event.ObjectBuyer, 1}, row.red},
				{Party{event.ObjectBuyer, 2}, row.green},
				{Party{event.ObjectSupplier, 1}, row.supplier},
				{Party{event.ObjectSupplier, 2}, ""},
				{Party{event.ObjectBuyer, 3}, ""},
			} {
				if got := describeMovements(account.Party, row.record); got != account.want {
					t.Errorf("movements of %+v: %q, want %q", account.Party, got, account.want)
				}
			}
		})
	}
}

// TestBatchReturns checks that a report of several returns yields one entry for each.
func TestBatchReturns(t *testing.T) {
	record := &event.LeadStatusChangesDecided{Buyer: 1}
	for n := range byte(4) {
		record.Changes = append(record.Changes, event.DecidedLeadStatusChange{
			Lead: market.LeadID{n}, Supplier: market.PermanentNumber(n%2 + 1), Result: event.ChangeDone,
			Return: event.MoneyAndCapsReversedByReturn{Credit: market.Money(n+1) * dollar, Reverse: dollar, Month: 1},
		})
	}
	if got := describeMovements(Party{event.ObjectBuyer, 1}, record); got != "return 1, return 2, return 3, return 4" {
		t.Errorf("movements of the buyer: %q", got)
	}
	if got := describeMovements(Party{event.ObjectSupplier, 2}, record); got != "reversal -1, reversal -1" {
		t.Errorf("movements of the supplier: %q", got)
	}
}

func TestEntryKindNames(t *testing.T) {
	seen := map[string]bool{}
	for k := range entryKindEnd {
		if name := k.String(); name == "" || seen[name] {
			t.Errorf("entry kind %d has the name %q, want a unique name", k, name)
		}
		seen[k.String()] = true
	}
}
