package seller

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"

	"pingpost/cmd/pingpost/terminal"
	"pingpost/engine/market"
	"pingpost/loadtest/load"
)

// sendSummary counts the results of all sent lines, in bounded memory.
type sendSummary struct {
	sent, accepted, unmatched, refused int
	lost                               int // without a final answer
	replayed, repeated                 int // answers of an earlier time; tries after the first
	reasons, errors                    map[string]int
	causes                             map[string]int          // why lines are lost
	payout                             map[string]market.Money // by currency
	latency                            *hdrhistogram.Histogram // up to maxLatency, to three digits
}

// maxKinds bounds the words of an exchange that are counted apart. Longer latencies than maxLatency
// count as maxLatency.
const (
	maxLatency = time.Hour

	maxKinds = 100
	maxKind  = 60 // bytes
)

func newSendSummary() *sendSummary {
	return &sendSummary{
		reasons: map[string]int{}, errors: map[string]int{}, causes: map[string]int{},
		payout: map[string]market.Money{}, latency: hdrhistogram.New(int64(time.Microsecond), int64(maxLatency), 3),
	}
}

func (t *sendSummary) add(a *lineSendResult) {
	t.sent++
	t.repeated += a.tries - 1
	if !a.isFinal() {
		t.lost++
		incrementBoundedCount(t.causes, describeFailure(a))
		return
	}
	_ = t.latency.RecordValue(int64(min(max(a.took, 0), maxLatency))) // no value is out of range
	if a.replayed {
		t.replayed++
	}
	switch {
	case a.status/100 != 2:
		t.refused++
		incrementBoundedCount(t.errors, a.fault)
	case a.lead.Status == statusAccepted:
		t.accepted++
		if len(t.payout) < maxKinds {
			t.payout[a.lead.Price.Currency] += a.lead.Price.Amount
		}
	default:
		t.unmatched++
		incrementBoundedCount(t.reasons, a.lead.Reason)
	}
}

// describeFailure returns the reason why a line got no final answer, for the summary.
func describeFailure(result *lineSendResult) string {
	if result.err != nil {
		text := result.err.Error()
		return text[strings.LastIndex(text, "\": ")+1:]
	}
	return result.fault
}

// incrementBoundedCount counts a word that the exchange sent, such as an error code. After maxKinds
// different words it counts new ones as "other".
func incrementBoundedCount(counts map[string]int, word string) {
	word = strings.TrimLeft(word, ": ")
	if len(word) > maxKind {
		word = strings.ToValidUTF8(word[:maxKind], "") // without a part of a character at the end
	}
	if _, known := counts[word]; !known && len(counts) >= maxKinds {
		word = "other"
	}
	counts[word]++
}

// String returns the most important counts in one line.
func (t *sendSummary) String() string {
	text := fmt.Sprintf("sent %s  accepted %s  unmatched %s  refused %s",
		terminal.GroupThousands(t.sent), terminal.GroupThousands(t.accepted), terminal.GroupThousands(t.unmatched), terminal.GroupThousands(t.refused))
	if t.lost > 0 {
		text += "  no answer " + terminal.GroupThousands(t.lost)
	}
	return text
}

// formatTable returns all counts as a table. sendingTime is the time that sending took.
func (t *sendSummary) formatTable(sendingTime time.Duration) string {
	var out terminal.Table
	out.Row("sent", terminal.GroupThousands(t.sent), fmt.Sprintf("in %s, %.1f a second", load.FormatDuration(sendingTime), float64(t.sent)/max(sendingTime.Seconds(), 1e-9)))
	out.Row("accepted", terminal.GroupThousands(t.accepted), "")
	out.Row("unmatched", terminal.GroupThousands(t.unmatched), "")
	addCountRows(&out, t.reasons)
	out.Row("refused", terminal.GroupThousands(t.refused), "")
	addCountRows(&out, t.errors)
	out.Row("no answer", terminal.GroupThousands(t.lost), "")
	addCountRows(&out, t.causes)
	if t.replayed > 0 {
		out.Row("replayed", terminal.GroupThousands(t.replayed), "answers that the exchange had given before")
	}
	if t.repeated > 0 {
		out.Row("tried again", terminal.GroupThousands(t.repeated), "")
	}
	for _, currency := range slices.Sorted(maps.Keys(t.payout)) {
		out.Row("payout", terminal.FormatMoney(t.payout[currency]), currency)
	}
	return out.String() + "latency  " + t.formatLatency() + "\n"
}

func (t *sendSummary) formatLatency() string {
	if t.latency.TotalCount() == 0 {
		return "none"
	}
	atPercentile := func(percentile float64) string {
		return load.FormatDuration(time.Duration(t.latency.ValueAtPercentile(percentile)))
	}
	return fmt.Sprintf("p50 %s   p90 %s   p99 %s   max %s", atPercentile(50), atPercentile(90), atPercentile(99), atPercentile(100))
}

// addCountRows adds a row to the table for each word with its count, the most frequent first.
func addCountRows(t *terminal.Table, counts map[string]int) {
	byDescendingCount := func(a, b string) int { return cmp.Or(counts[b]-counts[a], strings.Compare(a, b)) }
	for _, word := range slices.SortedFunc(maps.Keys(counts), byDescendingCount) {
		t.Row("  "+word, terminal.GroupThousands(counts[word]), "")
	}
}
