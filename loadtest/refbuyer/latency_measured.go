package refbuyer

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Normal spreads times symmetrically around a mean, but never below 0.
type Normal struct{ Mean, Deviation time.Duration }

// At returns a time from 0 to maxLatency.
func (n Normal) At(quantile float64) time.Duration {
	deviations := math.Sqrt2 * math.Erfinv(max(2*quantile-1, -1+1e-15)) // Erfinv(-1) is infinite
	return max(0, bounded(float64(n.Mean)+deviations*float64(n.Deviation)))
}

// Table is a measured distribution: percentiles with linear interpolation. Below the
// first
// percentile and above the last one, the time is constant.
type Table []Percentile

// Percentile says that this percentage of times was not above Time.
type Percentile struct {
	Share float64 // from 0 to 100
	Time  time.Duration
}

// At interpolates between the two entries around the quantile.
func (t Table) At(quantile float64) time.Duration {
	share := quantile * 100
	i, _ := slices.BinarySearchFunc(t, share, func(p Percentile, share float64) int {
		switch {
		case p.Share < share:
			return -1
		case p.Share > share:
			return 1
		}
		return 0
	})
	switch i {
	case 0:
		return t[0].Time
	case len(t):
		return t[len(t)-1].Time
	}
	low, high := t[i-1], t[i]
	part := (share - low.Share) / (high.Share - low.Share)
	return low.Time + time.Duration(part*float64(high.Time-low.Time))
}

func parseNormal(text string) (Latency, error) {
	middle, spread, _ := strings.Cut(text, ",")
	mean, err := parseTime(middle)
	if err != nil {
		return nil, err
	}
	deviation, err := parseTime(spread)
	if err != nil {
		return nil, fmt.Errorf("give a deviation after the mean and a comma: %w", err)
	}
	return Normal{mean, deviation}, nil
}

func parseTable(text string) (Latency, error) {
	var table Table
	for entry := range strings.SplitSeq(text, ",") {
		percent, value, _ := strings.Cut(entry, "=")
		share, err := strconv.ParseFloat(percent, 64)
		if err != nil || !(share >= 0 && share <= 100) {
			return nil, fmt.Errorf("%q: give percentiles from 0 to 100 with their times, such as 50=10ms,99=80ms", entry)
		}
		at, err := parseTime(value)
		if err != nil {
			return nil, err
		}
		if n := len(table); n > 0 && (share <= table[n-1].Share || at < table[n-1].Time) {
			return nil, fmt.Errorf("%q: give percentiles in order, each with a time that is not below the one before", entry)
		}
		table = append(table, Percentile{share, at})
	}
	return table, nil
}
