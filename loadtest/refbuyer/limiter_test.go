package refbuyer

import (
	"testing"
	"time"

	"pgregory.net/rapid"
)

var noon = time.Unix(1_700_000_000, 0)

func TestLimiter(t *testing.T) {
	type step struct {
		at   time.Duration // since noon
		want allowance
	}
	rows := []struct {
		name  string
		rate  int
		steps []step
	}{
		{"one a second", 1, []step{
			{0, allowance{true, 0, noon.Unix() + 1, 0}},
			{0, allowance{false, 0, noon.Unix() + 1, 1}},
			{999 * time.Millisecond, allowance{false, 0, noon.Unix() + 1, 1}},
			{time.Second, allowance{true, 0, noon.Unix() + 2, 0}},
			{time.Hour, allowance{true, 0, noon.Unix() + 3601, 0}},
			{time.Hour, allowance{false, 0, noon.Unix() + 3601, 1}},
		}},
		{"four a second", 4, []step{
			{0, allowance{true, 3, noon.Unix() + 1, 0}},
			{0, allowance{true, 2, noon.Unix() + 1, 0}},
			{0, allowance{true, 1, noon.Unix() + 1, 0}},
			{0, allowance{true, 0, noon.Unix() + 1, 0}},
			{0, allowance{false, 0, noon.Unix() + 1, 1}},
			{250 * time.Millisecond, allowance{true, 0, noon.Unix() + 2, 0}},
			{250 * time.Millisecond, allowance{false, 0, noon.Unix() + 2, 1}},
		}},
		{"a clock that goes back", 1, []step{
			{time.Minute, allowance{true, 0, noon.Unix() + 61, 0}},
			{0, allowance{false, 0, noon.Unix() + 1, 1}},
			{time.Minute + time.Second, allowance{true, 0, noon.Unix() + 62, 0}},
		}},
	}
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			l := newLimiter(row.rate)
			refused := int64(0)
			for i, step := range row.steps {
				got := l.take(noon.Add(step.at))
				if got != step.want {
					t.Errorf("step %d: %+v, want %+v", i, got, step.want)
				}
				if !got.granted {
					refused++
				}
			}
			if l.refused() != refused {
				t.Errorf("%d were refused, %d counted", refused, l.refused())
			}
		})
	}
}

// TestLimiterHolds: no interval grants more than a full bucket and the tokens earned
// meanwhile. A caller that waits for retryAfter is granted.
func TestLimiterHolds(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rate := rapid.IntRange(1, 200).Draw(t, "rate")
		l, at := newLimiter(rate), noon
		var granted []time.Time
		for range rapid.IntRange(1, 300).Draw(t, "pings") {
			at = at.Add(time.Duration(rapid.SampledFrom([]int{0, 0, 0, 1, 5, 100, 900}).Draw(t, "ms")) * time.Millisecond)
			if a := l.take(at); a.granted {
				granted = append(granted, at)
			} else if again := l.take(at.Add(time.Duration(a.retryAfter) * time.Second)); !again.granted {
				t.Fatalf("told to wait %d s, and refused then", a.retryAfter)
			} else {
				at = at.Add(time.Duration(a.retryAfter) * time.Second)
				granted = append(granted, at)
			}
		}
		for i, first := range granted {
			for n, last := range granted[i:] {
				if most := float64(rate) + last.Sub(first).Seconds()*float64(rate); float64(n+1) > most+1e-6 {
					t.Fatalf("%d pings in %v at a rate of %d", n+1, last.Sub(first), rate)
				}
			}
		}
	})
}
