package server

import (
	"errors"
	"time"

	"pingpost/engine"
	"pingpost/engine/market"
)

// reading is what the meter had counted at a time.
type reading struct {
	at      time.Time
	leads   uint64 // decided for a supplier, or posted by a seller; no test leads
	sold    uint64
	pings   uint64 // that buyers were asked by
	posts   uint64 // tries
	auction lapCounts
	ingest  lapCounts
	commit  lapCounts
	buyers  map[string]buyerReading // nil: they were not read
}

// buyerReading is what it had counted of one buyer.
type buyerReading struct {
	asked, bids, wins, timeouts, errors uint64
	posts, failed                       uint64
	pings                               lapCounts
}

// read reads all that is counted of the whole, and nothing of buyers.
func (m *Meter) read(now time.Time) (r reading) {
	r.at, r.sold = now, m.accepted.Get()+m.sales.Load()
	r.leads = r.sold + m.unsold.Load()
	for _, counter := range m.reasons {
		if counter != nil {
			r.leads += counter.Get()
		}
	}
	for _, counter := range m.posts {
		if counter != nil {
			r.posts += counter.Get()
		}
	}
	r.pings, r.auction, r.ingest = m.asked.Load(), m.auctionLap.counts(), m.ingestLap.counts()
	for i := range m.laps {
		r.commit.add(m.laps[i][phaseCommit].counts())
	}
	return r
}

// readBuyers reads what is counted of each buyer that was met.
func (m *Meter) readBuyers() map[string]buyerReading {
	met := m.buyers.all()
	all := make(map[string]buyerReading, len(met))
	for id, b := range met {
		all[id] = b.read()
	}
	return all
}

func (b *buyerMeter) read() (r buyerReading) {
	r.asked, r.bids, r.wins = b.asked.Load(), b.bids.Load(), b.wins.Load()
	r.timeouts, r.errors, r.failed = b.timeouts.Load(), b.errors.Load(), b.failed.Load()
	for _, counter := range b.posts {
		if counter != nil {
			r.posts += counter.Get()
		}
	}
	r.pings = b.pings.counts()
	return r
}

// since is what was counted after an earlier reading.
func (r *buyerReading) since(earlier *buyerReading) buyerReading {
	return buyerReading{
		asked: r.asked - earlier.asked, bids: r.bids - earlier.bids, wins: r.wins - earlier.wins,
		timeouts: r.timeouts - earlier.timeouts, errors: r.errors - earlier.errors,
		posts: r.posts - earlier.posts, failed: r.failed - earlier.failed, pings: r.pings.since(&earlier.pings),
	}
}

// answered counts what a ping to the buyer came to.
func (b *buyerMeter) answered(outcome market.Outcome, elapsed int64) {
	b.asked.Add(1)
	b.pings.add(elapsed)
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

// postedBySeller counts a seller's post: the lead that its buyer has, or that nobody has.
// What was refused before it was a lead is none.
func (m *Meter) postedBySeller(answer *engine.SaleAnswer, err error, test bool) {
	var refusal *engine.Refusal
	switch {
	case test:
	case err == nil && !answer.Replayed:
		m.sales.Add(1)
	case errors.As(err, &refusal) && refusal.Code == engine.PostRejected && !refusal.Replayed:
		m.unsold.Add(1)
	}
}

// lapCounts are a histogram's counts at a time.
type lapCounts [len(lapBounds) + 1]uint64

func (h *lapHistogram) counts() (c lapCounts) {
	for i := range h.buckets {
		c[i] = h.buckets[i].Load()
	}
	return c
}

func (c *lapCounts) add(other lapCounts) {
	for i, n := range other {
		c[i] += n
	}
}

func (c *lapCounts) since(earlier *lapCounts) (d lapCounts) {
	for i := range c {
		d[i] = c[i] - earlier[i]
	}
	return d
}

// quantile is how long the given share took at most, in milliseconds, taken evenly
// between a bucket's bounds; false: there is nothing to tell it from.
func (c *lapCounts) quantile(share float64) (milliseconds float64, ok bool) {
	total := uint64(0)
	for _, n := range c {
		total += n
	}
	if total == 0 {
		return 0, false
	}
	rank, below, lower := share*float64(total), 0.0, 0.0
	for i, bound := range lapBounds {
		n := float64(c[i])
		if n > 0 && below+n >= rank {
			return (lower + (float64(bound)-lower)*(rank-below)/n) / 1e6, true
		}
		below, lower = below+n, float64(bound)
	}
	return lower / 1e6, true
}
