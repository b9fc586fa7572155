package wal

import (
	"errors"
	"fmt"
	"io"
	"os"
)

// A tail is how far a log is whole.
type tail struct {
	chain chain
	seg   Segment // the last one
	size  int64   // bytes of it that are whole
	file  int64   // bytes of it that there are
}

// scan reads segments from the one that holds entry from, and the one that holds
// the entry before it, so that time and epoch go on from there. The error is a
// *DamageError, of which a torn tail says so, a *VersionError, or of the disk; the
// tail is valid up to a damage.
func scan(segments []Segment, from uint64, each func(header, []byte)) (tail, error) {
	var t tail
	var c cursor
	defer c.close()
	start := max(0, holding(segments, max(1, from)-1))
	if len(segments) > 0 && segments[start].First > max(1, from) {
		return t, &DamageError{
			Segment: segments[start].First, Seq: from,
			Reason: fmt.Sprintf("the log begins with entry %d, and a snapshot needs it from %d on", segments[start].First, from),
		}
	}
	for i, s := range segments[start:] {
		if i > 0 && s.First != c.due() {
			return t, misplaced(s, c.due())
		}
		err := scanSegment(&c, s, each)
		t = tail{chain: c.chain, seg: s, size: c.off, file: c.limit}
		var damage *DamageError
		last := start+i == len(segments)-1
		if errors.As(err, &damage) && last {
			if cerr := classify(damage); cerr != nil {
				return t, cerr
			}
		}
		if err != nil {
			return t, err
		}
		if c.off == 0 && !last {
			return t, &DamageError{Segment: s.First, Path: s.Path, Seq: s.First, Reason: "the segment is empty, and others follow"}
		}
	}
	return t, nil
}

// misplaced says why segment s cannot come where entry due is expected.
func misplaced(s Segment, due uint64) *DamageError {
	if s.First > due {
		return &DamageError{Segment: due, Seq: due, Reason: fmt.Sprintf("the segment is missing; the next there is begins with entry %d", s.First)}
	}
	return &DamageError{
		Segment: s.First, Path: s.Path, Seq: due,
		Reason: fmt.Sprintf("the segment before it goes up to entry %d, so this file does not belong here; if it is a stray copy, move it away", due-1),
	}
}

// scanSegment reads one segment to its end.
func scanSegment(c *cursor, s Segment, each func(header, []byte)) error {
	f, err := os.Open(s.Path)
	if err != nil {
		return fmt.Errorf("cannot read the log: %w", err)
	}
	c.enter(f, s.First)
	return scanOpened(c, each)
}

// scanOpened reads the segment that c has entered to the end of its file.
func scanOpened(c *cursor, each func(header, []byte)) error {
	info, err := c.f.Stat()
	if err != nil {
		return fmt.Errorf("cannot read the log: %w", err)
	}
	c.limit = info.Size()
	for {
		h, data, err := c.next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return c.blame(err)
		}
		if each != nil {
			each(h, data)
		}
	}
}
