package webhook

import (
	"time"

	"pingpost/engine/market"
)

// endpoint is the scheduling state of one supplier's endpoint.
type endpoint struct {
	supplier    market.Ref
	inFlight    int   // attempts under way
	slow        bool  // the last attempt was slow
	queued      bool  // it is in one of Sender.ready
	pausedUntil int64 // Unix nanoseconds: no attempt before; 0: not paused
}

// completion reports a finished attempt to the loop.
type completion struct {
	endpoint      *endpoint
	countedAsSlow bool // the attempt counts in Sender.slowInFlight
	elapsed       time.Duration
	err           error // the exchange's own failure; the event was returned to the outbox
}

// endpointQueue is a first-in, first-out queue. It does not check for duplicates: the Sender
// adds no endpoint that is queued.
type endpointQueue struct {
	endpoints []*endpoint
	head      int
}

func (q *endpointQueue) push(e *endpoint) {
	if q.head > 32 && q.head > len(q.endpoints)/2 {
		q.endpoints = q.endpoints[:copy(q.endpoints, q.endpoints[q.head:])]
		q.head = 0
	}
	q.endpoints = append(q.endpoints, e)
}

func (q *endpointQueue) pop() *endpoint {
	if q.head == len(q.endpoints) {
		return nil
	}
	e := q.endpoints[q.head]
	q.endpoints[q.head] = nil
	q.head++
	return e
}

// enqueue makes an endpoint ready, unless it is queued or at its limit of attempts.
func (s *Sender) enqueue(e *endpoint) {
	if e.queued || e.inFlight >= s.options.MaxPerEndpoint {
		return
	}
	e.queued = true
	s.ready[queueIndex(e.slow)].push(e)
}

func queueIndex(slow bool) int {
	if slow {
		return 1
	}
	return 0
}

// popReadyEndpoint removes the next endpoint from its queue. It returns nil if both queues are
// empty or the limit of slow attempts is reached. It tries the two queues alternately, and
// the first one again: the second one may have moved an endpoint to the first, where it
// would otherwise wait until another event wakes the loop.
func (s *Sender) popReadyEndpoint() *endpoint {
	for range len(s.ready) + 1 {
		s.lastQueue = 1 - s.lastQueue
		if s.lastQueue == 1 && s.slowInFlight >= max(1, s.options.MaxTotal/2) {
			continue
		}
		for e := s.ready[s.lastQueue].pop(); e != nil; e = s.ready[s.lastQueue].pop() {
			if queueIndex(e.slow) == s.lastQueue {
				e.queued = false
				return e
			}
			s.ready[1-s.lastQueue].push(e) // its speed changed after it was queued
		}
	}
	return nil
}
