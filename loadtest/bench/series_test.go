package main

import (
	"slices"
	"testing"

	"pgregory.net/rapid"
)

func TestMedian(t *testing.T) {
	for _, test := range []struct {
		of   series
		want float64
	}{
		{series{3}, 3},
		{series{1, 9}, 5},
		{series{9, 1, 4}, 4},
		{series{1000, 1, 2, 3}, 2.5},
	} {
		if got := test.of.median(); got != test.want {
			t.Errorf("%v: %v, want %v", test.of, got, test.want)
		}
	}
}

func TestMedianLeavesTheOrderAlone(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := series(rapid.SliceOfN(rapid.Float64Range(0, 10), 1, 9).Draw(t, "s"))
		before := slices.Clone(s)
		if m := s.median(); m < slices.Min(s) || m > slices.Max(s) || !slices.Equal(s, before) {
			t.Fatalf("median of %v is %v, and then it is %v", before, m, s)
		}
	})
}

func TestRatiosAreTakenPairByPair(t *testing.T) {
	ratios := series{2, 9, 5}.over(series{1, 3, 10})
	if !slices.Equal(ratios, series{2, 3, 0.5}) {
		t.Errorf("%v", ratios)
	}
	if got := ratios.spread("%.1f"); got != "0.5 to 3.0" {
		t.Errorf("spread %q", got)
	}
	if got := (series{7}).spread("%.1f"); got != "" {
		t.Errorf("the spread of one: %q", got)
	}
}
