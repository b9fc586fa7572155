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

// What a refused intent holds is no obstacle to its own lead: the fact that
// takes the next buyer gives it back.
func TestFailoverIntoTheRoomOfTheRefused(t *testing.T) {
	for _, row := range []struct {
		what string
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
		bubble(t, row.what, func(t *testing.T) {
			r := selling(market.Waterfall, buyer{id: "blue", posts: true}, buyer{id: "gold", posts: true})
			r.campaigns[0].caps, r.campaigns[0].seats[1].price = row.caps, row.gold
			x := begin(t, r)
			x.world.script("blue", refuses)
			expectEqual(t, x.tell(person(1)), row.want)
			x.world.script("blue", accepts)
			if got, full := x.tell(person(2)), row.want == "gold" && row.gold != "7"; full && got != "caps_full" {
				t.Errorf("the next lead: %s", got)
			}
		})
	}
}

// Two leads of one person at a campaign that asks by buyer: neither may wait
// for the other while it keeps the other waiting.
func TestFailoverDoesNotWaitInACircle(t *testing.T) {
	bubble(t, "", func(t *testing.T) {
		r := duplicates(byBuyer, true)
		r.campaigns[0].method = market.RoundRobin
		x := begin(t, r)
		x.world.script("blue", refuses.in(100*ms))
		x.world.script("gold", refuses.in(100*ms))
		a, b := x.goSend(person(1)), x.goSend(person(1))
		for _, s := range []*sent{a, b} {
			expectEqual(t, fmt.Sprintf("%s@%s", s.wait(), s.took), "post_rejected@200ms")
		}
		expectEqual(t, len(x.world.tried()), 4, "tried ", x.world.tried())
	})
}

// The doors of the next buyer are looked at when it is its turn, not when the
// lead came.
func TestFailoverPassesDoorsThatShutMeanwhile(t *testing.T) {
	bubble(t, "", func(t *testing.T) {
		late := buyer{id: "late", schedule: "UTC Mon-Sun 00:00-00:01"}
		x := begin(t, selling(market.Waterfall, buyer{id: "blue", posts: true}, buyer{id: "gold", posts: true}, late, buyer{id: "red"}))
		x.world.script("blue", refuses.in(4*time.Second))
		time.Sleep(58 * time.Second)
		a := x.goSend(person(1))
		time.Sleep(time.Second)
		must.Succeed(t, x.engine.AsOperator("").SetPaused(event.ObjectBuyer, "gold", true))
		expectEqual(t, a.wait(), "red", "sold, after ", x.world.tried())
	})
}

// A stop decides nothing: a lead that waits for room is neither refused nor
// taken from the buyers it has not tried.
func TestFailoverIsNotDecidedByAStop(t *testing.T) {
	bubble(t, "", func(t *testing.T) {
		r := selling(market.Waterfall, buyer{id: "blue", posts: true}, buyer{id: "gold", caps: []string{"day 1"}}, buyer{id: "dull"})
		r.campaigns = append(r.campaigns, campaign{id: "b", method: market.Waterfall, seats: []seat{{buyer: "gold"}}})
		x := begin(t, r)
		x.world.script("blue", refuses.in(100*ms))
		x.log.slow(2 * time.Second)
		a := x.goSend(person(1))
		time.Sleep(2050 * ms)                            // its intent is durable, the post is under way
		b := x.goSend(person(2, "flo_campaign_id", "b")) // reserves gold's last place
		time.Sleep(100 * ms)                             // blue has refused: a waits for gold's place
		x.engine.Close()
		if got := a.wait(); strings.Contains(got, "rejected") || strings.Contains(got, "timeout") {
			t.Errorf("a stop told %s", got)
		}
		b.wait()
		x.log.slow(0)
	})
}

// A fact about one buyer says nothing of the buyer before.
func TestSettlementSpeaksOfItsOwnBuyer(t *testing.T) {
	trading(t, "", two(), func(t *testing.T, x *exchange) {
		x.world.script("blue", refuses)
		x.world.script("gold", accepts.in(8*time.Second))
		x.tell(person(1))
		time.Sleep(time.Minute)
		for _, s := range recordsOf[*event.PostSettled](x) {
			if s.Settlement == event.SettledPending && (s.Status != 0 || s.Code != "") {
				t.Errorf("pending at the second buyer, with status %d and code %q of the first", s.Status, s.Code)
			}
		}
	})
}

// An outcome is offered until the log takes it: the buyer has the lead.
func TestOutcomesOutlastAFullQueue(t *testing.T) {
	for _, row := range []struct {
		what  string
		reply reply
		want  string
	}{
		{"taken", accepts, "blue@500ms"},
		{"refused", refuses, "gold@500ms"},
		{"in doubt", breaks, "blue@3.5s"},
	} {
		bubble(t, row.what, func(t *testing.T) {
			refuse := 0
			x := begin(t, two(), logThatRejects(func(kind event.Kind) error {
				if kind != event.KindLeadDecided && refuse > 0 {
					refuse--
					return engine.ErrBusy
				}
				return nil
			}))
			x.world.script("blue", row.reply)
			refuse = 100
			s := x.goSend(person(1).withKey("k"))
			expectEqual(t, fmt.Sprintf("%s@%s", s.wait(), s.took), row.want)
			time.Sleep(5 * time.Minute)
			expectEqual(t, x.tell(person(1).withKey("k")), strings.Split(row.want, "@")[0], "asked again")
			expectEqual(t, x.engine.RunningDeliveries(), 0, "deliveries are open")
		})
	}
}

// A buyer that has lost track of a thousand leads is sent no more until an
// operator has looked at some.
func TestBuyerWithTooManyUnknownLeads(t *testing.T) {
	trading(t, "", selling(market.Waterfall, buyer{id: "blue", posts: true}, buyer{id: "gold"}), func(t *testing.T, x *exchange) {
		x.world.script("blue", breaks, forbids)
		var first engine.IngestAnswer
		for i := range 1000 {
			a, err := x.send(person(i))
			if err != nil || a.Buyer != "blue" {
				t.Fatalf("lead %d: %s", i, said(a, err))
			}
			if i == 0 {
				first = a
			}
			time.Sleep(2 * time.Second)
			x.world.script("blue", breaks, forbids)
		}
		time.Sleep(time.Minute)
		expectEqual(t, x.tell(person(1000)), "gold", "the thousand-and-first went to")
		expectEqual(t, x.state.CountUnknownDeliveriesExceptTests(), 1000, "leads of unknown fate")
		x.crash()
		expectEqual(t, x.tell(person(1001)), "gold", "after a restart one went to")
		must.Succeed(t, x.engine.AsOperator("").ResolveUnconfirmedDelivery(first.Lead, event.SettledConfirmed))
		x.world.script("blue", accepts)
		expectEqual(t, x.tell(person(1002)), "blue", "after one was settled the next went to")
	})
}
