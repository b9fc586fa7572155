package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// against compares the exchange with another program of the same kind, such as
// one of an earlier revision, in place of the ceilings. It writes no table but
// the samples of both, in the form of Go's benchmarks, and whoever asked judges.
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
		if err := measure(&other, &ourLines, &theirLines); err != nil {
			return err
		}
	}
	if err := os.WriteFile(b.flags.Samples, []byte(ourLines.String()), 0o644); err != nil {
		return err
	}
	return os.WriteFile(b.flags.TheirSamples, []byte(theirLines.String()), 0o644)
}

func (b *bench) ingestAgainst(other *bench, ours, theirs *strings.Builder) error {
	mine, err := b.startHalted("ingest", catalogOf(10))
	if err != nil {
		return err
	}
	defer mine.end()
	its, err := other.startHalted("ingest", catalogOf(10))
	if err != nil {
		return err
	}
	defer its.end()
	for _, connections := range b.size.connections {
		mineRuns, itsRuns, err := b.turns(pair{ours: mine, theirs: its}, connections)
		if err != nil {
			return err
		}
		name := fmt.Sprintf("BenchmarkIngest/connections=%d", connections)
		for i := range mineRuns {
			mineRuns[i].sample(ours, name)
			itsRuns[i].sample(theirs, name)
		}
	}
	return nil
}

// sample writes a run as a benchmark's line. The processor's time is the
// server's alone.
func (r *clientResult) sample(into *strings.Builder, name string) {
	fmt.Fprintf(into, "%s 1 %.0f cpu-ns/op %d p50-ns/op %d p99-ns/op %.0f leads/s\n", name, 1e9*r.perLead(), r.P50, r.P99, r.Rate)
}

// auctionsAgainst holds auctions of the fewest and the most buyers at both, each
// with buyers of its own.
func (b *bench) auctionsAgainst(other *bench, ours, theirs *strings.Builder) error {
	sizes := []int{b.size.auctionBuyers[0], b.size.auctionBuyers[len(b.size.auctionBuyers)-1]}
	spec := &houseSpec{name: "auctions", sizes: sizes, pingRate: plenty}
	mine, err := b.openHouse(spec)
	if err != nil {
		return err
	}
	defer mine.end()
	its, err := other.openHouse(spec)
	if err != nil {
		return err
	}
	defer its.end()
	for _, n := range sizes {
		one := func(h *house) func() (sellerResult, error) {
			return func() (r sellerResult, err error) {
				err = b.guard.measure(append(mine.live(), its.live()...), func() (err error) {
					r, err = h.sell(h.exchange, sellerSpec{
						Vertical: verticalOf(n), Lines: auctionLines, Warmup: b.size.warmup, Lasting: b.size.lasting,
					})
					return err
				})
				return r, err
			}
		}
		both, err := alternate(b.size.runs, one(mine), one(its))
		if err != nil {
			return err
		}
		name := fmt.Sprintf("BenchmarkAuction/buyers=%d", n)
		for i := range both[0] {
			both[0][i].sample(ours, name)
			both[1][i].sample(theirs, name)
		}
	}
	return nil
}

func (r *sellerResult) sample(into *strings.Builder, name string) {
	fmt.Fprintf(into, "%s 1 %.0f cpu-ns/op %d p50-ns/op %d p99-ns/op %.0f auctions/s %.1f allocs/op\n",
		name, 1e9*r.perAuction(), r.Bid.P50, r.Bid.P99, r.Rate, r.Objects)
}
