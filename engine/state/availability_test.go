package state

import (
	"math"
	"testing"
	"time"

	"pgregory.net/rapid"

	"pingpost/engine/event"
	"pingpost/engine/market"
	"pingpost/engine/market/calendar"
)

// availabilityCache keeps answers as the engine does, with their version and the time at which
// they expire.
type availabilityCache struct {
	full       []bool
	lacksFunds []bool
	paused     []bool
	version    uint64
	until      int64
	known      bool
}

func (d *availabilityCache) isValid(version uint64, now int64) bool {
	return d.known && d.version == version && now < d.until
}

// refresh asks as the engine does: the version first, then all else.
func (d *availabilityCache) refresh(x *testExchange, campaign market.PermanentNumber, caps []*market.Cap, price market.Money) {
	*d = availabilityCache{known: true, version: x.BuyerAvailabilityVersion(campaign), until: math.MaxInt64}
	for _, buyer := range x.buyers {
		x.AddCampaignOfBuyer(campaign, buyer.Ref)
	}
	for _, limit := range caps {
		full, until := x.IsCapFull(limit, price, x.at)
		d.full = append(d.full, full)
		d.until = min(d.until, until)
	}
	for _, buyer := range x.buyers {
		d.lacksFunds = append(d.lacksFunds, x.LacksFunds(buyer, price))
		paused, _ := x.PauseStatus(2, buyer.Ref)
		d.paused = append(d.paused, paused)
	}
}

// findMistake compares the answers with the applied state and names the first wrong one. It uses
// no query, because a query makes the state watch more thresholds.
func (d *availabilityCache) findMistake(x *testExchange, caps []*market.Cap, price market.Money) (wrong string) {
	for i, limit := range caps {
		counter := x.caps.mustFindCounter(limit.Ref)
		window, _ := limit.Period.WindowContaining(x.at, limit.Zone)
		used := int64(0)
		if counter.window >= window {
			used = counter.used
		}
		if full := used > limit.Limit-limit.AmountUsedBySale(price); full != d.full[i] {
			return "whether a cap is full"
		}
	}
	for i, buyer := range x.buyers {
		balance, held := x.BuyerBalance(buyer.Ref)
		if lacks := buyer.Funded && price > 0 && balance-held+buyer.Credit < price; lacks != d.lacksFunds[i] {
			return "whether money is short"
		}
		if paused := x.settings.paused[campaignOrBuyerKey{2, buyer.Ref}]; paused != d.paused[i] {
			return "a pause"
		}
	}
	return ""
}

// Answers are right until their version changes or their hour ends. Several caches ask at
// several prices, and with several limits on one cap, as at a change of the configuration. Two campaigns
// share the cap of a buyer.
func TestCachedAvailabilityIsRightForItsVersion(t *testing.T) {
	refreshed, reused := 0, 0
	rapid.Check(t, func(t *rapid.T) {
		x := newEventGenerator(t)
		x.logAndApply(&event.BuyerFundsAdjusted{Buyer: 1, Amount: -470 * dollar}) // so that it runs out of funds
		prices := []market.Money{0, 1 * dollar, 7 * dollar}
		other := *x.capsByBuyer[1][0]
		other.Limit = 3
		caps := [][]*market.Cap{x.capsByBuyer[1], {&other, {Ref: 2, Unit: market.UnitMoney, Period: calendar.Hour, Zone: time.UTC, Limit: int64(9 * dollar)}}, x.capsByBuyer[1][1:2]}
		campaigns := []market.PermanentNumber{1, 1, 2} // by index of caps
		caches := make([]availabilityCache, len(prices)*len(caps))
		for range 80 {
			x.step()
			for i := range caches {
				of, campaign, price := caps[i%len(caps)], campaigns[i%len(caps)], prices[i/len(caps)]
				if caches[i].isValid(x.BuyerAvailabilityVersion(campaign), x.at) {
					reused++
					if wrong := caches[i].findMistake(x.testExchange, of, price); wrong != "" {
						t.Fatalf("a cached answer is wrong about %s", wrong)
					}
				} else if x.draw(3) > 0 { // some caches refresh later
					refreshed++
					caches[i].refresh(x.testExchange, campaign, of, price)
					if wrong := caches[i].findMistake(x.testExchange, of, price); wrong != "" {
						t.Fatalf("a fresh answer is wrong about %s", wrong)
					}
				}
			}
		}
	})
	if refreshed == 0 || reused < refreshed {
		t.Errorf("answers were reused %d times and refreshed %d times, want more uses than refreshes", reused, refreshed)
	}
}

// An event changes the versions of the campaigns that it concerns, and of no other campaign.
func TestEventChangesVersionsOfItsCampaigns(t *testing.T) {
	// The numbers of campaigns 1, 2 and 3 are in use. Campaigns 1 and 2 have buyer 1, campaign 3 has buyer 2.
	for what, test := range map[string]struct {
		change func(x *testExchange)
		want   [4]bool // by campaign
	}{
		"a campaign's cap becomes full": {func(x *testExchange) { x.caps.applyCharge(1, monday, 40) }, [4]bool{1: true}},
		"a buyer's cap becomes full":    {func(x *testExchange) { x.caps.applyCharge(2, monday, int64(40*dollar)) }, [4]bool{1: true, 2: true}},
		"a pair's cap becomes full":     {func(x *testExchange) { x.caps.applyCharge(3, monday, 30) }, [4]bool{1: true}},
		"a buyer's cap is used":         {func(x *testExchange) { x.caps.applyCharge(2, monday, int64(dollar)) }, [4]bool{}},
		"the money of a buyer ends":     {func(x *testExchange) { x.accounts.adjustBalanceAndHeldFunds(1, -500*dollar, 0) }, [4]bool{1: true, 2: true}},
		"some money of a buyer is used": {func(x *testExchange) { x.accounts.adjustBalanceAndHeldFunds(1, -dollar, 0) }, [4]bool{}},
		"a top-up":                      {func(x *testExchange) { x.logAndApply(&event.BuyerFundsAdjusted{Buyer: 2, Amount: dollar}) }, [4]bool{3: true}},
		"an opening balance of zero":    {func(x *testExchange) { x.logAndApply(&event.BuyerFundsAdjusted{Buyer: 1, Opening: true}) }, [4]bool{1: true, 2: true}},
		"an unknown delivery":           {func(x *testExchange) { x.addToUnknownDeliveryCount(&event.Sale{Buyer: 2}, 1) }, [4]bool{3: true}},
		"a pause": {func(x *testExchange) {
			x.logAndApply(&event.CampaignOrBuyerPausedOrResumed{Target: event.ObjectBuyer, Ref: 1, Paused: true})
		}, [4]bool{1: true, 2: true, 3: true}},
	} {
		x := newTestExchange()
		var before [4]uint64
		for campaign, buyer := range map[market.PermanentNumber]market.PermanentNumber{1: 1, 2: 1, 3: 2} {
			before[campaign] = x.BuyerAvailabilityVersion(campaign)
			x.AddCampaignOfBuyer(campaign, buyer)
			x.AddCampaignOfBuyer(campaign, buyer)
			x.LacksFunds(x.buyers[buyer-1], dollar)
		}
		for _, limit := range x.capsByBuyer[1] {
			x.IsCapFull(limit, dollar, x.at)
		}
		test.change(x)
		for campaign := market.PermanentNumber(1); campaign <= 3; campaign++ {
			if changed := x.BuyerAvailabilityVersion(campaign) != before[campaign]; changed != test.want[campaign] {
				t.Errorf("%s: the version of campaign %d changed: %t, want %t", what, campaign, changed, test.want[campaign])
			}
		}
	}
}

func TestVersionChangesOnlyWithAvailability(t *testing.T) {
	x := newTestExchange()
	sell := func() {
		h := new(RequestReservations)
		x.ReserveAllCaps(h, x.capsByBuyer[1][:1], dollar, nil, x.at)
		x.chargeSaleToCapsRotationAndFunds(x.seq+1, 1, saleOf(1, dollar, h.CapChargesForEvent()), false)
		x.ReleaseAll(h)
	}
	x.IsCapFull(x.capsByBuyer[1][0], dollar, x.at)
	x.LacksFunds(x.buyers[0], dollar)
	before := x.BuyerAvailabilityVersion(1)
	for range x.capsByBuyer[1][0].Limit - 1 {
		sell()
	}
	if x.BuyerAvailabilityVersion(1) != before {
		t.Error("the version changed although the cap is not full")
	}
	sell()
	if x.BuyerAvailabilityVersion(1) == before {
		t.Error("the version did not change although the cap is full")
	}
}
