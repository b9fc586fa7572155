package chain_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"pingpost/loadtest/refbuyer"
)

// TestTestsAreTestsAllAlong: what is a test at the front is one at the back and at
// the buyer, by ping and post and by ingest, and the same lead in earnest is none.
func TestTestsAreTestsAllAlong(t *testing.T) {
	c := newChain(t, refbuyer.Options{Bid: refbuyer.Fixed(paid)})
	call := func(path, body string, who ...string) answer {
		return call(t, c.front, path, body, append([]string{"X-Pingpost-Test", "1", "Idempotency-Key", "k" + path}, who...)...)
	}
	seller := []string{"Authorization", "Bearer " + c.token}
	var offer bid
	read(t, call("/v1/ping", pingOf("a-1"), seller...).body, &offer)
	if offer.Bid == nil {
		t.Fatalf("no bid: %s", offer.Reason)
	}
	if untrue := c.seller("/v1/post", "k-untrue", postOf("a-1", offer.Bid.Token)); untrue.status != http.StatusUnprocessableEntity || !strings.Contains(untrue.body, "invalid_bid_token") {
		t.Errorf("in earnest at a test's bid: %+v", untrue)
	}
	posted := call("/v1/post", postOf("a-1", offer.Bid.Token), seller...)
	var sale struct{ ID string }
	if read(t, posted.body, &sale); posted.status != http.StatusCreated {
		t.Fatalf("%+v", posted)
	}
	apiKey, _ := environment("ACME_API_KEY")
	if got := call("/api/v1/ingest", ingested, "x-api-key", apiKey); got.status != http.StatusCreated || !strings.Contains(got.body, "ACCEPTED") {
		t.Errorf("%+v", got)
	}
	for what, passage := range map[string]*passage{"between the exchanges": c.between, "before the buyer": c.before} {
		if !slices.Equal(passage.tested(), []string{"1", "1", "1", "1"}) {
			t.Errorf("%s tests said %q", what, passage.tested())
		}
	}
	front, back := explainLead(t, c.front, sale.ID), explainLead(t, c.back, c.buyer.Leads()[0].LeadUUID)
	if !front.Test || !front.Auction.Test || !back.Test || !back.Auction.Test {
		t.Errorf("a test at the front: %v, at the back: %v", front.Test, back.Test)
	}
	if got := c.ingest("k-earnest"); got.status != http.StatusCreated || !strings.Contains(got.body, "ACCEPTED") {
		t.Errorf("the same person in earnest: %+v", got)
	}
	if said := c.before.tested(); said[len(said)-1] != "" {
		t.Errorf("a lead in earnest came to the buyer as a test: %q", said)
	}
}
