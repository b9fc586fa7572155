package scenario

import (
	"testing"
	"time"

	"pingpost/internal/must"
)

func ofSmall(t *testing.T) *Scenario {
	t.Helper()
	s := must.Value(Parse("small.yaml", []byte(small)))(t)
	return s
}

func TestFasterScalesAllRates(t *testing.T) {
	s := ofSmall(t)
	s.SetRate(200)
	if p := s.Phases; p[0].Rate != 50 || p[1].Rate != 200 || p[2].Rate != 200 {
		t.Errorf("%+v", p)
	}
}

func TestLastScalesWhatIsMeasured(t *testing.T) {
	for duration, want := range map[time.Duration][3]time.Duration{
		3 * time.Second:  {200 * time.Millisecond, 2 * time.Second, time.Second},
		30 * time.Second: {time.Second, 20 * time.Second, 10 * time.Second},
	} {
		s := ofSmall(t)
		s.SetDuration(duration)
		if got := [3]time.Duration{s.Phases[0].For, s.Phases[1].For, s.Phases[2].For}; got != want {
			t.Errorf("%s: %v, want %v", duration, got, want)
		}
		if sum := s.Duration(); sum != want[0]+want[1]+want[2] {
			t.Errorf("%s in all", sum)
		}
	}
}

func TestBoughtCountsTheFirstGroup(t *testing.T) {
	s := ofSmall(t)
	s.SetBuyers(7)
	if s.Buyers[0].Count != 7 || s.Buyers[1].Count != 1 {
		t.Errorf("%+v", s.Buyers)
	}
}

func TestTimes(t *testing.T) {
	for kind, want := range map[Kind]map[Timed]bool{
		Ingest:   {TimedIngest: true},
		Ping:     {TimedPing: true},
		PingPost: {TimedPing: true, TimedPost: true, TimedSale: true},
	} {
		s := &Scenario{Kinds: map[Kind]int{kind: 1}}
		for _, timed := range AllTimed {
			if s.Times(timed) != want[timed] {
				t.Errorf("%s is timed as %s: %v", kind, timed, s.Times(timed))
			}
		}
	}
}
