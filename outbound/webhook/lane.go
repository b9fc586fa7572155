package webhook

import (
	"time"

	"pingpost/engine/market"
)

// lane is one endpoint's way out: a supplier has one.
type lane struct {
	supplier market.Ref
	out      int   // places taken
	slow     bool  // by its last attempt
	queued   bool  // it stands in a round
	rest     int64 // not before this, in Unix nanoseconds; zero: at once
}

// place is what a place that has become free tells the loop.
type place struct {
	lane    *lane
	slow    bool // as which its lane took it
	elapsed time.Duration
	err     error // of the exchange: the event was returned
}

// round is a queue of lanes, each in it at most once.
type round struct {
	lanes []*lane
	head  int
}

func (r *round) push(l *lane) {
	if r.head > 32 && r.head > len(r.lanes)/2 {
		r.lanes = r.lanes[:copy(r.lanes, r.lanes[r.head:])]
		r.head = 0
	}
	r.lanes = append(r.lanes, l)
}

func (r *round) pop() *lane {
	if r.head == len(r.lanes) {
		return nil
	}
	l := r.lanes[r.head]
	r.lanes[r.head] = nil
	r.head++
	return l
}

// enqueue makes a lane ready, unless it is or has no place left.
func (s *Sender) enqueue(l *lane) {
	if l.queued || l.out >= s.opt.InFlight {
		return
	}
	l.queued = true
	s.ready[kind(l.slow)].push(l)
}

func kind(slow bool) int {
	if slow {
		return 1
	}
	return 0
}

// pick takes the lane whose turn it is out of its round; nil: none, or no place
// is left for it. The two rounds are asked alternately, and the first one again: a
// lane that has come to it from the second would wait there for the next that wakes
// the loop.
func (s *Sender) pick() *lane {
	for range len(s.ready) + 1 {
		s.turn = 1 - s.turn
		if s.turn == 1 && s.slow >= max(1, s.opt.InAll/2) {
			continue
		}
		for l := s.ready[s.turn].pop(); l != nil; l = s.ready[s.turn].pop() {
			if kind(l.slow) == s.turn {
				l.queued = false
				return l
			}
			s.ready[1-s.turn].push(l) // it has changed since it was queued
		}
	}
	return nil
}
