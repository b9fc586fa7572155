package state

import (
	"testing"

	"pingpost/engine/event"
	"pingpost/engine/market"
)

// testAuction is the name of the auction of these tests.
var testAuction = [16]byte{4, 15: 5}

// saleOfAuction returns the sale as one that accepts a bid of the auction.
func saleOfAuction(sale event.Sale) event.Sale {
	sale.Ping = testAuction
	return sale
}

func auctionCompleted(keep int64) *event.PingAuctionCompleted {
	return &event.PingAuctionCompleted{Auction: market.AuctionID{3}, Supplier: 1, Name: testAuction, Keep: keep}
}

// withLead changes the lead of an event.
func withLead(lead market.LeadID, e event.Event) event.Event {
	switch e := e.(type) {
	case *event.LeadDecided:
		e.Lead = lead
	case *event.PostSettled:
		e.Lead = lead
	}
	return e
}

func TestAuctionIsSoldOnce(t *testing.T) {
	other, none := market.LeadID{2, 15: 3}, market.LeadID{}
	sale := saleOfAuction(redSale)
	type step struct {
		name  string
		event event.Event
		lead  market.LeadID // the lead that the auction is sold to
	}
	auction := step{"completed", auctionCompleted(monday + 30*day), none}
	sent := step{"the lead is posted", leadDecided(sale, intent, 0), testLead}
	refusal := func(next event.Sale, post event.PostIntent) event.Event {
		ev := postRefused(next, post).(*event.PostSettled)
		ev.Sale = sale
		return ev
	}
	settledAs := func(how event.PostSettlement) event.Event { return postSettled(how, sale) }
	pending := step{"the buyer has not answered yet", settledAs(event.SettledPending), testLead}
	unknown := step{"the last attempt failed", settledAs(event.SettledUnknown), testLead}
	refusedPost := step{"the buyer refuses", refusal(event.Sale{}, event.PostIntent{}), none}

	for name, steps := range map[string][]step{
		"unsold":          {auction},
		"recorded":        {auction, {"sold and recorded", leadDecided(sale, event.PostIntent{}, 0), testLead}},
		"delivered":       {auction, sent, {"delivered", settledAs(event.SettledDelivered), testLead}},
		"late":            {auction, sent, pending, unknown, {"confirmed", settledAs(event.SettledConfirmed), testLead}},
		"released":        {auction, sent, pending, unknown, {"released", settledAs(event.SettledReleased), none}},
		"resent":          {auction, sent, unknown, {"resent", settledAs(event.SettledResent), testLead}},
		"refused":         {auction, sent, refusedPost},
		"a lead unsold":   {auction, {"a duplicate", leadDecided(event.Sale{}, event.PostIntent{}, market.ReasonDuplicate), none}},
		"another sale":    {auction, {"sold by turns", leadDecided(redSale, intent, 0), none}, {"and refused", postRefused(event.Sale{}, event.PostIntent{}), none}},
		"unknown auction": {{"sold", leadDecided(sale, intent, 0), none}, {"refused", refusal(event.Sale{}, event.PostIntent{}), none}},
		"sold again after a refusal": {
			auction, sent, refusedPost,
			{"another lead is sold", withLead(other, leadDecided(sale, intent, 0)), other},
			{"the first lead is released", settledAs(event.SettledReleased), other},
		},
		"the next buyer at another auction": {auction, sent, {"refused, green buys", refusal(greenSale, intent), none}},
		"the next buyer at the same one":    {auction, sent, {"refused, green buys", refusal(saleOfAuction(greenSale), intent), testLead}},
		"a fallback at its bid": {
			auction,
			{"sent by turns", leadDecided(redSale, intent, 0), none},
			{"refused, green buys at the bid", postRefused(saleOfAuction(greenSale), intent), testLead},
		},
		"completed again after its expiry": {
			{"completed", auctionCompleted(monday + hour), none},
			{"sold", leadDecided(sale, intent, 0), testLead},
			{"completed again", auctionCompleted(monday + 60*day), none},
			{"the first is refused", refusal(event.Sale{}, event.PostIntent{}), none},
		},
	} {
		t.Run(name, func(t *testing.T) {
			x := newTestExchange()
			for _, step := range steps {
				x.logAndApply(step.event)
				restored := New()
				replay(restored, x.log, x.seq)
				for how, s := range map[string]*State{
					"live": x.State, "replayed": restored, "after a snapshot": restoreFromSnapshot(t, x.State), "with newer rows": loadWithNewerRows(t, x),
				} {
					row, found := s.FindAuction(testAuction, x.at)
					if row.Lead != step.lead || row.IsSoldOrBeingPosted() != (step.lead != none) || found == (name == "unknown auction") {
						t.Fatalf("%s, %s: got %+v, found %t, want a sale to %s", step.name, how, row, found, step.lead)
					}
				}
			}
		})
	}
}

// An auction's shard in the snapshot is newer than the events that are replayed. At no position
// do they undo its sale.
func TestReplayKeepsNewerAuctionRow(t *testing.T) {
	x := newTestExchange()
	before := x.seq
	x.logAndApply(auctionCompleted(monday + 30*day))
	x.logAndApply(leadDecided(saleOfAuction(redSale), intent, 0))
	x.logAndApply(postSettled(event.SettledDelivered, saleOfAuction(redSale)))
	first, second := New(), New()
	replay(first, x.log, before)
	file := snapshotWriter{beforeWrite: map[int]func(){1: func() { replay(first, x.log, x.seq) }}}
	if _, _, err := first.WriteSnapshot(&file, nil); err != nil {
		t.Fatal(err)
	}
	if _, err := second.LoadSnapshot(&file); err != nil {
		t.Fatal(err)
	}
	for seq := before; seq <= x.seq; seq++ {
		replay(second, x.log, seq)
		if row, found := second.FindAuction(testAuction, x.at); !found || row.Lead != testLead {
			t.Errorf("replayed up to %d: %+v, found %t", seq, row, found)
		}
	}
}

// A lead has the log position of the settlement that ended its post.
func TestLeadNamesSettlementOfItsPost(t *testing.T) {
	x := newTestExchange()
	settledAt := func() uint64 {
		lead, _ := x.LeadInMemory(testLead)
		return lead.Settled
	}
	for _, step := range []struct {
		name  string
		event event.Event
		ends  bool
	}{
		{"sent", leadDecided(redSale, intent, 0), false},
		{"refused, on to green", postRefused(greenSale, intent), true},
		{"pending", postSettled(event.SettledPending, greenSale), false},
		{"unknown", postSettled(event.SettledUnknown, greenSale), false},
		{"resent", postSettled(event.SettledResent, greenSale), false},
		{"delivered", postSettled(event.SettledDelivered, greenSale), true},
	} {
		before := settledAt()
		x.logAndApply(step.event)
		want := before
		if step.ends {
			want = x.seq
		}
		if got := settledAt(); got != want {
			t.Errorf("%s by event %d: settled at %d, want %d", step.name, x.seq, got, want)
		}
	}
}

// An idempotency key has the lead or the log position of its answer.
func TestIdempotencyKeyFindsLeadOrAuction(t *testing.T) {
	x := newTestExchange()
	ofLead, ofAuction := [16]byte{1}, [16]byte{2}
	use := func(key [16]byte) event.RequestIdempotencyKey {
		return event.RequestIdempotencyKey{Key: key, Fingerprint: 5, ExpiresAt: x.at + 40*day}
	}
	lead := leadDecided(event.Sale{}, event.PostIntent{}, market.ReasonNoBuyer).(*event.LeadDecided)
	lead.Idempotency, lead.Keep = use(ofLead), x.at+day
	x.logAndApply(lead)
	leadSeq := x.seq
	x.logAndApply(&event.PingAuctionCompleted{Auction: market.AuctionID{3}, Idempotency: use(ofAuction)}) // without a name
	auctionSeq := x.seq
	for how, s := range map[string]*State{"live": x.State, "after a snapshot": restoreFromSnapshot(t, x.State)} {
		for _, test := range []struct {
			name string
			key  [16]byte
			want IdempotencyKeyClaimResult
		}{
			{"a lead's", ofLead, IdempotencyKeyClaimResult{Lead: testLead, Seq: leadSeq, SameBody: true}},
			{"an auction's", ofAuction, IdempotencyKeyClaimResult{Seq: auctionSeq, SameBody: true}},
		} {
			var h RequestReservations
			if got := s.mustClaimIdempotencyKey(&h, test.key, 5, x.at); got != test.want || !got.IsUsed() {
				t.Errorf("%s, %s key: %+v, want %+v", how, test.name, got, test.want)
			}
		}
	}
	if s := x.State; s.AuctionCountWithExpired() != 0 {
		t.Errorf("%d auctions, want 0: the auction has no name", s.AuctionCountWithExpired())
	}
	// The lead leaves memory before its key does.
	x.at += 2 * day
	x.logAndApply(withLead(market.LeadID{9, 15: 3}, leadDecided(event.Sale{}, event.PostIntent{}, market.ReasonNoBuyer)))
	var h RequestReservations
	if got := x.mustClaimIdempotencyKey(&h, ofLead, 5, x.at); got != (IdempotencyKeyClaimResult{Lead: testLead, SameBody: true}) || !got.IsUsed() {
		t.Errorf("key of a forgotten lead: got %+v", got)
	}
	if got := x.mustClaimIdempotencyKey(&h, [16]byte{3}, 5, x.at); got.IsUsed() {
		t.Errorf("new key: got %+v", got)
	}
	x.ReleaseAll(&h)
}
