package load

import (
	"bytes"
	"fmt"
	"time"
)

// Supplier sends leads that come at a rate: what a line does with each arrival. Of
// the leads due in the measured time it counts those that were accepted, and how
// long each took from when it was due.
type Supplier struct {
	Requests Ingest
	Result

	request []byte
}

// NewSupplier returns one that has sent nothing.
func NewSupplier(requests Ingest) *Supplier {
	return &Supplier{Requests: requests, Result: Result{Latency: newHistogram()}}
}

var accepted = []byte(`"ACCEPTED"`)

// Accepted tells whether an answer to a lead is that it is sold.
func Accepted(a Answer) bool { return a.Status == 201 && bytes.Contains(a.Body, accepted) }

// Visit sends one lead.
func (s *Supplier) Visit(line *Line, at Arrival) {
	s.request = s.Requests.Append(s.request[:0], at.Number)
	trip, err := line.Ask(s.request)
	s.Sent++
	switch {
	case err != nil:
		s.fail(fmt.Sprintf("lead %d: %v", at.Number, err))
	case !Accepted(trip.Answer):
		s.refuse(trip.Answer)
	case at.Measured:
		s.Done++
		s.Bytes += uint64(len(trip.Body))
		record(s.Latency, trip.Came.Sub(at.Due))
	}
}

// Send sends leads from number first on, one after the other.
func (s *Supplier) Send(line *Line, first uint64, n int) error {
	for i := range n {
		s.Visit(line, Arrival{Number: first + uint64(i), Due: time.Now()})
	}
	return s.Err()
}

// Suppliers is the result of all of them together.
func Suppliers(all []*Supplier) Result {
	sum := Result{Latency: newHistogram()}
	for _, s := range all {
		sum.add(&s.Result)
	}
	return sum
}
