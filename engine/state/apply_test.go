package state

import (
	"fmt"
	"testing"

	"pingpost/engine/event"
	"pingpost/engine/market"
)

// leadView is the visible state of one lead, and the money and caps of its first two buyers.
type leadView struct {
	status    market.LeadStatus
	delivery  market.DeliveryState
	answer    AnswerToSupplier
	reason    market.UnsoldReason
	buyer     market.PermanentNumber
	post      string          // "", or "tried n" with ", answered" and ", unknown"
	red       [2]market.Money // balance and held of the first buyer, in dollars
	green     [2]market.Money
	sold      int64 // of the first buyer's cap by count
	duplicate bool  // the lead's phone counts as a duplicate
}

func (s leadView) String() string {
	return fmt.Sprintf("%s, delivery %s, answer %d, reason %q, buyer %d, post %q, red %v, green %v, sold %d, duplicate %t",
		s.status, s.delivery, s.answer, s.reason, s.buyer, s.post, s.red, s.green, s.sold, s.duplicate)
}

const (
	accepted  = market.StatusAccepted
	unmatched = market.StatusUnmatched
)

var (
	testLead  = market.LeadID{1, 15: 3}
	testPhone = market.DuplicateKey{2, 15: 4}
)

func (x *testExchange) leadView() (s leadView) {
	lead, _ := x.LeadInMemory(testLead)
	s.status, s.delivery, s.answer, s.reason, s.buyer = lead.Status, lead.Delivery, lead.Answer, lead.Reason, lead.Buyer
	if post := x.UnfinishedPost(testLead); post != nil {
		s.post = fmt.Sprintf("tried %d", post.Attempts)
		if post.Answered {
			s.post += ", answered"
		}
		if post.Exhausted {
			s.post += ", unknown"
		}
	}
	for i, money := range []*[2]market.Money{&s.red, &s.green} {
		balance, held := x.BuyerBalance(market.PermanentNumber(i + 1))
		*money = [2]market.Money{balance / dollar, held / dollar}
	}
	s.sold = x.caps.mustFindCounter(3).used
	var h RequestReservations
	result, first, _ := x.mustClaimDuplicateKeys(&h, []market.DuplicateKey{testPhone}, x.at)
	s.duplicate = result == Full && first == testLead
	x.ReleaseAll(&h)
	return s
}

// The tests sell to red at 12, and to green at 7 if red refuses.
var (
	redSale = event.Sale{
		Buyer: 1, Price: 12 * dollar, Payout: 9 * dollar, Currency: market.Currency{'U', 'S', 'D'},
		Charges: []event.CapCharge{{Cap: 3, Window: 0, Amount: 1}}, Duplicates: []event.DuplicateCheckValue{{Key: testPhone, Until: monday + 30*day}},
	}
	greenSale = event.Sale{Buyer: 2, Price: 7 * dollar, Payout: 5 * dollar, Duplicates: redSale.Duplicates}
	intent    = event.PostIntent{URL: "https://buyer.example/v1/post", Repeatable: true}
)

func leadDecided(sale event.Sale, post event.PostIntent, reason market.UnsoldReason) event.Event {
	return &event.LeadDecided{Lead: testLead, Campaign: 1, Supplier: 1, Decided: monday, Keep: monday + 90*day, Sale: sale, Post: post, Reason: reason}
}

func postSettled(how event.PostSettlement, of event.Sale) *event.PostSettled {
	ev := &event.PostSettled{Lead: testLead, Campaign: 1, Settlement: how, Sale: of, Attempts: 2}
	if how == event.SettledReleased {
		ev.Reason = market.ReasonPostRejected
	}
	return ev
}

func postRefused(next event.Sale, post event.PostIntent) event.Event {
	ev := postSettled(event.SettledRefused, redSale)
	ev.Next, ev.Post = next, post
	if next.Buyer == 0 {
		ev.Reason = market.ReasonPostRejected
	}
	return ev
}

func TestLeadStatesThroughHistory(t *testing.T) {
	type step struct {
		name  string
		event event.Event
		want  leadView
	}
	full := [2]market.Money{500, 0}
	none := [2]market.Money{}
	sent := step{"sent to red", leadDecided(redSale, intent, 0), leadView{market.StatusOpen, market.DeliveryPending, AnswerNone, 0, 1, "tried 0", [2]market.Money{500, 12}, none, 1, false}}
	pending := step{"red has not answered yet", postSettled(event.SettledPending, redSale), leadView{accepted, market.DeliveryPending, AnswerAccepted, 0, 1, "tried 0, answered", [2]market.Money{500, 12}, none, 1, true}}
	tried := step{"an attempt failed", &event.PostAttemptFailed{Lead: testLead, Attempt: 1, At: monday, Status: 503}, leadView{accepted, market.DeliveryPending, AnswerAccepted, 0, 1, "tried 1, answered", [2]market.Money{500, 12}, none, 1, true}}
	unknown := step{"the last attempt failed", postSettled(event.SettledUnknown, redSale), leadView{accepted, market.DeliveryUnknown, AnswerAccepted, 0, 1, "tried 2, answered, unknown", [2]market.Money{500, 12}, none, 1, true}}
	resent := step{"the operator sends it again", postSettled(event.SettledResent, redSale), leadView{accepted, market.DeliveryPending, AnswerAccepted, 0, 1, "tried 0, answered", [2]market.Money{500, 12}, none, 1, true}}
	delivered := step{"red accepts", postSettled(event.SettledDelivered, redSale), leadView{accepted, market.DeliveryDone, AnswerAccepted, 0, 1, "", [2]market.Money{488, 0}, none, 1, true}}
	toGreen := step{"red refuses, sent to green", postRefused(greenSale, intent), leadView{market.StatusOpen, market.DeliveryPending, AnswerNone, 0, 2, "tried 0", full, [2]market.Money{0, 7}, 0, false}}

	for name, steps := range map[string][]step{
		"no buyer": {
			{"unmatched", leadDecided(event.Sale{}, event.PostIntent{}, market.ReasonCapsFull), leadView{unmatched, 0, AnswerUnmatched, market.ReasonCapsFull, 0, "", full, none, 0, false}},
		},
		"recorded": {
			{"sold to red", leadDecided(redSale, event.PostIntent{}, 0), leadView{accepted, 0, AnswerAccepted, 0, 1, "", [2]market.Money{488, 0}, none, 1, true}},
		},
		"delivered at once":       {sent, delivered},
		"delivered after a while": {sent, pending, tried, delivered},
		"delivered by green": {
			sent, toGreen,
			{"green accepts", postSettled(event.SettledDelivered, greenSale), leadView{accepted, market.DeliveryDone, AnswerAccepted, 0, 2, "", full, [2]market.Money{-7, 0}, 0, true}},
		},
		"recorded for green": {
			sent,
			{"red refuses, green has no endpoint", postRefused(greenSale, event.PostIntent{}), leadView{accepted, 0, AnswerAccepted, 0, 2, "", full, [2]market.Money{-7, 0}, 0, true}},
		},
		"refused by all": {
			sent, toGreen,
			{"green refuses too", func() event.Event {
				ev := postSettled(event.SettledRefused, greenSale)
				ev.Reason = market.ReasonPostRejected
				return ev
			}(), leadView{unmatched, market.DeliveryFailed, AnswerUnmatched, market.ReasonPostRejected, 0, "", full, none, 0, false}},
		},
		"refused": {
			sent,
			{"red refuses", postRefused(event.Sale{}, event.PostIntent{}), leadView{unmatched, market.DeliveryFailed, AnswerUnmatched, market.ReasonPostRejected, 0, "", full, none, 0, false}},
		},
		"refused after the answer": {
			sent, pending,
			{"red refuses", postRefused(event.Sale{}, event.PostIntent{}), leadView{unmatched, market.DeliveryFailed, AnswerAccepted, market.ReasonPostRejected, 1, "", full, none, 0, false}},
		},
		"confirmed": {
			sent, pending, tried, unknown,
			{"the operator confirms", postSettled(event.SettledConfirmed, redSale), leadView{accepted, market.DeliveryConfirmed, AnswerAccepted, 0, 1, "", [2]market.Money{488, 0}, none, 1, true}},
		},
		"released": {
			sent, pending, tried, unknown,
			{"the operator releases", postSettled(event.SettledReleased, redSale), leadView{unmatched, market.DeliveryReleased, AnswerAccepted, market.ReasonPostRejected, 1, "", full, none, 0, false}},
		},
		"resent":                       {sent, pending, tried, unknown, resent, delivered},
		"unknown at once":              {sent, unknown, resent, unknown, resent, tried, delivered},
		"resent and refused":           {sent, unknown, resent, {"red refuses", postRefused(event.Sale{}, event.PostIntent{}), leadView{unmatched, market.DeliveryFailed, AnswerAccepted, market.ReasonPostRejected, 1, "", full, none, 0, false}}},
		"attempt for a forgotten lead": {{"tried", &event.PostAttemptFailed{Lead: testLead, Attempt: 1}, leadView{red: full}}},
	} {
		t.Run(name, func(t *testing.T) {
			x := newTestExchange()
			for _, step := range steps {
				x.logAndApply(step.event)
				if got := x.leadView(); got != step.want {
					t.Fatalf("%s:\n%s, want\n%s", step.name, got, step.want)
				}
				restored := &testExchange{State: New(), at: x.at}
				replay(restored.State, x.log, x.seq)
				if got := restored.leadView(); got != step.want {
					t.Fatalf("%s, replayed:\n%s, want\n%s", step.name, got, step.want)
				}
				restarted := &testExchange{State: loadWithNewerRows(t, x), at: x.at}
				if got := restarted.leadView(); got != step.want {
					t.Fatalf("%s, after a snapshot:\n%s, want\n%s", step.name, got, step.want)
				}
			}
		})
	}
}

// loadWithNewerRows returns the state after a restart from a snapshot with a global section
// that is older than the lead, and with rows that include all later events.
func loadWithNewerRows(t *testing.T, x *testExchange) *State {
	const before = 4
	first, second := New(), New()
	replay(first, x.log, before)
	file := snapshotWriter{beforeWrite: map[int]func(){1: func() { replay(first, x.log, x.seq) }}}
	if oldest, newest, err := first.WriteSnapshot(&file, nil); err != nil || oldest != before || newest != x.seq {
		t.Fatalf("wrote positions %d to %d: %v", oldest, newest, err)
	}
	if _, err := second.LoadSnapshot(&file); err != nil {
		t.Fatal(err)
	}
	replay(second, x.log, x.seq)
	return second
}

// A lead keeps the price and the payout of the answer to its supplier.
func TestLeadKeepsTermsAfterRefusal(t *testing.T) {
	x := newTestExchange()
	x.logAndApply(leadDecided(redSale, intent, 0))
	post := x.UnfinishedPost(testLead)
	x.logAndApply(postSettled(event.SettledPending, redSale))
	if post.Answered {
		t.Error("an event changed a post that a reader holds")
	}
	x.logAndApply(postRefused(event.Sale{}, event.PostIntent{}))
	lead, ok := x.LeadInMemory(testLead)
	if !ok || lead.Price != redSale.Price || lead.Payout != redSale.Payout || lead.Currency != redSale.Currency || lead.Seq != 5 {
		t.Errorf("lead after the refusal: %+v", lead)
	}
	if _, ok := x.LeadInMemory(market.LeadID{99}); ok {
		t.Error("found a lead that does not exist")
	}
}
