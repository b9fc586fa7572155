package explain

import (
	"encoding/json"
	"strings"
	"testing"

	"pingpost/engine/event"
	"pingpost/engine/market"
	"pingpost/exchange/logtest"
	"pingpost/internal/must"
)

// TestFaultDescriptionsAreUnique: each fault has its own. The description of an unknown
// fault is its name.
func TestFaultDescriptionsAreUnique(t *testing.T) {
	seen := map[string]market.OutboundRequestFault{}
	fault := market.FaultEndpoint
	for ; fault.String() != "unknown_fault"; fault++ {
		text := nameOfFault(fault).Description()
		if other, taken := seen[text]; taken || text == fault.String() || text == "" {
			t.Errorf("fault %s has the description %q, like %s", fault, text, other)
		}
		seen[text] = fault
	}
	if len(faultByName) != int(fault)-1 {
		t.Errorf("descriptions of %d faults, want %d", len(faultByName), fault-1)
	}
	if nameOfFault(market.FaultNone) != "" || FaultName("melted").Description() != "melted" {
		t.Errorf("%q, %q", nameOfFault(market.FaultNone), FaultName("melted").Description())
	}
}

// TestExplainFaults: the document has the fault of a bid, of an attempt and of a
// settlement by name. Why has it in text.
func TestExplainFaults(t *testing.T) {
	c := newHistory(t)
	c.activateConfig(1, "buy_1", "buy_2", "buy_3")
	auction := c.newAuction(1, "theirs")
	auction.Bids = append(auction.Bids, event.Bid{FilterSet: 2, Buyer: 3, Outcome: market.OutcomeError, Fault: market.FaultTLS})
	c.Add(auction)
	doc, err := c.ExplainAuction(auction.Auction)
	if err != nil || doc.Candidates[2].Fault != "tls" || doc.Candidates[0].Fault != "" {
		t.Fatalf("%+v, %v", doc, err)
	}
	id := c.NewLeadID(2)
	c.AddLeadPostedToBuyer1(id)
	c.Add(&event.PostAttemptFailed{Lead: id, Attempt: 1, At: c.Now, Status: 200, Fault: market.FaultMalformed})
	c.AddPostResult(id, event.SettledRefused, func(s *event.PostSettled) {
		s.Fault, s.Next, s.Post.URL = market.FaultResolve, logtest.SaleTo(3), "https://next.example"
	})
	c.AddPostResult(id, event.SettledRefused, func(s *event.PostSettled) {
		s.Sale, s.Fault, s.Reason = logtest.SaleTo(3), market.FaultForbidden, market.ReasonPostRejected
	})
	lead := c.mustExplainLead(id)
	text := must.Value(json.Marshal(lead.Posts))(t)
	for _, want := range []string{`"status":200,"fault":"malformed"`, `"fault":"resolve"`, `"fault":"forbidden"`} {
		if !strings.Contains(string(text), want) {
			t.Errorf("no %s in %s", want, text)
		}
	}
	if !strings.HasSuffix(lead.Why, "The last buyer, buy_3, did not accept it: no connection: the endpoint's address is in a private or reserved network that trusted_networks does not list.") {
		t.Error(lead.Why)
	}
}
