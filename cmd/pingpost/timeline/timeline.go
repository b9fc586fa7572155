package timeline

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"pingpost/cmd/pingpost/terminal"
	"pingpost/engine/exclusion"
	"pingpost/engine/market"
	"pingpost/exchange/explain"
)

// timelineRow is one line of a timeline: the time of an event, its actor, the action, and the
// details.
type timelineRow struct {
	at     explain.NanosAsRFC3339
	actor  string
	action string
	bar    string
	detail string
}

const (
	barWidth     = 10
	actorWidth   = 28
	actionWidth  = 18
	minDetails   = 20 // least width of the details
	maxNotPinged = 10 // candidates of one outcome that get a line each
)

// FormatTimeline returns the timeline of a lead or ping as text, at most width columns wide
// and ordered by time. Times are rounded to the millisecond, but answer times are not. An
// answer before the decision may therefore seem to be later; then the decision gets the time
// of that answer.
func FormatTimeline(explained *explain.Explanation, width int) string {
	rows := []timelineRow{{at: explained.Received, action: "arrived", detail: formatInstant(explained.Received)}}
	rows = append(rows, uncontactedBuyerRows(explained)...)
	rows = append(rows, pingedBuyerRows(explained)...)
	if explained.BidsDue != 0 && explained.BidsDue > explained.Received && explained.BidsDue <= explained.Decided {
		rows = append(rows, timelineRow{at: explained.BidsDue, action: "deadline", detail: "for bids"})
	}
	decided := explained.Decided
	for i := range rows {
		decided = max(decided, rows[i].at)
	}
	rows = append(rows, timelineRow{at: decided, action: "decided", detail: describeFirstDecision(explained)})
	for i := range explained.Posts {
		for _, m := range postRows(&explained.Posts[i], offeredName(explained, explained.Posts[i].Buyer)) {
			m.at = max(m.at, decided)
			rows = append(rows, m)
		}
	}
	if m, ok := rowOfSaleWithoutPostAfterRefusals(explained); ok {
		m.at = max(m.at, decided)
		rows = append(rows, m)
	}
	if explained.Answer != nil {
		rows = append(rows, timelineRow{at: max(explained.Answer.At, decided), actor: explained.Supplier, action: "is answered", detail: describeExchangeAnswer(explained)})
	}
	rows = append(append(rows, buyerReportOrOperatorDecisionRows(explained)...), webhookRows(explained)...)
	slices.SortStableFunc(rows, func(a, b timelineRow) int { return cmp.Compare(a.at, b.at) })
	return formatColumns(rows, explained.Received, width)
}

// formatColumns writes timeline rows in columns, with times relative to start. Details that
// are too long continue on the next line.
func formatColumns(rows []timelineRow, start explain.NanosAsRFC3339, width int) string {
	t := terminal.Table{Indent: "  "}
	used := len(t.Indent)
	widths := [4]int{len("ms")}
	cells := make([][4]string, 0, len(rows))
	for _, m := range rows {
		row := [4]string{formatMillisecondsWithoutUnit(int64(m.at - start)), terminal.Truncate(m.actor, actorWidth), terminal.Truncate(m.action, actionWidth), m.bar}
		for i, cell := range row {
			widths[i] = max(widths[i], utf8.RuneCountInString(cell))
		}
		cells = append(cells, row)
	}
	for _, width := range widths {
		used += width + len("  ")
	}
	t.Row("ms")
	for i, row := range cells {
		lines := terminal.WrapText(rows[i].detail, max(minDetails, width-used))
		if len(lines) == 0 {
			lines = []string{""}
		}
		for j, line := range lines {
			if j > 0 {
				row = [4]string{}
			}
			t.Row(row[0], row[1], row[2], row[3], line)
		}
	}
	return t.String()
}

// formatMillisecondsWithoutUnit formats nanoseconds as milliseconds with one decimal.
func formatMillisecondsWithoutUnit(nanoseconds int64) string {
	return fmt.Sprintf("%.1f", float64(nanoseconds)/1e6)
}

// formatInstant returns a time as the JSON form of the explanation writes it.
func formatInstant(at explain.NanosAsRFC3339) string {
	text, err := at.MarshalJSON()
	if err != nil {
		return ""
	}
	return strings.Trim(string(text), `"`)
}

// pingedBuyerRows returns a timeline row for each buyer that was pinged, at the time of its
// answer.
func pingedBuyerRows(explained *explain.Explanation) (rows []timelineRow) {
	for i := range explained.Candidates {
		if c := &explained.Candidates[i]; c.Pinged {
			rows = append(rows, timelineRow{
				at: explained.Received + explain.NanosAsRFC3339(c.Elapsed), actor: candidateName(c), action: candidateOutcome(explained, c),
				bar: drawResponseTimeBar(int64(c.Elapsed), int64(explained.BidsDue-explained.Received)), detail: describeCandidate(c),
			})
		}
	}
	return rows
}

// drawResponseTimeBar returns a bar of characters that shows which share of the available time a buyer
// used for its answer.
func drawResponseTimeBar(elapsed, available int64) string {
	filled := barWidth
	if available > 0 {
		filled = int(min(barWidth, max(1, (elapsed*barWidth+available-1)/available)))
	}
	return strings.Repeat("#", filled) + strings.Repeat(".", barWidth-filled)
}

// describeCandidate returns the details of a candidate: the bid or the fault in its answer to a ping,
// and the rule that excluded it.
func describeCandidate(c *explain.FilterSetCandidate) string {
	var bid, payout, status, fault string
	if c.Bid != nil {
		bid = "bid " + c.Bid.String()
	}
	if c.Bid != nil && c.Payout != nil {
		payout = "payout " + c.Payout.String()
	}
	if c.Status != 200 {
		status = describeHTTPStatus(c.Status)
	}
	if string(c.Fault) != c.Outcome {
		fault = c.Fault.Description()
	}
	return joinNonEmpty(bid, payout, status, fault, c.Reason, describeRule(c))
}

// describeRule returns the rule by which the buyer dropped out. It returns "" if the rest of the line
// says the same: no answer, no bid, a lower bid, or a post that has lines of its own.
func describeRule(c *explain.FilterSetCandidate) string {
	if c.Rule == nil {
		return ""
	}
	switch c.Rule.Kind {
	case exclusion.KindDeadline, exclusion.KindBid, exclusion.KindPost, exclusion.KindOutbid:
		return ""
	}
	return c.Rule.Text
}

// uncontactedBuyerRows returns timeline rows for the buyers that were not pinged. If many have the
// same outcome, it returns some of them and a count. It omits buyers that got a post, or the
// sale after a refusal, because these have lines of their own.
func uncontactedBuyerRows(explained *explain.Explanation) (rows []timelineRow) {
	at := explained.Decided
	if explained.BidsDue != 0 {
		at = explained.Received
	}
	after, _ := rowOfSaleWithoutPostAfterRefusals(explained)
	counts := make(map[string]int)
	var outcomes []string
	for i := range explained.Candidates {
		c := &explained.Candidates[i]
		if c.Pinged || (after.actor != "" && c.Buyer == after.actor || hasPost(explained, c.Buyer)) && isOfferedFilterSet(explained, c) {
			continue
		}
		if counts[c.Outcome]++; counts[c.Outcome] == 1 {
			outcomes = append(outcomes, c.Outcome)
		}
		if counts[c.Outcome] <= maxNotPinged {
			rows = append(rows, timelineRow{at: at, actor: candidateName(c), action: c.Outcome, detail: describeCandidate(c)})
		}
	}
	for _, outcome := range outcomes {
		if more := counts[outcome] - maxNotPinged; more > 0 {
			rows = append(rows, timelineRow{at: at, actor: "and " + terminal.GroupThousands(more) + " more", action: outcome, detail: "all with --json"})
		}
	}
	return rows
}

func hasPost(explained *explain.Explanation, buyer string) bool {
	return slices.ContainsFunc(explained.Posts, func(p explain.DeliveryToBuyer) bool { return p.Buyer == buyer })
}

// isOfferedFilterSet reports whether this filter set is the one by which its buyer was offered the lead. The caller
// knows that the buyer was.
func isOfferedFilterSet(explained *explain.Explanation, c *explain.FilterSetCandidate) bool {
	switch c.Outcome {
	case market.OutcomeWon.String(), market.OutcomePostPending.String(), market.OutcomePostRejected.String():
		return true
	}
	others := func(o explain.FilterSetCandidate) bool { return o.Buyer == c.Buyer && o.Seat != c.Seat }
	return !slices.ContainsFunc(explained.Candidates, others)
}

// offeredName returns the name of the filter set by which a buyer was offered the lead.
func offeredName(explained *explain.Explanation, buyer string) string {
	for i := range explained.Candidates {
		if c := &explained.Candidates[i]; c.Buyer == buyer && isOfferedFilterSet(explained, c) {
			return candidateName(c)
		}
	}
	return buyer
}

// candidateName returns the name by which the timeline shows a candidate: its buyer, or the
// number of its filter set.
func candidateName(c *explain.FilterSetCandidate) string {
	if c.Buyer == "" {
		return fmt.Sprintf("filter set %d", c.Seat)
	}
	if c.Set != "" {
		return c.Buyer + "/" + c.Set
	}
	return c.Buyer
}
