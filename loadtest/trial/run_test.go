package trial

import (
	"context"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"pingpost/loadtest/load"
	"pingpost/loadtest/scenario"
)

// lenient is a limit of lateness that no machine misses: how exact a machine's clock is
// is not what these tests are about.
const lenient = "limits: {late: 10s"

func TestWhatFitsIsHeld(t *testing.T) {
	for _, kinds := range []string{"{ingest: 1}", "{pingpost: 1}", "{ingest: 1, ping: 1, pingpost: 2}"} {
		s := newStub(t)
		r := s.tried(t, stubScenario(t, kinds, "webhooks: {within: 1s}\n"+lenient+"}"))
		if !r.Held() || len(r.Account.Wrong) > 0 {
			t.Errorf("%s: %v %v", kinds, missed(r), r.Account.Wrong)
		}
		// 5 in the warm-up, 30 measured.
		if r.Sent != 35 || r.Offered != 35 || r.Ends["sold"] != 30 || len(r.Ends) != 1 {
			t.Errorf("%s: %d of %d sent, %v", kinds, r.Sent, r.Offered, r.Ends)
		}
		b := r.Account.Buyers[0]
		if b.Sold != s.leads || b.Taken != s.leads || b.Money != s.owes() || b.Owes != s.owes() || r.Account.Hooks.Heard != s.leads {
			t.Errorf("%s: %+v %+v", kinds, b, r.Account.Hooks)
		}
		sum := 0
		for _, second := range r.Seconds {
			sum += second.Sold
		}
		if sum != 35 {
			t.Errorf("%s: %d in all seconds", kinds, sum)
		}
	}
}

// TestWhatDoesNotFitIsSeen breaks one thing at a time: each is told, and none is held.
func TestWhatDoesNotFitIsSeen(t *testing.T) {
	every := func(n int, status int, body string) func(int) (int, string) {
		return func(lead int) (int, string) {
			if lead%n == 0 {
				return status, body
			}
			return 0, ""
		}
	}
	for _, test := range []struct {
		name, kinds, limits string
		broken              func(*stub)
		wrong, missed       string
	}{
		{"a lead that the buyer has not", "{ingest: 1}", "", func(s *stub) { s.lose = func(n int) bool { return n == 9 } }, "buy does not have 1 leads", "accounts that differ"},
		{"sold twice", "{ingest: 1}", "", func(s *stub) {
			s.ingest = every(9, 201, `{"data":{"id":"lead_1","status":"ACCEPTED","buyer_id":"buy","price":{"amount":7.5}}}`)
		}, "told to be sold a second time", "accounts that differ"},
		{"taken twice", "{ingest: 1}", "", func(s *stub) {
			s.ingest = func(n int) (int, string) { s.stats.DoubleSold = int64(n / 9); return 0, "" }
		}, "was sold 3 leads twice", "accounts that differ"},
		{"a person in a ping", "{pingpost: 1}", "", func(s *stub) {
			s.post = func(int) (int, string) { s.stats.ContactSeen = 1; return 0, "" }
		}, "pinged 1 times with a person", "accounts that differ"},
		{"another price", "{ingest: 1}", "", func(s *stub) {
			s.ingest = func(int) (int, string) { s.stats.Revenue++; return 0, "" }
		}, "owes", "accounts that differ"},
		{"a sale that nobody was told of", "{ingest: 1}", "", func(s *stub) {
			s.ingest = func(n int) (int, string) {
				if n == 3 {
					s.taken = append(s.taken, "lead_of_nobody")
				}
				return 0, ""
			}
		}, "1 leads that nobody was told", "accounts that differ"},
		{"another count", "{ingest: 1}", "", func(s *stub) {
			s.ingest = func(int) (int, string) { s.accepted++; return 0, "" }
		}, "the exchange counts 70 accepted leads, and 35", "accounts that differ"},
		{"a fault", "{ingest: 1}", "", func(s *stub) {
			s.ingest = func(int) (int, string) { s.extra = "pingpost_faults_total 2\n"; return 0, "" }
		}, "counts 2 faults", "accounts that differ"},
		{"no webhook", "{ingest: 1}", "webhooks: {within: 100ms}\n", func(s *stub) { s.mute = true }, "of 35 sold leads no webhook", "webhooks heard"},
		{"refused rudely", "{ingest: 1}", "", func(s *stub) { s.rude = true; s.ingest = every(7, 429, `{"error":"rate_limited"}`) }, "without Retry-After", "refused"},
		{"refused", "{ingest: 1}", "", func(s *stub) { s.ingest = every(7, 503, `{"error":"unavailable"}`) }, "", "refused"},
		{"unmatched", "{ingest: 1}", "", func(s *stub) {
			s.ingest = every(7, 201, `{"data":{"id":"lead_x","status":"UNMATCHED","buyer_id":null,"reason":"caps_full"}}`)
		}, "", "without a buyer"},
		{"no bid", "{ping: 1}", "", func(s *stub) { s.ping = func() (int, string) { return 200, `{"bid":null,"reject_reason":"no_bid"}` } }, "", "without a buyer"},
		{"post rejected", "{pingpost: 1}", "", func(s *stub) { s.post = every(7, 422, `{"error":"post_rejected"}`) }, "", "without a buyer"},
		{"not answered in time", "{pingpost: 1}", "", func(s *stub) { s.post = every(7, 504, `{"error":"buyer_timeout"}`) }, "", "without a buyer"},
		{"an error", "{ingest: 1}", "", func(s *stub) { s.ingest = every(7, 500, `{"error":"internal"}`) }, "", "errors"},
		{"nonsense", "{ingest: 1}", "", func(s *stub) { s.ingest = every(7, 201, `hello`) }, "", "errors"},
		{"nobody's", "{ingest: 1}", "", func(s *stub) { s.ingest = every(7, 201, `{"data":{"id":"lead_y","status":"ACCEPTED"}}`) }, "", "errors"},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := newStub(t)
			test.broken(s)
			r := s.tried(t, stubScenario(t, test.kinds, test.limits+lenient+"}"))
			if wrong := strings.Join(r.Account.Wrong, "; "); test.wrong == "" && wrong != "" || !strings.Contains(wrong, test.wrong) {
				t.Errorf("told: %q", wrong)
			}
			if r.Held() || !slices.Contains(missed(r), test.missed) {
				t.Errorf("not held: %v", missed(r))
			}
		})
	}
}

// TestAFewAreAllowed: a limit that is a share is of what was measured.
func TestAFewAreAllowed(t *testing.T) {
	for limit, held := range map[string]bool{"0.2": true, "0.1": false} {
		s := newStub(t)
		s.ingest = func(lead int) (int, string) {
			if lead > 5 && lead%6 == 0 { // 5 of the 30 measured
				return 429, `{"error":"rate_limited"}`
			}
			return 0, ""
		}
		if r := s.tried(t, stubScenario(t, "{ingest: 1}", lenient+", refused: "+limit+"}")); r.Held() != held || r.Ends["refused"] != 5 {
			t.Errorf("%s: held %v, %v", limit, r.Held(), r.Ends)
		}
	}
}

// TestABusyClientIsSeen: with one connection, and a server that takes longer than the
// next arrival, the loop is closed. It says so, whatever the latencies.
func TestABusyClientIsSeen(t *testing.T) {
	s := newStub(t)
	s.ingest = func(int) (int, string) { time.Sleep(30 * time.Millisecond); return 0, "" }
	of := stubScenario(t, "{ingest: 1}", lenient+"}\nin_flight: 1\n")
	r := s.tried(t, of)
	if r.Held() || !slices.Contains(missed(r), "arrivals that found all connections busy") || r.Generator.Full < 20 || r.Sent != 35 {
		t.Errorf("%+v, %v", r.Generator, missed(r))
	}
}

// TestAnInterruptedTest tells of what was sent, and has not passed.
func TestAnInterruptedTest(t *testing.T) {
	s := newStub(t)
	ctx, stop := context.WithCancel(t.Context())
	s.ingest = func(lead int) (int, string) {
		if lead == 15 {
			stop()
		}
		return 0, ""
	}
	r, err := Run(ctx, stubScenario(t, "{ingest: 1}", lenient+"}"), s.target(), Options{Seed: 3})
	if err != nil {
		t.Fatal(err)
	}
	slow := r.Generator.Max > 100*time.Millisecond // a machine that stood still sends all that has become due
	if r.Held() || !r.Interrupted || r.Sent < 15 || (r.Sent >= 35 && !slow) || len(r.Account.Wrong) > 0 {
		t.Errorf("%d sent, %v, %+v", r.Sent, r.Account.Wrong, r.Generator)
	}
}

func TestNobodyThereIsAnError(t *testing.T) {
	s := newStub(t)
	for name, broken := range map[string]func(*Target){
		"admin": func(t *Target) { t.Admin = "http://127.0.0.1:1" },
		"buyer": func(t *Target) { t.Buyers = map[string]string{"buy": "http://127.0.0.1:1"} },
	} {
		target := s.target()
		broken(target)
		if _, err := Run(t.Context(), stubScenario(t, "{ingest: 1}", ""), target, Options{}); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
	target := s.target()
	target.Addr = "127.0.0.1:1"
	r, err := Run(t.Context(), stubScenario(t, "{ingest: 1}", lenient+"}"), target, Options{})
	if err != nil || r.Held() || r.Ends["broken"] != 30 {
		t.Errorf("%v %+v", err, r)
	}
}

// TestTheCalendar: each phase at its own rate, from its own beginning; its part is its
// place, and a warm-up's is 0.
func TestTheCalendar(t *testing.T) {
	s := &scenario.Scenario{Phases: []scenario.Phase{
		{Name: "warm", For: time.Second, Rate: 2, Arrival: scenario.Fixed, Warmup: true},
		{Name: "a", For: time.Second, Rate: 4, Arrival: scenario.Fixed},
		{Name: "b", For: 10 * time.Second, Rate: 50, Arrival: scenario.Poisson},
	}}
	slots := calendar(s, 7)
	want := []load.Slot{
		{After: 500 * time.Millisecond},
		{After: time.Second},
		{After: 1250 * time.Millisecond, Part: 2},
		{After: 1500 * time.Millisecond, Part: 2},
		{After: 1750 * time.Millisecond, Part: 2},
		{After: 2 * time.Second, Part: 2},
	}
	if !slices.Equal(slots[:6], want) {
		t.Errorf("%v", slots[:6])
	}
	rest := slots[6:]
	if len(rest) < 430 || len(rest) > 570 || rest[0].Part != 3 || rest[0].After <= 2*time.Second || rest[len(rest)-1].After > 12*time.Second {
		t.Errorf("%d from %v to %v", len(rest), rest[0], rest[len(rest)-1])
	}
	if !slices.Equal(slots, calendar(s, 7)) || slices.Equal(slots, calendar(s, 8)) {
		t.Error("a seed is not one calendar")
	}
	for after, name := range map[time.Duration]string{0: "warm", 999 * time.Millisecond: "warm", time.Second: "a", 5 * time.Second: "b", time.Minute: "the last answers"} {
		if got := phaseAt(s, after); got != name {
			t.Errorf("at %s it is %s, want %s", after, got, name)
		}
	}
}

// TestProgressIsToldEverySecond, of the second before.
func TestProgressIsToldEverySecond(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var told []Now
		s := &scenario.Scenario{Phases: []scenario.Phase{{Name: "steady", For: 4 * time.Second, Rate: 10}}}
		l := &loop{scenario: s, record: newRecord(), watch: newWatch(&Target{}), opt: Options{Progress: func(n Now) { told = append(told, n) }}}
		ended, done := make(chan struct{}), make(chan struct{})
		go func() { l.follow(t.Context(), time.Now(), ended); close(done) }()
		at := load.Arrival{Part: 1}
		for i := range 10 {
			l.record.add(at, timedIngest, time.Duration(i+1)*time.Millisecond, &verdict{}, true)
		}
		l.record.add(at, timedIngest, time.Second, broken(context.DeadlineExceeded).there(), true)
		l.record.add(at, timedIngest, time.Second, &verdict{end: Refused}, true)
		time.Sleep(2500 * time.Millisecond)
		close(ended)
		<-done
		if len(told) != 2 {
			t.Fatalf("%d times", len(told))
		}
		if n := told[0]; n.Rate != 12 || n.P50 != 5*time.Millisecond || n.P99 != 10*time.Millisecond || n.Errors != 1 || n.Refused != 1 || n.Phase != "steady" || n.Of != 4*time.Second {
			t.Errorf("%+v", n)
		}
		if n := told[1]; n.Rate != 0 || n.P99 != 0 || n.Errors != 0 {
			t.Errorf("%+v", n)
		}
	})
}

func (v verdict) there() *verdict { return &v }
