package engine_test

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"pingpost/engine/market"
)

func duplicatesMarket(rule market.DuplicateRule, posts bool) marketSpec {
	r := marketOf(market.Waterfall, buyer{id: "blue", postEndpoint: posts}, buyer{id: "gold", postEndpoint: posts})
	r.campaigns[0].duplicates = rule
	return r
}

var (
	anyOf     = market.DuplicateRule{Phone: true, Email: true, Window: int64(30 * day)}
	allOf     = market.DuplicateRule{Phone: true, Email: true, All: true, Window: int64(30 * day)}
	byPhone   = market.DuplicateRule{Phone: true, Window: int64(30 * day)}
	byEmail   = market.DuplicateRule{Email: true, Window: int64(30 * day)}
	byBuyer   = market.DuplicateRule{Phone: true, Email: true, Window: int64(30 * day), PerBuyer: true}
	turnedOff = market.DuplicateRule{Phone: true, Email: true}
)

func TestDuplicateByRule(t *testing.T) {
	tests := []struct {
		name                 string
		same, phone, email   string // answer to a lead with both, or only one, of the first lead's values
		rule                 market.DuplicateRule
		third                string // answer to the same lead again
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
			runWithExchange(t, fmt.Sprintf("%s/posts=%v", test.name, posts), duplicatesMarket(test.rule, posts), func(t *testing.T, x *testExchange) {
				x.ingestResults(1, 1)
				x.ingestResults(11, 1)
				x.ingestResults(21, 1)
				got := []string{
					x.ingestResult(leadRequest(1)),
					x.ingestResult(leadRequest(12, "phone", "4152000011")),
					x.ingestResult(leadRequest(22, "email", "p21@example.com")),
					x.ingestResult(leadRequest(1)),
					x.ingestResult(leadRequest(1, "phone", "+1 (415) 200-0001", "email", "P1@EXAMPLE.com")),
				}
				want := []string{test.same, test.phone, test.email, test.third, test.writtenInAnotherForm}
				expectEqual(t, fmt.Sprint(got), fmt.Sprint(want))
				x.crashAndRestart()
				expectEqual(t, x.ingestResult(leadRequest(1)), test.third, "after a restart")
			})
		}
	}
}

func TestDuplicateWindow(t *testing.T) {
	runInVirtualTime(t, "ends to the second", func(t *testing.T) {
		rule := anyOf
		rule.Window = int64(time.Hour)
		x := newExchange(t, duplicatesMarket(rule, false))
		got := []string{x.ingestResult(leadRequest(1))}
		for _, moment := range []string{"00:59:59", "01:00:00", "01:59:59", "02:00:00"} {
			sleepUntil(t, "2000-01-01 "+moment)
			got = append(got, x.ingestResult(leadRequest(1)))
		}
		if want := "[blue duplicate blue duplicate blue]"; fmt.Sprint(got) != want {
			t.Errorf("%v, want %s", got, want)
		}
	})
	runInVirtualTime(t, "another campaign", func(t *testing.T) {
		r := duplicatesMarket(anyOf, false)
		other := r.campaigns[0]
		other.id = "home"
		r.campaigns = append(r.campaigns, other)
		x := newExchange(t, r)
		expectEqual(t, x.ingestResult(leadRequest(1))+" "+x.ingestResult(leadRequest(1, "flo_campaign_id", "home"))+" "+x.ingestResult(leadRequest(1)), "blue blue duplicate")
	})
}

func TestUnmatchedLeadIsNoDuplicate(t *testing.T) {
	runInVirtualTime(t, "caps full", func(t *testing.T) {
		r := duplicatesMarket(anyOf, true)
		r.campaigns[0].caps = []string{"day 1"}
		x := newExchange(t, r)
		expectEqual(t, x.ingestResults(1, 2), "blue caps_full")
		sleepUntil(t, "2000-01-02 00:00:00")
		expectEqual(t, x.ingestResult(leadRequest(2)), "blue")
	})
	runWithExchange(t, "refused", duplicatesMarket(anyOf, true), func(t *testing.T, x *testExchange) {
		x.buyers.scriptPosts("blue", refuses)
		x.buyers.scriptPosts("gold", refuses)
		got := []string{x.ingestResult(leadRequest(1))}
		x.buyers.scriptPosts("gold", accepts)
		got = append(got, x.ingestResult(leadRequest(1)), x.ingestResult(leadRequest(1)))
		if fmt.Sprint(got) != "[post_rejected gold duplicate]" {
			t.Error(got)
		}
	})
}

// A possible duplicate of a lead in delivery waits for the result.
func TestDuplicateInFlight(t *testing.T) {
	tests := []struct {
		name   string
		rule   market.DuplicateRule
		script []postReply // of blue; gold refuses
		want   string      // both answers; the second lead comes 500 ms later
	}{
		{"accepted", anyOf, []postReply{accepts.after(time.Second)}, "blue@1s duplicate@500ms"},
		{"refused", anyOf, []postReply{refuses.after(time.Second)}, "post_rejected@1s post_rejected@1.5s"},
		{"unreached after 2 s", anyOf, []postReply{unreachable.after(2 * time.Second)}, "post_rejected@2s post_rejected@3.5s"},
		{"in doubt", anyOf, []postReply{hangs}, "blue@5s duplicate@4.5s"},
		{"per buyer, accepted", byBuyer, []postReply{accepts.after(time.Second)}, "blue@1s post_rejected@500ms"},
	}
	for _, test := range tests {
		runWithExchange(t, test.name, duplicatesMarket(test.rule, true), func(t *testing.T, x *testExchange) {
			x.buyers.scriptPosts("blue", test.script...)
			x.buyers.scriptPosts("gold", refuses)
			first := x.startIngest(leadRequest(1))
			time.Sleep(time.Second / 2)
			second := x.startIngest(leadRequest(2, "phone", "415-200-0001"))
			got := fmt.Sprintf("%s@%s %s@%s", first.wait(), first.took, second.wait(), second.took)
			expectEqual(t, got, test.want)
			time.Sleep(time.Minute)
		})
	}
	runWithExchange(t, "the second is sold after the first is refused", duplicatesMarket(anyOf, true), func(t *testing.T, x *testExchange) {
		x.buyers.replyTo = func(p *receivedPost) postReply {
			if p.lead == x.buyers.posts[0].lead {
				return refuses.after(time.Second)
			}
			return accepts.after(time.Second)
		}
		first := x.startIngest(leadRequest(1))
		synctest.Wait()
		second, third := x.startIngest(leadRequest(1)), x.startIngest(leadRequest(1))
		got := []string{first.wait(), second.wait(), third.wait()}
		if all := strings.Join(got, " "); all != "post_rejected blue duplicate" && all != "post_rejected duplicate blue" {
			t.Error(all)
		}
	})
	runInVirtualTime(t, "per buyer, during the failover to the next", func(t *testing.T) {
		r := duplicatesMarket(byBuyer, true)
		r.campaigns[0].filterSets[0].states = "CA"
		x := newExchange(t, r)
		x.buyers.scriptPosts("blue", refuses.after(time.Second))
		x.buyers.scriptPosts("gold", accepts.after(time.Second))
		first := x.startIngest(leadRequest(1))
		time.Sleep(1500 * ms)
		second := x.startIngest(leadRequest(1, "state", "NV"))
		if got := first.wait() + " " + second.wait(); got != "gold duplicate" || second.took != 500*ms {
			t.Errorf("%s after %s", got, second.took)
		}
	})
	runInVirtualTime(t, "per buyer, another buyer is not blocked", func(t *testing.T) {
		r := duplicatesMarket(byBuyer, true)
		r.campaigns[0].filterSets[0].states = "CA"
		x := newExchange(t, r)
		x.buyers.scriptPosts("blue", accepts.after(time.Second))
		first := x.startIngest(leadRequest(1))
		synctest.Wait()
		second := x.startIngest(leadRequest(1, "state", "NV"))
		if got := first.wait() + " " + second.wait(); got != "blue gold" || second.took != 0 {
			t.Errorf("%s after %s", got, second.took)
		}
	})
	runWithExchange(t, "slow log", duplicatesMarket(anyOf, false), func(t *testing.T, x *testExchange) {
		x.log.setSyncTime(time.Second)
		first := x.startIngest(leadRequest(1))
		synctest.Wait()
		second := x.startIngest(leadRequest(1))
		expectEqual(t, first.wait()+" "+second.wait(), "blue duplicate")
	})
	runWithExchange(t, "past the deadline", duplicatesMarket(anyOf, false), func(t *testing.T, x *testExchange) {
		x.log.setSyncTime(7 * time.Second)
		first := x.startIngest(leadRequest(1))
		synctest.Wait()
		second := x.startIngest(leadRequest(1))
		x.log.setSyncTime(0)
		expectEqual(t, first.wait()+" "+second.wait(), "blue timeout")
	})
}

// A lead answered with ACCEPTED blocks duplicates until its buyer refuses it.
func TestLateRefusalReleasesDuplicateClaim(t *testing.T) {
	runWithExchange(t, "late", duplicatesMarket(anyOf, true), func(t *testing.T, x *testExchange) {
		x.buyers.scriptPosts("blue", refuses.after(8*time.Second))
		answer, err := x.ingest(leadRequest(1))
		got := []string{describeIngest(answer, err), x.ingestResult(leadRequest(1))}
		time.Sleep(time.Minute)
		got = append(got, x.leadState(answer))
		x.buyers.scriptPosts("blue", accepts)
		got = append(got, x.ingestResult(leadRequest(1)), x.ingestResult(leadRequest(1)))
		if want := "blue|duplicate|UNMATCHED failed post_rejected|blue|duplicate"; strings.Join(got, "|") != want {
			t.Errorf("%q, want %s", got, want)
		}
	})
}
