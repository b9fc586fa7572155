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

// addToCounter adds increment to a counter, and creates it if necessary. metricName, labelName and
// labelValue form the counter's name in the metrics.
func (c *campaignMeter) addToCounter(cachedCounter *atomic.Pointer[metrics.Counter], increment int, metricName, labelName string, labelValue fmt.Stringer) {
	known := cachedCounter.Load()
	if known == nil {
		known = c.set.GetOrCreateCounter(fmt.Sprintf(`%s{campaign=%q,%s=%q}`, metricName, c.id, labelName, labelValue))
		cachedCounter.Store(known)
	}
	known.Add(increment)
}

// AuctionHeldOrSkipped counts an auction: its result, each candidate's outcome, and the time of each
// ping. If no campaign matched, it counts under an empty campaign id. Test auctions do not
// count.
func (m *Meter) AuctionHeldOrSkipped(campaign *market.Campaign, _ *market.Supplier, summary *auction.AuctionOutcomeSummary) {
	if summary.Test {
		return
	}
	id := ""
	if campaign != nil {
		id = string(campaign.ID)
	}
	c := m.campaigns.getOrCreate(id)
	c.addToCounter(&c.auctions[summary.Reason], 1, "pingpost_auctions_total", "reason", summary.Reason)
	for outcome, n := range summary.Outcomes {
		if n > 0 {
			c.addToCounter(&c.outcomes[outcome], n, "pingpost_auction_candidates_total", "outcome", market.BuyerOutcome(outcome))
		}
	}
	m.auctions.Update(float64(summary.Elapsed) / 1e9)
	m.auctionTimes.add(summary.Elapsed)
	m.asked.Add(uint64(len(summary.Pings)))
	for i := range summary.Pings {
		ping := &summary.Pings[i]
		b := m.buyers.getOrCreate(string(ping.Buyer.ID))
		b.pingTime.Update(float64(ping.Elapsed) / 1e9)
		b.countPing(ping.Outcome, ping.Elapsed)
	}
}
