package main

import (
	"time"

	"pingpost/loadtest/load"
)

// sellerSpec is one run of the seller of auctions.
type sellerSpec struct {
	Addr            string
	Lines           int
	Warmup, Lasting time.Duration
	From            uint64
	Token, Vertical string

	Rate    float64 // auctions a second; 0: a closed loop, as many as the lines carry
	Even    bool    // the auctions come at even intervals; else as a Poisson process
	Selling bool    // each bid is sold
}

// sellerResult is what it measured. Times are in nanoseconds.
type sellerResult struct {
	Sent uint64  // auctions, those of the warm-up too
	Next uint64  // number of the next lead
	Busy float64 // cores that the seller used

	Done                            uint64 // of those measured: came to the end that was asked for
	NoBid, Refused, Broken, Overdue uint64
	Rate                            float64 // done, a second
	Bid, Post                       quantiles
	Posted                          []load.Posted
	Trouble                         string

	// What the bench fills in: seconds that the server used, cores that the
	// buyers did, and what the server has allocated for an auction.
	ServerTime, BuyersBusy, Objects, Bytes float64
}

// quantiles of a latency.
type quantiles struct{ P50, P99, Max int64 }

// sell is the seller.
func sell(spec *sellerSpec) (*sellerResult, error) {
	began, used := time.Now(), processorTime()
	run := spec.open
	if spec.Rate == 0 {
		run = spec.closed
	}
	r, err := run()
	if err != nil {
		return nil, err
	}
	r.Rate = float64(r.Done) / spec.Lasting.Seconds()
	r.Busy = (processorTime() - used).Seconds() / time.Since(began).Seconds()
	return r, nil
}

func (s *sellerSpec) auctions() load.Auctions {
	return load.Auctions{Host: s.Addr, Token: s.Token, Vertical: s.Vertical}
}

// closed pings as fast as it is answered.
func (s *sellerSpec) closed() (*sellerResult, error) {
	loop := load.Closed{
		Addr: s.Addr, Connections: s.Lines, Warmup: s.Warmup, Duration: s.Lasting, From: s.From,
		Requests: func() func([]byte, uint64) []byte {
			auctions := s.auctions()
			return auctions.AppendPing
		},
		Good: load.HasBid,
	}
	m, err := loop.Run()
	if err != nil {
		return nil, err
	}
	r := &sellerResult{
		Done: m.Done, Refused: m.Refused, Broken: m.Broken, Sent: m.Sent, Next: m.Next,
		Bid: quantiles{int64(m.At(50)), int64(m.At(99)), int64(m.At(100))},
	}
	if err := m.Err(); err != nil {
		r.Trouble = err.Error()
	}
	return r, nil
}

// open holds auctions at a rate, whatever becomes of them.
func (s *sellerSpec) open() (*sellerResult, error) {
	arrivals := load.Poisson(s.Rate, s.From)
	if s.Even {
		arrivals = load.Every(s.Rate)
	}
	sellers := make([]*load.Seller, s.Lines)
	loop := load.Open{
		Addr: s.Addr, Lines: s.Lines, Calendar: load.Calendar(arrivals, s.Warmup, s.Lasting), From: s.From, Sleep: load.Nap,
		Visit: func(line int) func(*load.Line, load.Arrival) {
			sellers[line] = &load.Seller{Requests: s.auctions(), Sells: s.Selling, Sales: load.NewSales()}
			return sellers[line].Visit
		},
	}
	sent := loop.Run().Arrivals
	r := &sellerResult{Sent: sent, Next: s.From + sent}
	all := load.NewSales()
	for _, seller := range sellers {
		all.Add(&seller.Sales)
	}
	at := func(q float64) (bid, post int64) {
		return all.Bids.ValueAtPercentile(q), all.Posts.ValueAtPercentile(q)
	}
	r.Bid.P50, r.Post.P50 = at(50)
	r.Bid.P99, r.Post.P99 = at(99)
	r.Bid.Max, r.Post.Max = at(100)
	r.Done, r.NoBid, r.Refused, r.Broken, r.Overdue = all.Sold, all.NoBid, all.Refused, all.Broken, all.Late
	r.Posted, r.Trouble = all.Posted, all.Trouble
	return r, nil
}
