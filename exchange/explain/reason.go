package explain

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"pingpost/engine/market"
)

// unsold says in words why nobody bought, by the reason that the seller was told:
// with no candidate at all, and with some, of which none came further.
var unsoldReasons = map[market.Reason]struct{ noCandidates, withCandidates string }{
	market.ReasonNoBuyer: {
		"The campaign had no buyer to offer it to.",
		"None of the campaign's buyers was left to offer it to.",
	},
	market.ReasonNoStateMatch: {
		"It names no state that a buyer takes.",
		"No buyer takes leads of its state, or it names none.",
	},
	market.ReasonFiltered: {
		"The campaign's own filters do not take such a lead.",
		"No buyer came further than its filters, which do not take such a lead.",
	},
	market.ReasonSuppressed: {
		"The person is on a suppression list of the campaign.",
		"The person is on a suppression list of the buyers that would have taken it.",
	},
	market.ReasonDuplicate: {
		"The campaign had taken a lead of the same person already.",
		"The buyers that would have taken it have a lead of the same person already.",
	},
	market.ReasonOutsideSchedule: {
		"It was outside of the hours in which leads are bought.",
		"The buyers that would have taken it were closed at that hour.",
	},
	market.ReasonCapsFull: {
		"A cap was reached.",
		"The buyers that would have taken it had reached a cap, their own or the campaign's.",
	},
	market.ReasonInsufficientFunds: {
		"There was no money left to pay for it.",
		"The buyers that would have taken it had no money left for it.",
	},
	market.ReasonRateLimited: {
		"The buyers were asked as often as their ping rate allows already.",
		"The buyers that would have been asked had been asked as often as their ping rate allows.",
	},
	market.ReasonTimeout: {
		"The time for an answer was over before there was room: other leads held it.",
		"Nobody that was asked answered before the deadline.",
	},
	market.ReasonNoBid: {
		"Nobody made a bid that counts.",
		"Nobody made a bid that counts: those that were asked passed or failed, or could not be asked.",
	},
	market.ReasonBelowFloor: {
		"What was offered is below the floor.",
		"What was offered is below the campaign's floor, or less than it pays the supplier.",
	},
	market.ReasonBidExpired: {
		"The bid was no longer open: its time was over, it was used already, or its buyer could not take it any more.",
		"There were bids, but their time was over before one could be taken up.",
	},
	market.ReasonPostRejected: {
		"The buyer could not be sent the lead.",
		"Whoever it was posted to refused it, or could not be reached, and nobody else could take it.",
	},
	market.ReasonNoCampaign: {
		"None of the supplier's ping_post campaigns takes this vertical.",
		"None of the supplier's ping_post campaigns takes this vertical.",
	},
	market.ReasonLoop: {
		"The ping has been through too many exchanges; it may be going round in circles.",
		"The ping has been through too many exchanges; it may be going round in circles.",
	},
}

// because is the sentence for a reason, and how many candidates came to what.
func whyReason(doc *Explanation) string {
	for reason, words := range unsoldReasons {
		if reason.String() != doc.Reason {
			continue
		}
		if len(doc.Candidates) == 0 {
			return words.noCandidates
		}
		return words.withCandidates + " " + countOutcomes(doc.Candidates)
	}
	return "The reason is not known to this program."
}

// tally counts outcomes, the most frequent first.
func countOutcomes(candidates []Candidate) string {
	counts := make(map[string]int)
	for i := range candidates {
		counts[candidates[i].Outcome]++
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

// tested says what it means that it was a test.
func testNote(doc *Explanation) string {
	if !doc.Test {
		return ""
	}
	return "A test: it takes no cap, money or turn, and a buyer with an endpoint but none for tests is filtered. "
}
