package main

import (
	"fmt"
	"strconv"
	"time"

	"pingpost/loadtest/bench/child"
)

// auctionConnections is the number of connections of a seller, and so the number of
// concurrent auctions under load.
const auctionConnections = 64

// auctionRuns holds the results of an exchange, of the ceiling, of the ceiling that writes a log
// record for each auction, and of an exchange without a report, if there is one.
type auctionRuns struct {
	exchange, ceiling, recording, unreported []child.LoadResult
}

// alternateAuctions runs auctions with this number of buyers at the servers in turn. unreported has the
// exchange without a report, and may be nil.
func (h *auctionSetup) alternateAuctions(buyers int, spec *child.LoadSpec, unreported *auctionSetup) (*auctionRuns, error) {
	spec.Vertical = verticalOf(buyers)
	one := func(of *auctionSetup, server *process) func() (child.LoadResult, error) {
		return rerunWhileNoisy(h.b.guard, func() (child.LoadResult, error) { return of.runSeller(server, *spec) })
	}
	sides := []func() (child.LoadResult, error){one(h, h.exchange), one(h, h.ceilings[buyers]), one(h, h.recording[buyers])}
	if unreported != nil {
		sides = append(sides, one(unreported, unreported.exchange))
	}
	all, err := alternate(h.b.size.runs, sides...)
	if err != nil {
		return nil, err
	}
	runs := &auctionRuns{exchange: all[0], ceiling: all[1], recording: all[2]}
	if unreported != nil {
		runs.unreported = all[3]
	}
	return runs, nil
}

// auctionTime compares the CPU time of an auction with the ceiling's, and the rate with that of an
// exchange without a report.
func (b *bench) auctionTime() (rows []row, err error) {
	of := auctionSetupSpec{name: "auctions", sizes: b.size.auctionBuyers, pingRate: unlimitedRate}
	h, err := b.newAuctionSetup(&of)
	if err != nil {
		return nil, err
	}
	of.name, of.withoutReport = "auctions-unreported", true
	unreported, err := b.newAuctionSetup(&of)
	if err != nil {
		return nil, err
	}
	if err := h.startCeilings(b.size.auctionBuyers); err != nil {
		return nil, err
	}
	spec := child.LoadSpec{Warmup: b.size.warmup, Duration: b.size.duration}
	for _, n := range b.size.auctionBuyers {
		logged, err := h.startRecordingCeiling(n)
		if err != nil {
			return nil, err
		}
		all, err := h.alternateAuctions(n, &spec, unreported)
		if err != nil {
			return nil, err
		}
		rows = append(rows, auctionTimeRows(n, all)...)
		rows = append(rows, row{
			label:    fmt.Sprintf("auction, buyers asked %d: bytes in the log", n),
			measured: strconv.Itoa(logged), figure: figureAuctionBytes.withSize(n), value: float64(logged),
		})
	}
	if b.flags.Profile == "" {
		return rows, nil
	}
	spec.Warmup, spec.Duration = 0, b.size.duration+2*time.Second
	return rows, b.profile(h.exchange, b.flags.Profile+".auction", func() error {
		_, err := h.runSeller(h.exchange, spec) // spec has the most buyers, which were measured last
		return err
	})
}

func auctionTimeRows(buyers int, all *auctionRuns) []row {
	ours, theirs := all.exchange, all.ceiling
	micros := func(r *child.LoadResult) float64 { return 1e6 * r.ServerSecondsEach() }
	rate := func(r *child.LoadResult) float64 { return r.Rate }
	objects := func(r *child.LoadResult) float64 { return r.Objects }
	bytes := func(r *child.LoadResult) float64 { return r.Bytes }
	client := func(r *child.LoadResult) float64 { return 100 * r.Cores }
	buyersBusy := func(r *child.LoadResult) float64 { return 100 * r.BuyerCores }
	a, z := collect(ours, micros), collect(theirs, micros)
	goal := 1.5
	switch {
	case buyers < 4:
		goal = 2.5
	case buyers < 8:
		goal = 1.7
	}
	made := collect(ours, objects)
	what := fmt.Sprintf("auction, buyers asked %d: ", buyers)
	over := timesRow(what+"processor time over the ceiling's", a, z, "%.1f and %.1f µs").withGoal(fmt.Sprintf("%.1f times", goal), goal, goal)
	over.figure, over.value = figureAuction.withSize(buyers), a.median()
	return append([]row{
		over,
		timesRow(what+"processor time over that of a ceiling that records as many bytes", a, collect(all.recording, micros), "%.1f and %.1f µs"),
		{
			label: what + "allocations",
			measured: fmt.Sprintf("%.1f of %.0f bytes together, the ceiling's %.1f of %.0f",
				made.median(), collect(ours, bytes).median(), collect(theirs, objects).median(), collect(theirs, bytes).median()),
			rangeText: made.rangeText("%.1f"),
		},
		{
			label: what + "rate",
			measured: fmt.Sprintf("%.0f auctions/s, the ceiling's %.0f; the seller kept %.0f and %.0f %% of a core busy, the buyers %.0f and %.0f",
				collect(ours, rate).median(), collect(theirs, rate).median(),
				collect(ours, client).median(), collect(theirs, client).median(), collect(ours, buyersBusy).median(), collect(theirs, buyersBusy).median()),
			rangeText: collect(ours, rate).rangeText("%.0f"),
		},
	}, withoutReportRows(what, "auctions/s", ours, theirs, all.unreported)...)
}

// These are the rate of the open-loop auctions and the response time of their buyers.
const (
	openRate  = 200
	openDelay = 20 * time.Millisecond
)

// auctionLatency compares the latency of auctions in an open loop.
func (b *bench) auctionLatency() ([]row, error) {
	n := b.size.openBuyers
	h, err := b.newAuctionSetup(&auctionSetupSpec{name: "open", sizes: []int{n}, delay: openDelay, pingRate: unlimitedRate})
	if err != nil {
		return nil, err
	}
	if err := h.startCeilings([]int{n}); err != nil {
		return nil, err
	}
	if _, err := h.startRecordingCeiling(n); err != nil {
		return nil, err
	}
	all, err := h.alternateAuctions(n, &child.LoadSpec{Warmup: b.size.warmup, Duration: b.size.openDuration, Rate: openRate}, nil)
	if err != nil {
		return nil, err
	}
	return auctionLatencyRows(n, all), nil
}

func auctionLatencyRows(buyers int, all *auctionRuns) []row {
	ours, theirs := all.exchange, all.ceiling
	p50 := func(r *child.LoadResult) float64 { return float64(r.Latency.P50) / 1e6 }
	p99 := func(r *child.LoadResult) float64 { return float64(r.Latency.P99) / 1e6 }
	a, z := collect(ours, p99), collect(theirs, p99)
	more := a.minus(z)
	half, bareHalf := collect(ours, p50), collect(theirs, p50)
	moreHalf := half.minus(bareHalf)
	what := fmt.Sprintf("open loop, %d auctions/s of %d buyers that take %s: ", openRate, buyers, openDelay)
	first := row{
		label:     what + "p99 over the ceiling's",
		measured:  fmt.Sprintf("%.2f ms more (%.2f and %.2f ms)", more.median(), a.median(), z.median()),
		rangeText: more.rangeText("%.2f"), goal: "0.5 ms", verdict: atMost(more.median(), 0.5, 0.5),
	}
	var unsold, sent uint64
	for i := range ours {
		unsold, sent = unsold+ours[i].FailedRequests(), sent+ours[i].Sent
	}
	if unsold > 0 { // a refused auction has no latency
		first.measured += fmt.Sprintf("; %d of %d auctions had no bid", unsold, sent)
		first.verdict = missed
	}
	kept := collect(all.recording, p99)
	record, rest := kept.minus(z), a.minus(kept)
	return []row{
		first,
		{
			label: what + "p99 of it that a ceiling has as well that records as many bytes",
			measured: fmt.Sprintf("%.2f ms (%.2f ms); beyond that the exchange has %.2f ms more",
				record.median(), kept.median(), rest.median()),
			rangeText: record.rangeText("%.2f"),
		},
		{
			label:     what + "p50 over the ceiling's",
			measured:  fmt.Sprintf("%.2f ms more (%.2f and %.2f ms)", moreHalf.median(), half.median(), bareHalf.median()),
			rangeText: moreHalf.rangeText("%.2f"),
		},
	}
}
