package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"pingpost/loadtest/bench/child"
)

// against compares the exchange with another build of it, for example of an earlier
// revision, instead of the ceilings. It writes the samples of both in the format of Go
// benchmarks and no table. loadtest/compare.sh judges the samples.
func (b *bench) against() error {
	theirs, err := filepath.Abs(b.flags.Against)
	if err != nil {
		return err
	}
	if _, err := b.build(); err != nil {
		return err
	}
	other := *b
	other.exchange, other.dir = theirs, filepath.Join(b.dir, "theirs")
	var ourLines, theirLines strings.Builder
	for _, measure := range []func(theirs *bench, ours, others *strings.Builder) error{b.ingestAgainst, b.auctionsAgainst} {
		err := measure(&other, &ourLines, &theirLines)
		b.killServers()
		if err != nil {
			return err
		}
	}
	if err := os.WriteFile(b.flags.Samples, []byte(ourLines.String()), 0o644); err != nil {
		return err
	}
	return os.WriteFile(b.flags.TheirSamples, []byte(theirLines.String()), 0o644)
}

func (b *bench) ingestAgainst(other *bench, ours, theirs *strings.Builder) error {
	mine, err := b.startPaused("ingest", catalogWithCampaigns(10))
	if err != nil {
		return err
	}
	its, err := other.startPaused("ingest", catalogWithCampaigns(10))
	if err != nil {
		return err
	}
	for _, connections := range b.size.connections {
		mineRuns, itsRuns, err := b.runPair(pair{ours: mine, theirs: its}, connections)
		if err != nil {
			return err
		}
		name := fmt.Sprintf("BenchmarkIngest/connections=%d", connections)
		for i := range mineRuns {
			writeIngestSample(ours, name, &mineRuns[i])
			writeIngestSample(theirs, name, &itsRuns[i])
		}
	}
	return nil
}

// writeIngestSample appends a run in the format of Go benchmarks. The CPU time is that of
// the server.
func writeIngestSample(into *strings.Builder, name string, r *child.LoadResult) {
	fmt.Fprintf(into, "%s 1 %.0f cpu-ns/op %d p50-ns/op %d p99-ns/op %.0f leads/s\n", name, 1e9*r.ServerSecondsEach(), r.Latency.P50, r.Latency.P99, r.Rate)
}

// auctionsAgainst measures auctions with the fewest and the most buyers at both
// exchanges. Each exchange has its own buyers.
func (b *bench) auctionsAgainst(other *bench, ours, theirs *strings.Builder) error {
	sizes := []int{b.size.auctionBuyers[0], b.size.auctionBuyers[len(b.size.auctionBuyers)-1]}
	spec := &auctionSetupSpec{name: "auctions", sizes: sizes, pingRate: unlimitedRate}
	mine, err := b.newAuctionSetup(spec)
	if err != nil {
		return err
	}
	its, err := other.newAuctionSetup(spec)
	if err != nil {
		return err
	}
	for _, n := range sizes {
		spec := child.LoadSpec{Vertical: verticalOf(n), Warmup: b.size.warmup, Duration: b.size.duration}
		one := func(h *auctionSetup) func() (child.LoadResult, error) {
			return guarded(b.guard, func() (child.LoadResult, error) { return h.runSeller(h.exchange, spec) })
		}
		both, err := alternate(b.size.runs, one(mine), one(its))
		if err != nil {
			return err
		}
		name := fmt.Sprintf("BenchmarkAuction/buyers=%d", n)
		for i := range both[0] {
			writeAuctionSample(ours, name, &both[0][i])
			writeAuctionSample(theirs, name, &both[1][i])
		}
	}
	return nil
}

// writeAuctionSample appends a run in the format of Go benchmarks.
func writeAuctionSample(into *strings.Builder, name string, r *child.LoadResult) {
	fmt.Fprintf(into, "%s 1 %.0f cpu-ns/op %d p50-ns/op %d p99-ns/op %.0f auctions/s %.1f allocs/op\n",
		name, 1e9*r.ServerSecondsEach(), r.Latency.P50, r.Latency.P99, r.Rate, r.Objects)
}
