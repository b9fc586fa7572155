package load

import (
	"fmt"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"
)

// Result is what a loop has measured.
type Result struct {
	Done    uint64  // good answers in the measured time
	Bytes   uint64  // of their bodies
	Sent    uint64  // requests, at any time
	Seconds float64 // measured
	Refused uint64  // answers that were not good, at any time
	Broken  uint64  // connections that ended early
	Trouble string  // the first of either, in words
	Next    uint64  // no request had this number or a higher one
	Latency *hdrhistogram.Histogram
}

// Rate is good answers a second.
func (r *Result) Rate() float64 { return float64(r.Done) / r.Seconds }

// At is the latency that a share of the answers, of 100, did not exceed.
func (r *Result) At(percentile float64) time.Duration {
	return time.Duration(r.Latency.ValueAtPercentile(percentile))
}

// Err is not nil where something was not as it should be.
func (r *Result) Err() error {
	if r.Refused == 0 && r.Broken == 0 {
		return nil
	}
	return fmt.Errorf("%d answers were not good and %d connections broke; the first: %s", r.Refused, r.Broken, r.Trouble)
}

func (r *Result) refuse(a Answer) {
	r.Refused++
	if r.Trouble == "" {
		r.Trouble = fmt.Sprintf("status %d: %s", a.Status, a.Body)
	}
}

func (r *Result) fail(trouble string) {
	r.Broken++
	if r.Trouble == "" {
		r.Trouble = trouble
	}
}

func (r *Result) add(other *Result) {
	r.Done += other.Done
	r.Bytes += other.Bytes
	r.Sent += other.Sent
	r.Refused += other.Refused
	r.Broken += other.Broken
	if r.Trouble == "" {
		r.Trouble = other.Trouble
	}
	r.Latency.Merge(other.Latency)
}
