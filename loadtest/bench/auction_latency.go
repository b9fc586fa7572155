package main

import (
	"fmt"
	"time"
)

// Auctions that come at a rate: how many a second, and how long their buyers
// take to answer.
const (
	openRate  = 200
	openDelay = 20 * time.Millisecond
)

// auctionLatency compares how long auctions take that come as they please.
func (b *bench) auctionLatency() ([]row, error) {
	n := b.size.openBuyers
	h, err := b.openHouse(&houseSpec{name: "open", sizes: []int{n}, delay: openDelay, pingRate: plenty})
	if err != nil {
		return nil, err
	}
	defer h.end()
	if err := h.openBare([]int{n}); err != nil {
		return nil, err
	}
	if _, err := h.openKeeping(n); err != nil {
		return nil, err
	}
	all, err := h.turnsOf(n, &sellerSpec{Warmup: b.size.warmup, Lasting: b.size.openLasting, Rate: openRate})
	if err != nil {
		return nil, err
	}
	return auctionLatencyRows(n, all), nil
}

func auctionLatencyRows(buyers int, all *sides) []row {
	ours, theirs := all.ours, all.bare
	p50 := func(r *sellerResult) float64 { return float64(r.Bid.P50) / 1e6 }
	p99 := func(r *sellerResult) float64 { return float64(r.Bid.P99) / 1e6 }
	a, z := pick(ours, p99), pick(theirs, p99)
	more := a.less(z)
	half, bareHalf := pick(ours, p50), pick(theirs, p50)
	moreHalf := half.less(bareHalf)
	what := fmt.Sprintf("open loop, %d auctions/s of %d buyers that take %s: ", openRate, buyers, openDelay)
	first := row{
		what:     what + "p99 over the ceiling's",
		measured: fmt.Sprintf("%.2f ms more (%.2f and %.2f ms)", more.median(), a.median(), z.median()),
		spread:   more.spread("%.2f"), goal: "0.5 ms, at most 1.5 ms", verdict: atMost(more.median(), 0.5, 1.5),
	}
	var unsold, sent uint64
	for i := range ours {
		unsold, sent = unsold+ours[i].unsold(), sent+ours[i].Sent
	}
	if unsold > 0 { // what was refused has no latency to show
		first.measured += fmt.Sprintf("; %d of %d auctions had no bid", unsold, sent)
		first.verdict = missed
	}
	kept := pick(all.keeping, p99)
	record, rest := kept.less(z), a.less(kept)
	return []row{
		first,
		{
			what: what + "p99 of it that a ceiling has as well that records as many bytes",
			measured: fmt.Sprintf("%.2f ms (%.2f ms); beyond that the exchange has %.2f ms more",
				record.median(), kept.median(), rest.median()),
			spread: record.spread("%.2f"),
		},
		{
			what:     what + "p50 over the ceiling's",
			measured: fmt.Sprintf("%.2f ms more (%.2f and %.2f ms)", moreHalf.median(), half.median(), bareHalf.median()),
			spread:   moreHalf.spread("%.2f"),
		},
	}
}
