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

// same holds a repeated answer to the first one.
func same(t *testing.T, first, again engine.IngestAnswer) {
	t.Helper()
	if !again.Replayed {
		t.Error("the answer does not say that it is a repetition")
	}
	again.Replayed = first.Replayed
	if again != first {
		t.Errorf("first  %+v\nagain  %+v", first, again)
	}
}

// Whatever became of a lead, its key brings back the very answer: at once,
// after a restart, and after the delivery came to something else.
func TestKeyBringsBackTheAnswer(t *testing.T) {
	tests := []struct {
		what   string
		rig    rig
		script []reply
		want   string
	}{
		{"recorded", three(market.RoundRobin), nil, ""},
		{"no room", selling(market.Waterfall, buyer{id: "blue", caps: []string{"day 0"}}), nil, "caps_full"},
		{"nobody there", rig{campaigns: []campaign{{method: market.Waterfall}}}, nil, "no_buyer"},
		{"delivered", three(market.Waterfall).posting(), []reply{accepts.in(time.Second)}, "blue"},
		{"refused by the first", three(market.Waterfall).posting(), []reply{refuses.in(time.Second)}, "gold"},
		{"pending, then delivered", three(market.Waterfall).posting(), []reply{hangs, accepts}, "blue"},
		{"pending, then refused", three(market.Waterfall).posting().certain(), []reply{hangs, refuses}, "blue"},
		{"pending, then unknown", three(market.Waterfall).posting(), []reply{hangs}, "blue"},
		{"unknown", three(market.Waterfall).posting(), []reply{breaks, forbids}, "blue"},
	}
	for _, test := range tests {
		trading(t, test.what, test.rig, func(t *testing.T, x *exchange) {
			x.world.script("blue", test.script...)
			request := person(1).withKey("k-1")
			first, err := x.send(request)
			if err != nil || (test.want != "" && said(first, nil) != test.want) {
				t.Fatalf("%s, want %s", said(first, err), test.want)
			}
			posts := len(x.world.tried())
			again := func(when string) {
				t.Helper()
				answer, err := x.send(request)
				if err != nil {
					t.Fatalf("%s: %v", when, err)
				}
				same(t, first, answer)
				expectEqual(t, x.tell(person(2).withKey("k-1")), "idempotency_key_reused", when, ", another body")
			}
			again("at once")
			expectEqual(t, len(x.world.tried()), posts, "the repetition was posted")
			x.crash()
			again("after a restart")
			time.Sleep(time.Hour)
			again("when all has come to an end")
			at(t, "2000-01-30 23:00:00")
			again("on the last day")
			at(t, "2000-01-31 00:00:02")
			if later, err := x.send(request); err == nil && later.Lead == first.Lead {
				t.Error("the key is known after 30 days")
			}
			time.Sleep(time.Hour)
		})
	}
}

// What is refused before anything is decided uses up no key.
func TestRefusalUsesUpNoKey(t *testing.T) {
	tests := []struct {
		what string
		bad  request
		want string
	}{
		{"a field", person(1, "phone", "none"), "invalid_payload phone:invalid_format"},
		{"a campaign", person(1, "flo_campaign_id", "boat"), "invalid_payload flo_campaign_id:unknown"},
		{"another's name", person(1, "flo_supplier_id", "other"), "forbidden"},
	}
	for _, test := range tests {
		trading(t, test.what, three(market.Waterfall), func(t *testing.T, x *exchange) {
			entries := x.log.len()
			expectEqual(t, x.tell(test.bad.withKey("k")), test.want)
			expectEqual(t, x.log.len(), entries, "it was logged")
			expectEqual(t, x.tell(person(1).withKey("k")), "blue", "the right body under the same key")
		})
	}
}

func TestKeysAreTheirOwners(t *testing.T) {
	bubble(t, "two suppliers", func(t *testing.T) {
		r := three(market.Waterfall)
		r.suppliers = []string{"other"}
		x := begin(t, r)
		mine, _ := x.send(person(1).withKey("k"))
		theirs, err := x.send(person(2, "flo_supplier_id", "other").by("other").withKey("k"))
		if err != nil || theirs.Lead == mine.Lead || theirs.Replayed {
			t.Errorf("%+v, %v", theirs, err)
		}
	})
}

// Requests that come under one key while the first is under way wait for it and
// hear the same.
func TestKeyInUse(t *testing.T) {
	tests := []struct {
		what   string
		sync   time.Duration
		script []reply
		want   string
		took   time.Duration // of the first
	}{
		{"while it waits for the log", time.Second, nil, "blue", 3 * time.Second},
		{"while it waits for the buyer", 0, []reply{accepts.in(2 * time.Second)}, "blue", 2 * time.Second},
		{"while it goes from one buyer to the next", 0, []reply{refuses.in(3 * time.Second)}, "gold", 3 * time.Second},
		{"until the ceiling", 0, []reply{hangs}, "blue", 5 * time.Second},
	}
	for _, test := range tests {
		bubble(t, test.what, func(t *testing.T) {
			r := three(market.Waterfall).posting()
			x := begin(t, r)
			x.log.slow(test.sync)
			x.world.script("blue", test.script...)
			request := person(1).withKey("k")
			first := x.goSend(request)
			var others []*sent
			for range 5 {
				time.Sleep(100 * time.Millisecond)
				others = append(others, x.goSend(request))
			}
			stranger := x.goSend(person(2).withKey("k"))
			if got := first.wait(); got != test.want || (test.sync == 0 && first.took != test.took) {
				t.Errorf("%s after %s", got, first.took)
			}
			for _, other := range others {
				expectEqual(t, other.wait(), test.want)
				same(t, first.answer, other.answer)
			}
			expectEqual(t, stranger.wait(), "idempotency_key_reused", "another body")
			if n := len(x.world.takers()); n > 1 {
				t.Errorf("%d people were sold", n)
			}
			time.Sleep(time.Minute)
		})
	}
	trading(t, "while it waits for a lead like it", duplicates(anyOf, true), func(t *testing.T, x *exchange) {
		x.world.script("blue", accepts.in(2*time.Second))
		holder := x.goSend(person(1))
		synctest.Wait()
		waits := x.goSend(person(1).withKey("k")) // for the holder's fate
		synctest.Wait()
		next := x.goSend(person(1).withKey("k"))
		expectEqual(t, fmt.Sprint(holder.wait(), " ", waits.wait(), " ", next.wait()), "blue duplicate duplicate")
		same(t, waits.answer, next.answer)
	})
	trading(t, "and is refused as it stands: the next one takes the key", three(market.Waterfall), func(t *testing.T, x *exchange) {
		x.log.slow(time.Second)
		first := x.goSend(person(1, "phone", "555").withKey("k"))
		second := x.goSend(person(1).withKey("k"))
		if got := first.wait() + " " + second.wait(); got != "invalid_payload phone:invalid_format blue" &&
			got != "idempotency_key_reused blue" {
			t.Error(got)
		}
	})
	trading(t, "longer than the ceiling", three(market.Waterfall), func(t *testing.T, x *exchange) {
		x.log.slow(8 * time.Second)
		first := x.goSend(person(1).withKey("k"))
		synctest.Wait()
		second := x.goSend(person(1).withKey("k"))
		<-second.done
		if !errors.Is(second.err, engine.ErrUnavailable) || second.took != 5*time.Second {
			t.Errorf("%v after %s", second.err, second.took)
		}
		x.log.slow(0)
		expectEqual(t, first.wait(), "blue")
	})
}
