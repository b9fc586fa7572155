package engine_test

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"pingpost/engine/market"
)

const dayLong = 24 * time.Hour

func duplicates(rule market.DuplicateRule, posts bool) rig {
	r := selling(market.Waterfall, buyer{id: "blue", posts: posts}, buyer{id: "gold", posts: posts})
	r.campaigns[0].duplicates = rule
	return r
}

var (
	anyOf     = market.DuplicateRule{Phone: true, Email: true, Window: int64(30 * dayLong)}
	allOf     = market.DuplicateRule{Phone: true, Email: true, All: true, Window: int64(30 * dayLong)}
	byPhone   = market.DuplicateRule{Phone: true, Window: int64(30 * dayLong)}
	byEmail   = market.DuplicateRule{Email: true, Window: int64(30 * dayLong)}
	byBuyer   = market.DuplicateRule{Phone: true, Email: true, Window: int64(30 * dayLong), PerBuyer: true}
	turnedOff = market.DuplicateRule{Phone: true, Email: true}
)

func TestDuplicateByRule(t *testing.T) {
	tests := []struct {
		what                 string
		same, phone, email   string // the second lead, where both, or only one, are the first's
		rule                 market.DuplicateRule
		third                string // the same again
		writtenInAnotherForm string
	}{
		{"any of them", "duplicate", "duplicate", "duplicate", anyOf, "duplicate", "duplicate"},
		{"all of them", "duplicate", "blue", "blue", allOf, "duplicate", "duplicate"},
		{"the phone", "duplicate", "duplicate", "blue", byPhone, "duplicate", "duplicate"},
		{"the email", "duplicate", "blue", "duplicate", byEmail, "duplicate", "duplicate"},
		{"each buyer once", "gold", "gold", "gold", byBuyer, "duplicate", "duplicate"},
		{"off", "blue", "blue", "blue", turnedOff, "blue", "blue"},
	}
	for _, test := range tests {
		for _, posts := range []bool{false, true} {
			trading(t, fmt.Sprintf("%s/posts=%v", test.what, posts), duplicates(test.rule, posts), func(t *testing.T, x *exchange) {
				x.told(1, 1)
				x.told(11, 1)
				x.told(21, 1)
				got := []string{
					x.tell(person(1)),
					x.tell(person(12, "phone", "4152000011")),
					x.tell(person(22, "email", "p21@example.com")),
					x.tell(person(1)),
					x.tell(person(1, "phone", "+1 (415) 200-0001", "email", "P1@EXAMPLE.com")),
				}
				want := []string{test.same, test.phone, test.email, test.third, test.writtenInAnotherForm}
				expectEqual(t, fmt.Sprint(got), fmt.Sprint(want))
				x.crash()
				expectEqual(t, x.tell(person(1)), test.third, "after a restart")
			})
		}
	}
}

func TestDuplicateWindow(t *testing.T) {
	bubble(t, "ends to the second", func(t *testing.T) {
		rule := anyOf
		rule.Window = int64(time.Hour)
		x := begin(t, duplicates(rule, false))
		got := []string{x.tell(person(1))}
		for _, moment := range []string{"00:59:59", "01:00:00", "01:59:59", "02:00:00"} {
			at(t, "2000-01-01 "+moment)
			got = append(got, x.tell(person(1)))
		}
		if want := "[blue duplicate blue duplicate blue]"; fmt.Sprint(got) != want {
			t.Errorf("%v, want %s", got, want)
		}
	})
	bubble(t, "another campaign knows nothing of it", func(t *testing.T) {
		r := duplicates(anyOf, false)
		other := r.campaigns[0]
		other.id = "home"
		r.campaigns = append(r.campaigns, other)
		x := begin(t, r)
		expectEqual(t, x.tell(person(1))+" "+x.tell(person(1, "flo_campaign_id", "home"))+" "+x.tell(person(1)), "blue blue duplicate")
	})
}

// Only accepted leads are remembered.
func TestUnmatchedLeadsAreNotRemembered(t *testing.T) {
	bubble(t, "no room", func(t *testing.T) {
		r := duplicates(anyOf, true)
		r.campaigns[0].caps = []string{"day 1"}
		x := begin(t, r)
		expectEqual(t, x.told(1, 2), "blue caps_full")
		at(t, "2000-01-02 00:00:00")
		expectEqual(t, x.tell(person(2)), "blue")
	})
	trading(t, "refused", duplicates(anyOf, true), func(t *testing.T, x *exchange) {
		x.world.script("blue", refuses)
		x.world.script("gold", refuses)
		got := []string{x.tell(person(1))}
		x.world.script("gold", accepts)
		got = append(got, x.tell(person(1)), x.tell(person(1)))
		if fmt.Sprint(got) != "[post_rejected gold duplicate]" {
			t.Error(got)
		}
	})
}

// A lead whose like is in flight waits for what becomes of that.
func TestDuplicateInFlight(t *testing.T) {
	tests := []struct {
		what   string
		rule   market.DuplicateRule
		script []reply // of blue; gold refuses
		want   string  // of the two, the second half a second later
	}{
		{"accepted", anyOf, []reply{accepts.in(time.Second)}, "blue@1s duplicate@500ms"},
		{"refused", anyOf, []reply{refuses.in(time.Second)}, "post_rejected@1s post_rejected@1.5s"},
		{"unreached after a while", anyOf, []reply{unreached.in(2 * time.Second)}, "post_rejected@2s post_rejected@3.5s"},
		{"in doubt", anyOf, []reply{hangs}, "blue@5s duplicate@4.5s"},
		{"towards each buyer, accepted", byBuyer, []reply{accepts.in(time.Second)}, "blue@1s post_rejected@500ms"},
	}
	for _, test := range tests {
		trading(t, test.what, duplicates(test.rule, true), func(t *testing.T, x *exchange) {
			x.world.script("blue", test.script...)
			x.world.script("gold", refuses)
			first := x.goSend(person(1))
			time.Sleep(time.Second / 2)
			second := x.goSend(person(2, "phone", "415-200-0001"))
			got := fmt.Sprintf("%s@%s %s@%s", first.wait(), first.took, second.wait(), second.took)
			expectEqual(t, got, test.want)
			time.Sleep(time.Minute)
		})
	}
	trading(t, "the second is sold once the first is not", duplicates(anyOf, true), func(t *testing.T, x *exchange) {
		x.world.behave = func(p *post) reply {
			if p.lead == x.world.posts[0].lead {
				return refuses.in(time.Second)
			}
			return accepts.in(time.Second)
		}
		first := x.goSend(person(1))
		synctest.Wait()
		second, third := x.goSend(person(1)), x.goSend(person(1))
		got := []string{first.wait(), second.wait(), third.wait()}
		if all := strings.Join(got, " "); all != "post_rejected blue duplicate" && all != "post_rejected duplicate blue" {
			t.Error(all)
		}
	})
	bubble(t, "towards each buyer, as it goes from one to the next", func(t *testing.T) {
		r := duplicates(byBuyer, true)
		r.campaigns[0].seats[0].states = "CA"
		x := begin(t, r)
		x.world.script("blue", refuses.in(time.Second))
		x.world.script("gold", accepts.in(time.Second))
		first := x.goSend(person(1))
		time.Sleep(1500 * ms)
		second := x.goSend(person(1, "state", "NV"))
		if got := first.wait() + " " + second.wait(); got != "gold duplicate" || second.took != 500*ms {
			t.Errorf("%s after %s", got, second.took)
		}
	})
	bubble(t, "towards each buyer: one stands in no other's way", func(t *testing.T) {
		r := duplicates(byBuyer, true)
		r.campaigns[0].seats[0].states = "CA"
		x := begin(t, r)
		x.world.script("blue", accepts.in(time.Second))
		first := x.goSend(person(1))
		synctest.Wait()
		second := x.goSend(person(1, "state", "NV"))
		if got := first.wait() + " " + second.wait(); got != "blue gold" || second.took != 0 {
			t.Errorf("%s after %s", got, second.took)
		}
	})
	trading(t, "a log that is slow", duplicates(anyOf, false), func(t *testing.T, x *exchange) {
		x.log.slow(time.Second)
		first := x.goSend(person(1))
		synctest.Wait()
		second := x.goSend(person(1))
		expectEqual(t, first.wait()+" "+second.wait(), "blue duplicate")
	})
	trading(t, "longer than the ceiling", duplicates(anyOf, false), func(t *testing.T, x *exchange) {
		x.log.slow(7 * time.Second)
		first := x.goSend(person(1))
		synctest.Wait()
		second := x.goSend(person(1))
		x.log.slow(0)
		expectEqual(t, first.wait()+" "+second.wait(), "blue timeout")
	})
}

// A delivery that the supplier was told ACCEPTED is remembered, and is forgotten
// when the buyer refuses it after all.
func TestLateRefusalFreesTheValues(t *testing.T) {
	trading(t, "late", duplicates(anyOf, true), func(t *testing.T, x *exchange) {
		x.world.script("blue", refuses.in(8*time.Second))
		answer, err := x.send(person(1))
		got := []string{said(answer, err), x.tell(person(1))}
		time.Sleep(time.Minute)
		got = append(got, x.stands(answer))
		x.world.script("blue", accepts)
		got = append(got, x.tell(person(1)), x.tell(person(1)))
		if want := "blue|duplicate|UNMATCHED failed post_rejected|blue|duplicate"; strings.Join(got, "|") != want {
			t.Errorf("%q, want %s", got, want)
		}
	})
}
