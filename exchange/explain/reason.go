package explain

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"pingpost/engine/market"
)

// unsoldReasons has the sentences that explain an unsold lead, for each reason code in the
// seller's answer. noCandidates applies if the campaign had no filter set to consider.
// withCandidates applies if no filter set got further than this reason.
var unsoldReasons = map[market.UnsoldReason]struct{ noCandidates, withCandidates string }{
	market.ReasonNoBuyer: {
		"The campaign had no buyer for it.",
		"All buyers of the campaign were ruled out.",
	},
	market.ReasonNoStateMatch: {
		"The lead has no state that a buyer accepts.",
		"No buyer accepts leads from its state, or the lead has no state.",
	},
	market.ReasonFiltered: {
		"The campaign's own filters reject such a lead.",
		"The filters of the buyers reject such a lead.",
	},
	market.ReasonSuppressed: {
		"The person is on a suppression list of the campaign.",
		"The person is on a suppression list of the buyers that would have accepted it.",
	},
	market.ReasonDuplicate: {
		"There was an earlier lead of the same person.",
		"The buyers that would have accepted it already have a lead of the same person.",
	},
	market.ReasonOutsideSchedule: {
		"It arrived outside the hours in which the campaign sells leads.",
		"It arrived outside the hours of the buyers that would have accepted it.",
	},
	market.ReasonCapsFull: {
		"A cap was reached.",
		"The buyers that would have accepted it had reached a cap, their own or the campaign's.",
	},
	market.ReasonInsufficientFunds: {
		"There were no funds to pay for it.",
		"The buyers that would have accepted it had no funds for it.",
	},
	market.ReasonRateLimited: {
		"The buyers had reached the limit of their ping rate.",
		"The buyers that were due for a ping had reached the limit of their ping rate.",
	},
	market.ReasonTimeout: {
		"The time for an answer ended while other leads in delivery had reserved the remaining caps or funds.",
		"No buyer answered its ping before the deadline.",
	},
	market.ReasonNoBid: {
		"No buyer made a valid bid.",
		"No buyer made a valid bid: every buyer declined or failed, or could not be pinged.",
	},
	market.ReasonBelowFloor: {
		"The price is below the floor.",
		"The prices are below the campaign's floor, or below the supplier's payout.",
	},
	market.ReasonBidExpired: {
		"The bid was no longer valid: it had expired, another lead had used it, or its buyer could no longer accept the lead.",
		"There were bids, but they expired before the exchange could use one.",
	},
	market.ReasonPostRejected: {
		"The lead could not be sent to the buyer.",
		"The buyers to which it was posted refused it or were not reached, and no other buyer could accept it.",
	},
	market.ReasonNoCampaign: {
		"The supplier has no ping_post campaign for this vertical.",
		"The supplier has no ping_post campaign for this vertical.",
	},
	market.ReasonLoop: {
		"The ping passed through too many exchanges; it may be in a loop.",
		"The ping passed through too many exchanges; it may be in a loop.",
	},
}

// outcomePhrases has the words for each outcome of a buyer after a number of buyers, such as "2 at a
// cap". The outcome codes of the API are in the candidates.
var outcomePhrases = map[market.BuyerOutcome]string{
	market.OutcomeNone:          "not asked",
	market.OutcomeWon:           "won",
	market.OutcomeLost:          "outbid",
	market.OutcomeBelowFloor:    "below the minimum bid",
	market.OutcomeWrongCurrency: "with a bid in another currency",
	market.OutcomeLate:          "with a late bid",
	market.OutcomeTimeout:       "without an answer in time",
	market.OutcomeNoBid:         "without a bid",
	market.OutcomeInvalid:       "with an invalid bid",
	market.OutcomeRateLimited:   "at the limit of the ping rate",
	market.OutcomeCapped:        "at a cap",
	market.OutcomeFiltered:      "excluded by a filter",
	market.OutcomeWrongState:    "excluded by the lead's state",
	market.OutcomeClosed:        "outside the hours",
	market.OutcomeNoFunds:       "without funds",
	market.OutcomeSuppressed:    "with the person on a suppression list",
	market.OutcomeUnhealthy:     "not pinged after failures",
	market.OutcomePaused:        "paused",
	market.OutcomeError:         "failed or not reached",
	market.OutcomePostRejected:  "rejected the lead or not reached",
	market.OutcomePostPending:   "without an answer to the post",
	market.OutcomeDuplicate:     "with an earlier lead of the person",
	market.OutcomeOtherSet:      "offered by another filter set of the buyer",
}

// phraseByOutcome has the phrases by the names of the outcomes.
var phraseByOutcome = func() map[string]string {
	phrases := make(map[string]string, len(outcomePhrases))
	for outcome, phrase := range outcomePhrases {
		phrases[outcome.String()] = phrase
	}
	return phrases
}()

// describeUnsoldReason returns the sentence that explains why the lead or ping was unsold. If
// there were candidates, it appends how many had each outcome.
func describeUnsoldReason(doc *Explanation) string {
	for reason, words := range unsoldReasons {
		if reason.String() != doc.Reason {
			continue
		}
		if doc.bidRejectedByUnknownRule {
			return "A rule of the campaign, or of the buyer whose bid the lead accepted, rejects the lead: " + doc.Reason + "."
		}
		if len(doc.Candidates) == 0 && doc.Rule != nil {
			return words.noCandidates + " " + doc.Rule.Text + "."
		}
		if len(doc.Candidates) == 0 {
			return words.noCandidates
		}
		if reason == market.ReasonOutsideSchedule && doc.campaignClosed {
			return words.noCandidates + " " + describeOutcomeCounts(doc.Candidates)
		}
		return cmp.Or(describeCausesIfRateLimited(doc), words.withCandidates) + " " + describeOutcomeCounts(doc.Candidates)
	}
	return "This version of pingpost does not know the reason."
}

// describeOutcomeCounts returns how many candidates had each outcome, most frequent first: "Of
// 3 candidates: 2 excluded by a filter, 1 at a cap."
func describeOutcomeCounts(candidates []FilterSetCandidate) string {
	counts := make(map[string]int)
	for i := range candidates {
		counts[describeOutcome(&candidates[i])]++
	}
	outcomes := slices.SortedFunc(maps.Keys(counts), func(a, b string) int {
		return cmp.Or(counts[b]-counts[a], strings.Compare(a, b))
	})
	words := make([]string, 0, len(outcomes))
	for _, outcome := range outcomes {
		words = append(words, fmt.Sprint(counts[outcome], " ", outcome))
	}
	if len(candidates) == 1 {
		return "Of 1 candidate: " + words[0] + "."
	}
	return fmt.Sprintf("Of %d candidates: %s.", len(candidates), strings.Join(words, ", "))
}

// describeIfTest returns a sentence that says how a test lead differs, or "" for a production
// lead.
func describeIfTest(doc *Explanation) string {
	if !doc.Test {
		return ""
	}
	return "A test: it uses no cap, funds or turn, and a buyer that has an endpoint but no test endpoint is excluded. "
}
