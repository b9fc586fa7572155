package main

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"text/tabwriter"

	"golang.org/x/perf/benchfmt"
	"golang.org/x/perf/benchmath"
	"golang.org/x/perf/benchunit"
)

// figure is one measured quantity: a unit of a benchmark.
type figure struct{ pkg, name, unit string }

// row is a figure with the samples of both sides and the verdict.
type row struct {
	figure
	values  [2][]float64
	medians [2]benchmath.Summary
	p       float64
	verdict verdict
}

type verdict string

const (
	slowerVerdict verdict = "slower"
	fasterVerdict verdict = "faster"
	noDifference  verdict = "~"
)

const (
	falseShare = 0.05 // expected share of false differences among the reported ones
	confidence = 0.95 // of the medians' intervals
)

// judge compares the figures that both sides have. least is the smallest difference
// to report, as a share.
func judge(base, head []byte, least float64) ([]*row, error) {
	var rows []*row
	byFigure := map[figure]*row{}
	for side, text := range [][]byte{base, head} {
		reader := benchfmt.NewReader(bytes.NewReader(text), sideNames[side])
		for reader.Scan() {
			switch r := reader.Result().(type) {
			case *benchfmt.SyntaxError:
				return nil, fmt.Errorf("cannot read the benchmark results of %s: %w", sideNames[side], r)
			case *benchfmt.Result:
				for _, v := range r.Values {
					f := figure{r.GetConfig("pkg"), r.Name.String(), v.Unit}
					if byFigure[f] == nil {
						byFigure[f] = &row{figure: f}
						rows = append(rows, byFigure[f])
					}
					byFigure[f].values[side] = append(byFigure[f].values[side], v.Value)
				}
			}
		}
		if err := reader.Err(); err != nil {
			return nil, err
		}
	}
	rows = slices.DeleteFunc(rows, func(r *row) bool { return len(r.values[0]) == 0 || len(r.values[1]) == 0 })
	if len(rows) == 0 {
		return nil, errors.New("the sides have no measured figure in common")
	}
	for _, r := range rows {
		r.test()
	}
	decide(rows, least)
	return rows, nil
}

// test computes the medians and the p-value.
func (r *row) test() {
	var samples [2]*benchmath.Sample
	for side := range samples {
		samples[side] = benchmath.NewSample(r.values[side], &benchmath.DefaultThresholds)
		r.medians[side] = benchmath.AssumeNothing.Summary(samples[side], confidence)
	}
	r.p = benchmath.AssumeNothing.Compare(samples[0], samples[1]).P
	if slices.Equal(r.values[0], r.values[1]) || math.IsNaN(r.p) {
		r.p = 1
	}
}

// decide sets the verdicts by the rule of Benjamini and Hochberg. Of m rows sorted by
// p-value, the rows up to the last one whose p-value is at most k/m of falseShare are
// differences, where k is the row's rank.
func decide(rows []*row, least float64) {
	byP := slices.SortedStableFunc(slices.Values(rows), func(a, b *row) int { return cmp.Compare(a.p, b.p) })
	last := -1
	for k, r := range byP {
		r.verdict = noDifference
		if r.p <= falseShare*float64(k+1)/float64(len(rows)) {
			last = k
		}
	}
	for _, r := range byP[:last+1] {
		change := r.change()
		if math.Abs(change) < least {
			continue
		}
		// More is better for rates, less for all other units.
		if (change > 0) == strings.HasSuffix(r.unit, "/s") {
			r.verdict = fasterVerdict
		} else {
			r.verdict = slowerVerdict
		}
	}
}

// change returns the difference of the medians as a share of the base's.
func (r *row) change() float64 {
	base, head := r.medians[0].Center, r.medians[1].Center
	if base == head {
		return 0
	}
	return head/base - 1 // +Inf where the base is 0
}

func count(rows []*row, v verdict) (n int) {
	for _, r := range rows {
		if r.verdict == v {
			n++
		}
	}
	return n
}

// table returns the counts and the rows, differences first.
func table(rows []*row) string {
	var s strings.Builder
	fmt.Fprintf(&s, "%d figures: %d slower, %d faster, %d without a difference.\n\n",
		len(rows), count(rows, slowerVerdict), count(rows, fasterVerdict), count(rows, noDifference))
	w := tabwriter.NewWriter(&s, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "VERDICT\tPACKAGE\tBENCHMARK\tUNIT\tBASE\tHEAD\tCHANGE\tP")
	for _, v := range []verdict{slowerVerdict, fasterVerdict, noDifference} {
		for _, r := range rows {
			if r.verdict != v {
				continue
			}
			base, head := r.medians[0], r.medians[1]
			scale := benchunit.CommonScale([]float64{base.Center, head.Center}, benchunit.ClassOf(r.unit))
			fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s %s\t%s %s\t%+.1f %%\t%.4f\n", r.verdict, r.pkg, r.name, r.unit,
				scale.Format(base.Center), base.PctRangeString(), scale.Format(head.Center), head.PctRangeString(), 100*r.change(), r.p)
		}
	}
	_ = w.Flush() // a strings.Builder cannot fail
	return s.String()
}
