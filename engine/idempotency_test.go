package engine_test

import (
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"pingpost/engine"
	"pingpost/engine/market"
)

// expectReplay checks that the repeat has the first answer, marked as replayed.
func expectReplay(t *testing.T, first, again engine.IngestAnswer) {
	t.Helper()
	if !again.Replayed {
		t.Error("the answer is not marked as replayed")
	}
	again.Replayed, again.Unsettled = first.Replayed, first.Unsettled // only the first answer is reported to the observer
	if again != first {
		t.Errorf("first  %+v\nagain  %+v", first, again)
	}
}

// The repeat gets the first answer, also after a restart and after the delivery has ended
// differently.
func TestRepeatGetsFirstAnswer(t *testing.T) {
	tests := []struct {
		name   string
		market marketSpec
		script []postReply
		want   string
	}{
		{"recorded", threeBuyers(market.RoundRobin), nil, ""},
		{"caps full", marketOf(market.Waterfall, buyer{id: "blue", caps: []string{"day 0"}}), nil, "caps_full"},
		{"no buyer", marketSpec{campaigns: []campaign{{method: market.Waterfall}}}, nil, "no_buyer"},
		{"delivered", threeBuyers(market.Waterfall).withPostEndpoints(), []postReply{accepts.after(time.Second)}, "blue"},
		{"refused by the first", threeBuyers(market.Waterfall).withPostEndpoints(), []postReply{refuses.after(time.Second)}, "gold"},
		{"pending, then delivered", threeBuyers(market.Waterfall).withPostEndpoints(), []postReply{hangs, accepts}, "blue"},
		{"pending, then refused", threeBuyers(market.Waterfall).withPostEndpoints().withCertifiedAnswers(), []postReply{hangs, refuses}, "blue"},
		{"pending, then unknown", threeBuyers(market.Waterfall).withPostEndpoints(), []postReply{hangs}, "blue"},
		{"unknown", threeBuyers(market.Waterfall).withPostEndpoints(), []postReply{serverError, refusesNotFinal}, "blue"},
	}
	for _, test := range tests {
		runWithExchange(t, test.name, test.market, func(t *testing.T, x *testExchange) {
			x.buyers.scriptPosts("blue", test.script...)
			request := leadRequest(1).withKey("k-1")
			first, err := x.ingest(request)
			if err != nil || (test.want != "" && describeIngest(first, nil) != test.want) {
				t.Fatalf("%s, want %s", describeIngest(first, err), test.want)
			}
			posts := len(x.buyers.postAttempts())
			again := func(when string) {
				t.Helper()
				answer, err := x.ingest(request)
				if err != nil {
					t.Fatalf("%s: %v", when, err)
				}
				expectReplay(t, first, answer)
				expectEqual(t, x.ingestResult(leadRequest(2).withKey("k-1")), "idempotency_key_reused", when, ", another body")
			}
			again("at once")
			expectEqual(t, len(x.buyers.postAttempts()), posts, "posts")
			x.crashAndRestart()
			again("after a restart")
			time.Sleep(time.Hour)
			again("when all has come to an end")
			sleepUntil(t, "2000-01-30 23:00:00")
			again("on the last day")
			sleepUntil(t, "2000-01-31 00:00:02")
			if later, err := x.ingest(request); err == nil && later.Lead == first.Lead {
				t.Error("the key has not expired after 30 days")
			}
			time.Sleep(time.Hour)
		})
	}
}

func TestInvalidRequestUsesNoIdempotencyKey(t *testing.T) {
	tests := []struct {
		name string
		bad  request
		want string
	}{
		{"a field", leadRequest(1, "phone", "none"), "invalid_payload phone:invalid_format"},
		{"a campaign", leadRequest(1, "flo_campaign_id", "boat"), "invalid_payload flo_campaign_id:unknown"},
		{"id of another supplier", leadRequest(1, "flo_supplier_id", "other"), "forbidden"},
	}
	for _, test := range tests {
		runWithExchange(t, test.name, threeBuyers(market.Waterfall), func(t *testing.T, x *testExchange) {
			entries := x.log.len()
			expectEqual(t, x.ingestResult(test.bad.withKey("k")), test.want)
			expectEqual(t, x.log.len(), entries, "log entries")
			expectEqual(t, x.ingestResult(leadRequest(1).withKey("k")), "blue", "the valid body with the same key")
		})
	}
}

func TestIdempotencyKeysOfSuppliersAreSeparate(t *testing.T) {
	runInVirtualTime(t, "two suppliers", func(t *testing.T) {
		r := threeBuyers(market.Waterfall)
		r.suppliers = []string{"other"}
		x := newExchange(t, r)
		mine, _ := x.ingest(leadRequest(1).withKey("k"))
		theirs, err := x.ingest(leadRequest(2, "flo_supplier_id", "other").fromSupplier("other").withKey("k"))
		if err != nil || theirs.Lead == mine.Lead || theirs.Replayed {
			t.Errorf("%+v, %v", theirs, err)
		}
	})
}

// Repeats that arrive before the first answer wait for it and get the same.
func TestConcurrentRepeatsWaitForFirstAnswer(t *testing.T) {
	tests := []struct {
		name   string
		sync   time.Duration
		script []postReply
		want   string
		took   time.Duration // of the first
	}{
		{"while it waits for the log", time.Second, nil, "blue", 3 * time.Second},
		{"while it waits for the buyer", 0, []postReply{accepts.after(2 * time.Second)}, "blue", 2 * time.Second},
		{"while it goes from one buyer to the next", 0, []postReply{refuses.after(3 * time.Second)}, "gold", 3 * time.Second},
		{"until the deadline", 0, []postReply{hangs}, "blue", 5 * time.Second},
	}
	for _, test := range tests {
		runInVirtualTime(t, test.name, func(t *testing.T) {
			r := threeBuyers(market.Waterfall).withPostEndpoints()
			x := newExchange(t, r)
			x.log.setSyncTime(test.sync)
			x.buyers.scriptPosts("blue", test.script...)
			request := leadRequest(1).withKey("k")
			first := x.startIngest(request)
			var others []*ingestCall
			for range 5 {
				time.Sleep(100 * time.Millisecond)
				others = append(others, x.startIngest(request))
			}
			otherBody := x.startIngest(leadRequest(2).withKey("k"))
			if got := first.wait(); got != test.want || (test.sync == 0 && first.took != test.took) {
				t.Errorf("%s after %s", got, first.took)
			}
			for _, other := range others {
				expectEqual(t, other.wait(), test.want)
				expectReplay(t, first.answer, other.answer)
			}
			expectEqual(t, otherBody.wait(), "idempotency_key_reused", "another body")
			if n := len(x.buyers.buyersByPerson()); n > 1 {
				t.Errorf("%d leads sold", n)
			}
			time.Sleep(time.Minute)
		})
	}
	runWithExchange(t, "while it waits for a possible duplicate", duplicatesMarket(anyOf, true), func(t *testing.T, x *testExchange) {
		x.buyers.scriptPosts("blue", accepts.after(2*time.Second))
		holder := x.startIngest(leadRequest(1))
		synctest.Wait()
		waits := x.startIngest(leadRequest(1).withKey("k")) // for the holder's result
		synctest.Wait()
		next := x.startIngest(leadRequest(1).withKey("k"))
		expectEqual(t, fmt.Sprint(holder.wait(), " ", waits.wait(), " ", next.wait()), "blue duplicate duplicate")
		expectReplay(t, waits.answer, next.answer)
	})
	runWithExchange(t, "the first is invalid, the next uses the key", threeBuyers(market.Waterfall), func(t *testing.T, x *testExchange) {
		x.log.setSyncTime(time.Second)
		first := x.startIngest(leadRequest(1, "phone", "555").withKey("k"))
		second := x.startIngest(leadRequest(1).withKey("k"))
		if got := first.wait() + " " + second.wait(); got != "invalid_payload phone:invalid_format blue" &&
			got != "idempotency_key_reused blue" {
			t.Error(got)
		}
	})
	runWithExchange(t, "past the deadline", threeBuyers(market.Waterfall), func(t *testing.T, x *testExchange) {
		x.log.setSyncTime(8 * time.Second)
		first := x.startIngest(leadRequest(1).withKey("k"))
		synctest.Wait()
		second := x.startIngest(leadRequest(1).withKey("k"))
		<-second.done
		if !errors.Is(second.err, engine.ErrUnavailable) || second.took != 5*time.Second {
			t.Errorf("%v after %s", second.err, second.took)
		}
		x.log.setSyncTime(0)
		expectEqual(t, first.wait(), "blue")
	})
}
