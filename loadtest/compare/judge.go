package main

import (
	"errors"
	"math"
	"slices"
	"strings"

	"golang.org/x/perf/benchmath"
)

// comparison is one figure of both sides.
type comparison struct {
	figure
	before, now benchmath.Summary
	p           float64
	verdict     verdict
}

// verdict says how a figure has changed.
type verdict string

const (
	slower verdict = "slower"
	faster verdict = "faster"
	same   verdict = "no difference found"
)

// falseShare is how many of the differences told may be none.
const falseShare = 0.05

// confidence is that of the medians' intervals.
const confidence = 0.95

type comparisons []comparison

// compare judges all figures that both sides have. least is the least change
// that is told, as a share.
func (s *samples) compare(least float64) (comparisons, error) {
	var all comparisons
	for _, f := range s.order {
		before, now := s.values[0][f], s.values[1][f]
		if len(before) == 0 || len(now) == 0 {
			continue
		}
		thresholds := benchmath.DefaultThresholds
		a, b := benchmath.NewSample(before, &thresholds), benchmath.NewSample(now, &thresholds)
		c := comparison{
			figure: f, verdict: same, p: benchmath.AssumeNothing.Compare(a, b).P,
			before: benchmath.AssumeNothing.Summary(a, confidence), now: benchmath.AssumeNothing.Summary(b, confidence),
		}
		if slices.Equal(before, now) || math.IsNaN(c.p) {
			c.p = 1
		}
		all = append(all, c)
	}
	if len(all) == 0 {
		return nil, errors.New("nothing was measured on both sides")
	}
	all.judge(least)
	return all, nil
}

// judge gives the verdicts, by Benjamini and Hochberg's rule: of m p-values in
// order, the differences are those up to the last one, the k-th, that is no more
// than k/m of the share that may be false.
func (all comparisons) judge(least float64) {
	inOrder := make([]*comparison, len(all))
	for i := range all {
		inOrder[i] = &all[i]
	}
	slices.SortStableFunc(inOrder, func(a, b *comparison) int {
		switch {
		case a.p < b.p:
			return -1
		case a.p > b.p:
			return 1
		}
		return 0
	})
	last := -1
	for k, c := range inOrder {
		if c.p <= falseShare*float64(k+1)/float64(len(all)) {
			last = k
		}
	}
	for _, c := range inOrder[:last+1] {
		if change := c.change(); math.Abs(change) >= least {
			c.verdict = faster
			if (change > 0) != c.moreIsBetter() {
				c.verdict = slower
			}
		}
	}
}

// change is how much more the figure is now, as a share of what it was.
func (c *comparison) change() float64 {
	if c.before.Center == 0 {
		if c.now.Center == 0 {
			return 0
		}
		return math.Inf(1)
	}
	return c.now.Center/c.before.Center - 1
}

// moreIsBetter holds for what is counted by the second; all else is a cost.
func (c *comparison) moreIsBetter() bool { return strings.HasSuffix(c.unit, "/s") }

func (all comparisons) slower() int { return all.count(slower) }

func (all comparisons) count(v verdict) (n int) {
	for i := range all {
		if all[i].verdict == v {
			n++
		}
	}
	return n
}
