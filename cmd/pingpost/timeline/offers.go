package timeline

import (
	"fmt"
	"strings"

	"pingpost/cmd/pingpost/terminal"
	"pingpost/exchange/explain"
)

// formatOffersAndClaims lists the offers that a ping's seller received. Below each offer it lists the
// leads that were posted for it (claimed it).
func formatOffersAndClaims(explained *explain.Explanation, width int) string {
	t := terminal.Table{Indent: "    "}
	for i := range explained.Offers {
		o := &explained.Offers[i]
		t.Row(terminal.Truncate(o.Buyer, actorWidth), "bid "+o.Price.String(), "payout "+o.Payout.String(), "open to "+formatMillisecondsWithoutUnit(int64(o.Until-explained.Received))+" ms")
	}
	var text strings.Builder
	text.WriteString("  offered\n")
	i := 0
	for line := range strings.Lines(t.String()) {
		text.WriteString(line)
		for _, claim := range explained.Offers[i].Claims {
			const indent = "      "
			for _, part := range terminal.WrapText("claimed by "+claim.Lead+": "+claim.DescribeLeadState(), width-len(indent)) {
				text.WriteString(indent + part + "\n")
			}
		}
		i++
	}
	return text.String()
}

// candidateOutcome returns the outcome of one buyer in an auction. After an availability
// request the supplier itself chooses among the bids. Each valid bid is then "offered",
// neither won nor lost.
func candidateOutcome(explained *explain.Explanation, candidate *explain.FilterSetCandidate) string {
	for i := range explained.Offers {
		if explained.Kind == "availability" && explained.Offers[i].Buyer == candidate.Buyer {
			return "offered"
		}
	}
	return candidate.Outcome
}

// describeExchangeAnswer returns the exchange's answer to the supplier's request in one line.
func describeExchangeAnswer(explained *explain.Explanation) string {
	text := fmt.Sprintf("HTTP %d, %s", explained.Answer.Status, explained.Answer.Result)
	switch {
	case explained.Answer.Result == "bid" && len(explained.Offers) > 1:
		text += fmt.Sprint("s: ", len(explained.Offers))
	case explained.Answer.Result == "bid" && len(explained.Offers) == 1:
		text += " " + explained.Offers[0].Payout.String()
	case explained.Answer.Reason != "" && explained.Answer.Reason != explained.Answer.Result:
		text += ", " + explained.Answer.Reason
	case explained.Answer.Status >= 500:
		text += "; the delivery goes on"
	}
	return text
}
