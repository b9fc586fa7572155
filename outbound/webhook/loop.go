package webhook

import (
	"errors"
	"time"

	"pingpost/engine"
)

var errClosing = errors.New("the exchange is closing")

// These constants limit the cost of scanning the outbox. The time between two scans is at
// least minScanInterval, so that a thousand leads a second do not cause a thousand scans.
// It is scanRestFactor times the duration of the first scan, up to maxScanInterval. A new
// webhook waits at most that long for its first attempt.
const (
	minScanInterval = time.Millisecond
	maxScanInterval = 100 * time.Millisecond
	scanRestFactor  = 9
)

// run is the Sender's loop in its own goroutine. It looks for due webhooks in the outbox,
// starts attempts, and handles finished attempts, until Close.
func (s *Sender) run() {
	defer close(s.loopDone)
	alarm := time.NewTimer(time.Hour)
	defer alarm.Stop()
	for {
		if s.outboxChanged && !time.Now().Before(s.nextScan) {
			s.queueEndpointsWithDueWebhooks()
		}
		s.startAttempts()
		alarm.Reset(max(1, s.maxSleep())) // never due before the select: see package timer
		select {
		case <-s.closing:
			return
		case <-s.options.Outbox.WebhookMayBeDue():
			s.outboxChanged = true
		case c := <-s.completions:
			s.handleFinishedAttempt(c)
			for range len(s.completions) {
				s.handleFinishedAttempt(<-s.completions)
			}
		case <-alarm.C:
			s.outboxChanged = s.outboxChanged || s.paceResume == 0
		}
	}
}

// maxSleep returns how long the loop may sleep before its timer wakes it: until the next due
// webhook, the next scan, or the time when the pacer allows another attempt. At most it is an hour.
func (s *Sender) maxSleep() (sleep time.Duration) {
	const long = time.Hour
	if s.paceResume != 0 {
		return max(0, time.Duration(s.paceResume-s.options.Now()))
	}
	if s.outboxChanged {
		return max(0, time.Until(s.nextScan))
	}
	if s.nextDue == noTime {
		return long
	}
	return min(long, max(time.Duration(s.nextDue-s.options.Now()), time.Until(s.nextScan)))
}

// queueEndpointsWithDueWebhooks goes through all suppliers with pending webhooks in the outbox. It queues the
// endpoints with a due webhook, and records in nextDue when the first of the others is due.
func (s *Sender) queueEndpointsWithDueWebhooks() {
	start := time.Now()
	s.outboxChanged, s.nextDue = false, noTime
	if s.options.AttemptRate != nil {
		s.pacer.rate = int64(s.options.AttemptRate())
	}
	for _, supplier := range s.options.Outbox.SuppliersWithPendingWebhooks() {
		e := s.endpoints[supplier]
		if e == nil {
			e = &endpointState{supplier: supplier}
			s.endpoints[supplier] = e
		}
		s.enqueueEndpointIfDue(e)
	}
	s.nextScan = time.Now().Add(min(maxScanInterval, max(minScanInterval, scanRestFactor*time.Since(start))))
}

// enqueueEndpointIfDue queues an endpoint if its next webhook is due, or else records the due time in
// nextDue. It skips an endpoint at its limit of attempts, which is queued again when an attempt
// finishes.
func (s *Sender) enqueueEndpointIfDue(e *endpointState) {
	if e.queued || e.inFlight >= s.options.MaxPerEndpoint {
		return
	}
	due, ok := s.options.Outbox.NextWebhookDueTime(e.supplier)
	if !ok {
		return
	}
	if due = max(due, e.pausedUntil); due <= s.options.Now() {
		s.enqueueEndpointIfAllowed(e)
		return
	}
	s.nextDue = min(s.nextDue, due)
}

// startAttempts starts attempts to send webhooks while endpoints are ready, fewer than MaxTotal
// attempts are in flight, and the pacer allows another one. The endpoints take turns, one attempt
// each.
func (s *Sender) startAttempts() {
	s.paceResume = 0
	for s.inFlight < s.options.MaxTotal {
		e := s.popReadyEndpoint()
		if e == nil {
			return
		}
		now := s.options.Now()
		if s.paceResume = s.pacer.nextStartNanosOrZero(now); s.paceResume != 0 {
			s.enqueueEndpointIfAllowed(e)
			return
		}
		if e.pausedUntil > now {
			s.nextDue = min(s.nextDue, e.pausedUntil)
			continue
		}
		h, ok := s.options.Outbox.ClaimDueWebhook(e.supplier, now)
		if !ok {
			// Every webhook of the endpoint is due later, or a new one arrived just now.
			if due, more := s.options.Outbox.NextWebhookDueTime(e.supplier); more {
				s.nextDue = min(s.nextDue, due)
			}
			continue
		}
		s.pacer.recordStart(now)
		s.inFlight++
		e.inFlight++
		if e.slow {
			s.slowInFlight++
		}
		s.attempts.Add(1)
		go s.runAttempt(e, h, e.slow)
		s.enqueueEndpointIfAllowed(e)
	}
}

// handleFinishedAttempt updates the counts after the attempt c has ended. After a failure of the
// exchange itself it pauses the endpoint for a second and reports the failure, unless the endpoint
// already pauses. It does not report a failure because of Close. It queues the endpoint again, because
// its next webhook may already be due.
func (s *Sender) handleFinishedAttempt(c attemptCompletion) {
	e := c.endpoint
	s.inFlight--
	e.inFlight--
	if c.countedAsSlow {
		s.slowInFlight--
	}
	switch now := s.options.Now(); {
	case c.err == nil:
		e.slow = c.elapsed >= slowThreshold
	case errors.Is(c.err, engine.ErrGone): // the engine reports the dead letter; the next webhook may be due
	case e.pausedUntil <= now:
		e.pausedUntil = now + int64(faultPause)
		if !errors.Is(c.err, errClosing) {
			s.options.ReportFault("a webhook attempt could not be made or logged; the webhook stays due and is retried after a second", c.err)
		}
	}
	s.enqueueEndpointIfAllowed(e)
}
