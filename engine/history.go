package engine

import (
	"fmt"

	"pingpost/engine/event"
)

// maxReading is how many facts are read back from the log at once: each reads
// and checks part of a segment.
const maxReading = 4

// readBack reads a fact from the log. The error is ErrUnavailable, and the
// reason is noted.
func (e *Engine) readBack(seq uint64) (event.Event, error) {
	data, err := e.readEntry(seq)
	if err != nil {
		return nil, err
	}
	return e.decode(seq, data)
}

// readEntry reads a fact's encoding from the log. The error is as readBack's.
func (e *Engine) readEntry(seq uint64) ([]byte, error) {
	select {
	case e.reading <- struct{}{}:
	case <-e.stop:
		return nil, ErrUnavailable
	}
	defer func() { <-e.reading }()
	data, err := e.opt.History.At(seq)
	if err != nil {
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

func (e *Engine) unread(seq uint64, err error) error {
	e.opt.Note.Fault("a fact could not be read back from the log; the request may be sent again", fmt.Errorf("entry %d: %w", seq, err))
	return ErrUnavailable
}
