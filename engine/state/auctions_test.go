package state

import (
	"testing"

	"pingpost/engine/event"
	"pingpost/engine/market"
)

// ping is the name of the auction that the histories below are about.
var ping = [16]byte{4, 15: 5}

// atItsBid is a sale that uses the auction up.
func atItsBid(sale event.Sale) event.Sale {
	sale.Ping = ping
	return sale
}

func held(keep int64) *event.PingAuctionCompleted {
	return &event.PingAuctionCompleted{Auction: market.AuctionID{3}, Supplier: 1, Name: ping, Keep: keep}
}

// of makes a fact one of another lead.
func of(lead market.LeadID, e event.Event) event.Event {
	switch e := e.(type) {
	case *event.LeadDecided:
		e.Lead = lead
	case *event.PostSettled:
		e.Lead = lead
	}
	return e
}

func TestWhatBecomesOfAnAuction(t *testing.T) {
	other, nobody := market.LeadID{2, 15: 3}, market.LeadID{}
	sale := atItsBid(red)
	type step struct {
		what string
		fact event.Event
		lead market.LeadID // to which it is sold then
	}
	auction := step{"it is held", held(monday + 30*day), nobody}
	sent := step{"the lead is on its way", decided(sale, way, 0), history}
	refusal := func(next event.Sale, post event.PostIntent) event.Event {
		fact := refused(next, post).(*event.PostSettled)
		fact.Sale = sale
		return fact
	}
	settledAs := func(how event.PostSettlement) event.Event { return settled(how, sale) }
	pending := step{"the buyer is slow", settledAs(event.SettledPending), history}
	unknown := step{"the last try failed", settledAs(event.SettledUnknown), history}
	givenBack := step{"the buyer refuses", refusal(event.Sale{}, event.PostIntent{}), nobody}

	for name, steps := range map[string][]step{
		"nobody posts":   {auction},
		"recorded":       {auction, {"sold and recorded", decided(sale, event.PostIntent{}, 0), history}},
		"delivered":      {auction, sent, {"delivered", settledAs(event.SettledDelivered), history}},
		"late":           {auction, sent, pending, unknown, {"confirmed", settledAs(event.SettledConfirmed), history}},
		"released":       {auction, sent, pending, unknown, {"released", settledAs(event.SettledReleased), nobody}},
		"resent":         {auction, sent, unknown, {"resent", settledAs(event.SettledResent), history}},
		"refused":        {auction, sent, givenBack},
		"a lead unsold":  {auction, {"a duplicate", decided(event.Sale{}, event.PostIntent{}, market.ReasonDuplicate), nobody}},
		"another sale":   {auction, {"sold by turns", decided(red, way, 0), nobody}, {"and refused", refused(event.Sale{}, event.PostIntent{}), nobody}},
		"never heard of": {{"sold", decided(sale, way, 0), nobody}, {"refused", refusal(event.Sale{}, event.PostIntent{}), nobody}},
		"sold twice, one after the other": {
			auction, sent, givenBack,
			{"another lead is sold", of(other, decided(sale, way, 0)), other},
			{"and the first is released once more", settledAs(event.SettledReleased), other},
		},
		"the next buyer at another auction": {auction, sent, {"refused, green buys", refusal(green, way), nobody}},
		"the next buyer at the same one":    {auction, sent, {"refused, green buys", refusal(atItsBid(green), way), history}},
		"a fallback at its bid": {
			auction,
			{"sent by turns", decided(red, way, 0), nobody},
			{"refused, green buys at the bid", refused(atItsBid(green), way), history},
		},
		"held anew after its time": {
			{"it is held", held(monday + hour), nobody},
			{"sold", decided(sale, way, 0), history},
			{"held anew", held(monday + 60*day), nobody},
			{"the first is refused", refusal(event.Sale{}, event.PostIntent{}), nobody},
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld()
			for _, step := range steps {
				w.fact(step.fact)
				again := New()
				replay(again, w.log, w.seq)
				for how, s := range map[string]*State{
					"live": w.State, "replayed": again, "after a snapshot": loaded(t, w.State), "with rows ahead": rowsAhead(t, w),
				} {
					row, found := s.FindAuction(ping, w.at)
					if row.Lead != step.lead || row.IsSoldOrBeingPosted() != (step.lead != nobody) || found == (name == "never heard of") {
						t.Fatalf("%s, %s: %+v, found %t, want it sold to %s", step.what, how, row, found, step.lead)
					}
				}
			}
		})
	}
}

// A shard that was copied later than the ledger knows more than the facts that are
// replayed; they do not take it back to what it was, not even for a moment.
func TestAnAuctionThatIsAheadStaysAhead(t *testing.T) {
	w := newWorld()
	ledger := w.seq
	w.fact(held(monday + 30*day))
	w.fact(decided(atItsBid(red), way, 0))
	w.fact(settled(event.SettledDelivered, atItsBid(red)))
	first, second := New(), New()
	replay(first, w.log, ledger)
	file := goingOn{during: map[int]func(){1: func() { replay(first, w.log, w.seq) }}}
	if _, _, err := first.WriteSnapshot(&file); err != nil {
		t.Fatal(err)
	}
	if _, err := second.LoadSnapshot(&file); err != nil {
		t.Fatal(err)
	}
	for seq := ledger; seq <= w.seq; seq++ {
		replay(second, w.log, seq)
		if row, found := second.FindAuction(ping, w.at); !found || row.Lead != history {
			t.Errorf("replayed up to %d: %+v, found %t", seq, row, found)
		}
	}
}

// The settlement by which a lead's post came to an end can be read from the log.
func TestALeadKnowsWhatEndedItsPost(t *testing.T) {
	w := newWorld()
	settledAt := func() uint64 {
		lead, _ := w.Lead(history)
		return lead.Settled
	}
	for _, step := range []struct {
		what string
		fact event.Event
		ends bool
	}{
		{"sent", decided(red, way, 0), false},
		{"refused, on to green", refused(green, way), true},
		{"slow", settled(event.SettledPending, green), false},
		{"unknown", settled(event.SettledUnknown, green), false},
		{"resent", settled(event.SettledResent, green), false},
		{"delivered", settled(event.SettledDelivered, green), true},
	} {
		before := settledAt()
		w.fact(step.fact)
		want := before
		if step.ends {
			want = w.seq
		}
		if got := settledAt(); got != want {
			t.Errorf("%s by fact %d: settled at %d, want %d", step.what, w.seq, got, want)
		}
	}
}

// A key tells what answered it, and where in the log that is.
func TestAKeyTellsALeadFromAnAuction(t *testing.T) {
	w := newWorld()
	ofLead, ofAuction := [16]byte{1}, [16]byte{2}
	use := func(key [16]byte) event.RequestIdempotencyKey {
		return event.RequestIdempotencyKey{Key: key, Fingerprint: 5, ExpiresAt: w.at + 40*day}
	}
	lead := decided(event.Sale{}, event.PostIntent{}, market.ReasonNoBuyer).(*event.LeadDecided)
	lead.Idempotency, lead.Keep = use(ofLead), w.at+day
	w.fact(lead)
	leadSeq := w.seq
	w.fact(&event.PingAuctionCompleted{Auction: market.AuctionID{3}, Idempotency: use(ofAuction)}) // without a name
	auctionSeq := w.seq
	for how, s := range map[string]*State{"live": w.State, "after a snapshot": loaded(t, w.State)} {
		for _, test := range []struct {
			what string
			key  [16]byte
			want IdempotencyKeyClaimResult
		}{
			{"a lead's", ofLead, IdempotencyKeyClaimResult{Lead: history, Seq: leadSeq, SameBody: true}},
			{"an auction's", ofAuction, IdempotencyKeyClaimResult{Seq: auctionSeq, SameBody: true}},
		} {
			var h RequestReservations
			if got := s.ClaimIdempotencyKey(&h, test.key, 5, w.at); got != test.want || !got.IsUsed() {
				t.Errorf("%s, %s key: %+v, want %+v", how, test.what, got, test.want)
			}
		}
	}
	if s := w.State; s.AuctionCount() != 0 {
		t.Errorf("%d auctions, and none has a name", s.AuctionCount())
	}
	// The lead leaves memory before its key does.
	w.at += 2 * day
	w.fact(of(market.LeadID{9, 15: 3}, decided(event.Sale{}, event.PostIntent{}, market.ReasonNoBuyer)))
	var h RequestReservations
	if got := w.ClaimIdempotencyKey(&h, ofLead, 5, w.at); got != (IdempotencyKeyClaimResult{Lead: history, SameBody: true}) || !got.IsUsed() {
		t.Errorf("a forgotten lead's key: %+v", got)
	}
	if got := w.ClaimIdempotencyKey(&h, [16]byte{3}, 5, w.at); got.IsUsed() {
		t.Errorf("a new key: %+v", got)
	}
	w.ReleaseAll(&h)
}
