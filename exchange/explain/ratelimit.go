package explain

import (
	"cmp"
	"strings"

	"pingpost/engine/market"
)

// rateLimitCause says why a buyer with the outcome rate_limited was left out of an auction.
type rateLimitCause uint8

const (
	configuredRateReached rateLimitCause = iota // the limit of pings per second in the configuration
	connectionsInUse
	pauseDemanded // the buyer answered HTTP 429, to this ping or to an earlier one
	rateLimitCauses
)

// rateLimitPhrases has the words for each cause: after a number of buyers, and after "had".
var rateLimitPhrases = [rateLimitCauses]struct{ afterCount, afterHad string }{
	configuredRateReached: {"at the limit of the ping rate", "reached the limit of their ping rate"},
	connectionsInUse:      {"with all connections in use", "all their connections in use"},
	pauseDemanded:         {"with a pause that the buyer demanded (HTTP 429)", "demanded a pause (HTTP 429)"},
}

// describeOutcome returns the words for a candidate's outcome after a number of buyers.
func describeOutcome(c *FilterSetCandidate) string {
	if c.Outcome == market.OutcomeRateLimited.String() {
		return rateLimitPhrases[c.rateLimit].afterCount
	}
	return cmp.Or(phraseByOutcome[c.Outcome], c.Outcome)
}

// describeCausesIfRateLimited returns the sentence that explains an unsold lead with the reason rate_limited by
// the causes of its candidates. It returns "" for another reason, or if no candidate has that outcome.
func describeCausesIfRateLimited(doc *Explanation) string {
	if doc.Reason != market.ReasonRateLimited.String() {
		return ""
	}
	var seen [rateLimitCauses]bool
	for i := range doc.Candidates {
		if c := &doc.Candidates[i]; c.Outcome == market.OutcomeRateLimited.String() {
			seen[c.rateLimit] = true
		}
	}
	var causes []string
	for cause, found := range seen {
		if found {
			causes = append(causes, "had "+rateLimitPhrases[cause].afterHad)
		}
	}
	if len(causes) == 0 {
		return ""
	}
	return "The buyers that were due for a ping " + strings.Join(causes, " or ") + "."
}
