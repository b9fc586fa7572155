package engine_test

import (
	"math"
	"sort"
	"testing"
	"time"

	"pingpost/engine/event"
	"pingpost/engine/market"
	"pingpost/engine/state"
)

// ledgerModel sums up the events independently of the state's implementation.
type ledgerModel struct {
	caps     map[capWindow]int64
	balance  map[market.PermanentNumber]market.Money
	onHold   map[market.PermanentNumber]market.Money
	open     map[market.LeadID]event.Sale
	status   map[market.LeadID]market.LeadStatus
	sold     map[market.PermanentNumber]int // leads by buyer, of those that stand
	campaign map[market.PermanentNumber]int
	limits   map[market.PermanentNumber]*market.Cap
	highest  map[market.PermanentNumber]int64 // limit that each cap ever had
	keys     map[[16]byte]int64               // until when an idempotency key is known
	opened   map[market.PermanentNumber]bool
	book     auctionBook
	returns  map[market.LeadID]market.ReturnState
	slots    map[uint64]market.LeadID
}

type capWindow struct {
	cap   market.PermanentNumber
	start int64
}

// addUp goes through a log. Anything that no log may say is an error: more in a
// cap than its limit, a balance below the credit, a settlement of what is not
// open.
func addUp(t testing.TB, entries []entry, catalog *market.Catalog, highest map[market.PermanentNumber]int64) *ledgerModel {
	t.Helper()
	l := &ledgerModel{
		caps: map[capWindow]int64{}, balance: map[market.PermanentNumber]market.Money{}, onHold: map[market.PermanentNumber]market.Money{},
		open: map[market.LeadID]event.Sale{}, status: map[market.LeadID]market.LeadStatus{},
		sold: map[market.PermanentNumber]int{}, campaign: map[market.PermanentNumber]int{},
		opened: map[market.PermanentNumber]bool{}, limits: allCaps(catalog), highest: highest, keys: map[[16]byte]int64{},
		book:    auctionBook{keep: map[[16]byte]int64{}, sold: map[[16]byte]market.LeadID{}, ids: map[market.AuctionID]bool{}},
		returns: map[market.LeadID]market.ReturnState{}, slots: map[uint64]market.LeadID{},
	}
	for i, fact := range decodeAll(t, entries) {
		switch fact := fact.(type) {
		case *event.BuyerFundsAdjusted:
			if fact.Opening { // what was bought before is not on account
				l.opened[fact.Buyer], l.balance[fact.Buyer] = true, 0
			}
			l.balance[fact.Buyer] += fact.Amount
		case *event.LeadDecided:
			l.decided(t, fact)
		case *event.PostSettled:
			l.settled(t, fact)
		case *event.LeadStatusesChanged:
			l.changed(t, fact)
		case *event.PingAuctionCompleted:
			l.held(t, fact)
		}
		l.withinLimits(t, i+1, catalog)
	}
	return l
}

func (l *ledgerModel) decided(t testing.TB, fact *event.LeadDecided) {
	t.Helper()
	if _, known := l.status[fact.Lead]; known {
		t.Errorf("lead %s was decided twice", fact.Lead)
	}
	if (fact.Sale.Buyer == 0) == (fact.Reason == market.ReasonNone) {
		t.Errorf("lead %s has buyer %d and reason %q", fact.Lead, fact.Sale.Buyer, fact.Reason)
	}
	if of, taken := l.slots[fact.Slot]; taken || fact.Slot == 0 || len(fact.Sealed) == 0 {
		t.Errorf("lead %s is sealed under slot %d, which is lead %s's", fact.Lead, fact.Slot, of)
	}
	l.slots[fact.Slot] = fact.Lead
	if key := fact.Idempotency.Key; key != [16]byte{} {
		if l.keys[key] > fact.Decided {
			t.Errorf("lead %s was decided under a key that has one", fact.Lead)
		}
		l.keys[key] = fact.Idempotency.ExpiresAt
	}
	l.status[fact.Lead] = market.StatusUnmatched
	if fact.Sale.Test {
		l.takesNothing(t, fact.Lead, &fact.Sale)
	}
	l.auctioned(t, fact)
	if fact.Sale.Buyer != 0 {
		l.uses(t, &fact.Sale, fact.Lead, false)
		l.sell(fact.Lead, fact.Campaign, &fact.Sale, fact.Post.URL != "")
	}
}

// takesNothing holds the sale of a test lead to what it is.
func (l *ledgerModel) takesNothing(t testing.TB, lead market.LeadID, sale *event.Sale) {
	t.Helper()
	if len(sale.Charges) > 0 || len(sale.Duplicates) > 0 || sale.Turn != (event.RotationTurn{}) {
		t.Errorf("the test lead %s takes %+v", lead, sale)
	}
}

// priceOf is what a sale costs its buyer: a test lead, nothing.
func priceOf(sale *event.Sale) market.Money {
	if sale.Test {
		return 0
	}
	return sale.Price
}

// count counts a lead as sold, or no longer so; a test lead never was.
func (l *ledgerModel) count(sale *event.Sale, campaign market.PermanentNumber, change int) {
	if !sale.Test {
		l.sold[sale.Buyer] += change
		l.campaign[campaign] += change
	}
}

func (l *ledgerModel) sell(lead market.LeadID, campaign market.PermanentNumber, sale *event.Sale, posted bool) {
	l.charge(sale, 1)
	l.count(sale, campaign, 1)
	if posted {
		l.onHold[sale.Buyer] += priceOf(sale)
		var kept event.Sale
		kept.CopyFrom(sale)
		l.open[lead] = kept
		if l.status[lead] != market.StatusAccepted {
			l.status[lead] = market.StatusOpen
		}
		return
	}
	l.balance[sale.Buyer] -= priceOf(sale)
	l.status[lead] = market.StatusAccepted
}

func (l *ledgerModel) charge(sale *event.Sale, sign int64) {
	for _, c := range sale.Charges {
		l.caps[capWindow{c.Cap, c.Window}] += sign * c.Amount
	}
}

func (l *ledgerModel) settled(t testing.TB, fact *event.PostSettled) {
	t.Helper()
	if len(fact.Sealed) > 0 && l.slots[fact.Slot] != fact.Lead {
		t.Errorf("lead %s is sealed again under slot %d, which is not its own", fact.Lead, fact.Slot)
	}
	sale, ok := l.open[fact.Lead]
	if !ok || sale.Buyer != fact.Sale.Buyer || sale.Price != fact.Sale.Price || sale.Test != fact.Sale.Test || len(sale.Charges) != len(fact.Sale.Charges) {
		t.Errorf("lead %s: %s settles %+v, open is %+v", fact.Lead, fact.Settlement, fact.Sale, sale)
		return
	}
	switch fact.Settlement {
	case event.SettledPending, event.SettledUnknown, event.SettledResent:
		l.status[fact.Lead] = market.StatusAccepted
	case event.SettledDelivered, event.SettledConfirmed:
		l.status[fact.Lead] = market.StatusAccepted
		l.balance[sale.Buyer] -= priceOf(&sale)
		l.onHold[sale.Buyer] -= priceOf(&sale)
		delete(l.open, fact.Lead)
	case event.SettledRefused, event.SettledReleased:
		l.charge(&sale, -1)
		l.onHold[sale.Buyer] -= priceOf(&sale)
		l.count(&sale, fact.Campaign, -1)
		delete(l.open, fact.Lead)
		l.uses(t, &fact.Sale, fact.Lead, true)
		if fact.Next.Buyer == 0 {
			l.status[fact.Lead] = market.StatusUnmatched
			return
		}
		expectEqual(t, sale.Test, fact.Next.Test, "lead ", fact.Lead, " is a test at one buyer, and none at the next")
		if sale.Test {
			l.takesNothing(t, fact.Lead, &fact.Next)
		}
		l.uses(t, &fact.Next, fact.Lead, false)
		l.sell(fact.Lead, fact.Campaign, &fact.Next, fact.Post.URL != "")
	default:
		t.Errorf("settlement %d", fact.Settlement)
	}
}

func (l *ledgerModel) withinLimits(t testing.TB, position int, catalog *market.Catalog) {
	t.Helper()
	for w, used := range l.caps {
		if limit, ok := l.highest[w.cap]; ok && used > limit {
			t.Errorf("entry %d: %d in cap %d of %d", position, used, w.cap, limit)
		}
		if used < 0 {
			t.Errorf("entry %d: cap %d has %d", position, w.cap, used)
		}
	}
	for _, b := range catalog.Buyers {
		if free := l.balance[b.Ref] - l.onHold[b.Ref] + b.Credit; b.Funded && l.opened[b.Ref] && free < 0 {
			t.Errorf("entry %d: buyer %s is %s over its money", position, b.ID, -free)
		}
	}
}

// compare holds the state to the sum.
func (l *ledgerModel) compare(t testing.TB, s *state.State) {
	t.Helper()
	for ref, balance := range l.balance {
		if got, held := s.BuyerBalance(ref); got != balance || held != l.onHold[ref] {
			t.Errorf("buyer %d has %s and holds %s, by the facts %s and %s", ref, got, held, balance, l.onHold[ref])
		}
	}
	_, now := s.Position()
	for ref, limit := range l.limits {
		start, _ := limit.Period.WindowContaining(now, limit.Zone)
		if got, want := used(s, limit, now), l.caps[capWindow{ref, start}]; got != want {
			t.Errorf("cap %d (%s) has %d in its window at %s, by the facts %d", ref, limit.Period, got, time.Unix(0, now).UTC(), want)
		}
	}
	for lead, status := range l.status {
		if got, ok := s.Lead(lead); ok && got.Status != status {
			t.Errorf("lead %s is %s, by the facts %s", lead, got.Status, status)
		}
	}
	l.compareAuctions(t, s)
	open := 0
	s.EachUnfinishedPost(func(p *state.UnfinishedPost) {
		open++
		if _, ok := l.open[p.Lead]; !ok {
			t.Errorf("lead %s has an open intent, by the facts none", p.Lead)
		}
	})
	expectEqual(t, open, len(l.open), "intents are open, by the facts")
}

// used is what a cap has counted, found by asking what limit would not be full.
func used(s *state.State, limit *market.Cap, now int64) int64 {
	probe := *limit
	return int64(sort.Search(math.MaxInt64>>1, func(n int) bool {
		probe.Limit = int64(n) + 1
		full, _ := s.IsCapFull(&probe, 1, now)
		return !full
	}))
}

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
