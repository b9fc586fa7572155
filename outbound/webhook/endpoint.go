package webhook

import (
	"time"

	"pingpost/engine/market"
)

// endpointState is the state of one supplier's webhook endpoint that the Sender needs for
// scheduling.
type endpointState struct {
	supplier    market.PermanentNumber
	inFlight    int   // attempts under way
	slow        bool  // the last finished attempt was slow
	queued      bool  // it is in one of Sender.readyEndpoints
	pausedUntil int64 // Unix nanoseconds: no attempt before; 0: not paused
}

// attemptCompletion tells the Sender's loop that an attempt has finished, and how.
type attemptCompletion struct {
	endpoint      *endpointState
	countedAsSlow bool // the attempt counts in Sender.slowInFlight
	elapsed       time.Duration
	err           error // the exchange's own failure; the webhook was returned to the outbox
}

// queueOfEndpoints is a first-in, first-out queue of endpoints that wait for their turn. It contains no
// webhooks: these stay in the outbox. It does not check for duplicates, because the Sender never adds
// an endpoint that is already queued.
type queueOfEndpoints struct {
	endpoints []*endpointState
	head      int
}

func (q *queueOfEndpoints) push(e *endpointState) {
	if q.head > 32 && q.head > len(q.endpoints)/2 {
		q.endpoints = q.endpoints[:copy(q.endpoints, q.endpoints[q.head:])]
		q.head = 0
	}
	q.endpoints = append(q.endpoints, e)
}

func (q *queueOfEndpoints) pop() *endpointState {
	if q.head == len(q.endpoints) {
		return nil
	}
	e := q.endpoints[q.head]
	q.endpoints[q.head] = nil
	q.head++
	return e
}

// enqueueEndpointIfAllowed adds an endpoint to its queue, so that the loop starts its next attempt. It does
// nothing if the endpoint is queued already or has as many attempts in flight as allowed.
func (s *Sender) enqueueEndpointIfAllowed(e *endpointState) {
	if e.queued || e.inFlight >= s.options.MaxPerEndpoint {
		return
	}
	e.queued = true
	s.readyEndpoints[readyQueueIndex(e.slow)].push(e)
}

func readyQueueIndex(isSlowEndpoint bool) int {
	if isSlowEndpoint {
		return 1
	}
	return 0
}

// popReadyEndpoint returns the endpoint to serve next and removes it from its queue. Fast and
// slow endpoints have separate queues, which it serves alternately. It returns nil if both
// queues are empty, or if slow attempts have reached their limit and no fast endpoint is ready.
//
// It tries the first queue once more after the second. The second try may have moved an endpoint
// to the first queue, where it would otherwise wait until the loop wakes for another reason.
func (s *Sender) popReadyEndpoint() *endpointState {
	for range len(s.readyEndpoints) + 1 {
		s.lastQueue = 1 - s.lastQueue
		if s.lastQueue == 1 && s.slowInFlight >= max(1, s.options.MaxTotal/2) {
			continue
		}
		for e := s.readyEndpoints[s.lastQueue].pop(); e != nil; e = s.readyEndpoints[s.lastQueue].pop() {
			if readyQueueIndex(e.slow) == s.lastQueue {
				e.queued = false
				return e
			}
			s.readyEndpoints[1-s.lastQueue].push(e) // its speed changed after it was queued
		}
	}
	return nil
}
