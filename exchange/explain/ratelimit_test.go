package explain

import (
	"strings"
	"testing"

	"pingpost/engine/event"
	"pingpost/engine/market"
)

// TestExplainRateLimits: the summary names the limit that kept a buyer out of the auction. A pause that
// the buyer demanded is not the configured limit of its ping rate.
func TestExplainRateLimits(t *testing.T) {
	reached := FilterSetCandidate{Outcome: market.OutcomeRateLimited.String()}
	candidate := func(bid event.Bid) FilterSetCandidate {
		bid.Outcome = market.OutcomeRateLimited
		return newHistory(t).newCandidateFromBid(&bid, bid.Outcome)
	}
	refused, paused, full := candidate(event.Bid{Status: 429}), candidate(event.Bid{}), candidate(event.Bid{Fault: market.FaultConnectionLimit})
	for want, candidates := range map[string][]FilterSetCandidate{
		"The buyers that were due for a ping had demanded a pause (HTTP 429). Of 2 candidates: 2 with a pause that the buyer demanded (HTTP 429).":                                                                    {refused, paused},
		"The buyers that were due for a ping had reached the limit of their ping rate. Of 1 candidate: 1 at the limit of the ping rate.":                                                                              {reached},
		"The buyers that were due for a ping had all their connections in use or had demanded a pause (HTTP 429). Of 2 candidates: 1 with a pause that the buyer demanded (HTTP 429), 1 with all connections in use.": {paused, full},
	} {
		if why := describeUnsoldReason(&Explanation{Reason: "rate_limited", Candidates: candidates}); why != want {
			t.Errorf("got %s, want %s", why, want)
		}
	}
	if !refused.Pinged || paused.Pinged || strings.Contains(describeUnsoldReason(&Explanation{Reason: "no_bid", Candidates: []FilterSetCandidate{paused}}), "The buyers that were due") {
		t.Errorf("%+v, %+v", refused, paused)
	}
}
