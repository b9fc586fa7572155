package main

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"pingpost/loadtest/bench/child"
	"pingpost/loadtest/load"
	"pingpost/loadtest/refbuyer"
)

// These auctions end in a sale. Each asks every buyer, so each buyer receives this number
// of pings a second. evenRate is the exchange's default limit. The Poisson rate is lower,
// because its peaks would exceed the limit.
const (
	postDelay       = 10 * time.Millisecond
	evenRate        = 100
	poissonRate     = 90
	limiterFillTime = 1500 * time.Millisecond // after a start, buyers' ping limits begin empty and fill within a second
)

// auctionPosts sells the lead of every auction.
func (b *bench) auctionPosts() (rows []row, err error) {
	for _, way := range []struct {
		how  string
		rate float64
		even bool
	}{{"at even intervals", evenRate, true}, {"Poisson", poissonRate, false}} {
		sold, err := b.runSales(way.rate, way.even)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", way.how, err)
		}
		rows = append(rows, sold.rows(fmt.Sprintf("%.0f auctions/s of %d buyers that take %s, %s, %s: ",
			way.rate, b.size.salesBuyers, postDelay, way.how, b.size.salesDuration))...)
	}
	return rows, nil
}

func (b *bench) runSales(rate float64, even bool) (s *salesResult, err error) {
	n := b.size.salesBuyers
	h, err := b.newAuctionSetup(&auctionSetupSpec{name: fmt.Sprintf("posts-%.0f", rate), sizes: []int{n}, delay: postDelay})
	if err != nil {
		return nil, err
	}
	defer b.killServers()
	spec := child.LoadSpec{
		Vertical: verticalOf(n), Duration: b.size.salesDuration, Rate: rate, Even: even, SellBids: true,
	}
	return rerunWhileNoisy(b.guard, func() (*salesResult, error) { return h.sellAndReconcile(spec, n) })()
}

// sellAndReconcile runs the seller, and reads the buyers' totals before and after.
func (h *auctionSetup) sellAndReconcile(spec child.LoadSpec, buyers int) (*salesResult, error) {
	if err := resume(h.exchange.cmd.Process); err != nil {
		return nil, err
	}
	load.Sleep(limiterFillTime)
	before, err := h.b.fetchBuyerTotals(h.buyers)
	if err != nil {
		return nil, err
	}
	r, err := h.runSeller(h.exchange, spec)
	if err != nil {
		return nil, err
	}
	after, err := h.b.fetchBuyerTotals(h.buyers)
	if err != nil {
		return nil, err
	}
	return reconcile(&r, buyers, &before, &after)
}

// salesResult combines the accounts of the seller and the buyers.
type salesResult struct {
	child.LoadResult
	pings, wanted int64         // pings that the buyers received, and pings if every auction asked every buyer
	peak          int64         // highest number of pings to one buyer in one clock second
	latencies     []int64       // nanoseconds from sending a post to the buyer's 201, sorted
	accepted      int64         // leads that the buyers accepted
	unknown       int           // sold leads that no buyer has
	p99           time.Duration // of latencies
}

// reconcile combines both accounts. A lead that was sold twice, or contact data in a
// ping, is an error.
func reconcile(r *child.LoadResult, buyers int, before, after *buyerTotals) (*salesResult, error) {
	if after.DoubleSold > 0 || after.ContactSeen > 0 || after.Forgotten > 0 {
		return nil, fmt.Errorf("the buyers report: %d leads sold twice, %d pings with a person in them, %d posts forgotten",
			after.DoubleSold, after.ContactSeen, after.Forgotten)
	}
	s := &salesResult{
		LoadResult: *r, pings: after.Pings - before.Pings, wanted: int64(r.Sent) * int64(buyers),
		peak: after.PeakPings, accepted: after.Accepted - before.Accepted,
	}
	seen := map[string]bool{}
	for _, p := range r.Posted {
		answered, known := after.leads[p.Lead]
		switch {
		case !known || seen[p.Lead]:
			s.unknown++
		case p.Measured:
			s.latencies = append(s.latencies, answered.UnixNano()-p.Sent)
		}
		seen[p.Lead] = true
	}
	if len(s.latencies) == 0 {
		return nil, errors.New("no buyer has a lead that was sold")
	}
	slices.Sort(s.latencies)
	s.p99 = time.Duration(s.latencies[(len(s.latencies)*99+99)/100-1])
	return s, nil
}

func (s *salesResult) rows(what string) []row {
	lost := s.FailedRequests()
	ms := func(ns int64) float64 { return float64(ns) / 1e6 }
	mismatches := int64(s.unknown) + max(s.accepted-int64(len(s.Posted)), 0)
	return []row{
		{
			label:    what + "auctions without a sale",
			measured: fmt.Sprintf("%d of %d (%d no-bids, %d refused, %d broken); %d of %d pings reached the buyers, at most %d a second", lost, s.Sent, s.NoBid, s.Refused, s.Broken, s.pings, s.wanted, s.peak),
			goal:     "0", verdict: atMost(float64(lost), 0, 0),
		},
		{
			label:    what + "over 5 s from arrival to 201",
			measured: fmt.Sprintf("%d", s.Late), goal: "0", verdict: atMost(float64(s.Late), 0, 0),
		},
		{
			label:    what + "sales that seller and buyers tell differently",
			measured: fmt.Sprintf("%d (the seller has %d answers of 201, the buyers %d leads)", mismatches, len(s.Posted), s.accepted),
			goal:     "0", verdict: atMost(float64(mismatches), 0, 0),
		},
		{
			label:    what + "p99 from the post to the buyer's 201",
			measured: fmt.Sprintf("%.2f ms (p50 %.2f, most %.2f)", ms(int64(s.p99)), ms(s.latencies[len(s.latencies)/2]), ms(s.latencies[len(s.latencies)-1])),
			goal:     "25 ms, at most 200 ms", verdict: atMost(ms(int64(s.p99)), 25, 200),
		},
		{
			label:    what + "p99 from the post to the seller's 201",
			measured: fmt.Sprintf("%.2f ms (p50 %.2f, most %.2f); the bids' p99 %.2f ms", ms(s.Post.P99), ms(s.Post.P50), ms(s.Post.Max), ms(s.Latency.P99)),
		},
	}
}

func (b *bench) startBuyers(spec child.BuyersSpec) (*process, error) {
	return b.startChild(b.cores.client, "role-buyers", spec)
}

// buyerTotals is the sum of the buyers' own accounts.
type buyerTotals struct {
	refbuyer.Stats
	leads map[string]time.Time // time of the buyer's 201, by the buyer's lead id
}

// fetchBuyerTotals reads the account of every buyer.
func (b *bench) fetchBuyerTotals(buyers *process) (all buyerTotals, err error) {
	all.leads = map[string]time.Time{}
	for _, addr := range buyers.Buyers {
		stats, leads, err := refbuyer.FetchAccount(b.ctx, "http://"+addr)
		if err != nil {
			return all, err
		}
		all.Pings += stats.Pings
		all.Accepted += stats.Accepted
		all.DoubleSold += stats.DoubleSold
		all.ContactSeen += stats.ContactSeen
		all.Forgotten += stats.Forgotten
		all.PeakPings = max(all.PeakPings, stats.PeakPings)
		for _, lead := range leads {
			all.leads[lead.LeadID] = lead.AnsweredAt
		}
	}
	return all, nil
}
