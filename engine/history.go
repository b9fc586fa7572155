package engine

import (
	"errors"
	"fmt"
	"time"

	"pingpost/engine/event"
)

// maxReading is how many facts are read back from the log at once: each reads
// and checks part of a segment.
const maxReading = 4

// readBack reads a fact from the log. It waits for its turn until a time in Unix
// nanoseconds. The error is ErrUnavailable; where the log is the reason, that is
// noted.
func (e *Engine) readBack(seq uint64, until int64) (event.Event, error) {
	data, err := e.readEntry(seq, until)
	if errors.Is(err, ErrGone) {
		err = e.unread(seq, err)
	}
	if err != nil {
		return nil, err
	}
	return e.decode(seq, data)
}

// readIfKept is readBack for who can do without the fact: where history no longer
// holds it there is none, and no error.
func (e *Engine) readIfKept(seq uint64, until int64) (event.Event, error) {
	data, err := e.readEntry(seq, until)
	switch {
	case errors.Is(err, ErrGone):
		return nil, nil
	case err != nil:
		return nil, err
	}
	return e.decode(seq, data)
}

// readEntry reads a fact's encoding from the log. The error is as readBack's, or
// ErrGone, which is not noted: to some that is an answer.
func (e *Engine) readEntry(seq uint64, until int64) ([]byte, error) {
	if !e.takeReading(until) {
		return nil, ErrUnavailable
	}
	defer func() { <-e.reading }()
	data, err := e.opt.History.At(seq)
	switch {
	case errors.Is(err, ErrGone):
		return nil, ErrGone
	case err != nil:
		return nil, e.unread(seq, err)
	}
	return data, nil
}

// decode decodes a fact, which shares the memory of data. The error is as
// readBack's.
func (e *Engine) decode(seq uint64, data []byte) (event.Event, error) {
	fact, err := new(event.Decoder).Decode(data)
	if err != nil {
		return nil, e.unread(seq, err)
	}
	return fact, nil
}

// unread notes why a fact could not be read, unless it was only its turn.
func (e *Engine) unread(seq uint64, err error) error {
	if errors.Is(err, ErrUnavailable) {
		return ErrUnavailable
	}
	e.opt.Note.Fault("a fact could not be read back from the log; the request may be sent again", fmt.Errorf("entry %d: %w", seq, err))
	return ErrUnavailable
}

// takeReading takes a place among those who read the log; false: none came free
// in time.
func (e *Engine) takeReading(until int64) bool {
	select {
	case e.reading <- struct{}{}:
		return true
	default:
	}
	fired, stop := e.opt.Clock.Timer(time.Duration(until - e.opt.Clock.Now()))
	defer stop()
	select {
	case e.reading <- struct{}{}:
		return true
	case <-fired:
	case <-e.stop:
	}
	return false
}
