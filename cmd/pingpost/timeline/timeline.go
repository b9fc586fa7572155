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

// moment is one line of a timeline.
type moment struct {
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

// Lines returns only the timeline, in order of time, with at most width columns. Times are rounded
// to the millisecond, but answer times are not. An answer before the decision may
// therefore seem to be later; then the decision gets the time of that answer.
func Lines(told *explain.Explanation, width int) string {
	moments := []moment{{at: told.Received, what: "arrived", detail: dateOf(told.Received)}}
	moments = append(moments, notPinged(told)...)
	moments = append(moments, pingedBuyers(told)...)
	if told.BidsDue != 0 && told.BidsDue > told.Received && told.BidsDue <= told.Decided {
		moments = append(moments, moment{at: told.BidsDue, what: "deadline", detail: "for bids"})
	}
	decided := told.Decided
	for i := range moments {
		decided = max(decided, moments[i].at)
	}
	moments = append(moments, moment{at: decided, what: "decided", detail: decisionOf(told)})
	for i := range told.Posts {
		for _, m := range posted(&told.Posts[i]) {
			m.at = max(m.at, decided)
			moments = append(moments, m)
		}
	}
	if m, ok := recorded(told); ok {
		m.at = max(m.at, decided)
		moments = append(moments, m)
	}
	if told.Answer != nil {
		moments = append(moments, moment{at: max(told.Answer.At, decided), who: told.Supplier, what: "is answered", detail: answered(told)})
	}
	moments = append(append(moments, reported(told)...), webhooks(told)...)
	slices.SortStableFunc(moments, func(a, b moment) int { return cmp.Compare(a.at, b.at) })
	return layOut(moments, told.Received, width)
}

// layOut puts moments into columns. Details that are too long continue on the next line.
func layOut(moments []moment, from explain.Instant, width int) string {
	t := terminal.Table{Indent: "  "}
	used := len(t.Indent)
	widths := [4]int{len("ms")}
	rows := make([][4]string, 0, len(moments))
	for _, m := range moments {
		row := [4]string{milliseconds(int64(m.at - from)), terminal.Cut(m.who, whoWidth), terminal.Cut(m.what, whatWidth), m.bar}
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
		lines := terminal.Wrap(moments[i].detail, max(minDetails, width-used))
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

func milliseconds(nanoseconds int64) string { return fmt.Sprintf("%.1f", float64(nanoseconds)/1e6) }

// dateOf returns a time in the form of the explanation's JSON.
func dateOf(at explain.Instant) string {
	text, err := at.MarshalJSON()
	if err != nil {
		return ""
	}
	return strings.Trim(string(text), `"`)
}

// pingedBuyers returns the buyers that were pinged, each at the time of its answer.
func pingedBuyers(told *explain.Explanation) (moments []moment) {
	for i := range told.Candidates {
		if c := &told.Candidates[i]; c.Pinged {
			moments = append(moments, moment{
				at: told.Received + explain.Instant(c.Elapsed), who: nameOf(c), what: candidateOutcome(told, c),
				bar: bar(int64(c.Elapsed), int64(told.BidsDue-told.Received)), detail: answerOf(c),
			})
		}
	}
	return moments
}

// bar draws a share of the available time.
func bar(of, whole int64) string {
	filled := barWidth
	if whole > 0 {
		filled = int(min(barWidth, max(1, (of*barWidth+whole-1)/whole)))
	}
	return strings.Repeat("#", filled) + strings.Repeat(".", barWidth-filled)
}

// answerOf returns a buyer's answer to a ping.
func answerOf(c *explain.Candidate) string {
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

// notPinged returns the candidates that were not pinged. If many have the same outcome, it
// returns some of them and a count. It omits buyers that got a post, or the sale after a
// refusal, because these have lines of their own.
func notPinged(told *explain.Explanation) (moments []moment) {
	at := told.Decided
	if told.BidsDue != 0 {
		at = told.Received
	}
	after, _ := recorded(told)
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
			moments = append(moments, moment{at: at, who: nameOf(c), what: c.Outcome, detail: answerOf(c)})
		}
	}
	for _, outcome := range outcomes {
		if more := counts[outcome] - maxNotPinged; more > 0 {
			moments = append(moments, moment{at: at, who: "and " + terminal.Grouped(more) + " more", what: outcome, detail: "all with --json"})
		}
	}
	return moments
}

// nameOf returns a candidate's buyer, or the number of its filter set.
func nameOf(c *explain.Candidate) string {
	if c.Buyer == "" {
		return fmt.Sprintf("filter set %d", c.Seat)
	}
	return c.Buyer
}
