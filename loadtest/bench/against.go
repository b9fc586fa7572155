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
	var lines [2]strings.Builder // ours and theirs
	for _, compare := range []func(theirs *bench, lines *[2]strings.Builder) error{b.ingestAgainst, b.auctionsAgainst} {
		err := compare(&other, &lines)
		b.killServers()
		if err != nil {
			return err
		}
	}
	if err := os.WriteFile(b.flags.Samples, []byte(lines[0].String()), 0o644); err != nil {
		return err
	}
	return os.WriteFile(b.flags.TheirSamples, []byte(lines[1].String()), 0o644)
}

func (b *bench) ingestAgainst(other *bench, lines *[2]strings.Builder) error {
	mine, err := b.startPaused("ingest", catalogWithCampaigns(10))
	if err != nil {
		return err
	}
	its, err := other.startPaused("ingest", catalogWithCampaigns(10))
	if err != nil {
		return err
	}
	for _, connections := range b.size.connections {
		both, err := b.sendInTurn(connections, mine, its)
		if err != nil {
			return err
		}
		writeSamples(lines, fmt.Sprintf("BenchmarkIngest/connections=%d", connections), "leads", both...)
	}
	return nil
}

// auctionsAgainst measures auctions with the fewest and the most buyers at both
// exchanges. Each exchange has its own buyers.
func (b *bench) auctionsAgainst(other *bench, lines *[2]strings.Builder) error {
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
			return rerunWhileNoisy(b.guard, func() (child.LoadResult, error) { return h.runSeller(h.exchange, spec) })
		}
		both, err := alternate(b.size.runs, one(mine), one(its))
		if err != nil {
			return err
		}
		writeSamples(lines, fmt.Sprintf("BenchmarkAuction/buyers=%d", n), "auctions", both...)
	}
	return nil
}

// writeSamples appends the runs of both sides in the format of Go benchmarks. The CPU time is that
// of the server. Allocations are measured for auctions only.
func writeSamples(lines *[2]strings.Builder, name, unit string, sides ...[]child.LoadResult) {
	for side, runs := range sides {
		for i := range runs {
			r := &runs[i]
			fmt.Fprintf(&lines[side], "%s 1 %.0f cpu-ns/op %d p50-ns/op %d p99-ns/op %.0f %s/s", name, 1e9*r.ServerSecondsEach(), r.Latency.P50, r.Latency.P99, r.Rate, unit)
			if r.Objects > 0 {
				fmt.Fprintf(&lines[side], " %.1f allocs/op", r.Objects)
			}
			lines[side].WriteByte('\n')
		}
	}
}
