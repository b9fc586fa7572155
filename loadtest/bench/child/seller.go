package child

import (
	"time"

	"pingpost/loadtest/load"
)

// SellerSpec describes a run of the seller of auctions.
type SellerSpec struct {
	Addr             string
	Connections      int
	Warmup, Duration time.Duration
	FirstLead        uint64
	Token, Vertical  string

	Rate     float64 // auctions a second; 0: a closed loop
	Even     bool    // auctions start at even intervals; otherwise as a Poisson process
	SellBids bool    // sell the lead for each bid
}

// SellerResult is the result of the seller. Latencies are in nanoseconds.
type SellerResult struct {
	Sent     uint64  // auctions, including the warm-up
	NextLead uint64  // number of the next lead
	Cores    float64 // cores that the seller used

	Done                            uint64 // measured auctions that ended as required
	NoBid, Refused, Broken, Overdue uint64
	Rate                            float64 // done a second
	Bid, Post                       Quantiles
	Posted                          []load.Posted
	FirstError                      string

	// The benchmark sets these: CPU seconds of the server, cores that the buyers used, and
	// the server's allocations for an auction.
	ServerSeconds, BuyerCores, Objects, Bytes float64
}

// Quantiles are quantiles of a latency.
type Quantiles struct{ P50, P99, Max int64 }

// runSeller runs the seller.
func runSeller(spec *SellerSpec) (*SellerResult, error) {
	began, used := time.Now(), processorTime()
	run := spec.runOpen
	if spec.Rate == 0 {
		run = spec.runClosed
	}
	r, err := run()
	if err != nil {
		return nil, err
	}
	r.Rate = float64(r.Done) / spec.Duration.Seconds()
	r.Cores = (processorTime() - used).Seconds() / time.Since(began).Seconds()
	return r, nil
}

func (s *SellerSpec) auctions() load.Auctions {
	return load.Auctions{Host: s.Addr, Token: s.Token, Vertical: s.Vertical}
}

// runClosed pings as fast as it receives answers.
func (s *SellerSpec) runClosed() (*SellerResult, error) {
	loop := load.ClosedLoop{
		Addr: s.Addr, Connections: s.Connections, Warmup: s.Warmup, Duration: s.Duration, First: s.FirstLead,
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
	r := &SellerResult{
		Done: m.Done, Refused: m.Refused, Broken: m.Broken, Sent: m.Sent, NextLead: m.Next,
		Bid: Quantiles{int64(m.At(50)), int64(m.At(99)), int64(m.At(100))},
	}
	if err := m.Err(); err != nil {
		r.FirstError = err.Error()
	}
	return r, nil
}

// runOpen holds auctions at a rate, independent of their completion.
func (s *SellerSpec) runOpen() (*SellerResult, error) {
	arrivals := load.Poisson(s.Rate, s.FirstLead)
	if s.Even {
		arrivals = load.Even(s.Rate)
	}
	sellers := make([]*load.Seller, s.Connections)
	loop := load.OpenLoop{
		Addr: s.Addr, Connections: s.Connections, Schedule: load.Schedule(arrivals, s.Warmup, s.Duration), First: s.FirstLead, Sleep: load.Sleep,
		Handler: func(line int) func(*load.Conn, load.Arrival) {
			sellers[line] = &load.Seller{Requests: s.auctions(), SellBids: s.SellBids, Sales: load.NewSales()}
			return sellers[line].Handle
		},
	}
	sent := loop.Run().Arrivals
	r := &SellerResult{Sent: sent, NextLead: s.FirstLead + sent}
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
	r.Posted, r.FirstError = all.Posted, all.FirstError
	return r, nil
}

// CPUPerAuction returns the server's CPU seconds for an auction.
func (r *SellerResult) CPUPerAuction() float64 { return r.ServerSeconds / float64(max(1, r.Sent)) }

// Unsold returns the number of measured auctions that did not end as required.
func (r *SellerResult) Unsold() uint64 { return r.NoBid + r.Refused + r.Broken }
