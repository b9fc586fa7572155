package engine_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"pingpost/engine/event"
	"pingpost/engine/market"
	"pingpost/internal/must"
)

// soldAt ingests a lead and returns the buyer with the price and payout of the sale's event, or the
// reason without a sale.
func (x *testExchange) soldAt(r request) string {
	x.t.Helper()
	answer := must.Value(x.ingest(r))(x.t)
	if !answer.Accepted {
		return answer.Reason.String()
	}
	all := eventsOf[*event.LeadDecided](x)
	sale := all[len(all)-1].Sale
	expectEqual(x.t, sale.Payout, answer.Payout, "payout of the event and of the answer")
	return fmt.Sprintf("%s %s %s", answer.Buyer, sale.Price, sale.Payout)
}

// The first modifier in force changes the price at its exact limits, also of a test lead. The price
// after it is the configured one. Virtual time starts on 2000-01-01, a Saturday.
func TestModifiedPriceIsExact(t *testing.T) {
	r := marketOf(market.Waterfall, buyer{id: "blue", funds: "100"}, buyer{id: "gold"})
	r.campaigns[0].payout, r.campaigns[0].floor = "0.333333", "5"
	r.campaigns[0].filterSets[0].price = "7.000001"
	r.campaigns[0].filterSets[0].modifiers = []modifier{
		{"UTC Sat 01:00-02:00", "1.25", ""}, {"UTC Sat 01:00-03:00", "2", ""}, {"UTC Sat 04:00-05:00", "0.714285", ""}, {"UTC Sat 06:00-07:00", "100", ""},
	}
	runWithExchange(t, "price", r, func(t *testing.T, x *testExchange) {
		for i, m := range []timedLead{
			{"2000-01-01 00:59:59.999999999", "blue 7.000001 2.333331"},
			{"2000-01-01 01:00:00", "blue 8.750001 2.916664"},
			{"2000-01-01 01:59:59.999999999", "blue 8.750001 2.916664"},
			{"2000-01-01 02:00:00", "blue 14.000002 4.666662"},
			{"2000-01-01 03:00:00", "blue 7.000001 2.333331"},
			{"2000-01-01 04:00:00", "gold 10 3.33333"}, // 4.999995 is below the floor
			{"2000-01-01 05:00:00", "blue 7.000001 2.333331"},
			{"2000-01-01 06:30:00", "gold 10 3.33333"}, // 700.0001 is above the funds
			{"2000-01-08 01:30:00", "blue 8.750001 2.916664"},
		} {
			sleepUntil(t, m.at)
			expectEqual(t, x.soldAt(leadRequest(i)), m.want, "at ", m.at)
		}
		expectEqual(t, x.soldAt(leadRequest(20).asTest()), "blue 8.750001 2.916664", "a test lead")
	})
}

// A modifier changes the limits of the pair's caps. Sold leads stay counted: a lower limit is full at
// once, and a higher one has capacity again.
func TestModifiedCapKeepsItsCount(t *testing.T) {
	for _, test := range []struct{ name, limit, other string }{{"leads", "day 4", "day 100"}, {"money", "day $40", "day $9999"}} {
		r := marketOf(market.Waterfall, buyer{id: "blue", caps: []string{test.other}}, buyer{id: "gold"})
		r.campaigns[0].caps = []string{test.other}
		r.campaigns[0].filterSets[0].caps = []string{test.limit}
		r.campaigns[0].filterSets[0].modifiers = []modifier{{"UTC Sat 01:00-02:00", "", "0.5"}, {"UTC Sat 02:00-03:00", "", "1.5"}, {"UTC Sat 03:00-04:00", "", "0"}}
		runWithExchange(t, test.name, r, func(t *testing.T, x *testExchange) {
			var got []string
			for i, at := range []string{"00:00", "00:30", "00:59", "01:00", "02:00", "02:01", "02:02", "02:59", "03:00", "04:00"} {
				sleepUntil(t, "2000-01-01 "+at+":00")
				got = append(got, x.ingestResult(leadRequest(i)))
			}
			// 3 of 4 sold; 3 of 2; 3 to 6 of 6; closed; 6 of 4.
			expectEqual(t, strings.Join(got, " "), "blue blue blue gold blue blue blue gold gold gold")
		})
	}
}

// A factor of 0 closes a filter set without caps, also for the buyer after one that refused.
func TestCapsFactorOfZeroClosesWithoutCaps(t *testing.T) {
	for _, method := range []market.BuyerSelectionMethod{market.Waterfall, market.PingPost} {
		r := auctionMarket("blue", "gold", "red")
		r.campaigns[0].method = method
		for i := range r.campaigns[0].filterSets[:2] {
			r.campaigns[0].filterSets[i].modifiers = []modifier{{"UTC Sat 00:00-01:00", "", "0"}}
		}
		runWithExchange(t, method.String(), r, func(t *testing.T, x *testExchange) {
			expectEqual(t, x.ingestResult(leadRequest(1)), "red", "while the others are closed")
			x.buyers.scriptPosts("red", refuses)
			expectEqual(t, x.ingestResult(leadRequest(2)), "post_rejected", "no other buyer")
			sleepUntil(t, "2000-01-01 01:00:00")
			if got := x.ingestResult(leadRequest(3)); got != "blue" && got != "gold" {
				t.Errorf("after the hours: got %s", got)
			}
		})
	}
}

// The use of a cap after a sale never exceeds the limit that was in force at the sale's decision, with
// concurrent leads, a slow log, and a limit that changes each minute.
func TestConcurrentSalesStayWithinModifiedCap(t *testing.T) {
	seeds := uint64(40)
	if testing.Short() {
		seeds = 10
	}
	refused, sold := 0, 0
	for seed := range seeds {
		random := rand.New(rand.NewPCG(seed, 5))
		r := marketOf(market.Waterfall, buyer{id: "blue"})
		set := &r.campaigns[0].filterSets[0]
		set.caps = []string{"hour 20"}
		for minute := range 8 {
			set.modifiers = append(set.modifiers, modifier{
				fmt.Sprintf("UTC Sat 00:%02d-00:%02d", minute, minute+1), "", fmt.Sprintf("%.2f", random.Float64()*float64(minute)/2),
			})
		}
		runWithExchange(t, fmt.Sprintf("seed %d", seed), r, func(t *testing.T, x *testExchange) {
			x.log.setSyncTime(time.Duration(random.IntN(4)*7) * ms)
			var calls []*ingestCall
			for i := range 150 {
				calls = append(calls, x.startIngest(leadRequest(i)))
				switch {
				case i%15 == 14: // just before the next minute
					time.Sleep(time.Until(time.Now().Truncate(time.Minute).Add(time.Minute - time.Duration(random.IntN(20))*ms)))
				case random.IntN(3) == 0:
					time.Sleep(time.Duration(random.IntN(10)) * ms)
				}
			}
			for _, call := range calls {
				if call.wait() == "caps_full" {
					refused++
				}
			}
			terms := x.engine.ActiveCatalogOrNil().Campaigns["auto"].FilterSets[0]
			used := map[int64]int64{}
			for _, decided := range eventsOf[*event.LeadDecided](x) {
				for _, charge := range decided.Sale.Charges {
					sold++
					used[charge.Window] += charge.Amount
					if limit := terms.CapsAt(decided.Decided)[0].Limit; used[charge.Window] > limit {
						t.Errorf("%d sales with a limit of %d at %s", used[charge.Window], limit, time.Unix(0, decided.Decided).UTC())
					}
				}
			}
		})
	}
	if refused == 0 || sold == 0 {
		t.Errorf("%d leads sold and %d refused, want both", sold, refused)
	}
}
