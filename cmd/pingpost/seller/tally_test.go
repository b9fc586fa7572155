package seller

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"pingpost/engine/market"
)

func ingestResult(status, reason, currency string, price market.Money) *lineSendResult {
	a := &lineSendResult{tries: 1, status: 201, took: time.Millisecond}
	a.lead.Status, a.lead.Reason = status, reason
	a.lead.Price.Amount, a.lead.Price.Currency = price, currency
	return a
}

func refusalResult(status int, code string) *lineSendResult {
	return &lineSendResult{tries: 1, status: status, fault: code, took: 2 * time.Millisecond}
}

func TestSendSummary(t *testing.T) {
	sum := newSendSummary()
	for range 1200 {
		sum.add(ingestResult(statusAccepted, "", "USD", 7_500_000))
	}
	sum.add(ingestResult(statusAccepted, "", "EUR", 1))
	sum.add(ingestResult(statusUnmatched, "caps_full", "", 0))
	sum.add(ingestResult(statusUnmatched, "caps_full", "", 0))
	sum.add(ingestResult(statusUnmatched, "duplicate", "", 0))
	replayed := ingestResult(statusAccepted, "", "USD", 0)
	replayed.replayed, replayed.tries = true, 3
	sum.add(replayed)
	sum.add(refusalResult(422, "invalid_payload"))
	sum.add(&lineSendResult{tries: 6, err: errors.New(`Post "http://127.0.0.1:1/api/v1/ingest": dial tcp 127.0.0.1:1: connect: connection refused`)})
	sum.add(refusalResult(503, "unavailable"))

	if want := "sent 1,208  accepted 1,202  unmatched 3  refused 1  no answer 2"; sum.String() != want {
		t.Errorf("%s\nwant %s", sum, want)
	}
	if sum.latency.TotalCount() != 1206 {
		t.Errorf("%d latencies, want those of final answers", sum.latency.TotalCount())
	}
	got := sum.formatTable(2 * time.Second)
	want := `sent                                                              1,208  in 2s, 604.0 a second
accepted                                                          1,202
unmatched                                                             3
  caps_full                                                           2
  duplicate                                                           1
refused                                                               1
  invalid_payload                                                     1
no answer                                                             2
  dial tcp 127.0.0.1:1: connect: connection refused                   1
  unavailable                                                         1
replayed                                                              1  answers that the exchange had given before
tried again                                                           7
payout                                                         0.000001  EUR
payout                                                         9,000.00  USD
latency  p50 1ms   p90 1ms   p99 1ms   max 2ms
`
	if collapseSpaces(got) != collapseSpaces(want) {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// TestSendSummaryLimitsKinds: unlimited error codes of an exchange do not fill memory.
func TestSendSummaryLimitsKinds(t *testing.T) {
	sum := newSendSummary()
	for i := range 1000 {
		sum.add(refusalResult(400, fmt.Sprintf("error %d %s", i, strings.Repeat("x", i))))
		sum.add(ingestResult(statusAccepted, "", fmt.Sprintf("C%d", i), 1))
	}
	if len(sum.errors) > maxKinds+1 || len(sum.payout) > maxKinds || sum.errors["other"] != 1000-maxKinds {
		t.Errorf("%d errors, %d currencies, other %d", len(sum.errors), len(sum.payout), sum.errors["other"])
	}
	for code := range sum.errors {
		if len(code) > maxKind {
			t.Errorf("an error code of %d characters", len(code))
		}
	}
}

// TestSendSummaryCutsLongWords: a long word is cut between two characters. Its later repeats count
// as the same word, also after the limit of different words.
func TestSendSummaryCutsLongWords(t *testing.T) {
	sum := newSendSummary()
	long := strings.Repeat("x", maxKind-1)
	sum.add(refusalResult(400, long+"é"))
	for i := range maxKinds {
		sum.add(refusalResult(400, fmt.Sprintf("error %d", i)))
	}
	sum.add(refusalResult(400, long+"é"))
	if sum.errors[long] != 2 || sum.errors["other"] != 1 {
		t.Errorf("%v", sum.errors)
	}
}
