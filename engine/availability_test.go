package engine_test

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"pingpost/engine"
	"pingpost/engine/event"
	"pingpost/engine/market"
	"pingpost/internal/must"
)

// timedLead is the time of a lead and its wanted answer.
type timedLead struct{ at, want string }

// The test sends leads just before and at the end of a cap's window. Virtual time starts on
// 2000-01-01, a Saturday.
func TestCapWindowsEndExactly(t *testing.T) {
	tests := []struct {
		name, cap string
		moments   []timedLead
	}{
		{"hour", "hour 1", []timedLead{
			{"2000-01-01 00:00:00", "blue"},
			{"2000-01-01 00:59:59.999999999", "caps_full"},
			{"2000-01-01 01:00:00", "blue"},
			{"2000-01-01 01:30:00", "caps_full"},
			{"2000-01-01 02:00:00", "blue"},
		}},
		{"hour of a zone at half past", "hour 1 Asia/Kolkata", []timedLead{
			{"2000-01-01 00:29:59", "blue"}, {"2000-01-01 00:30:00", "blue"}, {"2000-01-01 01:29:59", "caps_full"}, {"2000-01-01 01:30:00", "blue"},
		}},
		{"day in New York", "day 1 America/New_York", []timedLead{
			{"2000-01-01 04:59:59", "blue"}, {"2000-01-01 05:00:00", "blue"}, {"2000-01-02 04:59:59.999", "caps_full"}, {"2000-01-02 05:00:00", "blue"},
		}},
		{"the day of 23 hours", "day 1 America/New_York", []timedLead{
			{"2000-04-02 04:59:59", "blue"}, {"2000-04-02 05:00:00", "blue"}, {"2000-04-03 03:59:59", "caps_full"}, {"2000-04-03 04:00:00", "blue"},
		}},
		{"the day of 25 hours", "day 1 America/New_York", []timedLead{
			{"2000-10-29 04:00:00", "blue"}, {"2000-10-30 04:59:59", "caps_full"}, {"2000-10-30 05:00:00", "blue"},
		}},
		{"the hour that comes twice", "hour 1 America/New_York", []timedLead{
			{"2000-10-29 05:00:00", "blue"}, {"2000-10-29 05:59:59", "caps_full"}, {"2000-10-29 06:00:00", "blue"}, {"2000-10-29 06:30:00", "caps_full"},
		}},
		{"week", "week 1", []timedLead{
			{"2000-01-01 10:00:00", "blue"}, {"2000-01-02 23:59:59", "caps_full"}, {"2000-01-03 00:00:00", "blue"}, {"2000-01-09 23:59:59", "caps_full"}, {"2000-01-10 00:00:00", "blue"},
		}},
		{"month", "month 1", []timedLead{
			{"2000-01-31 23:59:59", "blue"}, {"2000-02-01 00:00:00", "blue"}, {"2000-02-29 23:59:59", "caps_full"}, {"2000-03-01 00:00:00", "blue"},
		}},
		{"total", "total 1", []timedLead{{"2000-01-01 00:00:00", "blue"}, {"2001-01-01 00:00:00", "caps_full"}}},
		{"money by the day", "day $15", []timedLead{
			{"2000-01-01 23:00:00", "blue"}, {"2000-01-01 23:59:59", "caps_full"}, {"2000-01-02 00:00:00", "blue"},
		}},
	}
	for _, test := range tests {
		for _, where := range []string{"buyer", "campaign", "pair", "terms"} {
			runWithExchange(t, test.name+" of the "+where, cappedMarket(where, test.cap), func(t *testing.T, x *testExchange) {
				for i, m := range test.moments {
					sleepUntil(t, m.at)
					expectEqual(t, x.ingestResult(leadRequest(i)), m.want, "at ", m.at)
				}
			})
		}
	}
}

func TestScheduleLimitsAreExact(t *testing.T) {
	moments := []timedLead{
		{"2000-01-01 00:00:00", "outside_schedule"},
		{"2000-01-03 12:59:59.999999999", "outside_schedule"},
		{"2000-01-03 13:00:00", "blue"},
		{"2000-01-03 22:59:59.999999999", "blue"},
		{"2000-01-03 23:00:00", "outside_schedule"},
		{"2000-01-08 03:59:59", "outside_schedule"},
		{"2000-01-09 04:59:59", "blue"}, // until 24:00 on Saturday
		{"2000-01-09 05:00:00", "outside_schedule"},
		{"2000-03-31 13:00:00", "blue"}, // before the clocks are set
		{"2000-04-03 12:00:00", "blue"}, // and after
		{"2000-04-03 21:59:59", "blue"},
		{"2000-04-03 22:00:00", "outside_schedule"},
	}
	hours := "America/New_York Mon-Fri 08:00-18:00, Sat 22:00-24:00"
	for _, where := range []string{"buyer", "filter set", "campaign", "both"} {
		runInVirtualTime(t, where, func(t *testing.T) {
			r := marketOf(market.Waterfall, buyer{id: "blue"})
			switch where {
			case "buyer":
				r.buyers[0].schedule = hours
			case "filter set":
				r.campaigns[0].filterSets[0].schedule = hours
			case "campaign":
				r.campaigns[0].schedule = hours
			case "both":
				r.buyers[0].schedule = "UTC Mon-Sun 00:00-24:00"
				r.campaigns[0].filterSets[0].schedule = hours
			}
			x := newExchange(t, r)
			for i, m := range moments {
				sleepUntil(t, m.at)
				expectEqual(t, x.ingestResult(leadRequest(i)), m.want, "at ", m.at)
			}
		})
	}
}

// Availability is cached. An event that changes it must take effect at the next lead.
func TestAvailabilityChangesTakeEffectAtNextLead(t *testing.T) {
	steps := []struct {
		name string
		do   func(x *testExchange) error
		want string
	}{
		{"at first", nil, "blue"},
		{"the money is used up", nil, "gold"},
		{"a top-up", func(x *testExchange) error { return x.engine.AsOperator("").AdjustBuyerFunds("blue", 10_000_000, "") }, "blue"},
		{"used up again", nil, "gold"},
		{"two top-ups that are not enough alone", func(x *testExchange) error {
			if err := x.engine.AsOperator("").AdjustBuyerFunds("blue", 9_999_999, ""); err != nil {
				return err
			}
			return x.engine.AsOperator("").AdjustBuyerFunds("blue", 1, "")
		}, "blue"},
		{"money for two", func(x *testExchange) error { return x.engine.AsOperator("").AdjustBuyerFunds("blue", 20_000_000, "") }, "blue"},
		{"some is taken back", func(x *testExchange) error { return x.engine.AsOperator("").AdjustBuyerFunds("blue", -1, "") }, "gold"},
		{"gold is paused", func(x *testExchange) error {
			return x.engine.AsOperator("").SetCampaignOrBuyerPaused(event.ObjectBuyer, "gold", true)
		}, "no_bid"},
		{"and opened", func(x *testExchange) error {
			return x.engine.AsOperator("").SetCampaignOrBuyerPaused(event.ObjectBuyer, "gold", false)
		}, "gold"},
		{"gold's cap is reached", nil, "insufficient_funds"},
		{"blue is paused", func(x *testExchange) error {
			return x.engine.AsOperator("").SetCampaignOrBuyerPaused(event.ObjectBuyer, "blue", true)
		}, "insufficient_funds"},
		{"and has money", func(x *testExchange) error { return x.engine.AsOperator("").AdjustBuyerFunds("blue", 1, "") }, "no_bid"},
		{"and is opened", func(x *testExchange) error {
			return x.engine.AsOperator("").SetCampaignOrBuyerPaused(event.ObjectBuyer, "blue", false)
		}, "blue"},
	}
	runInVirtualTime(t, "steps", func(t *testing.T) {
		r := threeBuyers(market.Waterfall)
		r.buyers = []buyer{{id: "blue", funds: "10"}, {id: "gold", caps: []string{"total 4"}}}
		r.campaigns[0].filterSets = r.campaigns[0].filterSets[:2]
		x := newExchange(t, r)
		for i, step := range steps {
			if step.do != nil {
				must.Succeed(t, step.do(x))
			}
			expectEqual(t, x.ingestResult(leadRequest(i)), step.want, step.name)
		}
	})
}

// Two campaigns have the same buyer. A lead of one campaign changes the availability of the buyer in the
// other one, which is cached there.
func TestBuyersAvailabilityChangesInAllCampaigns(t *testing.T) {
	for what, blue := range map[string]buyer{
		"the buyer's cap":   {id: "blue", caps: []string{"hour 3"}},
		"the buyer's money": {id: "blue", funds: "30"},
	} {
		runInVirtualTime(t, what, func(t *testing.T) {
			r := marketOf(market.Waterfall, blue, buyer{id: "gold"})
			other := r.campaigns[0]
			other.id = "home"
			r.campaigns = append(r.campaigns, other)
			x := newExchange(t, r)
			var got []string
			for i, campaign := range []string{"auto", "home", "auto", "home", "auto"} {
				got = append(got, x.ingestResult(leadRequest(i, "flo_campaign_id", campaign)))
			}
			if blue.funds != "" {
				must.Succeed(t, x.engine.AsOperator("").AdjustBuyerFunds("blue", 20_000_000, ""))
			} else {
				time.Sleep(time.Hour)
			}
			for i, campaign := range []string{"home", "auto"} {
				got = append(got, x.ingestResult(leadRequest(10+i, "flo_campaign_id", campaign)))
			}
			expectEqual(t, strings.Join(got, " "), "blue blue blue gold gold blue blue")
		})
	}
}

func TestPausedCampaignIsInactive(t *testing.T) {
	runInVirtualTime(t, "pause", func(t *testing.T) {
		r := threeBuyers(market.Waterfall)
		other := r.campaigns[0]
		other.id = "home"
		r.campaigns = append(r.campaigns, other)
		x := newExchange(t, r)
		pause := func(paused bool) {
			must.Succeed(t, x.engine.AsOperator("").SetCampaignOrBuyerPaused(event.ObjectCampaign, "auto", paused))
		}
		pause(true)
		pause(true)
		got := []string{x.ingestResult(leadRequest(1)), x.ingestResult(leadRequest(2, "flo_campaign_id", "home"))}
		x.crashAndRestart()
		got = append(got, x.ingestResult(leadRequest(3)))
		pause(false)
		got = append(got, x.ingestResult(leadRequest(4)))
		want := "invalid_payload flo_campaign_id:inactive|blue|invalid_payload flo_campaign_id:inactive|blue"
		expectEqual(t, strings.Join(got, "|"), want)
		if err := x.engine.AsOperator("").SetCampaignOrBuyerPaused(event.ObjectCampaign, "boat", true); err == nil || !strings.Contains(err.Error(), engine.ErrNotFound.Error()) {
			t.Errorf("pausing an unknown campaign: %v", err)
		}
	})
}

// ingestDelayed ingests a request that arrived before now.
func (x *testExchange) ingestDelayed(r request, ago time.Duration) (engine.IngestAnswer, error) {
	return x.engine.Ingest(&engine.IngestRequest{
		Supplier: x.engine.ActiveCatalogOrNil().Suppliers["acme"], Members: r.members, Body: r.body,
		Request: market.RequestID{1}, Received: time.Now().Add(-ago).UnixNano(),
	})
}

// A slow request of the last hour must not release the reservations of the new hour.
func TestSlowRequestKeepsReservationsOfNewHour(t *testing.T) {
	runInVirtualTime(t, "caps", func(t *testing.T) {
		r := marketOf(market.Waterfall, buyer{id: "blue", caps: []string{"hour 1"}})
		x := newExchange(t, r)
		sleepUntil(t, "2000-01-01 01:00:00")
		x.log.setSyncTime(time.Second)
		first := x.startIngest(leadRequest(1))
		synctest.Wait()
		slow := make(chan string)
		go func() { slow <- describeIngest(x.ingestDelayed(leadRequest(2), 10*time.Millisecond)) }()
		synctest.Wait()
		third := x.startIngest(leadRequest(3))
		got := []string{first.wait(), <-slow, third.wait()}
		if got[0] != "blue" || got[1] != "caps_full" || got[2] != "caps_full" {
			t.Errorf("got %q, want one sale in the hour", got)
		}
	})
}

// A request that waited uses the time after the wait for caps and schedules.
func TestWaitingLeadUsesTimeAfterWait(t *testing.T) {
	tests := []struct {
		name   string
		change func(b *buyer)
		want   string
	}{
		{"a cap rolled over", func(b *buyer) { b.caps = []string{"hour 1"} }, "gold"},
		{"a schedule opened", func(b *buyer) { b.schedule = "UTC Sat 01:00-02:00" }, "gold"},
		{"a schedule closed", func(b *buyer) { b.schedule = "UTC Sat 00:00-01:00" }, "outside_schedule"},
	}
	for _, test := range tests {
		runInVirtualTime(t, test.name, func(t *testing.T) {
			r := duplicatesMarket(anyOf, true)
			r.campaigns[0].filterSets[0].states, r.campaigns[0].filterSets[1].states = "NV", "CA"
			r.buyers[1].postEndpoint = false
			test.change(&r.buyers[1])
			x := newExchange(t, r)
			x.buyers.scriptPosts("blue", refuses.after(4*time.Second))
			sleepUntil(t, "2000-01-01 00:59:58")
			x.ingestResult(leadRequest(9))
			first := x.startIngest(leadRequest(1, "state", "NV"))
			synctest.Wait()
			second := x.startIngest(leadRequest(1))
			expectEqual(t, first.wait()+" "+second.wait(), "post_rejected "+test.want)
		})
	}
}

// A lead waits for the reservations of other requests, also after refusals, until the deadline.
func TestLeadWaitsForReservationsOfOthers(t *testing.T) {
	r := twoPostBuyers()
	r.campaigns[0].filterSets[1].states = "CA"
	r.campaigns = append(r.campaigns, campaign{id: "home", method: market.Waterfall, filterSets: []filterSet{{buyer: "gold"}}})
	tests := []struct {
		name  string
		after time.Duration // until blue refuses
		want  string
	}{
		{"in time", time.Second, "post_rejected@1.7s gold"}, // gold's capacity is sold by then
		{"too late", 4900 * ms, "post_rejected@5.6s gold"},
	}
	for _, test := range tests {
		runWithExchange(t, test.name, r, func(t *testing.T, x *testExchange) {
			x.buyers.scriptPosts("blue", refuses.after(test.after))
			first := x.startIngest(leadRequest(1))
			time.Sleep(test.after - 300*ms)
			x.log.setSyncTime(time.Second)
			other := x.startIngest(leadRequest(2, "flo_campaign_id", "home"))
			time.Sleep(ms)
			x.log.setSyncTime(0)
			expectEqual(t, fmt.Sprintf("%s@%s %s", first.wait(), first.took, other.wait()), test.want)
		})
	}
	runWithExchange(t, "a request that took too long to arrive", duplicatesMarket(anyOf, true), func(t *testing.T, x *testExchange) {
		x.buyers.scriptPosts("blue", accepts.after(time.Second))
		first := x.startIngest(leadRequest(1))
		synctest.Wait()
		expectEqual(t, describeIngest(x.ingestDelayed(leadRequest(1), 6*time.Second)), "timeout")
		first.wait()
	})
}
