package engine_test

import (
	"testing"
	"time"

	"pingpost/engine/market"
)

// Within a batch, a return counts only for later returns of the same month and campaign.
func TestReturnShareWithinBatch(t *testing.T) {
	for _, test := range []struct {
		name     string
		wait     time.Duration // between the sales of the first two leads and the last two
		campaign string        // of the last two
	}{
		{"two months", 31 * day, "auto"},
		{"two campaigns", 0, "home"},
	} {
		runInVirtualTime(t, test.name, func(t *testing.T) {
			r := returnsMarket(returnRule(func(r *market.ReturnRule) { r.MaxShare, r.Window = 500_000, 40*day }))
			home := r.campaigns[0]
			home.id = "home"
			r.campaigns = append(r.campaigns, home)
			x := newExchange(t, r)
			a, b := x.soldLead(1), x.soldLead(2)
			time.Sleep(test.wait)
			c, d := x.soldLead(3, "flo_campaign_id", test.campaign), x.soldLead(4, "flo_campaign_id", test.campaign)
			got := describeStatusAnswer(x.reportAll(newReport(a, "returned"), newReport(c, "returned"), newReport(b, "returned"), newReport(d, "returned")))
			expectEqual(t, got, "returned, returned, no: share, no: share")
		})
	}
}

func TestPendingReturnCountsWithinBatch(t *testing.T) {
	runWithExchange(t, "", returnsMarket(manualReturnRule(func(r *market.ReturnRule) { r.MaxShare = 500_000 })), func(t *testing.T, x *testExchange) {
		a, b := x.soldLead(1), x.soldLead(2)
		expectEqual(t, describeStatusAnswer(x.reportAll(newReport(a, "returned"), newReport(b, "returned"))), "ACCEPTED waiting, no: share")
	})
}
