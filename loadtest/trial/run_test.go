package trial

import (
	"context"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"pingpost/internal/must"
	"pingpost/loadtest/load"
	"pingpost/loadtest/scenario"
)

// lenient is a limit of lateness that every machine meets. These tests are not about the
// precision of the clock.
const lenient = "limits: {late: 10s"

func TestWhatFitsIsHeld(t *testing.T) {
	for _, kinds := range []string{"{ingest: 1}", "{pingpost: 1}", "{ingest: 1, ping: 1, pingpost: 2}"} {
		s := newStub(t)
		r := s.tried(t, stubScenario(t, kinds, "webhooks: {within: 1s}\n"+lenient+"}"))
		if !r.Held() || len(r.Account.Mismatches) > 0 {
			t.Errorf("%s: %v %v", kinds, missed(r), r.Account.Mismatches)
		}
		// There are 5 arrivals in the warm-up and 30 measured.
		if r.Sent != 35 || r.Offered != 35 || r.Ends["sold"] != 30 || len(r.Ends) != 1 {
			t.Errorf("%s: %d of %d sent, %v", kinds, r.Sent, r.Offered, r.Ends)
		}
		b := r.Account.Buyers[0]
		if b.Sold != s.leads || b.Taken != s.leads || b.Money != s.stats.Revenue || b.Owes != s.stats.Revenue || r.Account.Webhooks.Received != s.leads {
			t.Errorf("%s: %+v %+v", kinds, b, r.Account.Webhooks)
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

// TestMismatchesAreReported breaks one thing at a time. Each is reported, and the limit is
// not held.
func TestMismatchesAreReported(t *testing.T) {
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
		{"lead missing at the buyer", "{ingest: 1}", "", func(s *stub) { s.lose = func(n int) bool { return n == 9 } }, "buy does not have 1 leads", "mismatches"},
		{"sold twice", "{ingest: 1}", "", func(s *stub) {
			s.ingest = every(9, 201, `{"data":{"id":"lead_1","status":"ACCEPTED","buyer_id":"buy","price":{"amount":7.5}}}`)
		}, "leads as sold twice", "mismatches"},
		{"accepted twice", "{ingest: 1}", "", func(s *stub) {
			s.ingest = func(n int) (int, string) { s.stats.DoubleSold = int64(n / 9); return 0, "" }
		}, "received 3 leads twice", "mismatches"},
		{"contact data in a ping", "{pingpost: 1}", "", func(s *stub) {
			s.post = func(int) (int, string) { s.stats.ContactSeen = 1; return 0, "" }
		}, "received 1 pings with contact data", "mismatches"},
		{"another price", "{ingest: 1}", "", func(s *stub) {
			s.ingest = func(int) (int, string) { s.stats.Revenue++; return 0, "" }
		}, "owes", "mismatches"},
		{"unconfirmed sale", "{ingest: 1}", "", func(s *stub) {
			s.ingest = func(n int) (int, string) {
				if n == 3 {
					s.taken = append(s.taken, "lead_unknown")
				}
				return 0, ""
			}
		}, "1 leads that the client does not know as sold", "mismatches"},
		{"another count", "{ingest: 1}", "", func(s *stub) {
			s.ingest = func(int) (int, string) { s.accepted++; return 0, "" }
		}, "the exchange counts 70 accepted leads, the client 35", "mismatches"},
		{"a fault", "{ingest: 1}", "", func(s *stub) {
			s.ingest = func(int) (int, string) { s.extra = "pingpost_faults_total 2\n"; return 0, "" }
		}, "counts 2 faults", "mismatches"},
		{"no webhook", "{ingest: 1}", "webhooks: {within: 100ms}\n", func(s *stub) { s.mute = true }, "35 sold leads have no webhook", "webhooks received"},
		{"refused without Retry-After", "{ingest: 1}", "", func(s *stub) { s.noRetryAfter = true; s.ingest = every(7, 429, `{"error":"rate_limited"}`) }, "had no Retry-After", "refused"},
		{"refused", "{ingest: 1}", "", func(s *stub) { s.ingest = every(7, 503, `{"error":"unavailable"}`) }, "", "refused"},
		{"unmatched", "{ingest: 1}", "", func(s *stub) {
			s.ingest = every(7, 201, `{"data":{"id":"lead_x","status":"UNMATCHED","buyer_id":null,"reason":"caps_full"}}`)
		}, "", "unsold"},
		{"no bid", "{ping: 1}", "", func(s *stub) { s.ping = func() (int, string) { return 200, `{"bid":null,"reject_reason":"no_bid"}` } }, "", "unsold"},
		{"post rejected", "{pingpost: 1}", "", func(s *stub) { s.post = every(7, 422, `{"error":"post_rejected"}`) }, "", "unsold"},
		{"not answered in time", "{pingpost: 1}", "", func(s *stub) { s.post = every(7, 504, `{"error":"buyer_timeout"}`) }, "", "unsold"},
		{"an error", "{ingest: 1}", "", func(s *stub) { s.ingest = every(7, 500, `{"error":"internal"}`) }, "", "errors"},
		{"nonsense", "{ingest: 1}", "", func(s *stub) { s.ingest = every(7, 201, `hello`) }, "", "errors"},
		{"sold without a buyer", "{ingest: 1}", "", func(s *stub) { s.ingest = every(7, 201, `{"data":{"id":"lead_y","status":"ACCEPTED"}}`) }, "", "errors"},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := newStub(t)
			test.broken(s)
			r := s.tried(t, stubScenario(t, test.kinds, test.limits+lenient+"}"))
			if wrong := strings.Join(r.Account.Mismatches, "; "); test.wrong == "" && wrong != "" || !strings.Contains(wrong, test.wrong) {
				t.Errorf("mismatches: %q", wrong)
			}
			if r.Held() || !slices.Contains(missed(r), test.missed) {
				t.Errorf("not held: %v", missed(r))
			}
		})
	}
}

// TestAFewAreAllowed: a limit that is a share refers to the measured arrivals.
func TestAFewAreAllowed(t *testing.T) {
	for limit, held := range map[string]bool{"0.2": true, "0.1": false} {
		s := newStub(t)
		s.ingest = func(int) (int, string) {
			// By the number in the lead's key, because leads overtake each other on a busy machine.
			number, err := strconv.ParseUint(strings.TrimPrefix(s.key, "lead-"), 10, 64)
			if err != nil {
				t.Error(err)
			}
			if number%6 == 2 { // 5 of the 30 measured
				return 429, `{"error":"rate_limited"}`
			}
			return 0, ""
		}
		if r := s.tried(t, stubScenario(t, "{ingest: 1}", lenient+", refused: "+limit+"}")); r.Held() != held || r.Ends["refused"] != 5 {
			t.Errorf("%s: held %v, %v", limit, r.Held(), r.Ends)
		}
	}
}

// TestABusyClientIsReported: with one connection and a slow server, the loop is closed.
// The result reports it, whatever the latencies are.
func TestABusyClientIsReported(t *testing.T) {
	s := newStub(t)
	s.ingest = func(int) (int, string) { time.Sleep(30 * time.Millisecond); return 0, "" }
	of := stubScenario(t, "{ingest: 1}", lenient+"}\nin_flight: 1\n")
	r := s.tried(t, of)
	if r.Held() || !slices.Contains(missed(r), "arrivals that found all connections busy") || r.Generator.Full < 20 || r.Sent != 35 {
		t.Errorf("%+v, %v", r.Generator, missed(r))
	}
}

// TestAnInterruptedTest: the result covers the sent arrivals and is not passed.
func TestAnInterruptedTest(t *testing.T) {
	s := newStub(t)
	ctx, stop := context.WithCancel(t.Context())
	s.ingest = func(lead int) (int, string) {
		if lead == 15 {
			stop()
		}
		return 0, ""
	}
	r := must.Value(Run(ctx, stubScenario(t, "{ingest: 1}", lenient+"}"), s.target(), Options{Seed: 3}))(t)
	slow := r.Generator.Max > 100*time.Millisecond // a machine that stalled sends everything that is due
	if r.Held() || !r.Interrupted || r.Sent < 15 || (r.Sent >= 35 && !slow) || len(r.Account.Mismatches) > 0 {
		t.Errorf("%d sent, %v, %+v", r.Sent, r.Account.Mismatches, r.Generator)
	}
}

func TestUnreachableTargets(t *testing.T) {
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

// TestTheSchedule: each phase has its rate, start and part; a warm-up has part 0.
func TestTheSchedule(t *testing.T) {
	s := &scenario.Scenario{Phases: []scenario.Phase{
		{Name: "warm", For: time.Second, Rate: 2, Arrival: scenario.Fixed, Warmup: true},
		{Name: "a", For: time.Second, Rate: 4, Arrival: scenario.Fixed},
		{Name: "b", For: 10 * time.Second, Rate: 50, Arrival: scenario.Poisson},
	}}
	slots := schedule(s, 7)
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
	if !slices.Equal(slots, schedule(s, 7)) || slices.Equal(slots, schedule(s, 8)) {
		t.Error("a seed is not one calendar")
	}
	for after, name := range map[time.Duration]string{0: "warm", 999 * time.Millisecond: "warm", time.Second: "a", 5 * time.Second: "b", time.Minute: "waiting for the last answers"} {
		if got := phaseAt(s, after); got != name {
			t.Errorf("at %s it is %s, want %s", after, got, name)
		}
	}
}

// TestProgressEverySecond: each progress covers the second before it.
func TestProgressEverySecond(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var reported []Progress
		s := &scenario.Scenario{Phases: []scenario.Phase{{Name: "steady", For: 4 * time.Second, Rate: 10}}}
		l := &loop{scenario: s, record: newRecorder(), watch: newWatch(&Target{}), opt: Options{Progress: func(n Progress) { reported = append(reported, n) }}}
		ended, done := make(chan struct{}), make(chan struct{})
		go func() { l.follow(t.Context(), time.Now(), ended); close(done) }()
		at := load.Arrival{Part: 1}
		for i := range 10 {
			l.record.addSample(at, timedIngest, time.Duration(i+1)*time.Millisecond, &parsedAnswer{}, true)
		}
		l.record.addSample(at, timedIngest, time.Second, &parsedAnswer{end: Broken}, true)
		l.record.addSample(at, timedIngest, time.Second, &parsedAnswer{end: Refused}, true)
		time.Sleep(2500 * time.Millisecond)
		close(ended)
		<-done
		if len(reported) != 2 {
			t.Fatalf("%d times", len(reported))
		}
		if n := reported[0]; n.Rate != 12 || n.P50 != 5*time.Millisecond || n.P99 != 10*time.Millisecond || n.Errors != 1 || n.Refused != 1 || n.Phase != "steady" || n.Of != 4*time.Second {
			t.Errorf("%+v", n)
		}
		if n := reported[1]; n.Rate != 0 || n.P99 != 0 || n.Errors != 0 {
			t.Errorf("%+v", n)
		}
	})
}
