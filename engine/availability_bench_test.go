//go:build !race

package engine_test

import (
	"fmt"
	"testing"
	"time"

	"pingpost/engine"
	"pingpost/engine/market"
)

// BenchmarkIngestIntoManyCampaigns ingests leads into 1,000 campaigns in turn. Each campaign has 50 of
// 2,000 buyers, with funds and caps. One sale in 20 fills the cap of a pair.
func BenchmarkIngestIntoManyCampaigns(b *testing.B) {
	const campaigns, buyers, perCampaign = 1000, 2000, 50
	var r marketSpec
	for i := range buyers {
		r.buyers = append(r.buyers, buyer{id: fmt.Sprintf("b%d", i), funds: "900000", caps: []string{"day 10000000"}})
	}
	for i := range campaigns {
		c := campaign{id: fmt.Sprintf("c%d", i), method: market.Waterfall, payout: "0.8"}
		for j := range perCampaign {
			c.filterSets = append(c.filterSets, filterSet{buyer: fmt.Sprintf("b%d", (i*7+j*41)%buyers), price: "0.01", caps: []string{fmt.Sprintf("day %d", 10+(i+j)%21)}})
		}
		r.campaigns = append(r.campaigns, c)
	}
	x := &testExchange{t: b, market: r, log: newMemoryLog(b), buyers: newFakeBuyers(b)}
	x.setOptions = func(opt *engine.Options) { opt.Log = new(instantLog) }
	x.startProcess()
	x.configure(r)
	b.Cleanup(x.log.close)
	requests := make([]engine.IngestRequest, 3*campaigns)
	for i := range requests {
		p := leadRequest(i, "flo_campaign_id", fmt.Sprintf("c%d", i%campaigns), "zip", "94110")
		requests[i] = engine.IngestRequest{Supplier: x.engine.ActiveCatalogOrNil().Suppliers["acme"], Members: p.members, Body: p.body, Request: market.RequestID{1}}
	}
	next := 0
	for b.Loop() {
		request := &requests[next%len(requests)]
		next++
		request.Received = time.Now().UnixNano()
		if answer, err := x.engine.Ingest(request); err != nil || !answer.Accepted {
			b.Fatalf("lead %d: %s", next, describeIngest(answer, err))
		}
	}
}
