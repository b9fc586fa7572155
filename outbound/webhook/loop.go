package webhook

import (
	"errors"
	"time"

	"pingpost/engine"
)

var errClosing = errors.New("the exchange stops")

// What looking at the outbox may cost is bounded: between two looks lies the
// least time, so that a thousand leads a second are not a thousand looks, and this
// many times what the first of them took, but no more than the most. An event that
// has just come waits so long for its first attempt.
const (
	leastBetween = time.Millisecond
	mostBetween  = 100 * time.Millisecond
	timesALook   = 9
)

// run is the loop.
func (s *Sender) run() {
	defer close(s.ended)
	alarm := time.NewTimer(time.Hour)
	defer alarm.Stop()
	for {
		if s.changed && !time.Now().Before(s.again) {
			s.look()
		}
		s.fill()
		alarm.Reset(max(1, s.untilWoken())) // never due before the select: see package timer
		select {
		case <-s.closing:
			return
		case <-s.opt.Outbox.WebhooksChanged():
			s.changed = true
		case p := <-s.freed:
			s.free(p)
			for range len(s.freed) {
				s.free(<-s.freed)
			}
		case <-alarm.C:
			s.changed = s.changed || s.early == 0
		}
	}
}

// untilWoken is how long the loop may sleep where nobody wakes it.
func (s *Sender) untilWoken() time.Duration {
	const long = time.Hour
	if s.early != 0 {
		return max(0, time.Duration(s.early-s.opt.Now()))
	}
	if s.changed {
		return max(0, time.Until(s.again))
	}
	if s.next == noTime {
		return long
	}
	return min(long, max(time.Duration(s.next-s.opt.Now()), time.Until(s.again)))
}

// look goes through all who are owed something. Those with something due are made
// ready, and of the others the earliest time is kept.
func (s *Sender) look() {
	began := time.Now()
	s.changed, s.next = false, noTime
	if s.opt.Pace != nil {
		s.tempo.rate = int64(s.opt.Pace())
	}
	for _, supplier := range s.opt.Outbox.SuppliersWithPending() {
		l := s.lanes[supplier]
		if l == nil {
			l = &lane{supplier: supplier}
			s.lanes[supplier] = l
		}
		s.consider(l)
	}
	s.again = time.Now().Add(min(mostBetween, max(leastBetween, timesALook*time.Since(began))))
}

// consider makes a lane ready, or notes when it will be. One without a place left
// is considered when it has one again.
func (s *Sender) consider(l *lane) {
	if l.queued || l.out >= s.opt.InFlight {
		return
	}
	due, ok := s.opt.Outbox.NextWebhookDue(l.supplier)
	if !ok {
		return
	}
	if due = max(due, l.rest); due <= s.opt.Now() {
		s.enqueue(l)
		return
	}
	s.next = min(s.next, due)
}

// fill gives places to the lanes that are ready, one at a time each.
func (s *Sender) fill() {
	s.early = 0
	for s.out < s.opt.InAll {
		l := s.pick()
		if l == nil {
			return
		}
		now := s.opt.Now()
		if s.early = s.tempo.early(now); s.early != 0 {
			s.enqueue(l)
			return
		}
		if l.rest > now {
			s.next = min(s.next, l.rest)
			continue
		}
		h, ok := s.opt.Outbox.TakeWebhook(l.supplier, now)
		if !ok {
			// Whatever can be taken is due later, or has come in this instant.
			if due, more := s.opt.Outbox.NextWebhookDue(l.supplier); more {
				s.next = min(s.next, due)
			}
			continue
		}
		s.tempo.begin(now)
		s.out++
		l.out++
		if l.slow {
			s.slow++
		}
		s.attempts.Add(1)
		go s.try(l, h, l.slow)
		s.enqueue(l)
	}
}

// free takes a place back. What its lane is owed next may be due at once: another
// event, or a later one of the same lead.
func (s *Sender) free(p place) {
	l := p.lane
	s.out--
	l.out--
	if p.slow {
		s.slow--
	}
	switch now := s.opt.Now(); {
	case p.err == nil:
		l.slow = p.elapsed >= slow
	case errors.Is(p.err, engine.ErrGone): // it is a dead letter: the engine tells of that, and the next one may be due
	case l.rest <= now:
		l.rest = now + int64(pause)
		if !errors.Is(p.err, errClosing) {
			s.opt.Fault("a webhook could not be tried or logged; it is due as before", p.err)
		}
	}
	s.enqueue(l)
}
