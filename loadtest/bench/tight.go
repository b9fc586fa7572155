package main

import "fmt"

// Leads that come for two minutes while the collector may use little memory.
const (
	tightRate  = 1000
	tightLimit = "GOMEMLIMIT=128MiB"
)

// tight compares what leads take in a process that has little memory with what
// they take in one that has all it asks for. Both get leads for as long.
func (b *bench) tight() ([]row, error) {
	limited, err := b.supplied("tight", tightLimit)
	if err != nil {
		return nil, err
	}
	free, err := b.supplied("roomy")
	if err != nil {
		return nil, err
	}
	ms := func(ns int64) float64 { return float64(ns) / 1e6 }
	ratio := ms(limited.Took.P99) / ms(free.Took.P99)
	what := fmt.Sprintf("%d leads/s for %s under %s: ", tightRate, b.size.tightLasting, tightLimit)
	return []row{
		{
			what:     what + "p99 over that without the limit",
			measured: fmt.Sprintf("%.2f times (%.2f and %.2f ms; p50 %.2f and %.2f)", ratio, ms(limited.Took.P99), ms(free.Took.P99), ms(limited.Took.P50), ms(free.Took.P50)),
			goal:     "at most 2 times", verdict: atMost(ratio, 2, 2),
		},
		{
			what:     what + "resident at its end",
			measured: fmt.Sprintf("%.0f MB with %d leads, %.0f MB without the limit", float64(limited.resident)/1e6, limited.Done, float64(free.resident)/1e6),
		},
	}, nil
}

// suppliedResult is what leads took, and what the process had in memory then.
type suppliedResult struct {
	supplyResult
	resident int64
}

// supplied sends leads at the rate to an exchange of its own.
func (b *bench) supplied(name string, env ...string) (r suppliedResult, err error) {
	s, err := b.startExchange(name, catalogOf(10), env...)
	if err != nil {
		return r, err
	}
	defer s.end()
	err = b.guard.measure([]*process{s.process}, func() error {
		r.supplyResult, err = b.supplyAt(s, tightRate, fillBucket, b.size.tightLasting)
		return err
	})
	if err != nil {
		return r, err
	}
	if want := uint64(0.9 * tightRate * b.size.tightLasting.Seconds()); r.Done < want {
		return r, fmt.Errorf("%d leads were answered, and at least %d were sent", r.Done, want)
	}
	r.resident, err = s.resident()
	return r, err
}
