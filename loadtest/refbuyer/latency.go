package refbuyer

import (
	"math"
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
	return bounded(-math.Log1p(-quantile) * float64(e.Mean))
}

// LogNormal models networks and databases: half of the times are below the median, and
// Sigma is the length of the tail.
type LogNormal struct {
	Median time.Duration
	Sigma  float64
}

// At returns at most maxLatency.
func (l LogNormal) At(quantile float64) time.Duration {
	deviations := math.Sqrt2 * math.Erfinv(max(2*quantile-1, -1+1e-15)) // Erfinv(-1) is infinite
	return bounded(float64(l.Median) * math.Exp(l.Sigma*deviations))
}

func bounded(nanoseconds float64) time.Duration {
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
