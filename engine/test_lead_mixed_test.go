package engine_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"time"

	"pingpost/engine/market"
)

// mixedMarket is a market of every method with all that a lead can take: caps of every
// kind, money, turns, values.
func mixedMarket() marketSpec {
	names := []string{"blue", "gold", "red"}
	r := marketSpec{testSuppliers: []string{"sandy"}}
	for i, name := range names {
		r.buyers = append(r.buyers, buyer{
			id: name, postEndpoint: i != 2, pingEndpoint: true, testEndpoints: true, pingRate: 50, funds: fmt.Sprint(150 + 70*i), caps: []string{fmt.Sprint("hour ", 9+i)},
		})
	}
	r.buyers[2].postEndpoint = true
	r.buyers = append(r.buyers, buyer{id: "vault", funds: "300"})
	seats := func(caps ...string) (all []filterSet) {
		for i, b := range r.buyers {
			all = append(all, filterSet{buyer: b.id, price: fmt.Sprint(9 - i), weight: 1 + i, caps: caps})
		}
		return all
	}
	r.campaigns = []campaign{
		{id: "falls", method: market.Waterfall, payout: "0.8", caps: []string{"day 25"}, duplicates: anyOf, filterSets: seats("day 7")},
		{id: "turns", method: market.RoundRobin, duplicates: byBuyer, filterSets: seats()},
		{id: "weighs", method: market.Weighted, caps: []string{"total $400"}, duplicates: byPhone, filterSets: seats("total 12")},
		{id: "bids", vertical: "boats", method: market.PingPost, payout: "0.5", duplicates: byEmail, filterSets: seats()[:3]},
	}
	return r
}

// mixedResult is all that the leads in earnest came to, and took.
type mixedResult struct {
	answers []string
	ledger  *ledgerModel
}

// sellMixedLeads sends so many leads in earnest, one a second, and with them any number
// of tests if there are to be such.
func sellMixedLeads(t *testing.T, seed uint64, withTests bool) (came mixedResult) {
	x := newExchange(t, mixedMarket())
	x.buyers.replyTo = func(p *receivedPost) postReply {
		buyerRandom := rand.New(rand.NewPCG(seed, uint64(len(p.buyer))<<40^uint64(p.person[7]-'0')<<20^uint64(p.person[11]-'0')<<8^uint64(p.attempt)))
		return []postReply{accepts, accepts.after(300 * ms), accepts.after(700 * ms), refuses.after(100 * ms), refuses, serverError, unreachable, acceptsSilently.after(50 * ms), busy(time.Second)}[buyerRandom.IntN(9)]
	}
	for i, name := range []string{"blue", "gold", "red"} {
		x.buyers.scriptBids(name, bids(fmt.Sprint(5+i)))
		x.buyers.scriptBids(testBuyerID(name), pingError, bids(fmt.Sprint(20-i)), noBid, neverBids, bids("7").ignoringDeadline(3*time.Second), rateLimited)
	}
	random := rand.New(rand.NewPCG(seed, 1))
	tests := rand.New(rand.NewPCG(seed, 2))
	var underway sync.WaitGroup
	for i := range 120 {
		to := []string{"falls", "turns", "weighs", "bids"}[random.IntN(4)]
		who := random.IntN(90)
		lead := leadRequest(who, "flo_campaign_id", to)
		if withTests {
			for range tests.IntN(4) {
				x.startTestLead(&underway, tests, who)
			}
		}
		if to == "bids" && random.IntN(2) == 0 {
			a := x.pingAuction(supplierPing(1000+i, "vertical", "boats"))
			came.answers = append(came.answers, x.saleResult(postFor(who, a).withKey(fmt.Sprint("post-", i))))
		} else {
			came.answers = append(came.answers, x.ingestResult(lead))
		}
		time.Sleep(time.Until(virtualStart.Add(time.Duration(i+1) * 10 * time.Second)))
	}
	underway.Wait()
	time.Sleep(time.Minute)
	came.ledger = sumEvents(t, x.log.durable(), x.engine.ActiveCatalog(), x.highestLimits)
	return came
}

// startTestLead sends a test of any kind, on a goroutine of its own.
func (x *testExchange) startTestLead(underway *sync.WaitGroup, random *rand.Rand, who int) {
	n := int(x.counter.Add(1))
	to := []string{"falls", "turns", "weighs", "bids"}[random.IntN(4)]
	kind, wait := random.IntN(5), time.Duration(random.IntN(2000))*ms
	underway.Go(func() {
		time.Sleep(wait)
		lead := leadRequest(who, "flo_campaign_id", to)
		switch kind {
		case 0:
			x.ingestResult(lead.asTest().withKey(fmt.Sprint("try-", n)))
		case 1:
			x.ingestResult(leadRequest(who, "flo_campaign_id", to, "flo_supplier_id", "sandy").fromSupplier("sandy"))
		case 2:
			_, _ = x.requestAvailability(availabilityRequest("flo_campaign_id", "bids").asTest())
		case 3:
			if a, err := x.ping(supplierPing(n, "vertical", "boats").asTest()); err == nil && a.Bid {
				x.saleResult(postFor(who, auctionInfo{id: a.SellerAuction, token: string(a.Token.AppendTo(nil))}).withKey(fmt.Sprint("try-", n)).asTest())
			}
		default:
			if a, err := x.requestAvailability(availabilityRequest("flo_campaign_id", "bids").asTest()); err == nil && len(a.Offers) > 0 {
				x.ingestResult(leadRequest(who, "flo_campaign_id", "bids", "flo_ping_id", market.PingID(a.Auction).String(), "flo_buyer_id", a.Offers[0].Buyer).asTest())
			}
		}
	})
}

// Whatever is tried out between them, leads in earnest go where they would have
// gone, and caps and money are what they would have been.
func TestTestsChangeNothingForOthers(t *testing.T) {
	seeds := uint64(25)
	if testing.Short() {
		seeds = 5
	}
	for seed := range seeds {
		var without, with mixedResult
		runInVirtualTime(t, fmt.Sprint(seed, " without"), func(t *testing.T) { without = sellMixedLeads(t, seed, false) })
		runInVirtualTime(t, fmt.Sprint(seed, " with"), func(t *testing.T) { with = sellMixedLeads(t, seed, true) })
		if a, b := strings.Join(without.answers, "\n"), strings.Join(with.answers, "\n"); a != b {
			t.Fatalf("seed %d: leads in earnest came to other things:\n%s\nwith tests between them:\n%s", seed, a, b)
		}
		a, b := without.ledger, with.ledger
		if !maps.Equal(a.caps, b.caps) || !maps.Equal(a.balance, b.balance) || !maps.Equal(a.onHold, b.onHold) || !maps.Equal(a.sold, b.sold) || !maps.Equal(a.campaign, b.campaign) {
			t.Errorf("seed %d: taken %+v, with tests %+v", seed, a, b)
		}
		if len(b.status) < len(a.status)+20 {
			t.Errorf("seed %d: only %d leads and %d with tests", seed, len(a.status), len(b.status))
		}
	}
}
