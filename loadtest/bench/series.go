package main

import (
	"fmt"
	"slices"
)

// series is one figure, measured several times.
type series []float64

// median is the middle one, or the mean of the middle two.
func (s series) median() float64 {
	if len(s) == 0 {
		panic("BUG: the median of nothing")
	}
	sorted := slices.Sorted(slices.Values(s))
	middle := len(sorted) / 2
	if len(sorted)%2 == 1 {
		return sorted[middle]
	}
	return (sorted[middle-1] + sorted[middle]) / 2
}

// spread is the range, written in format.
func (s series) spread(format string) string {
	if len(s) < 2 {
		return ""
	}
	return fmt.Sprintf(format+" to "+format, slices.Min(s), slices.Max(s))
}

// over divides two series pair by pair.
func (s series) over(other series) series {
	ratios := make(series, len(s))
	for i := range s {
		ratios[i] = s[i] / other[i]
	}
	return ratios
}

// pick is one figure of each of several results.
func pick[R any](results []R, figure func(*R) float64) series {
	s := make(series, len(results))
	for i := range results {
		s[i] = figure(&results[i])
	}
	return s
}

// less subtracts another series pair by pair.
func (s series) less(other series) series {
	rest := make(series, len(s))
	for i := range s {
		rest[i] = s[i] - other[i]
	}
	return rest
}
