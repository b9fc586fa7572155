package timeline

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"pingpost/cmd/pingpost/terminal"
	"pingpost/exchange/explain"
)

// timelineRow is one line of a timeline.
type timelineRow struct {
	at     explain.Instant
	who    string
	what   string
	bar    string
	detail string
}

const (
	barWidth     = 10
	whoWidth     = 28
	whatWidth    = 18
	minDetails   = 20 // least width of the details
	maxNotPinged = 10 // candidates of one outcome that get a line each
)

// FormatTimeline returns only the timeline, in order of time, with at most width columns. Times are rounded
// to the millisecond, but answer times are not. An answer before the decision may
// therefore seem to be later; then the decision gets the time of that answer.
func FormatTimeline(told *explain.Explanation, width int) string {
	moments := []timelineRow{{at: told.Received, what: "arrived", detail: formatInstant(told.Received)}}
	moments = append(moments, notPingedRows(told)...)
	moments = append(moments, pingedBuyerRows(told)...)
	if told.BidsDue != 0 && told.BidsDue > told.Received && told.BidsDue <= told.Decided {
		moments = append(moments, timelineRow{at: told.BidsDue, what: "deadline", detail: "for bids"})
	}
	decided := told.Decided
	for i := range moments {
		decided = max(decided, moments[i].at)
	}
	moments = append(moments, timelineRow{at: decided, what: "decided", detail: describeDecision(told)})
	for i := range told.Posts {
		for _, m := range postRows(&told.Posts[i]) {
			m.at = max(m.at, decided)
			moments = append(moments, m)
		}
	}
	if m, ok := recordedSaleRow(told); ok {
		m.at = max(m.at, decided)
		moments = append(moments, m)
	}
	if told.Answer != nil {
		moments = append(moments, timelineRow{at: max(told.Answer.At, decided), who: told.Supplier, what: "is answered", detail: describeAnswer(told)})
	}
	moments = append(append(moments, reportRows(told)...), webhookRows(told)...)
	slices.SortStableFunc(moments, func(a, b timelineRow) int { return cmp.Compare(a.at, b.at) })
	return formatColumns(moments, told.Received, width)
}

// formatColumns puts moments into columns. Details that are too long continue on the next line.
func formatColumns(moments []timelineRow, from explain.Instant, width int) string {
	t := terminal.Table{Indent: "  "}
	used := len(t.Indent)
	widths := [4]int{len("ms")}
	rows := make([][4]string, 0, len(moments))
	for _, m := range moments {
		row := [4]string{formatMilliseconds(int64(m.at - from)), terminal.Truncate(m.who, whoWidth), terminal.Truncate(m.what, whatWidth), m.bar}
		for i, cell := range row {
			widths[i] = max(widths[i], utf8.RuneCountInString(cell))
		}
		rows = append(rows, row)
	}
	for _, width := range widths {
		used += width + len("  ")
	}
	t.Row("ms")
	for i, row := range rows {
		lines := terminal.WrapText(moments[i].detail, max(minDetails, width-used))
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

// formatMilliseconds formats nanoseconds as milliseconds with one decimal.
func formatMilliseconds(nanoseconds int64) string {
	return fmt.Sprintf("%.1f", float64(nanoseconds)/1e6)
}

// formatInstant returns a time in the form of the explanation's JSON.
func formatInstant(at explain.Instant) string {
	text, err := at.MarshalJSON()
	if err != nil {
		return ""
	}
	return strings.Trim(string(text), `"`)
}

// pingedBuyerRows returns the buyers that were pinged, each at the time of its answer.
func pingedBuyerRows(told *explain.Explanation) (moments []timelineRow) {
	for i := range told.Candidates {
		if c := &told.Candidates[i]; c.Pinged {
			moments = append(moments, timelineRow{
				at: told.Received + explain.Instant(c.Elapsed), who: candidateName(c), what: candidateOutcome(told, c),
				bar: drawBar(int64(c.Elapsed), int64(told.BidsDue-told.Received)), detail: describeBidAnswer(c),
			})
		}
	}
	return moments
}

// drawBar draws the share of the available time that elapsed before the answer.
func drawBar(elapsed, available int64) string {
	filled := barWidth
	if available > 0 {
		filled = int(min(barWidth, max(1, (elapsed*barWidth+available-1)/available)))
	}
	return strings.Repeat("#", filled) + strings.Repeat(".", barWidth-filled)
}

// describeBidAnswer returns a buyer's answer to a ping.
func describeBidAnswer(c *explain.Candidate) string {
	var words []string
	if c.Bid != nil {
		bid := "bid " + c.Bid.String()
		if c.Payout != nil {
			bid += ", payout " + c.Payout.String()
		}
		words = append(words, bid)
	}
	if c.Status != 0 && c.Status != 200 {
		words = append(words, fmt.Sprintf("HTTP %d", c.Status))
	}
	if c.Fault != "" && string(c.Fault) != c.Outcome {
		words = append(words, c.Fault.Description())
	}
	if c.Reason != "" {
		words = append(words, c.Reason)
	}
	return strings.Join(words, ", ")
}

// notPingedRows returns the candidates that were not pinged. If many have the same outcome, it
// returns some of them and a count. It omits buyers that got a post, or the sale after a
// refusal, because these have lines of their own.
func notPingedRows(told *explain.Explanation) (moments []timelineRow) {
	at := told.Decided
	if told.BidsDue != 0 {
		at = told.Received
	}
	after, _ := recordedSaleRow(told)
	counts := make(map[string]int)
	var outcomes []string
	for i := range told.Candidates {
		c := &told.Candidates[i]
		if c.Pinged || after.who != "" && c.Buyer == after.who || slices.ContainsFunc(told.Posts, func(p explain.Post) bool { return p.Buyer == c.Buyer }) {
			continue
		}
		if counts[c.Outcome]++; counts[c.Outcome] == 1 {
			outcomes = append(outcomes, c.Outcome)
		}
		if counts[c.Outcome] <= maxNotPinged {
			moments = append(moments, timelineRow{at: at, who: candidateName(c), what: c.Outcome, detail: describeBidAnswer(c)})
		}
	}
	for _, outcome := range outcomes {
		if more := counts[outcome] - maxNotPinged; more > 0 {
			moments = append(moments, timelineRow{at: at, who: "and " + terminal.GroupThousands(more) + " more", what: outcome, detail: "all with --json"})
		}
	}
	return moments
}

// candidateName returns a candidate's buyer, or the number of its filter set.
func candidateName(c *explain.Candidate) string {
	if c.Buyer == "" {
		return fmt.Sprintf("filter set %d", c.Seat)
	}
	return c.Buyer
}
