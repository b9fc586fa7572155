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

// mixed is a market of every method with all that a lead can take: caps of every
// kind, money, turns, values.
func mixed() rig {
	names := []string{"blue", "gold", "red"}
	r := rig{testers: []string{"sandy"}}
	for i, name := range names {
		r.buyers = append(r.buyers, buyer{
			id: name, posts: i != 2, pings: true, tests: true, rate: 50, funds: fmt.Sprint(150 + 70*i), caps: []string{fmt.Sprint("hour ", 9+i)},
		})
	}
	r.buyers[2].posts = true
	r.buyers = append(r.buyers, buyer{id: "vault", funds: "300"})
	seats := func(caps ...string) (all []seat) {
		for i, b := range r.buyers {
			all = append(all, seat{buyer: b.id, price: fmt.Sprint(9 - i), weight: 1 + i, caps: caps})
		}
		return all
	}
	r.campaigns = []campaign{
		{id: "falls", method: market.Waterfall, payout: "0.8", caps: []string{"day 25"}, duplicates: anyOf, seats: seats("day 7")},
		{id: "turns", method: market.RoundRobin, duplicates: byBuyer, seats: seats()},
		{id: "weighs", method: market.Weighted, caps: []string{"total $400"}, duplicates: byPhone, seats: seats("total 12")},
		{id: "bids", vertical: "boats", method: market.PingPost, payout: "0.5", duplicates: byEmail, seats: seats()[:3]},
	}
	return r
}

// outcome is all that the leads in earnest came to, and took.
type outcome struct {
	answers []string
	book    *ledgerModel
}

// sellMixed sends so many leads in earnest, one a second, and with them any number
// of tests if there are to be such.
func sellMixed(t *testing.T, seed uint64, withTests bool) (came outcome) {
	x := begin(t, mixed())
	x.world.behave = func(p *post) reply {
		mood := rand.New(rand.NewPCG(seed, uint64(len(p.buyer))<<40^uint64(p.person[7]-'0')<<20^uint64(p.person[11]-'0')<<8^uint64(p.try)))
		return []reply{accepts, accepts.in(300 * ms), accepts.in(700 * ms), refuses.in(100 * ms), refuses, breaks, unreached, swallows.in(50 * ms), busy(time.Second)}[mood.IntN(9)]
	}
	for i, name := range []string{"blue", "gold", "red"} {
		x.world.offers(name, bids(fmt.Sprint(5+i)))
		x.world.offers(inTests(name), fails, bids(fmt.Sprint(20-i)), passes, sleeps, bids("7").late(3*time.Second), throttles)
	}
	chance := rand.New(rand.NewPCG(seed, 1))
	tests := rand.New(rand.NewPCG(seed, 2))
	var underway sync.WaitGroup
	for i := range 120 {
		to := []string{"falls", "turns", "weighs", "bids"}[chance.IntN(4)]
		who := chance.IntN(90)
		lead := person(who, "flo_campaign_id", to)
		if withTests {
			for range tests.IntN(4) {
				x.tryOut(&underway, tests, who)
			}
		}
		if to == "bids" && chance.IntN(2) == 0 {
			a := x.quoted(inquiry(1000+i, "vertical", "boats"))
			came.answers = append(came.answers, x.posted(postOf(who, a).withKey(fmt.Sprint("post-", i))))
		} else {
			came.answers = append(came.answers, x.tell(lead))
		}
		time.Sleep(time.Until(began.Add(time.Duration(i+1) * 10 * time.Second)))
	}
	underway.Wait()
	time.Sleep(time.Minute)
	came.book = addUp(t, x.log.durable(), x.engine.ActiveCatalog(), x.highest)
	return came
}

// tryOut sends a test of any kind, on a goroutine of its own.
func (x *exchange) tryOut(underway *sync.WaitGroup, chance *rand.Rand, who int) {
	n := int(x.drawn.Add(1))
	to := []string{"falls", "turns", "weighs", "bids"}[chance.IntN(4)]
	kind, wait := chance.IntN(5), time.Duration(chance.IntN(2000))*ms
	underway.Go(func() {
		time.Sleep(wait)
		lead := person(who, "flo_campaign_id", to)
		switch kind {
		case 0:
			x.tell(lead.asTest().withKey(fmt.Sprint("try-", n)))
		case 1:
			x.tell(person(who, "flo_campaign_id", to, "flo_supplier_id", "sandy").by("sandy"))
		case 2:
			_, _ = x.available(availability("flo_campaign_id", "bids").asTest())
		case 3:
			if a, err := x.ping(inquiry(n, "vertical", "boats").asTest()); err == nil && a.Bid {
				x.posted(postOf(who, told{id: a.SellerAuction, token: string(a.Token.AppendTo(nil))}).withKey(fmt.Sprint("try-", n)).asTest())
			}
		default:
			if a, err := x.available(availability("flo_campaign_id", "bids").asTest()); err == nil && len(a.Offers) > 0 {
				x.tell(person(who, "flo_campaign_id", "bids", "flo_ping_id", market.PingID(a.Auction).String(), "flo_buyer_id", a.Offers[0].Buyer).asTest())
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
		var without, with outcome
		bubble(t, fmt.Sprint(seed, " without"), func(t *testing.T) { without = sellMixed(t, seed, false) })
		bubble(t, fmt.Sprint(seed, " with"), func(t *testing.T) { with = sellMixed(t, seed, true) })
		if a, b := strings.Join(without.answers, "\n"), strings.Join(with.answers, "\n"); a != b {
			t.Fatalf("seed %d: leads in earnest came to other things:\n%s\nwith tests between them:\n%s", seed, a, b)
		}
		a, b := without.book, with.book
		if !maps.Equal(a.caps, b.caps) || !maps.Equal(a.balance, b.balance) || !maps.Equal(a.onHold, b.onHold) || !maps.Equal(a.sold, b.sold) || !maps.Equal(a.campaign, b.campaign) {
			t.Errorf("seed %d: taken %+v, with tests %+v", seed, a, b)
		}
		if len(b.status) < len(a.status)+20 {
			t.Errorf("seed %d: only %d leads and %d with tests", seed, len(a.status), len(b.status))
		}
	}
}
