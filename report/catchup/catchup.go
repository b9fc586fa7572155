// Package catchup lets questions wait until the report's writer has caught up with the log. A question
// wakes the writer, which otherwise reads the log at intervals.
package catchup

import (
	"context"
	"sync"
	"time"

	"pingpost/internal/timer"
)

// Signals connects the report's writer with the questions that wait for it: a question wakes the
// writer, and the writer lets the waiting questions check again after each progress.
type Signals struct {
	wake chan struct{} // holds a value if a question waits and the writer has not noticed it

	mu      sync.Mutex
	changed chan struct{} // is closed at the writer's next progress
}

// New returns signals of which neither side has used any.
func New() *Signals {
	return &Signals{wake: make(chan struct{}, 1), changed: make(chan struct{})}
}

// Rest blocks the writer for d. It returns early if a question waits or ctx ends.
func (s *Signals) Rest(ctx context.Context, d time.Duration) {
	passed, stop := timer.New(d)
	defer stop()
	select {
	case <-ctx.Done():
	case <-s.wake:
	case <-passed:
	}
}

// NotifyProgress lets the waiting questions check their conditions again. The writer calls it after
// each change that can meet one.
func (s *Signals) NotifyProgress() {
	s.mu.Lock()
	defer s.mu.Unlock()
	close(s.changed)
	s.changed = make(chan struct{})
}

// WakeWriterAndWait returns true once the condition is met. If it is not met at once, WakeWriterAndWait
// first wakes the writer. It returns false after the limit, or if ctx ends. It checks the condition at
// once and after each progress. It wakes the writer only once, because the writer then reads until the
// log's end: a writer that cannot would loop otherwise.
func (s *Signals) WakeWriterAndWait(ctx context.Context, limit time.Duration, condition func() bool) (met bool) {
	changed := s.nextProgress()
	if condition() {
		return true
	}
	late, stop := timer.New(limit)
	defer stop()
	select {
	case s.wake <- struct{}{}:
	default: // the writer is about to wake
	}
	for {
		select {
		case <-changed:
		case <-late:
			return condition()
		case <-ctx.Done():
			return false
		}
		changed = s.nextProgress()
		if condition() {
			return true
		}
	}
}

// nextProgress returns a channel that is closed at the writer's next progress.
func (s *Signals) nextProgress() <-chan struct{} {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.changed
}
