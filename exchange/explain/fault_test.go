package explain

import (
	"encoding/json"
	"strings"
	"testing"

	"pingpost/engine/event"
	"pingpost/engine/market"
	"pingpost/exchange/logtest"
)

// TestEveryFaultHasItsWords: each its own; one that a later program has written is
// told by its name.
func TestEveryFaultHasItsWords(t *testing.T) {
	said := map[string]market.Fault{}
	fault := market.FaultEndpoint
	for ; fault.String() != "unknown_fault"; fault++ {
		words := faultOf(fault).Description()
		if other, taken := said[words]; taken || words == fault.String() || words == "" {
			t.Errorf("%s: %q, as of %s", fault, words, other)
		}
		said[words] = fault
	}
	if len(faultDescriptions) != int(fault)-1 {
		t.Errorf("words for %d faults, and there are %d", len(faultDescriptions), fault-1)
	}
	if faultOf(market.FaultNone) != "" || Fault("melted").Description() != "melted" {
		t.Errorf("%q, %q", faultOf(market.FaultNone), Fault("melted").Description())
	}
}

// TestExplainFaults: wherever a buyer gave no answer to go by, the document has the
// fault by its name, and the reason why has it in words: of a bid, of a try, of a
// buyer that the lead passed, and of the last.
func TestExplainFaults(t *testing.T) {
	c := newHistory(t)
	c.configured(1, "buy_1", "buy_2", "buy_3")
	held := c.offering(1, "theirs")
	held.Bids = append(held.Bids, event.Bid{FilterSet: 2, Buyer: 3, Outcome: market.OutcomeError, Fault: market.FaultTLS})
	c.Add(held)
	doc, err := c.Auction(held.Auction)
	if err != nil || doc.Candidates[2].Fault != "tls" || doc.Candidates[0].Fault != "" {
		t.Fatalf("%+v, %v", doc, err)
	}
	id := c.LeadID(2)
	c.AddPosted(id)
	c.Add(&event.PostTried{Lead: id, Attempt: 1, At: c.Now, Status: 200, Fault: market.FaultMalformed})
	c.AddSettled(id, event.SettledRefused, func(s *event.PostSettled) {
		s.Fault, s.Next, s.Post.URL = market.FaultResolve, logtest.SaleTo(3), "https://next.example"
	})
	c.AddSettled(id, event.SettledRefused, func(s *event.PostSettled) {
		s.Sale, s.Fault, s.Reason = logtest.SaleTo(3), market.FaultForbidden, market.ReasonPostRejected
	})
	lead := c.explained(id)
	text, err := json.Marshal(lead.Posts)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`"status":200,"fault":"malformed"`, `"fault":"resolve"`, `"fault":"forbidden"`} {
		if !strings.Contains(string(text), want) {
			t.Errorf("no %s in %s", want, text)
		}
	}
	if !strings.HasSuffix(lead.Why, "The last, buy_3, did not take it: its address is in a network that is not trusted.") {
		t.Error(lead.Why)
	}
}
