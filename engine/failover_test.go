package engine_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"pingpost/engine"
	"pingpost/engine/event"
	"pingpost/engine/market"
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
			x := begin(t, rig{
				buyers: []buyer{{id: "blue", posts: true}, {id: "gold", posts: true}},
				campaigns: []campaign{{method: market.Waterfall, caps: row.caps, seats: []seat{
					{buyer: "blue", price: "10"}, {buyer: "gold", price: row.gold},
				}}},
			})
			x.world.script("blue", refuses)
			if got := x.tell(person(1)); got != row.want {
				t.Errorf("%s, want %s", got, row.want)
			}
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
		byBuyer := anyOf
		byBuyer.PerBuyer = true
		x := begin(t, rig{
			buyers:    []buyer{{id: "blue", posts: true}, {id: "gold", posts: true}},
			campaigns: []campaign{{method: market.RoundRobin, duplicates: byBuyer, seats: []seat{{buyer: "blue"}, {buyer: "gold"}}}},
		})
		x.world.script("blue", refuses.in(100*ms))
		x.world.script("gold", refuses.in(100*ms))
		a, b := x.goSend(person(1)), x.goSend(person(1))
		for _, s := range []*sent{a, b} {
			if got := fmt.Sprintf("%s@%s", s.wait(), s.took); got != "post_rejected@200ms" {
				t.Error(got)
			}
		}
		if got := len(x.world.tried()); got != 4 {
			t.Errorf("tried %v", x.world.tried())
		}
	})
}

// The doors of the next buyer are looked at when it is its turn, not when the
// lead came.
func TestFailoverPassesDoorsThatShutMeanwhile(t *testing.T) {
	bubble(t, "", func(t *testing.T) {
		x := begin(t, rig{
			buyers: []buyer{{id: "blue", posts: true}, {id: "gold", posts: true}, {id: "late", schedule: "UTC Mon-Sun 00:00-00:01"}, {id: "red"}},
			campaigns: []campaign{{method: market.Waterfall, seats: []seat{
				{buyer: "blue"}, {buyer: "gold"}, {buyer: "late"}, {buyer: "red"},
			}}},
		})
		x.world.script("blue", refuses.in(4*time.Second))
		time.Sleep(58 * time.Second)
		a := x.goSend(person(1))
		time.Sleep(time.Second)
		if err := x.engine.By("").Pause(event.ObjectBuyer, "gold", true); err != nil {
			t.Fatal(err)
		}
		if got := a.wait(); got != "red" {
			t.Errorf("sold to %s; tried %v", got, x.world.tried())
		}
	})
}

// A stop decides nothing: a lead that waits for room is neither refused nor
// taken from the buyers it has not tried.
func TestFailoverIsNotDecidedByAStop(t *testing.T) {
	bubble(t, "", func(t *testing.T) {
		x := begin(t, rig{
			buyers: []buyer{{id: "blue", posts: true}, {id: "gold", caps: []string{"day 1"}}, {id: "dull"}},
			campaigns: []campaign{
				{method: market.Waterfall, seats: []seat{{buyer: "blue"}, {buyer: "gold"}, {buyer: "dull"}}},
				{id: "b", method: market.Waterfall, seats: []seat{{buyer: "gold"}}},
			},
		})
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
	bubble(t, "", func(t *testing.T) {
		x := begin(t, two())
		x.world.script("blue", refuses)
		x.world.script("gold", accepts.in(8*time.Second))
		x.tell(person(1))
		time.Sleep(time.Minute)
		var decoder event.Decoder
		for _, e := range x.log.durable() {
			fact, err := decoder.Decode(e.data)
			if err != nil {
				t.Fatal(err)
			}
			if s, ok := fact.(*event.PostSettled); ok && s.Settlement == event.SettledPending && (s.Status != 0 || s.Code != "") {
				t.Errorf("pending at the second buyer, with status %d and code %q of the first", s.Status, s.Code)
			}
		}
	})
}

// fullLog refuses the first outcomes, as a log whose queue is full does.
type fullLog struct {
	engine.Log
	refuse int
}

func (l *fullLog) Append(data []byte, w engine.Waiter) error {
	var decoder event.Decoder
	fact, err := decoder.Decode(data)
	if err == nil && fact.Kind() != event.KindLeadDecided && l.refuse > 0 {
		l.refuse--
		return engine.ErrBusy
	}
	return l.Log.Append(data, w)
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
			busy := &fullLog{}
			x := begin(t, two(), func(o *engine.Options) { busy.Log = o.Log; o.Log = busy })
			x.world.script("blue", row.reply)
			busy.refuse = 100
			s := x.goSend(person(1).withKey("k"))
			if got := fmt.Sprintf("%s@%s", s.wait(), s.took); got != row.want {
				t.Errorf("%s, want %s", got, row.want)
			}
			time.Sleep(5 * time.Minute)
			if got := x.tell(person(1).withKey("k")); got != strings.Split(row.want, "@")[0] {
				t.Errorf("asked again: %s", got)
			}
			if n := x.engine.Deliveries(); n != 0 {
				t.Errorf("%d deliveries are open", n)
			}
		})
	}
}

// A buyer that has lost track of a thousand leads is sent no more until an
// operator has looked at some.
func TestBuyerWithTooManyUnknownLeads(t *testing.T) {
	bubble(t, "", func(t *testing.T) {
		x := begin(t, rig{
			buyers:    []buyer{{id: "blue", posts: true}, {id: "gold"}},
			campaigns: []campaign{{method: market.Waterfall, seats: []seat{{buyer: "blue"}, {buyer: "gold"}}}},
		})
		x.world.script("blue", breaks, forbids)
		var first engine.Answer
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
		if got := x.tell(person(1000)); got != "gold" {
			t.Errorf("the thousand-and-first went to %s", got)
		}
		if n := x.state.CountAllUnknownDeliveries(); n != 1000 {
			t.Errorf("%d leads of unknown fate", n)
		}
		x.crash()
		if got := x.tell(person(1001)); got != "gold" {
			t.Errorf("after a restart one went to %s", got)
		}
		if err := x.engine.By("").Resolve(first.Lead, event.SettledConfirmed); err != nil {
			t.Fatal(err)
		}
		x.world.script("blue", accepts)
		if got := x.tell(person(1002)); got != "blue" {
			t.Errorf("after one was settled the next went to %s", got)
		}
	})
}
