package state

import (
	"fmt"
	"testing"

	"pingpost/engine/event"
	"pingpost/engine/market"
)

// standing is all that can be seen of one lead, and of its first buyer's and its
// second buyer's money and caps.
type standing struct {
	status   market.LeadStatus
	delivery market.DeliveryState
	answer   SupplierAnswer
	reason   market.UnsoldReason
	buyer    market.PermanentNumber
	open     string          // its post: "", tried n, answered, unknown
	red      [2]market.Money // balance and held of the first buyer, in dollars
	green    [2]market.Money
	sold     int64 // of the first buyer's cap by count
	known    bool  // the lead's phone is that of an accepted lead
}

func (s standing) String() string {
	return fmt.Sprintf("%s, delivery %s, answer %d, reason %q, buyer %d, post %q, red %v, green %v, sold %d, known %t",
		s.status, s.delivery, s.answer, s.reason, s.buyer, s.open, s.red, s.green, s.sold, s.known)
}

const (
	accepted  = market.StatusAccepted
	unmatched = market.StatusUnmatched
)

var (
	history = market.LeadID{1, 15: 3}
	phone   = market.DuplicateKey{2, 15: 4}
)

func (w *world) standing() (s standing) {
	lead, _ := w.Lead(history)
	s.status, s.delivery, s.answer, s.reason, s.buyer = lead.Status, lead.Delivery, lead.Answer, lead.Reason, lead.Buyer
	if post := w.UnfinishedPost(history); post != nil {
		s.open = fmt.Sprintf("tried %d", post.Attempts)
		if post.Answered {
			s.open += ", answered"
		}
		if post.Exhausted {
			s.open += ", unknown"
		}
	}
	for i, money := range []*[2]market.Money{&s.red, &s.green} {
		balance, held := w.BuyerBalance(market.PermanentNumber(i + 1))
		*money = [2]market.Money{balance / dollar, held / dollar}
	}
	s.sold = w.caps.counterOf(3).used
	var h RequestReservations
	room, first, _ := w.ClaimAllDuplicateKeys(&h, []market.DuplicateKey{phone}, w.at)
	s.known = room == Full && first == history
	w.ReleaseAll(&h)
	return s
}

// The facts that histories are made of: red buys at 12 and is sold to first,
// green buys at 7 where red refuses.
var (
	red = event.Sale{
		Buyer: 1, Price: 12 * dollar, Payout: 9 * dollar, Currency: market.Currency{'U', 'S', 'D'},
		Charges: []event.CapCharge{{Cap: 3, Window: 0, Amount: 1}}, Duplicates: []event.DuplicateCheckValue{{Key: phone, Until: monday + 30*day}},
	}
	green = event.Sale{Buyer: 2, Price: 7 * dollar, Payout: 5 * dollar, Duplicates: red.Duplicates}
	way   = event.PostIntent{URL: "https://buyer.example/v1/post", Repeatable: true}
)

func decided(sale event.Sale, post event.PostIntent, reason market.UnsoldReason) event.Event {
	return &event.LeadDecided{Lead: history, Campaign: 1, Supplier: 1, Decided: monday, Keep: monday + 90*day, Sale: sale, Post: post, Reason: reason}
}

func settled(how event.PostSettlement, of event.Sale) *event.PostSettled {
	fact := &event.PostSettled{Lead: history, Campaign: 1, Settlement: how, Sale: of, Attempts: 2}
	if how == event.SettledReleased {
		fact.Reason = market.ReasonPostRejected
	}
	return fact
}

func refused(next event.Sale, post event.PostIntent) event.Event {
	fact := settled(event.SettledRefused, red)
	fact.Next, fact.Post = next, post
	if next.Buyer == 0 {
		fact.Reason = market.ReasonPostRejected
	}
	return fact
}

func TestHistoriesOfALead(t *testing.T) {
	type step struct {
		what string
		fact event.Event
		want standing
	}
	full := [2]market.Money{500, 0}
	none := [2]market.Money{}
	sent := step{"sent to red", decided(red, way, 0), standing{market.StatusOpen, market.DeliveryPending, AnswerNone, 0, 1, "tried 0", [2]market.Money{500, 12}, none, 1, false}}
	pending := step{"red is slow", settled(event.SettledPending, red), standing{accepted, market.DeliveryPending, AnswerAccepted, 0, 1, "tried 0, answered", [2]market.Money{500, 12}, none, 1, true}}
	tried := step{"a try failed", &event.PostAttemptFailed{Lead: history, Attempt: 1, At: monday, Status: 503}, standing{accepted, market.DeliveryPending, AnswerAccepted, 0, 1, "tried 1, answered", [2]market.Money{500, 12}, none, 1, true}}
	unknown := step{"the last try failed", settled(event.SettledUnknown, red), standing{accepted, market.DeliveryUnknown, AnswerAccepted, 0, 1, "tried 2, answered, unknown", [2]market.Money{500, 12}, none, 1, true}}
	resent := step{"the operator sends it again", settled(event.SettledResent, red), standing{accepted, market.DeliveryPending, AnswerAccepted, 0, 1, "tried 0, answered", [2]market.Money{500, 12}, none, 1, true}}
	delivered := step{"red has it", settled(event.SettledDelivered, red), standing{accepted, market.DeliveryDone, AnswerAccepted, 0, 1, "", [2]market.Money{488, 0}, none, 1, true}}
	toGreen := step{"red refuses, sent to green", refused(green, way), standing{market.StatusOpen, market.DeliveryPending, AnswerNone, 0, 2, "tried 0", full, [2]market.Money{0, 7}, 0, false}}

	for name, steps := range map[string][]step{
		"nobody wants it": {
			{"unmatched", decided(event.Sale{}, event.PostIntent{}, market.ReasonCapsFull), standing{unmatched, 0, AnswerUnmatched, market.ReasonCapsFull, 0, "", full, none, 0, false}},
		},
		"recorded": {
			{"sold to red", decided(red, event.PostIntent{}, 0), standing{accepted, 0, AnswerAccepted, 0, 1, "", [2]market.Money{488, 0}, none, 1, true}},
		},
		"delivered at once":       {sent, delivered},
		"delivered after a while": {sent, pending, tried, delivered},
		"delivered by green": {
			sent, toGreen,
			{"green has it", settled(event.SettledDelivered, green), standing{accepted, market.DeliveryDone, AnswerAccepted, 0, 2, "", full, [2]market.Money{-7, 0}, 0, true}},
		},
		"recorded for green": {
			sent,
			{"red refuses, green has no endpoint", refused(green, event.PostIntent{}), standing{accepted, 0, AnswerAccepted, 0, 2, "", full, [2]market.Money{-7, 0}, 0, true}},
		},
		"refused by all": {
			sent, toGreen,
			{"green refuses too", func() event.Event {
				fact := settled(event.SettledRefused, green)
				fact.Reason = market.ReasonPostRejected
				return fact
			}(), standing{unmatched, market.DeliveryFailed, AnswerUnmatched, market.ReasonPostRejected, 0, "", full, none, 0, false}},
		},
		"refused": {
			sent,
			{"red refuses", refused(event.Sale{}, event.PostIntent{}), standing{unmatched, market.DeliveryFailed, AnswerUnmatched, market.ReasonPostRejected, 0, "", full, none, 0, false}},
		},
		"refused after the answer": {
			sent, pending,
			{"red refuses", refused(event.Sale{}, event.PostIntent{}), standing{unmatched, market.DeliveryFailed, AnswerAccepted, market.ReasonPostRejected, 1, "", full, none, 0, false}},
		},
		"confirmed": {
			sent, pending, tried, unknown,
			{"the operator asked red", settled(event.SettledConfirmed, red), standing{accepted, market.DeliveryConfirmed, AnswerAccepted, 0, 1, "", [2]market.Money{488, 0}, none, 1, true}},
		},
		"released": {
			sent, pending, tried, unknown,
			{"red has it not", settled(event.SettledReleased, red), standing{unmatched, market.DeliveryReleased, AnswerAccepted, market.ReasonPostRejected, 1, "", full, none, 0, false}},
		},
		"resent":                 {sent, pending, tried, unknown, resent, delivered},
		"unknown at once":        {sent, unknown, resent, unknown, resent, tried, delivered},
		"resent and refused":     {sent, unknown, resent, {"red refuses", refused(event.Sale{}, event.PostIntent{}), standing{unmatched, market.DeliveryFailed, AnswerAccepted, market.ReasonPostRejected, 1, "", full, none, 0, false}}},
		"a note for a lead gone": {{"tried", &event.PostAttemptFailed{Lead: history, Attempt: 1}, standing{red: full}}},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld()
			for _, step := range steps {
				w.fact(step.fact)
				if got := w.standing(); got != step.want {
					t.Fatalf("%s:\n%s, want\n%s", step.what, got, step.want)
				}
				again := &world{State: New(), at: w.at}
				replay(again.State, w.log, w.seq)
				if got := again.standing(); got != step.want {
					t.Fatalf("%s, replayed:\n%s, want\n%s", step.what, got, step.want)
				}
				restarted := &world{State: rowsAhead(t, w), at: w.at}
				if got := restarted.standing(); got != step.want {
					t.Fatalf("%s, after a snapshot:\n%s, want\n%s", step.what, got, step.want)
				}
			}
		})
	}
}

// rowsAhead is the world after a restart from a snapshot whose ledger was copied
// before the lead came and whose rows after all that became of it.
func rowsAhead(t *testing.T, w *world) *State {
	const before = 4
	first, second := New(), New()
	replay(first, w.log, before)
	file := goingOn{during: map[int]func(){1: func() { replay(first, w.log, w.seq) }}}
	if oldest, newest, err := first.WriteSnapshot(&file); err != nil || oldest != before || newest != w.seq {
		t.Fatalf("from %d to %d: %v", oldest, newest, err)
	}
	if _, err := second.LoadSnapshot(&file); err != nil {
		t.Fatal(err)
	}
	replay(second, w.log, w.seq)
	return second
}

// The terms that a supplier was told stand, whatever becomes of the lead.
func TestTermsOfALead(t *testing.T) {
	w := newWorld()
	w.fact(decided(red, way, 0))
	post := w.UnfinishedPost(history)
	w.fact(settled(event.SettledPending, red))
	if post.Answered {
		t.Error("a post that a reader has was changed under it")
	}
	w.fact(refused(event.Sale{}, event.PostIntent{}))
	lead, ok := w.Lead(history)
	if !ok || lead.Price != red.Price || lead.Payout != red.Payout || lead.Currency != red.Currency || lead.Seq != 5 {
		t.Errorf("after the refusal %+v", lead)
	}
	if _, ok := w.Lead(market.LeadID{99}); ok {
		t.Error("a lead that never came is known")
	}
}
