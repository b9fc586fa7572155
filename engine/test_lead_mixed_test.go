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

// mixedMarket has campaigns of each method, with caps of each kind, funds, turns and
// duplicate checks.
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
	filterSets := func(caps ...string) (all []filterSet) {
		for i, b := range r.buyers {
			all = append(all, filterSet{buyer: b.id, price: fmt.Sprint(9 - i), weight: 1 + i, caps: caps})
		}
		return all
	}
	r.campaigns = []campaign{
		{id: "falls", method: market.Waterfall, payout: "0.8", caps: []string{"day 25"}, duplicates: anyOf, filterSets: filterSets("day 7")},
		{id: "turns", method: market.RoundRobin, duplicates: byBuyer, filterSets: filterSets()},
		{id: "weighs", method: market.Weighted, caps: []string{"total $400"}, duplicates: byPhone, filterSets: filterSets("total 12")},
		{id: "bids", vertical: "boats", method: market.PingPost, payout: "0.5", duplicates: byEmail, filterSets: filterSets()[:3]},
	}
	return r
}

// mixedResult is the answers to the production leads, and the sums of the log.
type mixedResult struct {
	answers []string
	ledger  *ledgerModel
}

// sellMixedLeads sends 120 production leads, one every ten seconds, and test leads
// between them if withTests.
func sellMixedLeads(t *testing.T, seed uint64, withTests bool) (result mixedResult) {
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
	testRandom := rand.New(rand.NewPCG(seed, 2))
	var testLeads sync.WaitGroup
	for i := range 120 {
		campaign := []string{"falls", "turns", "weighs", "bids"}[random.IntN(4)]
		person := random.IntN(90)
		lead := leadRequest(person, "flo_campaign_id", campaign)
		if withTests {
			for range testRandom.IntN(4) {
				x.startTestLead(&testLeads, testRandom, person)
			}
		}
		if campaign == "bids" && random.IntN(2) == 0 {
			a := x.pingAuction(supplierPing(1000+i, "vertical", "boats"))
			result.answers = append(result.answers, x.saleResult(postFor(person, a).withKey(fmt.Sprint("post-", i))))
		} else {
			result.answers = append(result.answers, x.ingestResult(lead))
		}
		time.Sleep(time.Until(virtualStart.Add(time.Duration(i+1) * 10 * time.Second)))
	}
	testLeads.Wait()
	time.Sleep(time.Minute)
	result.ledger = sumEvents(t, x.log.durable(), x.engine.ActiveCatalogOrNil(), x.highestLimits)
	return result
}

// startTestLead sends a test lead of a random kind on its own goroutine.
func (x *testExchange) startTestLead(testLeads *sync.WaitGroup, random *rand.Rand, person int) {
	n := int(x.counter.Add(1))
	campaign := []string{"falls", "turns", "weighs", "bids"}[random.IntN(4)]
	kind, wait := random.IntN(5), time.Duration(random.IntN(2000))*ms
	testLeads.Go(func() {
		time.Sleep(wait)
		lead := leadRequest(person, "flo_campaign_id", campaign)
		switch kind {
		case 0:
			x.ingestResult(lead.asTest().withKey(fmt.Sprint("test-", n)))
		case 1:
			x.ingestResult(leadRequest(person, "flo_campaign_id", campaign, "flo_supplier_id", "sandy").fromSupplier("sandy"))
		case 2:
			_, _ = x.requestAvailability(availabilityRequest("flo_campaign_id", "bids").asTest())
		case 3:
			if a, err := x.ping(supplierPing(n, "vertical", "boats").asTest()); err == nil && a.Bid {
				x.saleResult(postFor(person, auctionInfo{id: a.SellerAuction, token: string(a.Token.AppendAsText(nil))}).withKey(fmt.Sprint("test-", n)).asTest())
			}
		default:
			if a, err := x.requestAvailability(availabilityRequest("flo_campaign_id", "bids").asTest()); err == nil && len(a.Offers) > 0 {
				x.ingestResult(leadRequest(person, "flo_campaign_id", "bids", "flo_ping_id", market.PingID(a.Auction).String(), "flo_buyer_id", a.Offers[0].Buyer).asTest())
			}
		}
	})
}

// Production leads get the same answers, caps and funds with test leads and without.
func TestTestLeadsDoNotAffectProductionLeads(t *testing.T) {
	seeds := uint64(25)
	if testing.Short() {
		seeds = 3
	}
	for seed := range seeds {
		var without, with mixedResult
		runInVirtualTime(t, fmt.Sprint(seed, " without"), func(t *testing.T) { without = sellMixedLeads(t, seed, false) })
		runInVirtualTime(t, fmt.Sprint(seed, " with"), func(t *testing.T) { with = sellMixedLeads(t, seed, true) })
		if a, b := strings.Join(without.answers, "\n"), strings.Join(with.answers, "\n"); a != b {
			t.Fatalf("seed %d: answers to production leads without tests:\n%s\nwith tests:\n%s", seed, a, b)
		}
		a, b := without.ledger, with.ledger
		if !maps.Equal(a.caps, b.caps) || !maps.Equal(a.balance, b.balance) || !maps.Equal(a.onHold, b.onHold) || !maps.Equal(a.sold, b.sold) || !maps.Equal(a.campaign, b.campaign) {
			t.Errorf("seed %d: sums %+v, with tests %+v", seed, a, b)
		}
		if len(b.status) < len(a.status)+20 {
			t.Errorf("seed %d: %d leads, only %d with tests", seed, len(a.status), len(b.status))
		}
	}
}
