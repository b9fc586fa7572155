package seller

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"pingpost/cmd/pingpost/terminal"
	"pingpost/engine/market"
	"pingpost/loadtest/load"
)

// tally adds answers up. It stays small however many there are.
type tally struct {
	sent, accepted, unmatched, refused int
	lost                               int // without a final answer
	replayed, repeated                 int // answers of an earlier time; tries after the first
	reasons, errors                    map[string]int
	causes                             map[string]int          // why lines are lost
	payout                             map[string]market.Money // by currency
	latency                            latencies
}

// maxKinds bounds the words of an exchange that are counted apart.
const (
	maxKinds = 100
	maxKind  = 60 // characters
)

func newTally() *tally {
	return &tally{
		reasons: map[string]int{}, errors: map[string]int{}, causes: map[string]int{},
		payout: map[string]market.Money{}, latency: newLatencies(),
	}
}

func (t *tally) add(a *answer) {
	t.sent++
	t.repeated += a.tries - 1
	if !a.isFinal() {
		t.lost++
		count(t.causes, cause(a))
		return
	}
	t.latency.add(a.took)
	if a.replayed {
		t.replayed++
	}
	switch {
	case a.status/100 != 2:
		t.refused++
		count(t.errors, a.fault.Error)
	case a.lead.Status == statusAccepted:
		t.accepted++
		if len(t.payout) < maxKinds {
			t.payout[a.lead.Price.Currency] += a.lead.Price.Amount
		}
	default:
		t.unmatched++
		count(t.reasons, a.lead.Reason)
	}
}

func cause(a *answer) string {
	if a.err != nil {
		text := a.err.Error()
		return text[strings.LastIndex(text, "\": ")+1:]
	}
	return a.fault.Error
}

// count counts a word of the other side, under its own name unless there are
// too many.
func count(words map[string]int, word string) {
	word = strings.TrimLeft(word, ": ")
	if _, known := words[word]; !known && len(words) >= maxKinds {
		word = "other"
	}
	if len(word) > maxKind {
		word = word[:maxKind]
	}
	words[word]++
}

// String is the account in one line.
func (t *tally) String() string {
	text := fmt.Sprintf("sent %s  accepted %s  unmatched %s  refused %s",
		terminal.Grouped(t.sent), terminal.Grouped(t.accepted), terminal.Grouped(t.unmatched), terminal.Grouped(t.refused))
	if t.lost > 0 {
		text += "  no answer " + terminal.Grouped(t.lost)
	}
	return text
}

// table is the whole account.
func (t *tally) table(took time.Duration) string {
	var out terminal.Table
	out.Row("sent", terminal.Grouped(t.sent), fmt.Sprintf("in %s, %.1f a second", load.FormatDuration(took), float64(t.sent)/max(took.Seconds(), 1e-9)))
	out.Row("accepted", terminal.Grouped(t.accepted), "")
	out.Row("unmatched", terminal.Grouped(t.unmatched), "")
	addCounts(&out, t.reasons)
	out.Row("refused", terminal.Grouped(t.refused), "")
	addCounts(&out, t.errors)
	out.Row("no answer", terminal.Grouped(t.lost), "")
	addCounts(&out, t.causes)
	if t.replayed > 0 {
		out.Row("replayed", terminal.Grouped(t.replayed), "answers that the exchange had given before")
	}
	if t.repeated > 0 {
		out.Row("tried again", terminal.Grouped(t.repeated), "")
	}
	for _, currency := range slices.Sorted(maps.Keys(t.payout)) {
		out.Row("payout", terminal.Amount(t.payout[currency]), currency)
	}
	return out.String() + "latency  " + t.latency.String() + "\n"
}

// addCounts adds a row for each word, the most frequent first.
func addCounts(t *terminal.Table, counts map[string]int) {
	for _, word := range byCount(counts) {
		t.Row("  "+word, terminal.Grouped(counts[word]), "")
	}
}

func byCount(words map[string]int) []string {
	return slices.SortedFunc(maps.Keys(words), func(a, b string) int {
		return cmp.Or(cmp.Compare(words[b], words[a]), strings.Compare(a, b))
	})
}
