package main

import (
	"errors"
	"slices"
	"strings"
	"testing"
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

func TestRatiosArePairwise(t *testing.T) {
	ratios := series{2, 9, 5}.ratioTo(series{1, 3, 10})
	if !slices.Equal(ratios, series{2, 3, 0.5}) {
		t.Errorf("%v", ratios)
	}
	if got := ratios.rangeText("%.1f"); got != "0.5 to 3.0" {
		t.Errorf("spread %q", got)
	}
	if got := (series{7}).rangeText("%.1f"); got != "" {
		t.Errorf("the spread of one: %q", got)
	}
}

func TestAlternate(t *testing.T) {
	var order string
	one := func(name string) func() (int, error) {
		return func() (int, error) {
			order += name
			return len(order), nil
		}
	}
	got, err := alternate(2, one("a"), one("m"), one("z"))
	if want := [][]int{{1, 4}, {2, 5}, {3, 6}}; err != nil || order != "amzamz" || !slices.EqualFunc(got, want, slices.Equal) {
		t.Errorf("%s: %v, %v", order, got, err)
	}
	broken := func() (int, error) { return 0, errors.New("gone") }
	if _, err := alternate(2, broken, one("z")); err == nil || strings.Contains(err.Error(), "ceiling") {
		t.Errorf("ours was gone: %v", err)
	}
	if _, err := alternate(2, one("a"), broken); err == nil || !strings.Contains(err.Error(), "the ceiling: gone") {
		t.Errorf("the ceiling was gone: %v", err)
	}
}
