package refbuyer

import (
	"fmt"
	"strings"
	"time"
)

// Latency is a distribution of answering times, by its quantiles.
type Latency interface {
	// At is the time at a quantile, from 0 up to, and not including, 1.
	At(quantile float64) time.Duration
}

// Uniform spreads times evenly from Min to Max. The two may be the same.
type Uniform struct{ Min, Max time.Duration }

// At is linear in the quantile.
func (u Uniform) At(quantile float64) time.Duration {
	return u.Min + time.Duration(quantile*float64(u.Max-u.Min))
}

// maxLatency is longer than any caller waits.
const maxLatency = time.Minute

// ParseLatency reads a fixed time, such as 20ms, or a range that times are
// spread over evenly, such as 10ms-50ms.
func ParseLatency(text string) (Latency, error) {
	low, high, spread := strings.Cut(text, "-")
	if !spread {
		high = low
	}
	least, err := time.ParseDuration(low)
	if err != nil {
		return nil, fmt.Errorf("latency %q: give a time such as 20ms, or a range such as 10ms-50ms", text)
	}
	most, err := time.ParseDuration(high)
	if err != nil {
		return nil, fmt.Errorf("latency %q: give a time such as 20ms, or a range such as 10ms-50ms", text)
	}
	if least < 0 || most < least || most > maxLatency {
		return nil, fmt.Errorf("latency %q: give times from 0 to %v, the smaller one first", text, maxLatency)
	}
	return Uniform{least, most}, nil
}
