package server

import (
	"fmt"
	"sync/atomic"

	"github.com/VictoriaMetrics/metrics"

	"pingpost/engine"
	"pingpost/engine/market"
)

// campaignMeter is what is counted of one campaign's auctions. A campaign that
// knows few outcomes has few lines, so a counter is made when it is first used.
type campaignMeter struct {
	set      *metrics.Set
	id       string
	auctions [reasons]atomic.Pointer[metrics.Counter] // by why there was no bid
	outcomes [market.Outcomes]atomic.Pointer[metrics.Counter]
}

const reasons = market.ReasonLoop + 1

// count adds to a counter that may be there yet or not.
func (c *campaignMeter) count(counter *atomic.Pointer[metrics.Counter], n int, name, label string, value fmt.Stringer) {
	known := counter.Load()
	if known == nil {
		known = c.set.GetOrCreateCounter(fmt.Sprintf(`%s{campaign=%q,%s=%q}`, name, c.id, label, value))
		counter.Store(known)
	}
	known.Add(n)
}

// Held counts an auction: how it ended, what its candidates came to, and how
// long each buyer took that was asked. A ping that found no campaign is counted
// under an empty one, and one over a test lead not at all.
func (m *Meter) Held(campaign *market.Campaign, _ *market.Supplier, h *engine.Held) {
	if h.Test {
		return
	}
	id := ""
	if campaign != nil {
		id = string(campaign.ID)
	}
	c := m.campaigns.of(id)
	c.count(&c.auctions[h.Reason], 1, "pingpost_auctions_total", "reason", h.Reason)
	for outcome, n := range h.Outcomes {
		if n > 0 {
			c.count(&c.outcomes[outcome], n, "pingpost_auction_candidates_total", "outcome", market.Outcome(outcome))
		}
	}
	m.auctions.Update(float64(h.Elapsed) / 1e9)
	m.auctionLap.add(h.Elapsed)
	m.asked.Add(uint64(len(h.Pings)))
	for i := range h.Pings {
		ping := &h.Pings[i]
		b := m.buyers.of(string(ping.Buyer.ID))
		b.pingTime.Update(float64(ping.Elapsed) / 1e9)
		b.answered(ping.Outcome, ping.Elapsed)
	}
}
