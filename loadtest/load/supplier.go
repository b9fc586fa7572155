package load

import (
	"bytes"
	"fmt"
	"time"
)

// Supplier handles the arrivals of one connection in an open loop of leads. It counts the
// accepted leads of the measured time, and their latency from the due time.
type Supplier struct {
	Requests Ingest
	Result

	request []byte
}

// NewSupplier returns a supplier with empty counts.
func NewSupplier(requests Ingest) *Supplier {
	return &Supplier{Requests: requests, Result: Result{Latency: newHistogram()}}
}

var accepted = []byte(`"ACCEPTED"`)

// Accepted reports whether the answer to a lead is ACCEPTED.
func Accepted(a Answer) bool { return a.Status == 201 && bytes.Contains(a.Body, accepted) }

// Handle sends one lead.
func (s *Supplier) Handle(line *Conn, at Arrival) {
	s.request = s.Requests.Append(s.request[:0], at.Number)
	response, err := line.Do(s.request)
	s.Sent++
	switch {
	case err != nil:
		s.addFailure(fmt.Sprintf("lead %d: %v", at.Number, err))
	case !Accepted(response.Answer):
		s.addRefusal(response.Answer)
	case at.Measured:
		s.Done++
		s.Bytes += uint64(len(response.Body))
		recordLatency(s.Latency, response.Received.Sub(at.Due))
	}
}

// Send sends n leads one after the other.
func (s *Supplier) Send(line *Conn, first uint64, n int) error {
	for i := range n {
		s.Handle(line, Arrival{Number: first + uint64(i), Due: time.Now()})
	}
	return s.Err()
}

// SumSuppliers returns the sum of all results.
func SumSuppliers(all []*Supplier) Result {
	sum := Result{Latency: newHistogram()}
	for _, s := range all {
		sum.add(&s.Result)
	}
	return sum
}
