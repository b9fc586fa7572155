package trial

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"pingpost/loadtest/load"
	"pingpost/loadtest/scenario"
)

var someTime = time.Date(2026, 3, 2, 12, 0, 0, 0, time.UTC)

// came returns an arrival of a part at a time since the start.
func came(part int, after time.Duration) load.Arrival {
	return load.Arrival{Due: someTime.Add(after), Part: part, Measured: part > 0}
}

func TestWhatCameIsTakenDown(t *testing.T) {
	r := newRecorder()
	r.begin(someTime)
	r.addSample(came(1, time.Second), timedPing, 12*ms, &parsedAnswer{token: "bid_x"}, false)
	r.addSample(came(1, time.Second), timedPost, 15*ms, &parsedAnswer{sale: Sale{"lead_1", "buy", 5}}, true)
	r.addSale(came(1, time.Second), 27*ms)
	r.addSample(came(0, 2*time.Second), timedIngest, 3*ms, &parsedAnswer{end: Unsold, reason: "caps_full"}, true)
	r.addSample(came(2, 3*time.Second), timedIngest, ms, &parsedAnswer{end: Refused, reason: "rate_limited", noRetryAfter: true}, true)
	want := []Sample{
		{time.Second, 12 * ms, 1, timedPing, Sold, false},
		{time.Second, 15 * ms, 1, timedPost, Sold, true},
		{time.Second, 27 * ms, 1, timedSale, Sold, false},
		{2 * time.Second, 3 * ms, 0, timedIngest, Unsold, true},
		{3 * time.Second, ms, 2, timedIngest, Refused, true},
	}
	if !slices.Equal(r.samples, want) {
		t.Errorf("%+v", r.samples)
	}
	if !slices.Equal(r.sales, []Sale{{"lead_1", "buy", 5}}) || r.noRetryAfter != 1 {
		t.Errorf("%+v, %d noRetryAfter", r.sales, r.noRetryAfter)
	}
	if r.reasons[timedIngest][Unsold]["caps_full"] != 1 || r.reasons[timedIngest][Refused]["rate_limited"] != 1 || len(r.reasons[timedPing][Sold]) != 0 {
		t.Errorf("%v", r.reasons)
	}
}

// TestReasonsAreBounded: a server with a new reason for each answer must not fill the
// memory.
func TestReasonsAreBounded(t *testing.T) {
	r := newRecorder()
	for i := range 1000 {
		r.addSample(came(1, 0), timedIngest, ms, &parsedAnswer{end: Failed, reason: fmt.Sprint(i)}, true)
	}
	words := r.reasons[timedIngest][Failed]
	if len(words) != maxReasons+1 || words["others"] != 1000-maxReasons {
		t.Errorf("%d words, %d others", len(words), words["others"])
	}
}

func TestRanks(t *testing.T) {
	hundred := make([]time.Duration, 100)
	for i := range hundred {
		hundred[i] = time.Duration(i+1) * ms
	}
	for percentile, want := range map[float64]time.Duration{0: ms, 1: ms, 50: 50 * ms, 99: 99 * ms, 99.5: 100 * ms, 100: 100 * ms} {
		if got := percentileOf(hundred, percentile); got != want {
			t.Errorf("p%v is %s, want %s", percentile, got, want)
		}
	}
	if percentileOf(nil, 99) != 0 || percentileOf(hundred[:1], 99) != ms {
		t.Error("of none, or of one")
	}
}

// TestEndsAreOfArrivals: each measured arrival counts once, by its last request.
func TestEndsAreOfArrivals(t *testing.T) {
	r := &Result{Ends: map[string]int{}}
	r.ends([]Sample{
		{part: 1, what: timedPing, end: Sold},
		{part: 1, what: timedPost, end: Sold, last: true},
		{part: 1, what: timedSale, end: Sold},
		{part: 1, what: timedPing, end: Sold},
		{part: 1, what: timedPost, end: Open, last: true},
		{part: 2, what: timedPing, end: Sold, last: true},
		{part: 2, what: timedIngest, end: Refused, last: true},
		{part: 0, what: timedIngest, end: Broken, last: true},
	})
	if len(r.Ends) != 3 || r.Ends["sold"] != 2 || r.Ends["open"] != 1 || r.Ends["refused"] != 1 {
		t.Errorf("%v", r.Ends)
	}
}

// TestSecondsAreByDueTime: samples count in the second in which they were due, including
// the warm-up.
func TestSecondsAreByDueTime(t *testing.T) {
	r := new(Result)
	r.seconds([]Sample{
		{Due: 200 * ms, Took: 3 * time.Second, what: timedIngest, end: Sold, last: true},
		{Due: 900 * ms, Took: 10 * ms, part: 1, what: timedIngest, end: Unsold, last: true},
		{Due: 2100 * ms, Took: 12 * ms, part: 1, what: timedPing, end: Sold},
		{Due: 2100 * ms, Took: 15 * ms, part: 1, what: timedPost, end: Sold, last: true},
		{Due: 2100 * ms, Took: 28 * ms, part: 1, what: timedSale, end: Sold},
		{Due: 2500 * ms, Took: time.Second, part: 1, what: timedIngest, end: Refused, last: true},
		{Due: 2600 * ms, Took: time.Second, part: 1, what: timedIngest, end: Broken, last: true},
		{Due: 2700 * ms, Took: time.Second, part: 1, what: timedPost, end: Open, last: true},
	})
	want := []Second{
		{Sold: 1, Unsold: 1, P50: 10 * ms, P99: 3 * time.Second, Max: 3 * time.Second},
		{},
		{Sold: 1, Unsold: 1, Refused: 1, Errors: 1, P50: 28 * ms, P99: 28 * ms, Max: 28 * ms},
	}
	if !slices.Equal(r.Seconds, want) {
		t.Errorf("%+v", r.Seconds)
	}
}

// TestTheMix: a number always gives the same kind, and kinds occur by weight.
func TestTheMix(t *testing.T) {
	s := &scenario.Scenario{Kinds: map[scenario.Kind]int{scenario.Ingest: 5, scenario.Ping: 3, scenario.PingPost: 2}}
	m, same, other := newMix(s, 1), newMix(s, 1), newMix(s, 2)
	counts, differ := map[scenario.Kind]int{}, 0
	const n = 10_000
	for i := range uint64(n) {
		kind := m.kindOf(i)
		counts[kind]++
		if same.kindOf(i) != kind {
			t.Fatalf("number %d is %s, and something else", i, kind)
		}
		if other.kindOf(i) != kind {
			differ++
		}
	}
	for kind, weight := range s.Kinds {
		if share := float64(counts[kind]) / n * 10; share < float64(weight)*0.93 || share > float64(weight)*1.07 {
			t.Errorf("%s has %.2f of 10, and weighs %d", kind, share, weight)
		}
	}
	if differ < n/3 {
		t.Errorf("another seed differs in %d of %d", differ, n)
	}
	alone := newMix(&scenario.Scenario{Kinds: map[scenario.Kind]int{scenario.Ping: 7}}, 1)
	for i := range uint64(100) {
		if alone.kindOf(i) != scenario.Ping {
			t.Fatal("a kind that does not come")
		}
	}
}
