package exchange

import (
	"errors"
	"net/url"
	"strings"
	"testing"
	"time"

	"pingpost/engine"
	"pingpost/engine/event"
	"pingpost/engine/market"
	"pingpost/loadtest/refbuyer"
	"pingpost/server"
)

// lookUp asks the admin address by what may stand in a query.
func (r *running) lookUp(id, supplier string) *answer {
	r.t.Helper()
	query := url.Values{"id": {id}}
	if supplier != "" {
		query.Set("supplier", supplier)
	}
	return r.operate("GET", "/admin/v1/explain?"+query.Encode(), "")
}

// TestExplainByASellersID: a seller that knows nothing but its own id of an auction is
// answered by it, whatever characters that has, also after a restart; an id that it
// never used is nobody's.
func TestExplainByASellersID(t *testing.T) {
	high := reference(t, "12.5")
	x := start(t, newPlace(t, trading("ping_post", high)))
	ids := []string{"a-123", "a/b ?&%2F", "größe 7", "auc_01jd0000000000000000000000", strings.Repeat("x", 200)}
	leads := map[string]string{}
	for i, id := range ids {
		leads[id] = x.postAt(id, x.bidFor("auto", id), i).leadID()
	}
	for range 2 {
		for id, lead := range leads {
			for _, supplier := range []string{"", "sup_acme"} {
				told := decode[Explanation](t, x.lookUp(id, supplier))
				if told.SellerID != id || len(told.Leads) != 1 || told.Leads[0].ID != lead {
					t.Errorf("%q of %q: %+v", id, supplier, told)
				}
			}
		}
		x.operate("GET", "/admin/v1/explain/a-123", "").is(t, 200)
		x.lookUp("a-124", "").mustFail(t, 404, "not_found")
		x.lookUp("a-123", "sup_nobody").mustFail(t, 404, "not_found")
		x.lookUp("auc_01jd0000000000000000000001", "").mustFail(t, 404, "not_found")
		x = x.again()
	}
}

func (a *answer) is(t testing.TB, status int) {
	t.Helper()
	if a.status != status {
		t.Errorf("%d %s, want %d", a.status, a.body, status)
	}
}

// TestExplainByARequestsID: the request id of any answer leads to what it was about:
// of a ping, of a sale, of a lead that was turned away with an error that names no
// lead, and of a repeat, whose answer has the first one's. What decided nothing is
// not found, and it is said why.
func TestExplainByARequestsID(t *testing.T) {
	choosy := reference(t, "12.5", func(o *refbuyer.Options) { o.RejectRate = 1 })
	low := reference(t, "9")
	x := start(t, newPlace(t, strings.Replace(trading("ping_post", choosy, low), "    duplicates: {window: 0s}\n", "", 1)))
	unsold := x.postAt("a-1", x.bidFor("auto", "a-1"), 1)
	if told := x.explain(decode[fault](t, unsold).RequestID); told.Kind != "post" || told.Status != "UNMATCHED" || told.answered()[:17] != "422 post_rejected" || told.Auction.SellerID != "a-1" {
		t.Errorf("%+v", told)
	}
	sold := x.sold(lead(2))
	if told := x.explain(sold.id()); told.ID != sold.leadID() || told.Kind != "ingest" {
		t.Errorf("%+v", told)
	}
	again := x.ingest(lead(2))
	if told := x.explain(again.id()); told.Reason != "duplicate" || told.DuplicateOf != sold.leadID() {
		t.Errorf("%+v", told)
	}
	twin := x.postAt("a-2", x.bidFor("auto", "a-2"), 2)
	if told := x.explain(twin.id()); told.Kind != "post" || told.DuplicateOf != sold.leadID() || told.answered()[:27] != "422 post_rejected duplicate" || told.Auction.SellerID != "a-2" {
		t.Errorf("%+v", told)
	}
	if told := decode[Explanation](t, x.lookUp("a-2", "")); len(told.Leads) != 1 || len(told.Turned) != 1 || told.Turned[0].Reason != "duplicate" || told.Leads[0].RequestID != twin.id() || told.Status != "BID" {
		t.Errorf("%+v", told)
	}
	asked := x.ask(`{"flo_campaign_id":"cmp","flo_supplier_id":"sup_acme","state":"CA"}`)
	if told := x.explain(asked.id()); told.Kind != "availability" || !strings.Contains(asked.body, told.ID) {
		t.Errorf("%+v", told)
	}
	repeated := x.postAt("a-1", x.bidFor("auto", "a-1"), 1)
	if told := x.explain(repeated.id()); repeated.header.Get("Idempotent-Replayed") != "true" || told.ID != x.explain(unsold.id()).ID {
		t.Errorf("%v: %+v", repeated.header, told)
	}
	invalid := x.ingest(lead(3, "phone", "7")).mustFail(t, 422, "invalid_payload")
	if said := x.operate("GET", "/admin/v1/explain/"+invalid.RequestID, "").mustFail(t, 404, "not_found"); !strings.Contains(said.Message, noSuchRequest) {
		t.Error(said.Message)
	}
}

// sellersAuction writes an auction under a seller's own id.
func (c *chronicle) sellersAuction(n byte, supplier market.Ref, theirs string) *event.AuctionHeld {
	c.t.Helper()
	held := c.offering(n, theirs)
	held.Supplier, held.Name = supplier, called(supplier, theirs, false)
	c.add(held)
	return held
}

// TestExplainTestsApart: an id that was tried out names another auction than the same id
// in earnest. Where it names both the one in earnest is meant; and a lead that was turned
// away came for the one of its own kind.
func TestExplainTestsApart(t *testing.T) {
	c := newChronicle(t)
	turned := func(n byte, test bool) market.LeadID {
		decided := &event.LeadDecided{
			Lead: c.draw(n), Campaign: 1, Supplier: 1, Catalog: 1, Decided: c.now, Keep: c.now + int64(45*24*time.Hour),
			Theirs: "same", Reason: market.ReasonFiltered, Sale: event.Sale{Test: test},
		}
		c.add(decided)
		return decided.Lead
	}
	tried := c.offering(1, "same")
	tried.Name, tried.Test = called(1, "same", true), true
	c.add(tried)
	if told, err := c.explainer.sellers("sup", "same"); err != nil || told.AuctionID != tried.Auction.String() || !told.Test {
		t.Errorf("tried out: %+v, %v", told, err)
	}
	c.later(time.Second)
	held := c.sellersAuction(2, 1, "same")
	if told, err := c.explainer.sellers("", "same"); err != nil || told.AuctionID != held.Auction.String() || told.Test {
		t.Errorf("in earnest: %+v, %v", told, err)
	}
	c.later(time.Second)
	for test, want := range map[bool]*event.AuctionHeld{true: tried, false: held} {
		told := c.told(turned(map[bool]byte{true: 3, false: 4}[test], test))
		if told.Auction == nil || told.Auction.AuctionID != want.Auction.String() {
			t.Errorf("a test: %v, came for %+v", test, told.Auction)
		}
		auction, err := c.explainer.auction(want.Auction)
		if err != nil || len(auction.Leads) != 1 || auction.Leads[0].ID != told.ID {
			t.Errorf("for that one, a test: %v, came %+v, %v", test, auction, err)
		}
	}
}

// TestExplainWhose: one id of two sellers is either's; without a word whose is meant
// it is nobody's, and both are named. Memory and log say the same.
func TestExplainWhose(t *testing.T) {
	c := newChronicle(t)
	c.sellersAuction(1, 1, "both")
	c.among(20)
	c.sellersAuction(2, 2, "both")
	mine := c.sellersAuction(3, 2, "mine")
	forgetful := c.forgetting()
	forgetful.named = called
	for name, e := range map[string]*explainer{"memory": c.explainer, "log": forgetful} {
		for _, row := range []struct{ supplier, id, want string }{
			{"sup", "both", "sup"},
			{"sup_other", "both", "sup_other"},
			{"", "mine", "sup_other"},
			{"sup_other", "mine", "sup_other"},
		} {
			if told, err := e.sellers(row.supplier, row.id); err != nil || told.Supplier != row.want || told.SellerID != row.id {
				t.Errorf("%s, %q of %q: %+v, %v", name, row.id, row.supplier, told, err)
			}
		}
		var several *server.SeveralSuppliers
		if told, err := e.sellers("", "both"); !errors.As(err, &several) || strings.Join(several.Names, " ") != "sup sup_other" {
			t.Errorf("%s: %+v, %v", name, told, err)
		}
		for _, row := range [][2]string{{"", "bot"}, {"sup", "mine"}, {"nobody", "mine"}, {"", ""}, {"", mine.Auction.String()}} {
			if told, err := e.sellers(row[0], row[1]); !errors.Is(err, engine.ErrNotFound) {
				t.Errorf("%s, %q: %+v, %v", name, row, told, err)
			}
		}
	}
}

// TestExplainWhatMightBeASellers: an id of our own form is looked for in the log by its
// time; that it might be a seller's too is asked of memory alone, unless a supplier is
// named.
func TestExplainWhatMightBeASellers(t *testing.T) {
	const alike = "auc_01jd0000000000000000000000"
	c := newChronicle(t)
	c.sellersAuction(1, 1, alike)
	forgetful := c.forgetting()
	forgetful.named = called
	if told, err := c.explainer.sellers("", alike); err != nil || told.SellerID != alike {
		t.Errorf("memory: %+v, %v", told, err)
	}
	if told, err := forgetful.sellers("", alike); !errors.Is(err, engine.ErrNotFound) {
		t.Errorf("the log: %+v, %v", told, err)
	}
	if told, err := forgetful.sellers("sup", alike); err != nil || told.SellerID != alike {
		t.Errorf("the log, of a supplier: %+v, %v", told, err)
	}
}

// TestExplainTheLaterOfOneID: a seller may use an id again once memory has forgotten
// it; by then the later auction is meant.
func TestExplainTheLaterOfOneID(t *testing.T) {
	c := newChronicle(t)
	c.sellersAuction(1, 1, "again")
	c.later(31 * 24 * time.Hour)
	later := c.sellersAuction(2, 1, "again")
	if told, err := c.explainer.sellers("", "again"); err != nil || told.AuctionID != later.Auction.String() {
		t.Errorf("%+v, %v", told, err)
	}
}

// TestExplainFarBack: what memory has forgotten is looked for from the log's
// beginning on, and no further than a search goes.
func TestExplainFarBack(t *testing.T) {
	c := newChronicle(t)
	c.among(20)
	c.sellersAuction(1, 1, "old")
	e := c.forgetting()
	e.named = called
	if told, err := e.sellers("", "old"); err != nil || told.SellerID != "old" {
		t.Errorf("%+v, %v", told, err)
	}
	e.reach.entries = 20
	if told, err := e.sellers("", "old"); !errors.Is(err, engine.ErrNotFound) || !strings.Contains(err.Error(), "the search ends there") {
		t.Errorf("%+v, %v", told, err)
	}
}
