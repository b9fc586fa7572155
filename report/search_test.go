package report

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"pingpost/engine/event"
	"pingpost/engine/market"

	"pingpost/internal/must"
)

// randomTrade is a random trade and the expected results of searches: its leads and
// auctions in order, with their bids.
type randomTrade struct {
	log      *testLog
	leads    []FoundLead
	auctions []AuctionSearchResult
	bids     map[market.AuctionID][]event.Bid
}

var (
	tradeStates  = []string{"", "CA", "TX"}
	tradeSources = []string{"", "search", "mail"}
)

// newRandomTrade draws leads: some with an auction, some tests, some erased or reported as sold.
// Consecutive leads are at most apart from each other.
func newRandomTrade(t *rapid.T, apart time.Duration) *randomTrade {
	b := &randomTrade{log: newTestLog(), bids: map[market.AuctionID][]event.Bid{}}
	b.log.log(0, &event.ExchangeFounded{})
	at := time.Duration(0)
	for n := range rapid.IntRange(1, 25).Draw(t, "leads") {
		at += time.Duration(rapid.IntRange(1, int(apart/time.Millisecond)).Draw(t, "after")) * time.Millisecond
		b.lead(t, n, at)
	}
	slices.SortFunc(b.leads, func(x, y FoundLead) int { return bytes.Compare(y.ID[:], x.ID[:]) })
	slices.SortFunc(b.auctions, func(x, y AuctionSearchResult) int { return bytes.Compare(y.ID[:], x.ID[:]) })
	return b
}

func (b *randomTrade) lead(t *rapid.T, n int, at time.Duration) {
	createdAt := start.Add(at - time.Duration(rapid.IntRange(0, 3000).Draw(t, "took"))*time.Millisecond)
	l := FoundLead{
		ID: market.ComposeID(createdAt.UnixMilli(), [10]byte{byte(n >> 8), byte(n)}), At: start.Add(at).UnixNano(),
		Test:  rapid.IntRange(0, 5).Draw(t, "test") == 0,
		State: rapid.SampledFrom(tradeStates).Draw(t, "state"), Source: rapid.SampledFrom(tradeSources).Draw(t, "source"),
	}
	supplier, campaign := rapid.IntRange(1, 3).Draw(t, "supplier"), rapid.IntRange(1, 2).Draw(t, "campaign")
	l.Supplier, l.Campaign = testNames[event.ObjectSupplier][supplier], testNames[event.ObjectCampaign][campaign]
	decided := &event.LeadDecided{
		Lead: l.ID, Supplier: market.PermanentNumber(supplier), Campaign: market.PermanentNumber(campaign),
		Fields: []event.LeadField{text("state", l.State), text("source", l.Source)}, Sale: event.Sale{Test: l.Test},
	}
	if rapid.Bool().Draw(t, "auctioned") {
		l.Auction = market.ComposeID(createdAt.UnixMilli(), [10]byte{9, byte(n >> 8), byte(n)})
		b.auction(t, &l, decided)
	}
	l.Status, l.Reason = market.StatusUnmatched, market.UnsoldReason(rapid.IntRange(1, int(market.ReasonDuplicate)).Draw(t, "reason"))
	decided.Reason = l.Reason
	if buyer := rapid.IntRange(0, 4).Draw(t, "buyer"); buyer > 0 {
		l.Status, l.Reason, l.Buyer = market.StatusAccepted, market.ReasonNone, testNames[event.ObjectBuyer][buyer]
		l.Price, l.Payout, l.Currency = market.Money(buyer)*1e6, market.Money(buyer)*8e5, "USD"
		decided.Sale, decided.Reason = sale(market.PermanentNumber(buyer), l.Price), market.ReasonNone
		decided.Sale.Test = l.Test
	}
	if !l.Auction.IsZero() {
		b.auctions[len(b.auctions)-1].Reason = decided.Reason
	}
	b.log.log(at, decided)
	switch rapid.IntRange(0, 9).Draw(t, "later") {
	case 0:
		b.log.log(at, &event.PersonalDataOfLeadsErased{Leads: []market.LeadID{l.ID}})
		l.State, l.Source, l.Erased = "", "", true
	case 1:
		if l.Buyer != "" {
			b.log.log(at, &event.LeadStatusChangesDecided{Buyer: decided.Sale.Buyer, Changes: []event.DecidedLeadStatusChange{
				{Lead: l.ID, Supplier: decided.Supplier, Result: event.ChangeDone, From: l.Status, To: market.StatusSold},
			}})
			l.Status = market.StatusSold
		}
	}
	if !l.Auction.IsZero() {
		b.auctions[len(b.auctions)-1].Sale = AuctionSale{l.Buyer, l.Price, l.Currency, l.Status, l.Delivery}
	}
	b.leads = append(b.leads, l)
}

func (b *randomTrade) auction(t *rapid.T, l *FoundLead, decided *event.LeadDecided) {
	a := AuctionSearchResult{ID: l.Auction, At: l.At, Lead: l.ID, Campaign: l.Campaign, Supplier: l.Supplier, Test: l.Test}
	decided.Auction.ID = a.ID
	for i := range rapid.IntRange(0, 4).Draw(t, "asked") {
		bid := event.Bid{FilterSet: uint32(i), Buyer: market.PermanentNumber(i + 1), Outcome: market.BuyerOutcome(rapid.IntRange(2, int(market.OutcomePostRejected)).Draw(t, "outcome"))}
		if elapsed := rapid.Int64Range(0, 3).Draw(t, "elapsed"); elapsed > 0 {
			bid.Elapsed, bid.Status = elapsed*20e6, 200
		}
		if a.Winner == "" && rapid.Bool().Draw(t, "won") {
			bid.Outcome, bid.Amount, bid.Currency = market.OutcomeWon, 7e6, usd
			a.Winner, a.Amount, a.Currency = testNames[event.ObjectBuyer][i+1], 7e6, "USD"
		}
		decided.Auction.Bids = append(decided.Auction.Bids, bid)
		a.Asked++
	}
	b.bids[a.ID] = decided.Auction.Bids
	b.auctions = append(b.auctions, a)
}

// matchesLead defines which leads a search finds.
func (b *randomTrade) matchesLead(s *LeadOrAuctionQuery, l *FoundLead) bool {
	matches := func(want, got string) bool { return want == "" || want == got }
	return matches(s.Campaign, l.Campaign) && matches(s.Supplier, l.Supplier) && matches(s.Buyer, l.Buyer) && matches(s.Status, l.Status.String()) &&
		matches(s.Reason, l.Reason.String()) && matches(s.State, l.State) && matches(s.Source, l.Source) && (s.Test == nil || *s.Test == l.Test) &&
		(s.Lead.IsZero() || s.Lead == l.ID) && (s.Auction.IsZero() || s.Auction == l.Auction) && s.includesTime(l.At)
}

func (s *LeadOrAuctionQuery) includesTime(at int64) bool {
	return at >= s.From && (s.To == 0 || at < s.To)
}

func (b *randomTrade) matchesAuction(s *LeadOrAuctionQuery, a *AuctionSearchResult) bool {
	matches := func(want, got string) bool { return want == "" || want == got }
	hasBid := s.Buyer == "" && s.Outcome == "" || slices.ContainsFunc(b.bids[a.ID], func(bid event.Bid) bool {
		return matches(s.Buyer, testNames[event.ObjectBuyer][bid.Buyer]) && matches(s.Outcome, bid.Outcome.String())
	})
	return hasBid && matches(s.Campaign, a.Campaign) && matches(s.Supplier, a.Supplier) && (s.Test == nil || *s.Test == a.Test) && s.includesTime(a.At)
}

// drawSearch draws conditions for leads and auctions.
func (b *randomTrade) drawSearch(t *rapid.T) (s LeadOrAuctionQuery) {
	maybe := func(name string, values []string) string {
		if rapid.IntRange(0, 2).Draw(t, "by "+name) > 0 {
			return ""
		}
		return rapid.SampledFrom(values).Draw(t, name)
	}
	s.Campaign, s.Supplier = maybe("campaign", testNames[event.ObjectCampaign]), maybe("supplier", testNames[event.ObjectSupplier])
	s.Buyer = maybe("buyer", testNames[event.ObjectBuyer])
	if by := rapid.IntRange(0, 5).Draw(t, "by test"); by < 2 {
		test := by == 1
		s.Test = &test
	}
	if rapid.Bool().Draw(t, "by time") {
		s.From = start.Add(time.Duration(rapid.IntRange(-5, 60).Draw(t, "from")) * time.Minute).UnixNano()
		s.To = s.From + int64(time.Duration(rapid.IntRange(0, 60).Draw(t, "minutes"))*time.Minute)
	}
	s.Limit = rapid.IntRange(1, 20).Draw(t, "limit")
	return s
}

// searchAllPages collects the results of all pages.
func searchAllPages[T any](t *rapid.T, s LeadOrAuctionQuery, rowsOf func(context.Context, LeadOrAuctionQuery) ([]T, SearchProgress, error)) (all []T) {
	for range 10_000 {
		found, page, err := rowsOf(context.Background(), s)
		if err != nil {
			t.Fatal(err)
		}
		if len(found) > s.Limit {
			t.Fatalf("%d results on a page of %d", len(found), s.Limit)
		}
		all = append(all, found...)
		if page.Next == ([16]byte{}) {
			if !page.Complete {
				t.Fatal("the page is incomplete, but has no Next")
			}
			return all
		}
		s.After = page.Next
	}
	t.Fatal("the search has more than 10,000 pages")
	return nil
}

// TestSearchEqualsFilter: the pages of a search equal a simple filter of the trade, in order, for
// short and long time limits.
func TestSearchEqualsFilter(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		b := newRandomTrade(rt, 90*time.Second)
		opt := testOptions(b.log, t.TempDir())
		opt.checkInterval, opt.limits = time.Hour, defaultLimits
		opt.limits.firstScanRows = rapid.IntRange(1, 30).Draw(rt, "stretch")
		opt.limits.searchTime = time.Duration(rapid.IntRange(0, 1).Draw(rt, "time")) * time.Minute
		r := startReport(t, b.log, opt)
		defer r.stop()
		r.waitCaughtUp()
		for range 4 {
			s := b.drawSearch(rt)
			leads, auctions := s, s
			auctions.Outcome = rapid.SampledFrom([]string{"", "", "won", "lost", "timeout"}).Draw(rt, "outcome")
			b.drawLeadSearch(rt, &leads)
			var want []FoundLead
			for i := range b.leads {
				if b.matchesLead(&leads, &b.leads[i]) {
					want = append(want, b.leads[i])
				}
			}
			if got := searchAllPages(rt, leads, r.SearchLeads); !slices.Equal(got, want) {
				rt.Fatalf("%+v finds\n%+v, want\n%+v", leads, got, want)
			}
			var wantAuctions []AuctionSearchResult
			for i := range b.auctions {
				if b.matchesAuction(&auctions, &b.auctions[i]) {
					wantAuctions = append(wantAuctions, b.auctions[i])
				}
			}
			if got := searchAllPages(rt, auctions, r.SearchAuctions); !slices.Equal(got, wantAuctions) {
				rt.Fatalf("%+v finds\n%+v, want\n%+v", auctions, got, wantAuctions)
			}
		}
	})
}

func (b *randomTrade) drawLeadSearch(t *rapid.T, s *LeadOrAuctionQuery) {
	switch rapid.IntRange(0, 7).Draw(t, "and by") {
	case 0:
		s.Status = rapid.SampledFrom([]string{"ACCEPTED", "UNMATCHED", "sold", "returned"}).Draw(t, "status")
	case 1:
		s.Reason = market.UnsoldReason(rapid.IntRange(1, int(market.ReasonDuplicate)).Draw(t, "reason")).String()
	case 2:
		s.State = rapid.SampledFrom([]string{"CA", "TX", "NY"}).Draw(t, "state")
	case 3:
		s.Source = rapid.SampledFrom([]string{"search", "mail", "nowhere"}).Draw(t, "source")
	case 4:
		s.Lead = rapid.SampledFrom(b.leads).Draw(t, "lead").ID
	case 5:
		s.Auction = rapid.SampledFrom(b.leads).Draw(t, "auction").Auction
	}
}

// TestSearchFindsPingAuctionAndLead: a lead sold for a ping's bid is found by its auction, and an
// auction without a lead is found too.
func TestSearchFindsPingAuctionAndLead(t *testing.T) {
	r := newTradeReport(t)
	found, _, err := r.SearchLeads(context.Background(), LeadOrAuctionQuery{Auction: auctionID(2), Limit: 10})
	must.Succeed(t, err)
	if len(found) != 1 || found[0].ID != leadID(4) || found[0].State != "TX" || found[0].Source != "search" || found[0].Delivery != market.DeliveryDone || found[0].Posts != 1 {
		t.Errorf("%+v", found)
	}
	auctions, page, err := r.SearchAuctions(context.Background(), LeadOrAuctionQuery{Limit: 10})
	must.Succeed(t, err)
	got := ""
	for _, a := range auctions {
		got += fmt.Sprintln(a.ID == auctionID(1), a.Lead, a.Asked, a.Reason, a.Winner, a.Amount, a.Currency)
	}
	if want := "false lead_00000000000000000000000000 0 caps_full  0 \nfalse lead_00000000000000000000000000 1  buy_b 5 USD\ntrue " +
		leadID(3).String() + " 4  buy_b 9 USD\n"; got != want || !page.Complete {
		t.Errorf("%s want\n%s", got, want)
	}
}

// TestInvalidSearches has names that were never configured and unknown values.
func TestInvalidSearches(t *testing.T) {
	r := newTradeReport(t)
	for field, s := range map[string]LeadOrAuctionQuery{
		"campaign": {Campaign: "cmp_none"}, "supplier": {Supplier: "sup_none"}, "buyer": {Buyer: "buy_none"},
		"status": {Status: "SOLD"}, "reason": {Reason: "luck"},
	} {
		var invalid *InvalidQuestionError
		if _, _, err := r.SearchLeads(context.Background(), s); !errors.As(err, &invalid) || invalid.Field != field {
			t.Errorf("%+v: %v", s, err)
		}
	}
	var invalid *InvalidQuestionError
	if _, _, err := r.SearchAuctions(context.Background(), LeadOrAuctionQuery{Outcome: "luck"}); !errors.As(err, &invalid) || invalid.Field != "outcome" {
		t.Error(err)
	}
}

func TestSearchesUseIndexes(t *testing.T) {
	r := newTradeReport(t)
	for index, s := range map[string]LeadOrAuctionQuery{
		"leads_buyer (buyer=?": {Buyer: "buy_a"}, "leads_supplier (supplier=?": {Supplier: "sup_a", Campaign: "cmp_a"},
		"leads_reason (reason=?": {Reason: "caps_full", Buyer: "buy_a"}, "leads_test (test=?": {Test: new(true)},
		"PRIMARY KEY (": {Campaign: "cmp_a"},
	} {
		plan := r.queryPlan(&s)
		if !strings.Contains(plan, index) || !strings.Contains(plan, "id>? AND id<?)") || strings.Contains(plan, "TEMP B-TREE") {
			t.Errorf("%s: %s", index, plan)
		}
	}
}

// queryPlan returns SQLite's plan of a search for leads.
func (r *testReport) queryPlan(s *LeadOrAuctionQuery) (plan string) {
	r.t.Helper()
	c := must.Value(r.leadCondition(context.Background(), nil, s))(r.t)
	h := newestFirstScan{table: "leads", searchCondition: *c}
	text, key := h.fromClauseWithIndex()
	rows := must.Value(r.file.readers.Query("EXPLAIN QUERY PLAN SELECT "+leadColumns+text+h.where+" ORDER BY id DESC", append(append([]any{h.low[:], h.high[:]}, key...), h.args...)...))(r.t)
	defer rows.Close()
	for rows.Next() {
		var id, parent, unused int
		var step string
		must.Succeed(r.t, rows.Scan(&id, &parent, &unused, &step))
		plan += step + "\n"
	}
	must.Succeed(r.t, rows.Err())
	return plan
}
