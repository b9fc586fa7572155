package refbuyer

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Latency is a distribution of response times, given by its quantiles.
type Latency interface {
	// At returns the time at a quantile, from 0 up to, but not including, 1.
	At(quantile float64) time.Duration
}

// maxLatency is longer than any caller waits.
const maxLatency = time.Minute

// Uniform spreads times evenly from Min to Max, which may be equal.
type Uniform struct{ Min, Max time.Duration }

// At is linear in the quantile.
func (u Uniform) At(quantile float64) time.Duration {
	return u.Min + time.Duration(quantile*float64(u.Max-u.Min))
}

// Exponential has many short times and few long ones, with a mean.
type Exponential struct{ Mean time.Duration }

// At returns at most maxLatency.
func (e Exponential) At(quantile float64) time.Duration {
	return limitLatency(-math.Log1p(-quantile) * float64(e.Mean))
}

// LogNormal models networks and databases: half of the times are below the median, and
// Sigma is the length of the tail.
type LogNormal struct {
	Median time.Duration
	Sigma  float64
}

// At returns at most maxLatency.
func (l LogNormal) At(quantile float64) time.Duration {
	return limitLatency(float64(l.Median) * math.Exp(l.Sigma*normalQuantile(quantile)))
}

// normalQuantile returns the quantile of the standard normal distribution.
func normalQuantile(quantile float64) float64 {
	return math.Sqrt2 * math.Erfinv(max(2*quantile-1, -1+1e-15)) // Erfinv(-1) is infinite
}

func limitLatency(nanoseconds float64) time.Duration {
	return time.Duration(min(nanoseconds, float64(maxLatency)))
}

// Hanging is a distribution in which a share of the answers never ends, from the caller's
// view.
type Hanging struct {
	Share float64 // from 0 to 1
	Latency
}

// At returns maxLatency for the lowest quantiles, and the distribution for the others.
func (h Hanging) At(quantile float64) time.Duration {
	if quantile < h.Share {
		return maxLatency
	}
	return h.Latency.At((quantile - h.Share) / (1 - h.Share))
}

// Normal spreads times symmetrically around a mean, but never below 0.
type Normal struct{ Mean, Deviation time.Duration }

// At returns a time from 0 to maxLatency.
func (n Normal) At(quantile float64) time.Duration {
	return max(0, limitLatency(float64(n.Mean)+normalQuantile(quantile)*float64(n.Deviation)))
}

// Table is a measured distribution: percentiles with linear interpolation. Below the first
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
	i, _ := slices.BinarySearchFunc(t, share, func(p Percentile, share float64) int { return cmp.Compare(p.Share, share) })
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

const latencyForms = "give a time such as 20ms, a range such as 10ms-50ms, exp:MEAN, normal:MEAN,DEVIATION, lognormal:MEDIAN,SIGMA or table:PERCENT=TIME,…, optionally followed by +hang:SHARE"

// ParseLatency parses a distribution:
//
//	20ms                 constant
//	10ms-50ms            uniform
//	exp:20ms             exponential, with this mean
//	normal:20ms,5ms      normal, with this mean and deviation; never below 0
//	lognormal:20ms,0.5   log-normal, with this median and sigma
//	table:50=9ms,99=80ms measured percentiles, linear between them
//	20ms+hang:0.01       any of them; one answer in a hundred never comes
func ParseLatency(text string) (Latency, error) {
	form, tail, hangs := strings.Cut(text, "+")
	latency, err := parseForm(form)
	if err != nil {
		return nil, fmt.Errorf("latency %q: %w", text, err)
	}
	if !hangs {
		return latency, nil
	}
	share, known := strings.CutPrefix(tail, "hang:")
	rate, err := strconv.ParseFloat(share, 64)
	if !known || err != nil || !isShare(rate) {
		return nil, fmt.Errorf("latency %q: after the + give hang: and a share from 0 to 1", text)
	}
	return Hanging{rate, latency}, nil
}

func parseForm(text string) (Latency, error) {
	kind, rest, named := strings.Cut(text, ":")
	switch {
	case !named:
		least, most, err := parseRange(text, parseTime, "give the smaller time first")
		return Uniform{least, most}, err
	case kind == "exp":
		mean, err := parseTime(rest)
		return Exponential{mean}, err
	case kind == "normal":
		return parseNormal(rest)
	case kind == "table":
		return parseTable(rest)
	case kind == "lognormal":
		middle, spread, _ := strings.Cut(rest, ",")
		median, err := parseTime(middle)
		if err != nil {
			return nil, err
		}
		sigma, err := strconv.ParseFloat(spread, 64)
		if err != nil || !(sigma >= 0 && sigma <= maxSigma) {
			return nil, fmt.Errorf("give a sigma from 0 to %d after the median and a comma", maxSigma)
		}
		return LogNormal{median, sigma}, nil
	}
	return nil, fmt.Errorf("unknown distribution %q; %s", kind, latencyForms)
}

const maxSigma = 5

// parseRange parses one value, or two with a minus between them. tooSmall is the error if the second
// one is smaller.
func parseRange[T cmp.Ordered](text string, parse func(string) (T, error), tooSmall string) (least, most T, err error) {
	low, high, spread := strings.Cut(text, "-")
	if least, err = parse(low); err != nil || !spread {
		return least, least, err
	}
	if most, err = parse(high); err == nil && most < least {
		err = errors.New(tooSmall)
	}
	return least, most, err
}

func parseTime(text string) (time.Duration, error) {
	t, err := time.ParseDuration(text)
	switch {
	case err != nil:
		return 0, fmt.Errorf("%q is not a duration; %s", text, latencyForms)
	case t < 0 || t > maxLatency:
		return 0, fmt.Errorf("give times from 0 to %v", maxLatency)
	}
	return t, nil
}
