package load

import (
	"fmt"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"
)

// Result is the result of a loop.
type Result struct {
	Done       uint64  // expected answers in the measured time
	Bytes      uint64  // bytes of their bodies
	Sent       uint64  // requests, including the warm-up
	Seconds    float64 // measured time
	Refused    uint64  // unexpected answers, including the warm-up
	Broken     uint64  // connections that failed
	FirstError string  // first unexpected answer or failure
	Next       uint64  // number after the highest one sent
	Latency    *hdrhistogram.Histogram
}

// Rate returns the expected answers a second.
func (r *Result) Rate() float64 { return float64(r.Done) / r.Seconds }

// At returns a percentile of the latency.
func (r *Result) At(percentile float64) time.Duration {
	return time.Duration(r.Latency.ValueAtPercentile(percentile))
}

// Err returns an error if there was an unexpected answer or a failure.
func (r *Result) Err() error {
	if r.Refused == 0 && r.Broken == 0 {
		return nil
	}
	return fmt.Errorf("%d answers were not good and %d connections broke; the first: %s", r.Refused, r.Broken, r.FirstError)
}

func (r *Result) addRefusal(a Answer) {
	r.Refused++
	if r.FirstError == "" {
		r.FirstError = fmt.Sprintf("status %d: %s", a.Status, a.Body)
	}
}

func (r *Result) addFailure(message string) {
	r.Broken++
	if r.FirstError == "" {
		r.FirstError = message
	}
}

func (r *Result) add(other *Result) {
	r.Done += other.Done
	r.Bytes += other.Bytes
	r.Sent += other.Sent
	r.Refused += other.Refused
	r.Broken += other.Broken
	if r.FirstError == "" {
		r.FirstError = other.FirstError
	}
	r.Latency.Merge(other.Latency)
}
