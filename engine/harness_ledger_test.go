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
	caps          map[capWindow]int64
	balance       map[market.PermanentNumber]market.Money
	onHold        map[market.PermanentNumber]market.Money
	openSales     map[market.LeadID]event.Sale
	status        map[market.LeadID]market.LeadStatus
	sold          map[market.PermanentNumber]int // valid sales by buyer
	campaign      map[market.PermanentNumber]int
	limits        map[market.PermanentNumber]*market.Cap
	highestLimits map[market.PermanentNumber]int64 // the highest limit of each cap so far
	keys          map[[16]byte]int64               // expiry of the idempotency keys
	opened        map[market.PermanentNumber]bool
	auctions      auctionLedger
	returns       map[market.LeadID]market.ReturnState
	slots         map[uint64]market.LeadID
}

type capWindow struct {
	cap   market.PermanentNumber
	start int64
}

// sumEvents applies a log to a new model. It reports contradictions, for example a cap above its
// limit, a balance below the credit, or a settlement without an open sale.
func sumEvents(t testing.TB, entries []entry, catalog *market.Catalog, highest map[market.PermanentNumber]int64) *ledgerModel {
	t.Helper()
	l := &ledgerModel{
		caps: map[capWindow]int64{}, balance: map[market.PermanentNumber]market.Money{}, onHold: map[market.PermanentNumber]market.Money{},
		openSales: map[market.LeadID]event.Sale{}, status: map[market.LeadID]market.LeadStatus{},
		sold: map[market.PermanentNumber]int{}, campaign: map[market.PermanentNumber]int{},
		opened: map[market.PermanentNumber]bool{}, limits: allCaps(catalog), highestLimits: highest, keys: map[[16]byte]int64{},
		auctions: auctionLedger{keepUntil: map[[16]byte]int64{}, sold: map[[16]byte]market.LeadID{}, ids: map[market.AuctionID]bool{}},
		returns:  map[market.LeadID]market.ReturnState{}, slots: map[uint64]market.LeadID{},
	}
	for i, record := range decodeAll(t, entries) {
		switch record := record.(type) {
		case *event.BuyerFundsAdjusted:
			if record.Opening { // earlier purchases do not count
				l.opened[record.Buyer], l.balance[record.Buyer] = true, 0
			}
			l.balance[record.Buyer] += record.Amount
		case *event.LeadDecided:
			l.applyDecision(t, record)
		case *event.PostSettled:
			l.applySettlement(t, record)
		case *event.LeadStatusChangesDecided:
			l.applyStatusChanges(t, record)
		case *event.PingAuctionCompleted:
			l.applyPingAuction(t, record)
		}
		l.checkLimits(t, i+1, catalog)
	}
	return l
}

func (l *ledgerModel) applyDecision(t testing.TB, record *event.LeadDecided) {
	t.Helper()
	if _, known := l.status[record.Lead]; known {
		t.Errorf("lead %s has two decisions", record.Lead)
	}
	if (record.Sale.Buyer == 0) == (record.Reason == market.ReasonNone) {
		t.Errorf("lead %s has buyer %d and reason %q", record.Lead, record.Sale.Buyer, record.Reason)
	}
	if of, taken := l.slots[record.Slot]; taken || record.Slot == 0 || len(record.Sealed) == 0 {
		t.Errorf("lead %s uses key slot %d of lead %s", record.Lead, record.Slot, of)
	}
	l.slots[record.Slot] = record.Lead
	if key := record.Idempotency.Key; key != [16]byte{} {
		if l.keys[key] > record.Decided {
			t.Errorf("lead %s has the idempotency key of another decision", record.Lead)
		}
		l.keys[key] = record.Idempotency.ExpiresAt
	}
	l.status[record.Lead] = market.StatusUnmatched
	if record.Sale.Test {
		l.checkTestSale(t, record.Lead, &record.Sale)
	}
	l.applyLeadAuction(t, record)
	if record.Sale.Buyer != 0 {
		l.changeAuctionUse(t, &record.Sale, record.Lead, false)
		l.applySale(record.Lead, record.Campaign, &record.Sale, record.Post.URL != "")
	}
}

// checkTestSale reports caps, duplicate claims and turns in the sale of a test lead.
func (l *ledgerModel) checkTestSale(t testing.TB, lead market.LeadID, sale *event.Sale) {
	t.Helper()
	if len(sale.Charges) > 0 || len(sale.Duplicates) > 0 || sale.Turn != (event.RotationTurn{}) {
		t.Errorf("the test lead %s takes %+v", lead, sale)
	}
}

// priceOf returns the price that the buyer pays. A test lead is free.
func priceOf(sale *event.Sale) market.Money {
	if sale.Test {
		return 0
	}
	return sale.Price
}

// countSale changes the counts of sold leads, except for a test lead.
func (l *ledgerModel) countSale(sale *event.Sale, campaign market.PermanentNumber, change int) {
	if !sale.Test {
		l.sold[sale.Buyer] += change
		l.campaign[campaign] += change
	}
}

func (l *ledgerModel) applySale(lead market.LeadID, campaign market.PermanentNumber, sale *event.Sale, posted bool) {
	l.charge(sale, 1)
	l.countSale(sale, campaign, 1)
	if posted {
		l.onHold[sale.Buyer] += priceOf(sale)
		var kept event.Sale
		kept.CopyFrom(sale)
		l.openSales[lead] = kept
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

func (l *ledgerModel) applySettlement(t testing.TB, record *event.PostSettled) {
	t.Helper()
	if len(record.Sealed) > 0 && l.slots[record.Slot] != record.Lead {
		t.Errorf("lead %s uses key slot %d of another lead", record.Lead, record.Slot)
	}
	sale, ok := l.openSales[record.Lead]
	if !ok || sale.Buyer != record.Sale.Buyer || sale.Price != record.Sale.Price || sale.Test != record.Sale.Test || len(sale.Charges) != len(record.Sale.Charges) {
		t.Errorf("lead %s: %s settles %+v, the open sale is %+v", record.Lead, record.Settlement, record.Sale, sale)
		return
	}
	switch record.Settlement {
	case event.SettledPending, event.SettledUnknown, event.SettledResent:
		l.status[record.Lead] = market.StatusAccepted
	case event.SettledDelivered, event.SettledConfirmed:
		l.status[record.Lead] = market.StatusAccepted
		l.balance[sale.Buyer] -= priceOf(&sale)
		l.onHold[sale.Buyer] -= priceOf(&sale)
		delete(l.openSales, record.Lead)
	case event.SettledRefused, event.SettledReleased:
		l.charge(&sale, -1)
		l.onHold[sale.Buyer] -= priceOf(&sale)
		l.countSale(&sale, record.Campaign, -1)
		delete(l.openSales, record.Lead)
		l.changeAuctionUse(t, &record.Sale, record.Lead, true)
		if record.Next.Buyer == 0 {
			l.status[record.Lead] = market.StatusUnmatched
			return
		}
		expectEqual(t, sale.Test, record.Next.Test, "lead ", record.Lead, ": test flag of the next sale")
		if sale.Test {
			l.checkTestSale(t, record.Lead, &record.Next)
		}
		l.changeAuctionUse(t, &record.Next, record.Lead, false)
		l.applySale(record.Lead, record.Campaign, &record.Next, record.Post.URL != "")
	default:
		t.Errorf("unknown settlement %d", record.Settlement)
	}
}

func (l *ledgerModel) checkLimits(t testing.TB, position int, catalog *market.Catalog) {
	t.Helper()
	for w, used := range l.caps {
		if limit, ok := l.highestLimits[w.cap]; ok && used > limit {
			t.Errorf("entry %d: usage %d of cap %d exceeds its limit %d", position, used, w.cap, limit)
		}
		if used < 0 {
			t.Errorf("entry %d: usage of cap %d is negative: %d", position, w.cap, used)
		}
	}
	for _, b := range catalog.Buyers {
		if free := l.balance[b.Ref] - l.onHold[b.Ref] + b.Credit; b.Funded && l.opened[b.Ref] && free < 0 {
			t.Errorf("entry %d: buyer %s exceeds its funds by %s", position, b.ID, -free)
		}
	}
}

// compare checks the state against the model.
func (l *ledgerModel) compare(t testing.TB, s *state.State) {
	t.Helper()
	for ref, balance := range l.balance {
		if got, held := s.BuyerBalance(ref); got != balance || held != l.onHold[ref] {
			t.Errorf("buyer %d: balance %s and %s on hold, want %s and %s", ref, got, held, balance, l.onHold[ref])
		}
	}
	_, now := s.Position()
	for ref, limit := range l.limits {
		start, _ := limit.Period.WindowContaining(now, limit.Zone)
		if got, want := capUsage(s, limit, now), l.caps[capWindow{ref, start}]; got != want {
			t.Errorf("cap %d (%s): usage %d in its window at %s, want %d", ref, limit.Period, got, time.Unix(0, now).UTC(), want)
		}
	}
	for lead, status := range l.status {
		if got, ok := s.LeadInMemory(lead); ok && got.Status != status {
			t.Errorf("lead %s: status %s, want %s", lead, got.Status, status)
		}
	}
	l.compareAuctions(t, s)
	open := 0
	s.EachUnfinishedPost(func(p *state.UnfinishedPost) {
		open++
		if _, ok := l.openSales[p.Lead]; !ok {
			t.Errorf("lead %s has an open intent, want none", p.Lead)
		}
	})
	expectEqual(t, open, len(l.openSales), "open intents")
}

// capUsage returns the usage of a cap: the lowest limit at which it would be full.
func capUsage(s *state.State, limit *market.Cap, now int64) int64 {
	probe := *limit
	return int64(sort.Search(math.MaxInt64>>1, func(n int) bool {
		probe.Limit = int64(n) + 1
		full, _ := s.IsCapFull(&probe, 1, now)
		return !full
	}))
}

// auctionLedger has the auctions' names and the lead that each one sold.
type auctionLedger struct {
	keepUntil map[[16]byte]int64 // expiry of the names
	sold      map[[16]byte]market.LeadID
	ids       map[market.AuctionID]bool
}

// applyPingAuction checks and applies the auction of a ping.
func (l *ledgerModel) applyPingAuction(t testing.TB, record *event.PingAuctionCompleted) {
	t.Helper()
	book := &l.auctions
	if record.Auction.IsZero() || book.ids[record.Auction] {
		t.Errorf("auction %s is logged twice", record.Auction)
	}
	book.ids[record.Auction] = true
	if record.Name != ([16]byte{}) {
		if book.keepUntil[record.Name] > record.Began {
			t.Errorf("auction %s has the name of another", record.Auction)
		}
		book.keepUntil[record.Name] = record.Keep
		delete(book.sold, record.Name)
	}
	if key := record.Idempotency.Key; key != [16]byte{} {
		if l.keys[key] > record.Began {
			t.Errorf("auction %s has the idempotency key of another event", record.Auction)
		}
		l.keys[key] = record.Idempotency.ExpiresAt
	}
	won := checkOutcomes(t, record.Auction, record.Trail, record.Bids)
	if (won == nil) == (record.Reason == market.ReasonNone) || won == nil && !record.Token.IsZero() {
		t.Errorf("auction %s: won by %+v, reason %q, token %v", record.Auction, won, record.Reason, record.Token)
	}
	if won != nil && (won.ValidUntil != record.Until || record.Until > record.Began+5e9 || (record.SellerAuction != "") == record.Token.IsZero()) {
		t.Errorf("auction %s is valid until %d, its best bid until %d", record.Auction, record.Until, won.ValidUntil)
	}
}

// checkOutcomes checks an auction: each filter set has one outcome, its bid has the same, and
// the valid bids come first, the best one at the top. It returns the winning bid or nil.
func checkOutcomes(t testing.TB, id market.AuctionID, trail []event.FilterSetsWithOutcome, bids []event.Bid) (won *event.Bid) {
	t.Helper()
	outcomes := map[int]market.BuyerOutcome{}
	steps := map[market.BuyerOutcome]bool{}
	for _, step := range trail {
		if steps[step.Outcome] || step.Outcome == market.OutcomeNone {
			t.Errorf("auction %s: outcome %s is repeated or empty", id, step.Outcome)
		}
		steps[step.Outcome] = true
		for i := step.FilterSets.NextFrom(0); i >= 0; i = step.FilterSets.NextFrom(i + 1) {
			if had, twice := outcomes[i]; twice {
				t.Errorf("auction %s: filter set %d has the outcomes %s and %s", id, i, had, step.Outcome)
			}
			outcomes[i] = step.Outcome
		}
	}
	for i := range len(outcomes) {
		if outcomes[i] == market.OutcomeNone {
			t.Errorf("auction %s: filter set %d of %d has no outcome", id, i, len(outcomes))
		}
	}
	previousValid := true
	for i := range bids {
		bid := &bids[i]
		if outcomes[int(bid.FilterSet)] != bid.Outcome {
			t.Errorf("auction %s: filter set %d has the outcome %s, its bid %s", id, bid.FilterSet, outcomes[int(bid.FilterSet)], bid.Outcome)
		}
		if bid.Payout > bid.Amount || bid.Elapsed < 0 {
			t.Errorf("auction %s: payout %s of %s, elapsed %d", id, bid.Payout, bid.Amount, bid.Elapsed)
		}
		isValid := bid.Token != ""
		if isValid && !previousValid {
			t.Errorf("auction %s: a valid bid comes after an invalid one", id)
		}
		if isValid && i > 0 && bids[i-1].Amount < bid.Amount {
			t.Errorf("auction %s: bid %s comes before the higher bid %s", id, bids[i-1].Amount, bid.Amount)
		}
		previousValid = isValid
		switch bid.Outcome {
		case market.OutcomeWon, market.OutcomePostPending:
			if won != nil {
				t.Errorf("auction %s has two winners", id)
			}
			won = bid
		}
	}
	return won
}

// applyLeadAuction checks and applies the auction in a lead's decision.
func (l *ledgerModel) applyLeadAuction(t testing.TB, record *event.LeadDecided) {
	t.Helper()
	if record.Auction.ID.IsZero() {
		return
	}
	if l.auctions.ids[record.Auction.ID] {
		t.Errorf("auction %s is logged twice", record.Auction.ID)
	}
	l.auctions.ids[record.Auction.ID] = true
	won := checkOutcomes(t, record.Auction.ID, record.Trail, record.Auction.Bids)
	switch {
	case (won == nil) != (record.Sale.Buyer == 0):
		t.Errorf("lead %s: won by %+v, sold to %d", record.Lead, won, record.Sale.Buyer)
	case won != nil && (won.Buyer != record.Sale.Buyer || won.Amount != record.Sale.Price || won.Payout != record.Sale.Payout || won.Currency != record.Sale.Currency):
		t.Errorf("lead %s is sold for %+v, the bid was %+v", record.Lead, record.Sale, won)
	case won != nil && record.Post.URL != "" && record.Post.Auction != record.Auction.ID:
		t.Errorf("lead %s is posted with auction %s, want its own", record.Lead, record.Post.Auction)
	}
}

// changeAuctionUse marks the auction of a sale as sold, or as available again.
func (l *ledgerModel) changeAuctionUse(t testing.TB, sale *event.Sale, lead market.LeadID, back bool) {
	t.Helper()
	if sale.Ping == ([16]byte{}) {
		return
	}
	owner, sold := l.auctions.sold[sale.Ping]
	switch {
	case back && sold && owner == lead:
		delete(l.auctions.sold, sale.Ping)
	case !back && sold:
		t.Errorf("an auction sold the leads %s and %s", owner, lead)
	case !back:
		l.auctions.sold[sale.Ping] = lead
	}
}

// compareAuctions checks the state's auctions against the model.
func (l *ledgerModel) compareAuctions(t testing.TB, s *state.State) {
	t.Helper()
	_, now := s.Position()
	for name, keep := range l.auctions.keepUntil {
		row, known := s.FindAuction(name, now)
		if known != (keep > now) && keep-now > 1e9 {
			t.Errorf("auction found: %v, want it until %d", known, keep)
		}
		if known && row.Lead != l.auctions.sold[name] {
			t.Errorf("auction sold lead %s, want %s", row.Lead, l.auctions.sold[name])
		}
	}
}
