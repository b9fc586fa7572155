package auction

import (
	"cmp"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"pingpost/engine/market"
)

// Errors of Runner.
var (
	// ErrUnavailable is returned if the exchange stops or has too many pings in flight.
	ErrUnavailable = errors.New("the exchange holds no auctions right now")
	// ErrTooManyAuctions is returned if the supplier has too many open auctions.
	ErrTooManyAuctions = errors.New("the supplier has too many open auctions")
)

// Clock returns the time in Unix nanoseconds and starts timers. A timer sends one value on fired
// after d; stop releases it.
type Clock interface {
	Now() int64
	Timer(d time.Duration) (fired <-chan time.Time, stop func() bool)
}

// PingSender sends a ping to a buyer's endpoint and returns the buyer's answer. Ping returns by the
// request's deadline or shortly after it; a later answer does not count.
type PingSender interface {
	Ping(req *market.BuyerPingRequest) market.BuyerPingResult
}

// RunnerOptions are the functions that a Runner needs from the engine, and its limits.
type RunnerOptions struct {
	Clock       Clock
	Buyers      PingSender
	MaxPings    int64           // pings in flight at which no auction begins
	Stop        <-chan struct{} // closed when the exchange stops
	ReportPanic func(err error) // reports a panic of Buyers.Ping
}

// Runner runs auctions. It owns the goroutines that send pings, and it limits the pings in flight
// and the open auctions of each supplier. Its methods may be called concurrently.
type Runner struct {
	opt        RunnerOptions
	workers    pingWorkerPool
	collectors sync.Pool    // *bidCollector
	pings      atomic.Int64 // in flight
	open       openAuctionCounts
}

// NewRunner returns a Runner. It starts goroutines only when auctions need them.
func NewRunner(opt RunnerOptions) *Runner {
	r := &Runner{opt: opt}
	r.collectors.New = func() any { return newBidCollector(r) }
	return r
}

// AddOpenAuction counts a new auction of a supplier; the caller must call RemoveOpenAuction afterwards.
// ErrUnavailable: too many pings are in flight. ErrTooManyAuctions: the supplier is at its limit
// of open auctions.
func (r *Runner) AddOpenAuction(supplier *market.Supplier) error {
	if r.pings.Load() >= r.opt.MaxPings {
		return ErrUnavailable
	}
	if !r.open.incrementIfBelowLimit(supplier) {
		return ErrTooManyAuctions
	}
	return nil
}

// RemoveOpenAuction ends an auction that AddOpenAuction has counted for the supplier.
func (r *Runner) RemoveOpenAuction(supplier *market.Supplier) { r.open.decrement(supplier) }

// PingsInFlight returns the number of pings that await a buyer's answer, for metrics.
func (r *Runner) PingsInFlight() int64 { return r.pings.Load() }

// OpenAuctions returns the number of open auctions, for metrics. An auction is open from
// AddOpenAuction to RemoveOpenAuction.
func (r *Runner) OpenAuctions() int { return r.open.total() }

// Close ends the idle goroutines that send pings. Busy ones end after their ping.
func (r *Runner) Close() { r.workers.closePoolAndIdleWorkers() }

// openAuctionCounts counts the open auctions of each supplier.
type openAuctionCounts struct {
	mu    sync.Mutex
	count map[market.PermanentNumber]int
}

// defaultMaxAuctions is the limit of a supplier's open auctions if the configuration has none.
const defaultMaxAuctions = 1000

// MaxOpenAuctions returns the supplier's limit of open auctions: the configured one, or else the
// default.
func MaxOpenAuctions(supplier *market.Supplier) int {
	return cmp.Or(supplier.ConcurrentAuctions, defaultMaxAuctions)
}

// incrementIfBelowLimit counts a new auction of the supplier. It returns false, without counting, if
// the supplier is at its limit.
func (o *openAuctionCounts) incrementIfBelowLimit(supplier *market.Supplier) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.count[supplier.Ref] >= MaxOpenAuctions(supplier) {
		return false
	}
	if o.count == nil {
		o.count = make(map[market.PermanentNumber]int)
	}
	o.count[supplier.Ref]++
	return true
}

func (o *openAuctionCounts) decrement(supplier *market.Supplier) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.count[supplier.Ref] == 0 {
		panic("BUG: an auction ended twice")
	}
	o.count[supplier.Ref]--
}

func (o *openAuctionCounts) total() (n int) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, count := range o.count {
		n += count
	}
	return n
}
