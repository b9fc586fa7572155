package trace

import (
	"encoding/hex"
	"testing"

	"pingpost/engine/market"
)

// TestTraceparentDecidesBeforeSample: the flag in the caller's traceparent decides whether the
// request is traced, and a traced request continues the caller's trace. Two traceparents are
// ambiguous, so the sample decides.
func TestTraceparentDecidesBeforeSample(t *testing.T) {
	const (
		callersTrace, callersSpan = "0af7651916cd43dd8448eb211c80319c", "b7ad6b7169203331"
		sampled                   = "00-" + callersTrace + "-" + callersSpan + "-01"
		unsampled                 = "00-" + callersTrace + "-" + callersSpan + "-00"
	)
	const untraced, continued, begun = "not traced", "continues the caller's trace", "begins a trace"
	id := market.RequestID{1}
	for _, row := range []struct {
		sample       market.ShareInMillionths
		traceparents []string
		want         string
	}{
		{0, []string{sampled}, continued},
		{market.WholeShare, []string{sampled}, continued},
		{0, []string{unsampled}, untraced},
		{market.WholeShare, []string{unsampled}, untraced},
		{0, []string{sampled, sampled}, untraced},
		{market.WholeShare, []string{sampled, sampled}, begun},
		{market.WholeShare, []string{unsampled, unsampled}, begun},
	} {
		x, _ := newTestTracer(t, "http://127.0.0.1:1", row.sample)
		var headers [][]byte
		for _, text := range row.traceparents {
			headers = append(headers, []byte(text))
		}
		got := untraced
		if r := x.BeginIfSampled(headers, id, 1); r != nil {
			switch got = hex.EncodeToString(r.RequestTrace.ID[:]) + "-" + hex.EncodeToString(r.parent[:]); got {
			case callersTrace + "-" + callersSpan:
				got = continued
			case hex.EncodeToString(id[:]) + "-0000000000000000":
				got = begun
			}
		}
		if got != row.want {
			t.Errorf("sample %d, traceparents %q: got %q, want %q", row.sample, row.traceparents, got, row.want)
		}
	}
}
