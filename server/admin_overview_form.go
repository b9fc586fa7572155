package server

import (
	"cmp"
	"encoding/json"
	"math"
	"slices"

	"pingpost/engine"
	"pingpost/engine/event"
	"pingpost/engine/market"
)

// overview is how the exchange stands, as it is told.
type overview struct {
	At          string          `json:"at"`
	Tenant      string          `json:"tenant"`
	Version     string          `json:"version"`
	Sandbox     bool            `json:"sandbox"`
	Uptime      int64           `json:"uptime_s"`
	Ready       bool            `json:"ready"`
	Rates       overviewRates   `json:"rates"`
	Today       []overviewDay   `json:"today"`
	SellThrough *float64        `json:"sell_through"`
	Latency     overviewLatency `json:"latency"`
	Series      []overviewStep  `json:"series"`
	Buyers      []overviewBuyer `json:"buyers"`
	Webhooks    overviewHooks   `json:"webhooks"`
	Returns     int             `json:"returns_waiting"`
	Unknown     int             `json:"deliveries_unknown"`
	Report      overviewReport  `json:"report"`
	Backup      Backup          `json:"backup"`
	Log         overviewLog     `json:"log"`
	DiskFree    uint64          `json:"disk_free_bytes"`
}

type (
	overviewRates struct {
		Leads float64 `json:"leads_s"`
		Pings float64 `json:"pings_s"`
		Posts float64 `json:"posts_s"`
		Sold  float64 `json:"sold_s"`
	}
	overviewDay struct {
		Currency string          `json:"currency"`
		Leads    int64           `json:"leads"`
		Sold     int64           `json:"sold"`
		Revenue  json.RawMessage `json:"revenue"`
		Payout   json.RawMessage `json:"payout"`
		Margin   json.RawMessage `json:"margin"`
	}
	overviewLatency struct {
		AuctionMedian *float64 `json:"auction_p50_ms"`
		AuctionSlow   *float64 `json:"auction_p99_ms"`
		IngestMedian  *float64 `json:"ingest_p50_ms"`
		IngestSlow    *float64 `json:"ingest_p99_ms"`
		CommitSlow    *float64 `json:"commit_p99_ms"`
	}
	overviewStep struct {
		At    string `json:"at"`
		Leads uint64 `json:"leads"`
		Sold  uint64 `json:"sold"`
		Pings uint64 `json:"pings"`
	}
	overviewBuyer struct {
		ID       string   `json:"id"`
		Name     string   `json:"name"`
		Paused   bool     `json:"paused"`
		Health   string   `json:"health"`
		Asked    uint64   `json:"asked"`
		Bids     uint64   `json:"bids"`
		Wins     uint64   `json:"wins"`
		Timeouts uint64   `json:"timeouts"`
		Median   *float64 `json:"p50_ms"`
		Slow     *float64 `json:"p99_ms"`
	}
	overviewHooks struct {
		Waiting int `json:"waiting"`
		Dead    int `json:"dead"`
	}
	overviewReport struct {
		Kept bool     `json:"kept"`
		Lag  *float64 `json:"lag_s"`
	}
	overviewLog struct {
		Seq uint64 `json:"seq"`
	}
)

// latencyOf is how long things took in the last minute.
func latencyOf(g *glance) overviewLatency {
	auction, ingest, commit := g.now.auction.since(&g.minute.auction), g.now.ingest.since(&g.minute.ingest), g.now.commit.since(&g.minute.commit)
	return overviewLatency{
		AuctionMedian: quantileOf(&auction, 0.5), AuctionSlow: quantileOf(&auction, 0.99),
		IngestMedian: quantileOf(&ingest, 0.5), IngestSlow: quantileOf(&ingest, 0.99), CommitSlow: quantileOf(&commit, 0.99),
	}
}

// quantileOf is a quantile; nil: nothing was counted.
func quantileOf(c *lapCounts, share float64) *float64 {
	at, ok := c.quantile(share)
	if !ok {
		return nil
	}
	at = thousandths(at)
	return &at
}

func thousandths(x float64) float64 { return math.Round(x*1000) / 1000 }

// mostBuyers is of how many buyers an overview tells: of those that were asked most.
const mostBuyers = 200

// buyers are those of the configuration in force, and how they have been.
func (o *overviews) buyers(e *engine.Engine, g *glance) []overviewBuyer {
	all := []overviewBuyer{}
	catalog := e.Catalog()
	if catalog == nil {
		return all
	}
	for id, buyer := range catalog.Buyers {
		now, then := g.buyersNow[string(id)], g.buyersThen[string(id)]
		all = append(all, buyerLately(e, buyer, now.since(&then)))
	}
	slices.SortFunc(all, func(x, y overviewBuyer) int {
		return cmp.Or(cmp.Compare(y.Asked, x.Asked), cmp.Compare(x.ID, y.ID))
	})
	return all[:min(len(all), mostBuyers)]
}

func buyerLately(e *engine.Engine, buyer *market.Buyer, lately buyerReading) overviewBuyer {
	paused, _ := e.State().Paused(event.NameBuyer, buyer.Ref)
	return overviewBuyer{
		ID: string(buyer.ID), Name: buyer.Name, Paused: paused, Health: health(&lately),
		Asked: lately.asked, Bids: lately.bids, Wins: lately.wins, Timeouts: lately.timeouts,
		Median: quantileOf(&lately.pings, 0.5), Slow: quantileOf(&lately.pings, 0.99),
	}
}
