package main

import (
	"fmt"
	"math"
	"slices"
)

// series holds the values of repeated measurements of one figure.
type series []float64

// median returns the middle value, or the mean of the two middle values.
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

// rangeText returns the lowest and the highest value in a format.
func (s series) rangeText(format string) string {
	if len(s) < 2 {
		return ""
	}
	return fmt.Sprintf(format+" to "+format, slices.Min(s), slices.Max(s))
}

// ratioTo divides two series pair by pair.
func (s series) ratioTo(other series) series {
	ratios := make(series, len(s))
	for i := range s {
		ratios[i] = s[i] / other[i]
	}
	return ratios
}

// collect returns one figure of each result.
func collect[R any](results []R, figure func(*R) float64) series {
	s := make(series, len(results))
	for i := range results {
		s[i] = figure(&results[i])
	}
	return s
}

// minus subtracts another series pair by pair.
func (s series) minus(other series) series {
	rest := make(series, len(s))
	for i := range s {
		rest[i] = s[i] - other[i]
	}
	return rest
}

// quantile returns the smallest value that at least this share of the values does not exceed.
func (s series) quantile(share float64) float64 {
	sorted := slices.Sorted(slices.Values(s))
	return sorted[max(0, int(math.Ceil(share*float64(len(sorted))))-1)]
}
