package exchange

import (
	"net/url"
	"path/filepath"
	"strings"
	"testing"

	"pingpost/exchange/explain"
	"pingpost/loadtest/refbuyer"
)

// explainByID explains an id that is a query parameter.
func (r *testExchange) explainByID(id, supplier string) *answer {
	r.t.Helper()
	query := url.Values{"id": {id}}
	if supplier != "" {
		query.Set("supplier", supplier)
	}
	return r.adminRequest("GET", "/admin/v1/explain?"+query.Encode(), "")
}

// TestExplainBySellerID: an auction is found by the seller's id with any characters, also after a
// restart. An unknown id is a 404.
func TestExplainBySellerID(t *testing.T) {
	t.Parallel()
	high := startReferenceBuyer(t, "12.5")
	x := start(t, newTestDir(t, referenceConfig("ping_post", high)))
	ids := []string{"a-123", "a/b ?&%2F", "größe 7", "auc_01jd0000000000000000000000", strings.Repeat("x", 200)}
	leads := map[string]string{}
	for i, id := range ids {
		leads[id] = x.postToBid(id, x.pingForBid("auto", id), i).leadID()
	}
	for range 2 {
		for id, lead := range leads {
			for _, supplier := range []string{"", "sup_acme"} {
				doc := decode[explain.Explanation](t, x.explainByID(id, supplier))
				if doc.SellerID != id || len(doc.Leads) != 1 || doc.Leads[0].ID != lead {
					t.Errorf("explanation of %q of supplier %q: %+v", id, supplier, doc)
				}
			}
		}
		x.adminRequest("GET", "/admin/v1/explain/a-123", "").mustHave(t, 200)
		x.explainByID("a-124", "").mustFail(t, 404, "not_found")
		x.explainByID("a-123", "sup_nobody").mustFail(t, 404, "not_found")
		x.explainByID("auc_01jd0000000000000000000001", "").mustFail(t, 404, "not_found")
		x = x.restart()
	}
}

// TestExplainByRequestID: the request id of any answer leads to its ping, sale, rejected lead or
// first answer. The error for a request without a decision says why.
func TestExplainByRequestID(t *testing.T) {
	t.Parallel()
	refusing := startReferenceBuyer(t, "12.5", func(o *refbuyer.Options) { o.RejectRate = 1 })
	low := startReferenceBuyer(t, "9")
	x := start(t, newTestDir(t, strings.Replace(referenceConfig("ping_post", refusing, low), "    duplicates: {window: 0s}\n", "", 1)))
	unsold := x.postToBid("a-1", x.pingForBid("auto", "a-1"), 1)
	if doc := x.explain(decode[errorBody](t, unsold).RequestID); doc.Kind != "post" || doc.Status != "UNMATCHED" || answerOf(doc) != "422 post_rejected post_rejected" || doc.Auction.SellerID != "a-1" {
		t.Errorf("unsold lead: unexpected explanation %+v", doc)
	}
	sold := x.mustSell(leadBody(2))
	if doc := x.explain(sold.requestID()); doc.ID != sold.leadID() || doc.Kind != "ingest" {
		t.Errorf("sold lead: unexpected explanation %+v", doc)
	}
	again := x.ingest(leadBody(2))
	if doc := x.explain(again.requestID()); doc.Reason != "duplicate" || doc.DuplicateOf != sold.leadID() {
		t.Errorf("duplicate of an ingest: unexpected explanation %+v", doc)
	}
	duplicate := x.postToBid("a-2", x.pingForBid("auto", "a-2"), 2)
	if doc := x.explain(duplicate.requestID()); doc.Kind != "post" || doc.DuplicateOf != sold.leadID() || answerOf(doc) != "422 post_rejected duplicate" || doc.Auction.SellerID != "a-2" {
		t.Errorf("duplicate of a post: unexpected explanation %+v", doc)
	}
	if doc := decode[explain.Explanation](t, x.explainByID("a-2", "")); len(doc.Leads) != 1 || len(doc.Rejected) != 1 || doc.Rejected[0].Reason != "duplicate" || doc.Leads[0].RequestID != duplicate.requestID() || doc.Status != "BID" {
		t.Errorf("auction with a duplicate: unexpected explanation %+v", doc)
	}
	offers := x.requestAvailability(`{"flo_campaign_id":"cmp","flo_supplier_id":"sup_acme","state":"CA"}`)
	if doc := x.explain(offers.requestID()); doc.Kind != "availability" || !strings.Contains(offers.body, doc.ID) {
		t.Errorf("availability request: unexpected explanation %+v", doc)
	}
	repeated := x.postToBid("a-1", x.pingForBid("auto", "a-1"), 1)
	if doc := x.explain(repeated.requestID()); repeated.header.Get("Idempotent-Replayed") != "true" || doc.ID != x.explain(unsold.requestID()).ID {
		t.Errorf("repeated post: unexpected explanation %v: %+v", repeated.header, doc)
	}
	invalid := x.ingest(leadBody(3, "phone", "7")).mustFail(t, 422, "invalid_payload")
	if notFound := x.adminRequest("GET", "/admin/v1/explain/"+invalid.RequestID, "").mustFail(t, 404, "not_found"); !strings.Contains(notFound.Message, "no request that it rejected before a decision") {
		t.Errorf("error lacks the reason: %v", notFound.Message)
	}
}

// TestExplainAfterConfigurationChange: the explanation names the buyers of the configuration at the
// decision.
func TestExplainAfterConfigurationChange(t *testing.T) {
	t.Parallel()
	x := start(t, newTestDir(t, baseConfig))
	id := x.ingest(leadBody(1, "state", `"TX"`)).leadID()
	sold := x.mustSell(leadBody(2)).leadID()
	x.reloadWith(strings.Replace(strings.Replace(baseConfig, "  - {id: buy_blue", "  - {id: buy_new, states: [TX]}\n  - {id: buy_blue", 1),
		"buyers: [{buyer: buy_blue, price: 12.05}]", "buyers: [{buyer: buy_new, price: 3}, {buyer: buy_blue, price: 12.05}]", 1))
	x = x.restart()
	if doc := x.explain(id); outcomesOf(doc) != "buy_blue wrong_state" || doc.Catalog != 1 {
		t.Errorf("unsold lead: configuration %d: %s", doc.Catalog, outcomesOf(doc))
	}
	if doc := x.explain(sold); outcomesOf(doc) != "buy_blue won" {
		t.Errorf("sold lead: candidates %v", outcomesOf(doc))
	}
	if doc := x.explain(x.mustSell(leadBody(3)).leadID()); outcomesOf(doc) != "buy_new wrong_state, buy_blue won" || doc.Catalog != 2 {
		t.Errorf("lead after the change: configuration %d: %s", doc.Catalog, outcomesOf(doc))
	}
	if files, err := filepath.Glob(filepath.Join(x.dataDir(), "catalogs", "*.json")); err != nil || len(files) != 2 {
		t.Errorf("unexpected stored configurations: %q %v", files, err)
	}
}

// TestExplainChosenSecondBestBid: a supplier chooses the second best offer. The ping and the lead
// show both offers, the claim and the money of that sale.
func TestExplainChosenSecondBestBid(t *testing.T) {
	t.Parallel()
	high, low := startReferenceBuyer(t, "12.5"), startReferenceBuyer(t, "9")
	x := start(t, newTestDir(t, referenceConfig("ping_post", high, low)))
	ping := x.pingForOffers("cmp")
	before := x.explain(ping)
	if before.Kind != "availability" || before.ID != ping || before.Status != "BID" || before.Price != nil || before.Why != "The supplier could choose from 2 valid bids. No lead claimed a bid." {
		t.Errorf("before the choice: %+v", before)
	}
	doc := x.explain(x.ingestForBuyer(ping, "buy_2", 1).leadID())
	if doc.Kind != "ingest" || doc.Buyer != "buy_2" || outcomesOf(doc) != "buy_2 won" {
		t.Errorf("explanation of the lead: %+v", doc)
	}
	x.compareExplanation(t, "choice", ping)
	x.compareExplanation(t, "choice", "auc_"+strings.TrimPrefix(ping, "ping_"))
	if auction := doc.Auction; auction == nil || auction.ID != ping || auction.Status != "SOLD" || auction.Why != x.explain(ping).Why {
		t.Errorf("auction in the explanation of the lead: %+v", auction)
	}
}
