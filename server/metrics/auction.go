package metrics

import (
	"fmt"
	"sync/atomic"

	"github.com/VictoriaMetrics/metrics"

	"pingpost/engine/auction"
	"pingpost/engine/market"
)

// campaignMeter counts the auctions of one campaign by result. It creates each counter at its
// first use, so that a campaign with few results has few lines in the metrics.
type campaignMeter struct {
	set      *metrics.Set
	id       string
	auctions [reasons]atomic.Pointer[metrics.Counter] // by the reason for no bid
	outcomes [market.OutcomeCount]atomic.Pointer[metrics.Counter]
}

const reasons = market.ReasonLoop + 1

// addToCounter adds n to a counter, and creates it if necessary. name, label and value form the
// counter's name in the metrics.
func (c *campaignMeter) addToCounter(counter *atomic.Pointer[metrics.Counter], n int, name, label string, value fmt.Stringer) {
	known := counter.Load()
	if known == nil {
		known = c.set.GetOrCreateCounter(fmt.Sprintf(`%s{campaign=%q,%s=%q}`, name, c.id, label, value))
		counter.Store(known)
	}
	known.Add(n)
}

// AuctionHeld counts an auction: its result, each candidate's outcome, and the time of each
// ping. If no campaign matched, it counts under an empty campaign id. Test auctions do not
// count.
func (m *Meter) AuctionHeld(campaign *market.Campaign, _ *market.Supplier, h *auction.AuctionSummary) {
	if h.Test {
		return
	}
	id := ""
	if campaign != nil {
		id = string(campaign.ID)
	}
	c := m.campaigns.get(id)
	c.addToCounter(&c.auctions[h.Reason], 1, "pingpost_auctions_total", "reason", h.Reason)
	for outcome, n := range h.Outcomes {
		if n > 0 {
			c.addToCounter(&c.outcomes[outcome], n, "pingpost_auction_candidates_total", "outcome", market.Outcome(outcome))
		}
	}
	m.auctions.Update(float64(h.Elapsed) / 1e9)
	m.auctionTimes.add(h.Elapsed)
	m.asked.Add(uint64(len(h.Pings)))
	for i := range h.Pings {
		ping := &h.Pings[i]
		b := m.buyers.get(string(ping.Buyer.ID))
		b.pingTime.Update(float64(ping.Elapsed) / 1e9)
		b.countPing(ping.Outcome, ping.Elapsed)
	}
}
