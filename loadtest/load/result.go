package load

import (
	"fmt"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"
)

// Result counts a client's requests, including the warm-up, and measures those of the measured
// time.
type Result struct {
	Sent       uint64 // first requests of arrivals
	NoBid      uint64 // pings without a bid
	Refused    uint64 // other unexpected answers
	Broken     uint64 // requests without an answer
	FirstError string // first of these

	Done    uint64                  // measured arrivals that ended as required
	Late    uint64                  // of these, ended later than MaxSaleTime after the due time
	Bytes   uint64                  // of their first answers' bodies
	Latency *hdrhistogram.Histogram // from the due time to the first answer
	Posts   *hdrhistogram.Histogram // from sending a post to its answer
	Posted  []Posted                // including the warm-up
}

// Posted is a lead that was sold according to the exchange.
type Posted struct {
	Lead     string // the buyer's lead id
	Sent     int64  // time of the post in Unix nanoseconds
	Measured bool
}

// MaxSaleTime is the longest acceptable time for ping and post together.
const MaxSaleTime = 5 * time.Second

// NewResult returns empty counts.
func NewResult() Result { return Result{Latency: newHistogram(), Posts: newHistogram()} }

func newHistogram() *hdrhistogram.Histogram {
	return hdrhistogram.New(int64(time.Microsecond), int64(time.Minute), 3)
}

func recordLatency(h *hdrhistogram.Histogram, took time.Duration) {
	if err := h.RecordValue(min(int64(took), int64(time.Minute))); err != nil {
		panic("BUG: a latency that no histogram has room for: " + err.Error())
	}
}

// At returns a percentile of the latency.
func (r *Result) At(percentile float64) time.Duration {
	return time.Duration(r.Latency.ValueAtPercentile(percentile))
}

// Err returns an error unless every arrival ended as required.
func (r *Result) Err() error {
	if r.FirstError == "" {
		return nil
	}
	return fmt.Errorf("%d answers were not good and %d connections broke; the first: %s", r.NoBid+r.Refused, r.Broken, r.FirstError)
}

// addFailure counts a request that did not end as required.
func (r *Result) addFailure(count *uint64, message string) {
	*count++
	if r.FirstError == "" {
		r.FirstError = message
	}
}

// Add adds the result of another connection.
func (r *Result) Add(other *Result) {
	r.Sent += other.Sent
	r.NoBid += other.NoBid
	r.Refused += other.Refused
	r.Broken += other.Broken
	if r.FirstError == "" {
		r.FirstError = other.FirstError
	}
	r.Done += other.Done
	r.Late += other.Late
	r.Bytes += other.Bytes
	r.Latency.Merge(other.Latency)
	r.Posts.Merge(other.Posts)
	r.Posted = append(r.Posted, other.Posted...)
}
