package engine_test

import (
	"fmt"
	"testing"

	"pingpost/engine/market"
)

// A buyer buys only from the suppliers of its filter set, at an ingest, in an auction and at a post.
func TestFilterSetSuppliers(t *testing.T) {
	for _, test := range []struct {
		name            string
		blue, blueNot   []string
		acme, bolt, cox string // answers to each supplier; gold buys only from bolt
	}{
		{"all", nil, nil, "blue", "blue", "blue"},
		{"only one", []string{"acme"}, nil, "blue", "gold", "filtered"},
		{"all except one", nil, []string{"acme"}, "filtered", "blue", "blue"},
		{"one of two", []string{"acme", "cox"}, []string{"cox"}, "blue", "gold", "filtered"},
		{"no supplier in common", []string{}, nil, "filtered", "gold", "filtered"},
	} {
		for _, method := range []market.BuyerSelectionMethod{market.Waterfall, market.PingPost} {
			r := marketOf(method, buyer{id: "blue", pingEndpoint: true, bid: "12"}, buyer{id: "gold", pingEndpoint: true})
			r.suppliers = []string{"bolt", "cox"}
			sets := r.campaigns[0].filterSets
			sets[0].suppliers, sets[0].notSuppliers, sets[1].suppliers = test.blue, test.blueNot, []string{"bolt"}
			runWithExchange(t, fmt.Sprintf("%s/%s", test.name, method), r, func(t *testing.T, x *testExchange) {
				var got []string
				for i, supplier := range []string{"acme", "bolt", "cox"} {
					got = append(got, x.ingestResult(leadRequest(i, "flo_supplier_id", supplier).fromSupplier(supplier)))
				}
				expectEqual(t, fmt.Sprint(got), fmt.Sprint([]string{test.acme, test.bolt, test.cox}))
			})
		}
	}
}

// A lead that accepts a bid is rejected if its buyer no longer buys from the supplier.
func TestAcceptedBidOfExcludedSupplier(t *testing.T) {
	runInVirtualTime(t, "", func(t *testing.T) {
		r := auctionMarket("blue")
		x := newExchange(t, r)
		accepted, rejected := x.pingAuction(supplierPing(1)), x.pingAuction(supplierPing(2))
		got := []string{x.saleResult(postFor(1, accepted))}
		r.campaigns[0].filterSets[0].notSuppliers = []string{"acme"}
		x.configure(r)
		got = append(got, x.saleResult(postFor(2, rejected)))
		expectEqual(t, got[1], "post_rejected filtered", got[0])
	})
}
