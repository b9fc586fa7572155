package exchange

import (
	"net/url"
	"path/filepath"
	"strings"
	"testing"

	"pingpost/exchange/explain"
	"pingpost/loadtest/refbuyer"
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
				doc := decode[explain.Explanation](t, x.lookUp(id, supplier))
				if doc.SellerID != id || len(doc.Leads) != 1 || doc.Leads[0].ID != lead {
					t.Errorf("%q of %q: %+v", id, supplier, doc)
				}
			}
		}
		x.operate("GET", "/admin/v1/explain/a-123", "").mustHave(t, 200)
		x.lookUp("a-124", "").mustFail(t, 404, "not_found")
		x.lookUp("a-123", "sup_nobody").mustFail(t, 404, "not_found")
		x.lookUp("auc_01jd0000000000000000000001", "").mustFail(t, 404, "not_found")
		x = x.again()
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
	if doc := x.explain(decode[fault](t, unsold).RequestID); doc.Kind != "post" || doc.Status != "UNMATCHED" || answerOf(doc) != "422 post_rejected post_rejected" || doc.Auction.SellerID != "a-1" {
		t.Errorf("%+v", doc)
	}
	sold := x.sold(lead(2))
	if doc := x.explain(sold.id()); doc.ID != sold.leadID() || doc.Kind != "ingest" {
		t.Errorf("%+v", doc)
	}
	again := x.ingest(lead(2))
	if doc := x.explain(again.id()); doc.Reason != "duplicate" || doc.DuplicateOf != sold.leadID() {
		t.Errorf("%+v", doc)
	}
	twin := x.postAt("a-2", x.bidFor("auto", "a-2"), 2)
	if doc := x.explain(twin.id()); doc.Kind != "post" || doc.DuplicateOf != sold.leadID() || answerOf(doc) != "422 post_rejected duplicate" || doc.Auction.SellerID != "a-2" {
		t.Errorf("%+v", doc)
	}
	if doc := decode[explain.Explanation](t, x.lookUp("a-2", "")); len(doc.Leads) != 1 || len(doc.Rejected) != 1 || doc.Rejected[0].Reason != "duplicate" || doc.Leads[0].RequestID != twin.id() || doc.Status != "BID" {
		t.Errorf("%+v", doc)
	}
	asked := x.ask(`{"flo_campaign_id":"cmp","flo_supplier_id":"sup_acme","state":"CA"}`)
	if doc := x.explain(asked.id()); doc.Kind != "availability" || !strings.Contains(asked.body, doc.ID) {
		t.Errorf("%+v", doc)
	}
	repeated := x.postAt("a-1", x.bidFor("auto", "a-1"), 1)
	if doc := x.explain(repeated.id()); repeated.header.Get("Idempotent-Replayed") != "true" || doc.ID != x.explain(unsold.id()).ID {
		t.Errorf("%v: %+v", repeated.header, doc)
	}
	invalid := x.ingest(lead(3, "phone", "7")).mustFail(t, 422, "invalid_payload")
	if said := x.operate("GET", "/admin/v1/explain/"+invalid.RequestID, "").mustFail(t, 404, "not_found"); !strings.Contains(said.Message, "no request that it rejected before a decision") {
		t.Error(said.Message)
	}
}

// TestExplainAfterAChange: of a running exchange, whose seats are others by now.
func TestExplainAfterAChange(t *testing.T) {
	x := start(t, newPlace(t, recorded))
	id := x.ingest(lead(1, "state", `"TX"`)).leadID()
	sold := x.sold(lead(2)).leadID()
	x.reloadWith(strings.Replace(strings.Replace(recorded, "  - {id: buy_blue", "  - {id: buy_new, states: [TX]}\n  - {id: buy_blue", 1),
		"buyers: [{buyer: buy_blue, price: 12.05}]", "buyers: [{buyer: buy_new, price: 3}, {buyer: buy_blue, price: 12.05}]", 1))
	x = x.again()
	if doc := x.explain(id); outcomesOf(doc) != "buy_blue wrong_state" || doc.Catalog != 1 {
		t.Errorf("%d: %s", doc.Catalog, outcomesOf(doc))
	}
	if doc := x.explain(sold); outcomesOf(doc) != "buy_blue won" {
		t.Error(outcomesOf(doc))
	}
	if doc := x.explain(x.sold(lead(3)).leadID()); outcomesOf(doc) != "buy_new wrong_state, buy_blue won" || doc.Catalog != 2 {
		t.Errorf("%d: %s", doc.Catalog, outcomesOf(doc))
	}
	if files, err := filepath.Glob(filepath.Join(x.data(), "catalogs", "*.json")); err != nil || len(files) != 2 {
		t.Errorf("%q %v", files, err)
	}
}

// TestExplainAnotherThanTheBest: a supplier asks who would buy, and has the lead go
// to the second best. The ping tells both offers, which was taken and by which lead,
// and the money of that sale and not of the best bid; and so it does beside the lead.
func TestExplainAnotherThanTheBest(t *testing.T) {
	high, low := reference(t, "12.5"), reference(t, "9")
	x := start(t, newPlace(t, trading("ping_post", high, low)))
	ping := x.choices("cmp")
	before := x.explain(ping)
	if before.Kind != "availability" || before.ID != ping || before.Status != "BID" || before.Price != nil || before.Why != "The supplier could choose from 2 valid bids. No lead claimed a bid." {
		t.Errorf("before: %+v", before)
	}
	doc := x.explain(x.choose(ping, "buy_2", 1).leadID())
	if doc.Kind != "ingest" || doc.Buyer != "buy_2" || outcomesOf(doc) != "buy_2 won" {
		t.Errorf("the lead: %+v", doc)
	}
	x.golden(t, "choice", ping)
	x.golden(t, "choice", "auc_"+strings.TrimPrefix(ping, "ping_"))
	if beside := doc.Auction; beside == nil || beside.ID != ping || beside.Status != "SOLD" || beside.Why != x.explain(ping).Why {
		t.Errorf("beside the lead: %+v", beside)
	}
}
