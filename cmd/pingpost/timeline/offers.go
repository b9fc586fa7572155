package timeline

import (
	"fmt"
	"strings"

	"pingpost/cmd/pingpost/terminal"
	"pingpost/exchange/explain"
)

// formatOffers lists the offers to a ping's seller, and below each the leads that claimed it.
func formatOffers(told *explain.Explanation, width int) string {
	t := terminal.Table{Indent: "    "}
	for i := range told.Offers {
		o := &told.Offers[i]
		t.Row(terminal.Truncate(o.Buyer, whoWidth), "bid "+o.Price.String(), "payout "+o.Payout.String(), "open to "+formatMilliseconds(int64(o.Until-told.Received))+" ms")
	}
	var text strings.Builder
	text.WriteString("  offered\n")
	i := 0
	for line := range strings.Lines(t.String()) {
		text.WriteString(line)
		for _, claim := range told.Offers[i].Claims {
			const indent = "      "
			for _, part := range terminal.WrapText("claimed by "+claim.Lead+": "+claim.Summary(), width-len(indent)) {
				text.WriteString(indent + part + "\n")
			}
		}
		i++
	}
	return text.String()
}

// candidateOutcome returns a candidate's outcome. The supplier of an availability request
// chooses among the bids itself, so each valid bid is "offered", neither won nor lost.
func candidateOutcome(told *explain.Explanation, c *explain.Candidate) string {
	for i := range told.Offers {
		if told.Kind == "availability" && told.Offers[i].Buyer == c.Buyer {
			return "offered"
		}
	}
	return c.Outcome
}

// describeAnswer returns the answer to the call in one line.
func describeAnswer(told *explain.Explanation) string {
	text := fmt.Sprintf("HTTP %d, %s", told.Answer.Status, told.Answer.Result)
	switch {
	case told.Answer.Result == "bid" && len(told.Offers) > 1:
		text += fmt.Sprint("s: ", len(told.Offers))
	case told.Answer.Result == "bid" && len(told.Offers) == 1:
		text += " " + told.Offers[0].Payout.String()
	case told.Answer.Reason != "" && told.Answer.Reason != told.Answer.Result:
		text += ", " + told.Answer.Reason
	case told.Answer.Status >= 500:
		text += "; the delivery goes on"
	}
	return text
}
