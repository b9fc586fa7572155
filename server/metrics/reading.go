package metrics

import (
	"time"

	"pingpost/engine/market"
)

// MeterReading has the values of the meter's counters at one time.
type MeterReading struct {
	At      time.Time
	Leads   uint64 // ingested or posted, without test leads
	Sold    uint64 // settled sales, as in reports; a late one can follow its lead by minutes
	Pings   uint64 // to buyers
	Posts   uint64 // attempts
	Auction HistogramCounts
	Ingest  HistogramCounts
	Commit  HistogramCounts
	buyers  map[string]BuyerReading // nil: not sampled
}

// BuyerReading has the values of one buyer's counters at one time, or their increase since an
// earlier time.
type BuyerReading struct {
	Asked, Bids, Wins, Timeouts, errors uint64
	Posts, failed                       uint64
	Sales                               uint64 // with and without an auction; no test leads
	Pings                               HistogramCounts
}

// readCountersWithoutBuyers returns the current values of the meter's counters, without those of the buyers.
func (m *Meter) readCountersWithoutBuyers(now time.Time) (r MeterReading) {
	r.At, r.Sold, r.Leads = now, m.sold.Load(), m.accepted.Get()
	for _, counter := range m.reasons {
		if counter != nil {
			r.Leads += counter.Get()
		}
	}
	for _, counter := range m.posts {
		if counter != nil {
			r.Posts += counter.Get()
		}
	}
	r.Pings, r.Auction, r.Ingest = m.asked.Load(), m.auctionTimes.bucketCounts(), m.ingestTimes.bucketCounts()
	for i := range m.phases {
		r.Commit.add(m.phases[i][phaseCommit].bucketCounts())
	}
	return r
}

// readBuyers returns the current values of the counters of all buyers that got a ping or post
// so far.
func (m *Meter) readBuyers() map[string]BuyerReading {
	met := m.buyers.all()
	all := make(map[string]BuyerReading, len(met))
	for id, b := range met {
		all[id] = b.currentReading()
	}
	return all
}

func (b *buyerMeter) currentReading() (r BuyerReading) {
	r.Asked, r.Bids, r.Wins = b.asked.Load(), b.bids.Load(), b.wins.Load()
	r.Timeouts, r.errors, r.failed, r.Sales = b.timeouts.Load(), b.errors.Load(), b.failed.Load(), b.sales.Load()
	for _, counter := range b.posts {
		if counter != nil {
			r.Posts += counter.Get()
		}
	}
	r.Pings = b.pings.bucketCounts()
	return r
}

// IncreaseSince returns how much each counter rose since an earlier reading.
func (r *BuyerReading) IncreaseSince(earlier *BuyerReading) BuyerReading {
	return BuyerReading{
		Asked: r.Asked - earlier.Asked, Bids: r.Bids - earlier.Bids, Wins: r.Wins - earlier.Wins,
		Timeouts: r.Timeouts - earlier.Timeouts, errors: r.errors - earlier.errors,
		Posts: r.Posts - earlier.Posts, failed: r.failed - earlier.failed, Sales: r.Sales - earlier.Sales, Pings: r.Pings.IncreaseSince(&earlier.Pings),
	}
}

// countPing counts a ping to the buyer by its outcome, and its duration in nanoseconds.
func (b *buyerMeter) countPing(outcome market.BuyerOutcome, elapsedNanos int64) {
	b.asked.Add(1)
	b.pings.add(elapsedNanos)
	switch outcome {
	case market.OutcomeWon:
		b.wins.Add(1)
		b.bids.Add(1)
	case market.OutcomeLost, market.OutcomeBelowFloor, market.OutcomeWrongCurrency, market.OutcomeCapped, market.OutcomeNoFunds:
		b.bids.Add(1)
	case market.OutcomeTimeout, market.OutcomeLate:
		b.timeouts.Add(1)
	case market.OutcomeError, market.OutcomeInvalid:
		b.errors.Add(1)
	}
}

// HistogramCounts has the number of durations in each bucket of a durationHistogram at one time.
type HistogramCounts [len(histogramBounds) + 1]uint64

func (h *durationHistogram) bucketCounts() (c HistogramCounts) {
	for i := range h.buckets {
		c[i] = h.buckets[i].Load()
	}
	return c
}

func (c *HistogramCounts) add(other HistogramCounts) {
	for i, n := range other {
		c[i] += n
	}
}

func (c *HistogramCounts) IncreaseSince(earlier *HistogramCounts) (d HistogramCounts) {
	for i := range c {
		d[i] = c[i] - earlier[i]
	}
	return d
}

// Quantile returns a quantile of the durations in milliseconds, such as the median for quantile
// 0.5. It interpolates within a bucket. ok is false if there are no durations.
func (c *HistogramCounts) Quantile(quantile float64) (milliseconds float64, ok bool) {
	total := uint64(0)
	for _, n := range c {
		total += n
	}
	if total == 0 {
		return 0, false
	}
	rank, below, lower := quantile*float64(total), 0.0, 0.0
	for i, bound := range histogramBounds {
		n := float64(c[i])
		if n > 0 && below+n >= rank {
			return (lower + (float64(bound)-lower)*(rank-below)/n) / 1e6, true
		}
		below, lower = below+n, float64(bound)
	}
	return lower / 1e6, true
}
