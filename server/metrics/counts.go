package metrics

import "pingpost/engine/market"

// TradeCounts has the counters from which alerts compute rates, all of which count since the start
// of the process.
type TradeCounts struct {
	Leads, Sold uint64 // without test leads
	Buyers      map[string]BuyerCounts
}

// BuyerCounts has the counters of one buyer.
type BuyerCounts struct {
	Requests  uint64 // pings and attempts to post
	Failures  uint64 // of Requests: timeouts, errors, and posts that failed on the way
	Decisions uint64 // posts that the buyer accepted or refused
	Accepted  uint64 // of Decisions
}

// ReadTradeCounts returns the current counters. It takes no lock that requests wait for.
func (m *Meter) ReadTradeCounts() TradeCounts {
	all := TradeCounts{Sold: m.sold.Load(), Leads: m.accepted.Get()}
	for _, counter := range m.reasons {
		if counter != nil {
			all.Leads += counter.Get()
		}
	}
	met := m.buyers.all()
	all.Buyers = make(map[string]BuyerCounts, len(met))
	for id, b := range met {
		all.Buyers[id] = b.readCounts()
	}
	return all
}

func (b *buyerMeter) readCounts() (c BuyerCounts) {
	// The failures are read first, so that they never exceed the requests.
	c.Failures = b.timeouts.Load() + b.errors.Load() + b.failed.Load()
	c.Accepted = b.posts[market.VerdictAccepted].Get()
	c.Decisions = c.Accepted + b.posts[market.VerdictRefused].Get()
	c.Requests = b.asked.Load()
	for _, counter := range b.posts {
		if counter != nil {
			c.Requests += counter.Get()
		}
	}
	return c
}
