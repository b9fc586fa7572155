package explain

import (
	"errors"
	"strings"
	"testing"
	"time"

	"pingpost/engine"
	"pingpost/engine/event"
	"pingpost/engine/market"
	"pingpost/server/admin"
)

// addSellerAuction records an auction under a seller's own id.
func (c *history) addSellerAuction(n byte, supplier market.PermanentNumber, sellersAuctionID string) *event.PingAuctionCompleted {
	c.t.Helper()
	liveAuction := c.newAuction(n, sellersAuctionID)
	liveAuction.Supplier, liveAuction.Name = supplier, nameOfAuction(supplier, sellersAuctionID, false)
	c.Add(liveAuction)
	return liveAuction
}

// TestExplainSeparatesTestAuctions: a test auction and a production auction may have the same seller
// id. The search then finds the production auction. A rejected lead belongs to the auction
// with the same test flag.
func TestExplainSeparatesTestAuctions(t *testing.T) {
	c := newHistory(t)
	addRejectedLead := func(n byte, test bool) market.LeadID {
		decided := &event.LeadDecided{
			Lead: c.NewLeadID(n), Campaign: 1, Supplier: 1, Catalog: 1, Decided: c.Now, Keep: c.Now + int64(45*24*time.Hour),
			SellerAuction: "same", Reason: market.ReasonFiltered, Sale: event.Sale{Test: test},
		}
		c.Add(decided)
		return decided.Lead
	}
	testAuction := c.newAuction(1, "same")
	testAuction.Name, testAuction.Test = nameOfAuction(1, "same", true), true
	c.Add(testAuction)
	if doc, err := c.ExplainBySellersAuctionID("sup", "same"); err != nil || doc.AuctionID != testAuction.Auction.String() || !doc.Test {
		t.Errorf("only a test auction: %+v, %v", doc, err)
	}
	c.AdvanceClock(time.Second)
	liveAuction := c.addSellerAuction(2, 1, "same")
	if doc, err := c.ExplainBySellersAuctionID("", "same"); err != nil || doc.AuctionID != liveAuction.Auction.String() || doc.Test {
		t.Errorf("test and production auction: %+v, %v", doc, err)
	}
	c.AdvanceClock(time.Second)
	for test, want := range map[bool]*event.PingAuctionCompleted{true: testAuction, false: liveAuction} {
		doc := c.mustExplainLead(addRejectedLead(map[bool]byte{true: 3, false: 4}[test], test))
		if doc.Auction == nil || doc.Auction.AuctionID != want.Auction.String() {
			t.Errorf("test lead %v: got auction %+v", test, doc.Auction)
		}
		auction, err := c.ExplainAuction(want.Auction)
		if err != nil || len(auction.Leads) != 1 || auction.Leads[0].ID != doc.ID {
			t.Errorf("auction of test leads %v: got %+v, %v", test, auction, err)
		}
	}
}

// TestExplainSameIDOfTwoSellers: two sellers may use the same id. A search without a supplier then
// reports both suppliers. Memory and log give the same results.
func TestExplainSameIDOfTwoSellers(t *testing.T) {
	c := newHistory(t)
	c.addSellerAuction(1, 1, "both")
	c.AddUnsoldLeads(20)
	c.addSellerAuction(2, 2, "both")
	mine := c.addSellerAuction(3, 2, "mine")
	logOnly := c.withoutMemory()
	logOnly.AuctionName = nameOfAuction
	for name, e := range map[string]*Explainer{"memory": c.Explainer, "log": logOnly} {
		for _, row := range []struct{ supplier, id, want string }{
			{"sup", "both", "sup"},
			{"sup_other", "both", "sup_other"},
			{"", "mine", "sup_other"},
			{"sup_other", "mine", "sup_other"},
		} {
			if doc, err := e.ExplainBySellersAuctionID(row.supplier, row.id); err != nil || doc.Supplier != row.want || doc.SellerID != row.id {
				t.Errorf("%s, %q of %q: %+v, %v", name, row.id, row.supplier, doc, err)
			}
		}
		var ambiguous *admin.AmbiguousAuctionSupplierError
		if doc, err := e.ExplainBySellersAuctionID("", "both"); !errors.As(err, &ambiguous) || strings.Join(ambiguous.Names, " ") != "sup sup_other" {
			t.Errorf("%s: %+v, %v", name, doc, err)
		}
		for _, row := range [][2]string{{"", "bot"}, {"sup", "mine"}, {"nobody", "mine"}, {"", ""}, {"", mine.Auction.String()}} {
			if doc, err := e.ExplainBySellersAuctionID(row[0], row[1]); !errors.Is(err, engine.ErrNotFound) {
				t.Errorf("%s, %q: %+v, %v", name, row, doc, err)
			}
		}
	}
}

// TestExplainSellerIDInOurForm: the search for an id in our own form reads the log only
// around the id's time. It searches for a seller's id in memory alone, unless the caller
// names a supplier.
func TestExplainSellerIDInOurForm(t *testing.T) {
	const alike = "auc_01jd0000000000000000000000"
	c := newHistory(t)
	c.addSellerAuction(1, 1, alike)
	logOnly := c.withoutMemory()
	logOnly.AuctionName = nameOfAuction
	if doc, err := c.ExplainBySellersAuctionID("", alike); err != nil || doc.SellerID != alike {
		t.Errorf("memory: %+v, %v", doc, err)
	}
	if doc, err := logOnly.ExplainBySellersAuctionID("", alike); !errors.Is(err, engine.ErrNotFound) {
		t.Errorf("the log: %+v, %v", doc, err)
	}
	if doc, err := logOnly.ExplainBySellersAuctionID("sup", alike); err != nil || doc.SellerID != alike {
		t.Errorf("the log, with a supplier: %+v, %v", doc, err)
	}
}

// TestExplainLaterAuctionWithSameID: a seller may use an id again once memory has dropped it.
// The search then finds the later auction.
func TestExplainLaterAuctionWithSameID(t *testing.T) {
	c := newHistory(t)
	c.addSellerAuction(1, 1, "again")
	c.AdvanceClock(31 * 24 * time.Hour)
	later := c.addSellerAuction(2, 1, "again")
	if doc, err := c.ExplainBySellersAuctionID("", "again"); err != nil || doc.AuctionID != later.Auction.String() {
		t.Errorf("%+v, %v", doc, err)
	}
}

// TestExplainOldAuction: the search for an auction that memory has dropped reads the log
// from its beginning, up to the limit.
func TestExplainOldAuction(t *testing.T) {
	c := newHistory(t)
	c.AddUnsoldLeads(20)
	c.addSellerAuction(1, 1, "old")
	e := c.withoutMemory()
	e.AuctionName = nameOfAuction
	if doc, err := e.ExplainBySellersAuctionID("", "old"); err != nil || doc.SellerID != "old" {
		t.Errorf("%+v, %v", doc, err)
	}
	e.limits.entries = 20
	if doc, err := e.ExplainBySellersAuctionID("", "old"); !errors.Is(err, engine.ErrNotFound) || !strings.Contains(err.Error(), "the search ended at its limit") {
		t.Errorf("%+v, %v", doc, err)
	}
}
