package engine_test

import (
	"testing"

	"pingpost/engine/event"
	"pingpost/engine/market"
	"pingpost/engine/state"
)

// auctionBook is what the facts say of auctions: which names are taken, and
// which lead each was sold to.
type auctionBook struct {
	keep map[[16]byte]int64 // until when a name is known
	sold map[[16]byte]market.LeadID
	ids  map[market.AuctionID]bool
}

// held looks at an auction that stands by itself.
func (l *ledgerModel) held(t testing.TB, fact *event.PingAuctionCompleted) {
	t.Helper()
	book := &l.book
	if fact.Auction.IsZero() || book.ids[fact.Auction] {
		t.Errorf("auction %s was held before", fact.Auction)
	}
	book.ids[fact.Auction] = true
	if fact.Name != ([16]byte{}) {
		if book.keep[fact.Name] > fact.Began {
			t.Errorf("auction %s has the name of another", fact.Auction)
		}
		book.keep[fact.Name] = fact.Keep
		delete(book.sold, fact.Name)
	}
	if key := fact.Idempotency.Key; key != [16]byte{} {
		if l.keys[key] > fact.Began {
			t.Errorf("auction %s was held under a key that has an answer", fact.Auction)
		}
		l.keys[key] = fact.Idempotency.ExpiresAt
	}
	won := sumUp(t, fact.Auction, fact.Trail, fact.Bids)
	if (won == nil) == (fact.Reason == market.ReasonNone) || won == nil && !fact.Token.IsZero() {
		t.Errorf("auction %s: won by %+v, for the reason %q, with our token %v", fact.Auction, won, fact.Reason, fact.Token)
	}
	if won != nil && (won.ValidUntil != fact.Until || fact.Until > fact.Began+5e9 || (fact.SellerAuction != "") == fact.Token.IsZero()) {
		t.Errorf("auction %s is good until %d, its best bid until %d", fact.Auction, fact.Until, won.ValidUntil)
	}
}

// sumUp adds the outcomes of an auction up: one for each seat, the same in its
// bid; those that stand come first, the best before all. It returns the bid that
// won, or that the lead went to.
func sumUp(t testing.TB, id market.AuctionID, trail []event.FilterSetsWithOutcome, bids []event.Bid) (won *event.Bid) {
	t.Helper()
	outcomes := map[int]market.BuyerOutcome{}
	steps := map[market.BuyerOutcome]bool{}
	for _, step := range trail {
		if steps[step.Outcome] || step.Outcome == market.OutcomeNone {
			t.Errorf("auction %s has two steps to %s, or one to nothing", id, step.Outcome)
		}
		steps[step.Outcome] = true
		for seat := step.FilterSets.NextFrom(0); seat >= 0; seat = step.FilterSets.NextFrom(seat + 1) {
			if had, twice := outcomes[seat]; twice {
				t.Errorf("auction %s: seat %d came to %s and to %s", id, seat, had, step.Outcome)
			}
			outcomes[seat] = step.Outcome
		}
	}
	for seat := range len(outcomes) {
		if outcomes[seat] == market.OutcomeNone {
			t.Errorf("auction %s: seat %d of %d came to nothing", id, seat, len(outcomes))
		}
	}
	standing := true
	for i := range bids {
		bid := &bids[i]
		if outcomes[int(bid.FilterSet)] != bid.Outcome {
			t.Errorf("auction %s: seat %d came to %s, its bid to %s", id, bid.FilterSet, outcomes[int(bid.FilterSet)], bid.Outcome)
		}
		if bid.Payout > bid.Amount || bid.Elapsed < 0 {
			t.Errorf("auction %s: %s paid out of %s, after %d", id, bid.Payout, bid.Amount, bid.Elapsed)
		}
		stands := bid.Token != ""
		if stands && !standing {
			t.Errorf("auction %s: a bid that stands comes after one that does not", id)
		}
		if stands && i > 0 && bids[i-1].Amount < bid.Amount {
			t.Errorf("auction %s: %s stands before %s", id, bids[i-1].Amount, bid.Amount)
		}
		standing = stands
		switch bid.Outcome {
		case market.OutcomeWon, market.OutcomePostPending:
			if won != nil {
				t.Errorf("auction %s was won twice", id)
			}
			won = bid
		}
	}
	return won
}

// auctioned looks at an auction that was part of a lead's decision.
func (l *ledgerModel) auctioned(t testing.TB, fact *event.LeadDecided) {
	t.Helper()
	if fact.Auction.ID.IsZero() {
		return
	}
	if l.book.ids[fact.Auction.ID] {
		t.Errorf("auction %s was held before", fact.Auction.ID)
	}
	l.book.ids[fact.Auction.ID] = true
	won := sumUp(t, fact.Auction.ID, fact.Trail, fact.Auction.Bids)
	switch {
	case (won == nil) != (fact.Sale.Buyer == 0):
		t.Errorf("lead %s: won by %+v, sold to %d", fact.Lead, won, fact.Sale.Buyer)
	case won != nil && (won.Buyer != fact.Sale.Buyer || won.Amount != fact.Sale.Price || won.Payout != fact.Sale.Payout || won.Currency != fact.Sale.Currency):
		t.Errorf("lead %s is sold for %+v, the bid was %+v", fact.Lead, fact.Sale, won)
	case won != nil && fact.Post.URL != "" && fact.Post.Auction != fact.Auction.ID:
		t.Errorf("lead %s is posted by the auction %s, which is not its own", fact.Lead, fact.Post.Auction)
	}
}

// uses notes that a sale uses an auction up, or gives it back.
func (l *ledgerModel) uses(t testing.TB, sale *event.Sale, lead market.LeadID, back bool) {
	t.Helper()
	if sale.Ping == ([16]byte{}) {
		return
	}
	owner, sold := l.book.sold[sale.Ping]
	switch {
	case back && sold && owner == lead:
		delete(l.book.sold, sale.Ping)
	case !back && sold:
		t.Errorf("an auction was sold to %s and to %s", owner, lead)
	case !back:
		l.book.sold[sale.Ping] = lead
	}
}

// compareAuctions holds the state to what the facts say of auctions.
func (l *ledgerModel) compareAuctions(t testing.TB, s *state.State) {
	t.Helper()
	_, now := s.Position()
	for name, keep := range l.book.keep {
		row, known := s.FindAuction(name, now)
		if known != (keep > now) && keep-now > 1e9 {
			t.Errorf("an auction is known: %v, by the facts until %d", known, keep)
		}
		if known && row.Lead != l.book.sold[name] {
			t.Errorf("an auction is sold to %s, by the facts to %s", row.Lead, l.book.sold[name])
		}
	}
}
