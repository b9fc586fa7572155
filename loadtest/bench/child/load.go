package child

import (
	"syscall"
	"time"

	"pingpost/loadtest/load"
)

// LoadSpec describes a run of a client. With Campaigns it sends leads, otherwise it holds
// auctions.
type LoadSpec struct {
	Addr             string
	Addrs            []string // if not empty, requests go to these addresses in turn, and not to Addr
	Connections      int
	Rate             float64 // arrivals a second; 0: a closed loop
	Even             bool    // arrivals at even intervals; otherwise a Poisson process
	Warmup, Duration time.Duration
	FirstLead        uint64

	APIKey    string // of the supplier of leads
	Campaigns []string

	Token, Vertical string // of auctions
	SellBids        bool   // sell the lead for each bid
	Bidders         int    // of auctions in OpenRTB; 0: auctions of the ping-post API
}

// LoadResult is the result of a client. Latencies are in nanoseconds.
type LoadResult struct {
	Sent     uint64  // leads or auctions, including the warm-up
	NextLead uint64  // number of the next lead
	Cores    float64 // cores that the client used

	Done                         uint64 // measured leads or auctions that ended as required
	NoBid, Refused, Broken, Late uint64
	Rate                         float64 // done a second
	Body                         uint64  // bytes of an answer's body
	Latency, Post                Quantiles
	Posted                       []load.Posted
	FirstError                   string

	// The benchmark sets these: CPU seconds of the server, cores that the buyers used, and
	// the server's allocations for an auction.
	ServerSeconds, BuyerCores, Objects, Bytes float64
}

// Quantiles are quantiles of a latency.
type Quantiles struct{ P50, P99, Max int64 }

func (s *LoadSpec) newClient() *load.Client {
	if len(s.Campaigns) > 0 {
		return load.NewSupplier(load.Ingest{Leads: load.Leads{Supplier: SupplierID, Campaigns: s.Campaigns}, Host: s.Addr, Key: s.APIKey})
	}
	if s.Bidders > 0 {
		return load.NewPublisher(load.OpenRTB{Host: s.Addr, Bidders: s.Bidders})
	}
	return load.NewSeller(load.Auctions{Host: s.Addr, Token: s.Token, Vertical: s.Vertical}, s.SellBids)
}

// inTurn returns a handler that sends arrivals to the addresses in turn. Each address has its own connection.
func (s *LoadSpec) inTurn(handle func(*load.Conn, load.Arrival)) func(*load.Conn, load.Arrival) {
	if len(s.Addrs) == 0 {
		return handle
	}
	conns := make([]*load.Conn, len(s.Addrs)) // open until this process ends
	for i, addr := range s.Addrs {
		conns[i] = load.NewConn(addr)
	}
	return func(_ *load.Conn, at load.Arrival) { handle(conns[at.Number%uint64(len(conns))], at) }
}

// runLoad runs the client.
func runLoad(spec *LoadSpec) (*LoadResult, error) {
	began, used := time.Now(), processorTime()
	clients := make([]*load.Client, spec.Connections)
	handler := func(line int) func(*load.Conn, load.Arrival) {
		clients[line] = spec.newClient()
		return spec.inTurn(clients[line].Handle)
	}
	next := spec.FirstLead
	if spec.Rate == 0 {
		loop := load.ClosedLoop{
			Addr: spec.Addr, Connections: spec.Connections, Warmup: spec.Warmup, Duration: spec.Duration, First: next, Handler: handler,
		}
		next = loop.Run()
	} else {
		arrivals := load.Poisson(spec.Rate, spec.FirstLead)
		if spec.Even {
			arrivals = load.Even(spec.Rate)
		}
		loop := load.OpenLoop{
			Addr: spec.Addr, Connections: spec.Connections, Schedule: load.Schedule(arrivals, spec.Warmup, spec.Duration), First: next,
			Sleep: load.Sleep, Handler: handler,
		}
		next += loop.Run().Arrivals
	}
	all := load.NewResult()
	for _, c := range clients {
		all.Add(&c.Result)
	}
	quantile := func(q float64) (first, post int64) {
		return all.Latency.ValueAtPercentile(q), all.Posts.ValueAtPercentile(q)
	}
	r := &LoadResult{
		Sent: all.Sent, NextLead: next, Cores: (processorTime() - used).Seconds() / time.Since(began).Seconds(),
		Done: all.Done, NoBid: all.NoBid, Refused: all.Refused, Broken: all.Broken, Late: all.Late,
		Rate: float64(all.Done) / spec.Duration.Seconds(), Body: all.Bytes / max(1, all.Done),
		Posted: all.Posted, FirstError: all.FirstError,
	}
	r.Latency.P50, r.Post.P50 = quantile(50)
	r.Latency.P99, r.Post.P99 = quantile(99)
	r.Latency.Max, r.Post.Max = quantile(100)
	return r, nil
}

// processorTime returns the CPU time of this process.
func processorTime() time.Duration {
	var usage syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &usage) != nil {
		return 0
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}

// ServerSecondsEach returns the server's CPU seconds for a lead or an auction.
func (r *LoadResult) ServerSecondsEach() float64 { return r.ServerSeconds / float64(max(1, r.Sent)) }

// FailedRequests returns the number of leads or auctions that did not end as required.
func (r *LoadResult) FailedRequests() uint64 { return r.NoBid + r.Refused + r.Broken }
