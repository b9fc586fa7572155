package engine_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"pingpost/engine"
	"pingpost/engine/event"
	"pingpost/engine/market"
	"pingpost/internal/must"
)

// What a refused intent holds is no obstacle to its own lead: the event that
// takes the next buyer gives it back.
func TestFailoverIntoTheRoomOfTheRefused(t *testing.T) {
	for _, row := range []struct {
		name string
		caps []string
		gold string // price
		want string
	}{
		{"the campaign's last place", []string{"day 1"}, "10", "gold"},
		{"the campaign's last money", []string{"day $10"}, "10", "gold"},
		{"money that is enough for less", []string{"day $10"}, "7", "gold"},
		{"money that is not enough for more", []string{"day $10"}, "12", "post_rejected"},
		{"both", []string{"day 1", "total $10", "hour 1"}, "9.5", "gold"},
	} {
		runInVirtualTime(t, row.name, func(t *testing.T) {
			r := marketOf(market.Waterfall, buyer{id: "blue", postEndpoint: true}, buyer{id: "gold", postEndpoint: true})
			r.campaigns[0].caps, r.campaigns[0].filterSets[1].price = row.caps, row.gold
			x := newExchange(t, r)
			x.buyers.scriptPosts("blue", refuses)
			expectEqual(t, x.ingestResult(leadRequest(1)), row.want)
			x.buyers.scriptPosts("blue", accepts)
			if got, full := x.ingestResult(leadRequest(2)), row.want == "gold" && row.gold != "7"; full && got != "caps_full" {
				t.Errorf("the next lead: %s", got)
			}
		})
	}
}

// Two leads of one person at a campaign that asks by buyer: neither may wait
// for the other while it keeps the other waiting.
func TestFailoverDoesNotWaitInACircle(t *testing.T) {
	runInVirtualTime(t, "", func(t *testing.T) {
		r := duplicatesMarket(byBuyer, true)
		r.campaigns[0].method = market.RoundRobin
		x := newExchange(t, r)
		x.buyers.scriptPosts("blue", refuses.after(100*ms))
		x.buyers.scriptPosts("gold", refuses.after(100*ms))
		a, b := x.startIngest(leadRequest(1)), x.startIngest(leadRequest(1))
		for _, s := range []*ingestCall{a, b} {
			expectEqual(t, fmt.Sprintf("%s@%s", s.wait(), s.took), "post_rejected@200ms")
		}
		expectEqual(t, len(x.buyers.postAttempts()), 4, "tried ", x.buyers.postAttempts())
	})
}

// The doors of the next buyer are looked at when it is its turn, not when the
// lead came.
func TestFailoverPassesDoorsThatShutMeanwhile(t *testing.T) {
	runInVirtualTime(t, "", func(t *testing.T) {
		late := buyer{id: "late", schedule: "UTC Mon-Sun 00:00-00:01"}
		x := newExchange(t, marketOf(market.Waterfall, buyer{id: "blue", postEndpoint: true}, buyer{id: "gold", postEndpoint: true}, late, buyer{id: "red"}))
		x.buyers.scriptPosts("blue", refuses.after(4*time.Second))
		time.Sleep(58 * time.Second)
		a := x.startIngest(leadRequest(1))
		time.Sleep(time.Second)
		must.Succeed(t, x.engine.AsOperator("").SetPaused(event.ObjectBuyer, "gold", true))
		expectEqual(t, a.wait(), "red", "sold, after ", x.buyers.postAttempts())
	})
}

// A stop decides nothing: a lead that waits for room is neither refused nor
// taken from the buyers it has not tried.
func TestFailoverIsNotDecidedByAStop(t *testing.T) {
	runInVirtualTime(t, "", func(t *testing.T) {
		r := marketOf(market.Waterfall, buyer{id: "blue", postEndpoint: true}, buyer{id: "gold", caps: []string{"day 1"}}, buyer{id: "dull"})
		r.campaigns = append(r.campaigns, campaign{id: "b", method: market.Waterfall, filterSets: []filterSet{{buyer: "gold"}}})
		x := newExchange(t, r)
		x.buyers.scriptPosts("blue", refuses.after(100*ms))
		x.log.setSyncTime(2 * time.Second)
		a := x.startIngest(leadRequest(1))
		time.Sleep(2050 * ms)                                      // its intent is durable, the post is under way
		b := x.startIngest(leadRequest(2, "flo_campaign_id", "b")) // reserves gold's last place
		time.Sleep(100 * ms)                                       // blue has refused: a waits for gold's place
		x.engine.Close()
		if got := a.wait(); strings.Contains(got, "rejected") || strings.Contains(got, "timeout") {
			t.Errorf("a stop told %s", got)
		}
		b.wait()
		x.log.setSyncTime(0)
	})
}

// An event about one buyer says nothing of the buyer before.
func TestSettlementSpeaksOfItsOwnBuyer(t *testing.T) {
	runWithExchange(t, "", twoPostBuyers(), func(t *testing.T, x *testExchange) {
		x.buyers.scriptPosts("blue", refuses)
		x.buyers.scriptPosts("gold", accepts.after(8*time.Second))
		x.ingestResult(leadRequest(1))
		time.Sleep(time.Minute)
		for _, s := range eventsOf[*event.PostSettled](x) {
			if s.Settlement == event.SettledPending && (s.Status != 0 || s.Code != "") {
				t.Errorf("pending at the second buyer, with status %d and code %q of the first", s.Status, s.Code)
			}
		}
	})
}

// An outcome is offered until the log takes it: the buyer has the lead.
func TestOutcomesOutlastAFullQueue(t *testing.T) {
	for _, row := range []struct {
		name  string
		reply postReply
		want  string
	}{
		{"taken", accepts, "blue@500ms"},
		{"refused", refuses, "gold@500ms"},
		{"in doubt", serverError, "blue@3.5s"},
	} {
		runInVirtualTime(t, row.name, func(t *testing.T) {
			refuse := 0
			x := newExchange(t, twoPostBuyers(), logThatRejects(func(kind event.Kind) error {
				if kind != event.KindLeadDecided && refuse > 0 {
					refuse--
					return engine.ErrBusy
				}
				return nil
			}))
			x.buyers.scriptPosts("blue", row.reply)
			refuse = 100
			s := x.startIngest(leadRequest(1).withKey("k"))
			expectEqual(t, fmt.Sprintf("%s@%s", s.wait(), s.took), row.want)
			time.Sleep(5 * time.Minute)
			expectEqual(t, x.ingestResult(leadRequest(1).withKey("k")), strings.Split(row.want, "@")[0], "asked again")
			expectEqual(t, x.engine.RunningDeliveries(), 0, "deliveries are open")
		})
	}
}

// A buyer that has lost track of a thousand leads is sent no more until an
// operator has looked at some.
func TestBuyerWithTooManyUnknownLeads(t *testing.T) {
	runWithExchange(t, "", marketOf(market.Waterfall, buyer{id: "blue", postEndpoint: true}, buyer{id: "gold"}), func(t *testing.T, x *testExchange) {
		x.buyers.scriptPosts("blue", serverError, refusesNotFinal)
		var first engine.IngestAnswer
		for i := range 1000 {
			a, err := x.ingest(leadRequest(i))
			if err != nil || a.Buyer != "blue" {
				t.Fatalf("lead %d: %s", i, describeIngest(a, err))
			}
			if i == 0 {
				first = a
			}
			time.Sleep(2 * time.Second)
			x.buyers.scriptPosts("blue", serverError, refusesNotFinal)
		}
		time.Sleep(time.Minute)
		expectEqual(t, x.ingestResult(leadRequest(1000)), "gold", "the thousand-and-first went to")
		expectEqual(t, x.state.CountUnknownDeliveriesExceptTests(), 1000, "leads of unknown fate")
		x.crashAndRestart()
		expectEqual(t, x.ingestResult(leadRequest(1001)), "gold", "after a restart one went to")
		must.Succeed(t, x.engine.AsOperator("").ResolveUnconfirmedDelivery(first.Lead, event.SettledConfirmed))
		x.buyers.scriptPosts("blue", accepts)
		expectEqual(t, x.ingestResult(leadRequest(1002)), "blue", "after one was settled the next went to")
	})
}
