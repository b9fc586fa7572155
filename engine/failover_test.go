package engine_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"pingpost/engine"
	"pingpost/engine/event"
	"pingpost/engine/market"
	"pingpost/engine/state"
	"pingpost/engine/state/coldtest"
	"pingpost/internal/must"
)

// The event of a refusal releases the capacity that the next buyer of the same lead uses.
func TestFailoverUsesReleasedCapacity(t *testing.T) {
	for _, row := range []struct {
		name string
		caps []string
		gold string // price
		want string
	}{
		{"the campaign's count cap", []string{"day 1"}, "10", "gold"},
		{"the campaign's money cap", []string{"day $10"}, "10", "gold"},
		{"money cap, lower price", []string{"day $10"}, "7", "gold"},
		{"money cap, higher price", []string{"day $10"}, "12", "post_rejected"},
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
				t.Errorf("next lead: %s", got)
			}
		})
	}
}

// Two leads of one person in a campaign with duplicates per buyer must not wait for each other.
func TestFailoverOfDuplicatesDoesNotDeadlock(t *testing.T) {
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
		expectEqual(t, len(x.buyers.postAttempts()), 4, "attempts ", x.buyers.postAttempts())
	})
}

// Availability is checked when the next buyer is selected, not at the lead's arrival.
func TestFailoverSkipsUnavailableBuyers(t *testing.T) {
	runInVirtualTime(t, "", func(t *testing.T) {
		late := buyer{id: "late", schedule: "UTC Mon-Sun 00:00-00:01"}
		x := newExchange(t, marketOf(market.Waterfall, buyer{id: "blue", postEndpoint: true}, buyer{id: "gold", postEndpoint: true}, late, buyer{id: "red"}))
		x.buyers.scriptPosts("blue", refuses.after(4*time.Second))
		time.Sleep(58 * time.Second)
		a := x.startIngest(leadRequest(1))
		time.Sleep(time.Second)
		must.Succeed(t, x.engine.AsOperator("").SetCampaignOrBuyerPaused(event.ObjectBuyer, "gold", true))
		expectEqual(t, a.wait(), "red", "sold, after ", x.buyers.postAttempts())
	})
}

// A lead that waits for capacity stays undecided at Close. After the restart it can still go to
// the remaining buyers.
func TestCloseKeepsWaitingFailoverUndecided(t *testing.T) {
	runInVirtualTime(t, "", func(t *testing.T) {
		r := marketOf(market.Waterfall, buyer{id: "blue", postEndpoint: true}, buyer{id: "gold", caps: []string{"day 1"}}, buyer{id: "dull"})
		r.campaigns = append(r.campaigns, campaign{id: "b", method: market.Waterfall, filterSets: []filterSet{{buyer: "gold"}}})
		x := newExchange(t, r)
		x.buyers.scriptPosts("blue", refuses.after(100*ms))
		x.log.setSyncTime(2 * time.Second)
		a := x.startIngest(leadRequest(1))
		time.Sleep(2050 * ms)                                      // its intent is durable, the post is running
		b := x.startIngest(leadRequest(2, "flo_campaign_id", "b")) // reserves gold's cap
		time.Sleep(100 * ms)                                       // blue has refused: a waits for gold's cap
		x.engine.Close()
		if got := a.wait(); strings.Contains(got, "rejected") || strings.Contains(got, "timeout") {
			t.Errorf("answer at Close: %s", got)
		}
		b.wait()
		x.log.setSyncTime(0)
	})
}

func TestPendingSettlementHasNoAnswerOfPreviousBuyer(t *testing.T) {
	runWithExchange(t, "", twoPostBuyers(), func(t *testing.T, x *testExchange) {
		x.buyers.scriptPosts("blue", refuses)
		x.buyers.scriptPosts("gold", accepts.after(8*time.Second))
		x.ingestResult(leadRequest(1))
		time.Sleep(time.Minute)
		for _, s := range eventsOf[*event.PostSettled](x) {
			if s.Settlement == event.SettledPending && (s.Status != 0 || s.Code != "") {
				t.Errorf("pending at the second buyer with status %d and code %q of the first", s.Status, s.Code)
			}
		}
	})
}

// If the log's queue is full, the outcome is appended again until the log accepts it.
func TestOutcomeIsLoggedAfterFullQueue(t *testing.T) {
	for _, row := range []struct {
		name  string
		reply postReply
		want  string
	}{
		{"accepted", accepts, "blue@500ms"},
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
			expectEqual(t, x.ingestResult(leadRequest(1).withKey("k")), strings.Split(row.want, "@")[0], "repeat")
			expectEqual(t, x.engine.RunningDeliveries(), 0, "running deliveries")
		})
	}
}

// A buyer with 1,000 unconfirmed deliveries gets no leads until one is resolved.
func TestBuyerWithTooManyUnconfirmedDeliveries(t *testing.T) {
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
		expectEqual(t, x.ingestResult(leadRequest(1000)), "gold", "buyer of lead 1,001")
		expectEqual(t, x.state.CountUnknownDeliveriesExceptTests(), 1000, "unconfirmed deliveries")
		x.crashAndRestart()
		expectEqual(t, x.ingestResult(leadRequest(1001)), "gold", "buyer after a restart")
		must.Succeed(t, x.engine.AsOperator("").ResolveUnconfirmedDelivery(first.Lead, event.SettledConfirmed))
		x.buyers.scriptPosts("blue", accepts)
		expectEqual(t, x.ingestResult(leadRequest(1002)), "blue", "buyer after one was resolved")
	})
}

// If the files with old leads cannot be read, a buyer's refusal still counts: the lead goes to no further buyer, and
// no restart posts it to this buyer again.
func TestRefusalCountsWithoutColdFiles(t *testing.T) {
	runInVirtualTime(t, "", func(t *testing.T) {
		x := newExchange(t, duplicatesMarket(byBuyer, true))
		x.buyers.scriptPosts("blue", refuses.after(time.Second))
		sold := x.startIngest(leadRequest(1))
		time.Sleep(500 * ms)
		file := coldtest.New(state.ColdRowShape())
		file.Broken = errors.New("a bad sector")
		x.engine.State().SetColdFiles([]state.ColdFile{file})
		expectEqual(t, sold.wait(), "post_rejected")
		x.engine.State().EachUnfinishedPost(func(p *state.UnfinishedPost) { t.Errorf("the delivery of %s is still open", p.Lead) })
		expectEqual(t, x.engine.State().ReservationCount(), int64(0))
		expectEqual(t, len(x.buyers.postAttempts()), 1, "attempts ", x.buyers.postAttempts())
	})
}
