package main

import (
	"time"

	"pingpost/loadtest/load"
)

// supplySpec is one run of a supplier whose leads come at a rate.
type supplySpec struct {
	Addr             string
	Lines            int
	Rate             float64 // leads a second, as a Poisson process
	Warmup, Lasting  time.Duration
	From             uint64
	Supplier, APIKey string
	Campaigns        []string
}

// supplyResult is what it measured. Times are in nanoseconds.
type supplyResult struct {
	Done uint64
	Next uint64 // number of the next lead
	Took quantiles
}

// supply is the supplier.
func supply(spec *supplySpec) (*supplyResult, error) {
	suppliers := make([]*load.Supplier, spec.Lines)
	loop := load.Open{
		Addr: spec.Addr, Lines: spec.Lines, Calendar: load.Calendar(load.Poisson(spec.Rate, spec.From), spec.Warmup, spec.Lasting),
		From: spec.From, Sleep: load.Nap,
		Visit: func(line int) func(*load.Line, load.Arrival) {
			suppliers[line] = load.NewSupplier(load.Ingest{
				Leads: load.Leads{Supplier: spec.Supplier, Campaigns: spec.Campaigns}, Host: spec.Addr, Key: spec.APIKey,
			})
			return suppliers[line].Visit
		},
	}
	sent := loop.Run().Arrivals
	all := load.Suppliers(suppliers)
	return &supplyResult{
		Done: all.Done, Next: spec.From + sent,
		Took: quantiles{int64(all.At(50)), int64(all.At(99)), int64(all.At(100))},
	}, all.Err()
}

// supplyAt sends leads to an exchange at a rate, as a Poisson process.
func (b *bench) supplyAt(s *seller, rate float64, warmup, lasting time.Duration) (r supplyResult, err error) {
	err = child(b.ctx, b.cores.client, b.awake(), "role-steady", supplySpec{
		Addr: s.Listen, Lines: auctionLines, Rate: rate, Warmup: warmup, Lasting: lasting, From: *s.next,
		Supplier: supplierID, APIKey: apiKey, Campaigns: s.campaigns,
	}, &r)
	*s.next = r.Next
	return r, err
}
