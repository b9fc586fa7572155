package engine_test

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"pingpost/engine"
	"pingpost/engine/market"
)

// leadViews returns the supplier's and the buyer's view of a lead.
func (x *testExchange) leadViews(lead market.LeadID, buyer string) string {
	until := time.Now().Add(time.Second).UnixNano()
	describe := func(l engine.LeadView, err error) string {
		if err != nil {
			return err.Error()
		}
		return fmt.Sprintf("%s/%s/%s %s %s %s%s", l.Status, l.Delivery, l.Return, l.Reason, l.Buyer, l.Price, l.Currency)
	}
	catalog := x.engine.ActiveCatalogOrNil()
	return describe(x.engine.ViewLeadForSupplier(lead, catalog.Suppliers["acme"].Ref, until)) + ", " +
		describe(x.engine.ViewLeadForBuyer(lead, catalog.Buyers[market.BuyerID(buyer)].Ref, until))
}

// Supplier and buyer see a lead from its first post on, each with its own amount.
func TestLeadViewsDuringDelivery(t *testing.T) {
	const nobody = "not found"
	tests := []struct {
		name   string
		script []postReply
		after  time.Duration
		buyer  string
		want   string
	}{
		{"during the post", []postReply{accepts.after(time.Second)}, ms, "blue", "OPEN/pending/none  blue 0, OPEN/pending/none  blue 0"},
		{"to another buyer", []postReply{accepts.after(time.Second)}, ms, "gold", "OPEN/pending/none  blue 0, " + nobody},
		{"after the acceptance", []postReply{accepts.after(time.Second)}, 2 * time.Second, "blue", "ACCEPTED/delivered/none  blue 8USD, ACCEPTED/delivered/none  blue 10USD"},
		{"after the answer", []postReply{hangs}, 6 * time.Second, "blue", "ACCEPTED/pending/none  blue 8USD, ACCEPTED/pending/none  blue 10USD"},
		{"unconfirmed", []postReply{serverError}, time.Hour, "blue", "ACCEPTED/unknown/none  blue 8USD, ACCEPTED/unknown/none  blue 10USD"},
		{"refused after the answer", []postReply{refuses.after(8 * time.Second)}, time.Hour, "blue", "UNMATCHED/failed/none post_rejected  0, UNMATCHED/failed/none post_rejected  0"},
		{"refused before the answer", []postReply{refuses}, time.Hour, "blue", "UNMATCHED/failed/none post_rejected  0, " + nobody},
	}
	for _, test := range tests {
		runInVirtualTime(t, test.name, func(t *testing.T) {
			r := returnsMarket(returnRule(nil)).withPostEndpoints()
			r.campaigns[0].filterSets = r.campaigns[0].filterSets[:1]
			x := newExchange(t, r)
			x.buyers.scriptPosts("blue", test.script...)
			sent := x.startIngest(leadRequest(1))
			time.Sleep(test.after)
			expectEqual(t, x.leadViews(x.onlyLead(), test.buyer), test.want)
			sent.wait()
		})
	}
}

// A view omits details that the log no longer has. If the log cannot be read, the view fails.
func TestLeadViewsWithoutHistory(t *testing.T) {
	for name, test := range map[string]struct {
		failure error
		want    string
	}{
		"past":   {engine.ErrGone, "ACCEPTED/none/none  blue 8USD, ACCEPTED/none/none  blue 10USD"},
		"broken": {errors.New("input/output error"), engine.ErrUnavailable.Error() + ", " + engine.ErrUnavailable.Error()},
	} {
		runInVirtualTime(t, name, func(t *testing.T) {
			x := newExchange(t, returnsMarket(returnRule(nil)), failingHistory(&test.failure))
			expectEqual(t, x.leadViews(x.soldLead(1).Lead, "blue"), test.want)
		})
	}
}
