package main

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"pingpost/loadtest/load"
)

// Auctions that end in a sale. Each asks every buyer, so this many auctions a
// second are as many pings a second to each of them, which the exchange takes
// by default and no more. Arrivals that come as they please must be fewer: at
// the limit itself chance would now and then send more.
const (
	postDelay   = 10 * time.Millisecond
	evenRate    = 100
	poissonRate = 90
	fillBucket  = 1500 * time.Millisecond // after its start an exchange's limits begin empty, and fill in a second
)

// auctionPosts sells every lead that it pings.
func (b *bench) auctionPosts() (rows []row, err error) {
	for _, way := range []struct {
		how  string
		rate float64
		even bool
	}{{"at even intervals", evenRate, true}, {"Poisson", poissonRate, false}} {
		sold, err := b.sellAll(way.rate, way.even)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", way.how, err)
		}
		rows = append(rows, sold.rows(fmt.Sprintf("%.0f auctions/s of %d buyers that take %s, %s, %s: ",
			way.rate, b.size.postBuyers, postDelay, way.how, b.size.postsLasting))...)
	}
	return rows, nil
}

func (b *bench) sellAll(rate float64, even bool) (s *sold, err error) {
	n := b.size.postBuyers
	h, err := b.openHouse(&houseSpec{name: fmt.Sprintf("posts-%.0f", rate), sizes: []int{n}, delay: postDelay})
	if err != nil {
		return nil, err
	}
	defer h.end()
	spec := sellerSpec{
		Vertical: verticalOf(n), Lines: auctionLines, Lasting: b.size.postsLasting, Rate: rate, Even: even, Selling: true,
	}
	err = b.guard.measure(h.live(), func() (err error) {
		s, err = h.sellAndAsk(spec, n)
		return err
	})
	return s, err
}

// sellAndAsk sells, and asks the buyers before and after.
func (h *house) sellAndAsk(spec sellerSpec, buyers int) (*sold, error) {
	if err := proceed(h.exchange.cmd.Process); err != nil {
		return nil, err
	}
	load.Nap(fillBucket)
	before, err := h.b.ask(h.buyers)
	if err != nil {
		return nil, err
	}
	r, err := h.sell(h.exchange, spec)
	if err != nil {
		return nil, err
	}
	after, err := h.b.ask(h.buyers)
	if err != nil {
		return nil, err
	}
	if r.Trouble != "" {
		h.b.say("not every auction was sold; the first: %s", r.Trouble)
	}
	return account(&r, buyers, &before, &after)
}

// sold is what sellers and buyers together say of auctions.
type sold struct {
	sellerResult
	pings, wanted int64         // that the buyers had, and that every auction asking every buyer would make
	peak          int64         // pings to one buyer in one second of the clock
	took          []int64       // from when a post was sent to the buyer's 201, sorted, in nanoseconds
	accepted      int64         // leads that the buyers took
	unknown       int           // leads that the seller was told are sold and no buyer has
	p99           time.Duration // of took
}

// account joins both sides. A lead that was sold twice, or a person in a ping,
// is no figure but an error.
func account(r *sellerResult, buyers int, before, after *bought) (*sold, error) {
	if after.DoubleSold > 0 || after.ContactSeen > 0 || after.Forgotten > 0 {
		return nil, fmt.Errorf("the buyers say: %d leads sold twice, %d pings with a person in them, %d posts forgotten",
			after.DoubleSold, after.ContactSeen, after.Forgotten)
	}
	s := &sold{
		sellerResult: *r, pings: after.Pings - before.Pings, wanted: int64(r.Sent) * int64(buyers),
		peak: after.PeakPings, accepted: after.Accepted - before.Accepted,
	}
	told := map[string]bool{}
	for _, p := range r.Posted {
		answered, known := after.leads[p.Lead]
		switch {
		case !known || told[p.Lead]:
			s.unknown++
		case p.Measured:
			s.took = append(s.took, answered.UnixNano()-p.Sent)
		}
		told[p.Lead] = true
	}
	if len(s.took) == 0 {
		return nil, errors.New("no post was sold to a buyer that knows of it")
	}
	slices.Sort(s.took)
	s.p99 = time.Duration(s.took[(len(s.took)*99+99)/100-1])
	return s, nil
}

func (s *sold) rows(what string) []row {
	lost := s.unsold()
	ms := func(ns int64) float64 { return float64(ns) / 1e6 }
	astray := int64(s.unknown) + max(s.accepted-int64(len(s.Posted)), 0)
	return []row{
		{
			what:     what + "auctions without a sale",
			measured: fmt.Sprintf("%d of %d (%d no-bids, %d refused, %d broken); %d of %d pings reached the buyers, at most %d a second", lost, s.Sent, s.NoBid, s.Refused, s.Broken, s.pings, s.wanted, s.peak),
			goal:     "none", verdict: atMost(float64(lost), 0, 0),
		},
		{
			what:     what + "over 5 s from arrival to 201",
			measured: fmt.Sprintf("%d", s.Overdue), goal: "none", verdict: atMost(float64(s.Overdue), 0, 0),
		},
		{
			what:     what + "sales that seller and buyers tell differently",
			measured: fmt.Sprintf("%d (the seller has %d answers of 201, the buyers %d leads)", astray, len(s.Posted), s.accepted),
			goal:     "none", verdict: atMost(float64(astray), 0, 0),
		},
		{
			what:     what + "p99 from the post to the buyer's 201",
			measured: fmt.Sprintf("%.2f ms (p50 %.2f, most %.2f)", ms(int64(s.p99)), ms(s.took[len(s.took)/2]), ms(s.took[len(s.took)-1])),
			goal:     "25 ms, at most 200 ms", verdict: atMost(ms(int64(s.p99)), 25, 200),
		},
		{
			what:     what + "p99 from the post to the seller's 201",
			measured: fmt.Sprintf("%.2f ms (p50 %.2f, most %.2f); the bids' p99 %.2f ms", ms(s.Post.P99), ms(s.Post.P50), ms(s.Post.Max), ms(s.Bid.P99)),
		},
	}
}
