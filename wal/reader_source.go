package wal

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
)

// segmentLimiter tells a reader how far it may read a segment, depending on which process
// writes the log.
type segmentLimiter interface {
	// refreshLimit raises c.limit to the last readable byte of the segment. segmentEnded
	// reports that the segment has ended because another one has begun.
	refreshLimit(c *cursor) (segmentEnded bool, err error)
	// damageOrEOFIfTornEnd returns io.EOF if a bad frame is the unfinished end of the log,
	// otherwise the damage.
	damageOrEOFIfTornEnd(d *DamageError) error
}

// ownLogLimiter is the segmentLimiter for a log that this process writes. Its position is known
// in memory.
type ownLogLimiter struct{ log *Log }

func (s ownLogLimiter) refreshLimit(c *cursor) (segmentEnded bool, err error) {
	p := s.log.publishedEnd()
	switch {
	case c.seg == p.seg:
		c.limit = max(c.limit, p.off)
		return false, nil
	case c.seg > p.seg:
		return false, nil // the segment's first entry is not published yet
	}
	info, err := c.f.Stat()
	if err != nil {
		return false, fmt.Errorf("cannot read the log: %w", err)
	}
	c.limit = info.Size()
	return true, nil
}

// damageOrEOFIfTornEnd always returns the damage, because a reader of a live log stops at the
// published end.
func (s ownLogLimiter) damageOrEOFIfTornEnd(d *DamageError) error { return d }

// otherProcessLogLimiter is the segmentLimiter for a log that another process may be writing. It finds out
// the state from the files.
type otherProcessLogLimiter struct {
	dir    string
	newest uint64 // first entry of the newest live segment found so far; it never decreases
}

func (s *otherProcessLogLimiter) refreshLimit(c *cursor) (segmentEnded bool, err error) {
	if s.newest <= c.seg {
		if err := s.updateNewestSegment(); err != nil {
			return false, err
		}
	}
	segmentEnded = s.newest > c.seg
	if err := s.reopenIfReplacedByCopy(c); err != nil {
		return false, err
	}
	info, err := c.f.Stat()
	if err != nil {
		return false, fmt.Errorf("cannot read the log: %w", err)
	}
	if !segmentEnded && info.Size() > c.limit {
		if err := fsyncIfSupported(c.f); err != nil {
			return false, fmt.Errorf("cannot fsync log segment %q before reading it: %w", c.f.Name(), err)
		}
	}
	c.limit = max(c.limit, info.Size())
	return segmentEnded, nil
}

// updateNewestSegment updates s.newest from a listing of the live segments. The result serves
// many segments: a listing for each would cost the square of their number.
func (s *otherProcessLogLimiter) updateNewestSegment() error {
	live, err := listSequenceNumbers(logDir(s.dir), "")
	if err != nil {
		return fmt.Errorf("cannot read the log in %q: %w", s.dir, err)
	}
	if len(live) > 0 {
		s.newest = max(s.newest, live[len(live)-1])
	}
	return nil
}

// reopenIfReplacedByCopy checks whether a restarted writer has replaced the segment's file by a
// copy, and makes the cursor continue in the copy. Up to the cursor's offset both have the
// same content.
func (s *otherProcessLogLimiter) reopenIfReplacedByCopy(c *cursor) error {
	f, err := openSegmentOrArchived(s.dir, c.seg)
	if errors.Is(err, fs.ErrNotExist) {
		return nil // deleted; the open file remains readable to its end
	}
	if err != nil {
		return fmt.Errorf("cannot read the log: %w", err)
	}
	ours, err1 := c.f.Stat()
	theirs, err2 := f.Stat()
	if err := errors.Join(err1, err2); err != nil || os.SameFile(ours, theirs) {
		f.Close()
		return err
	}
	c.replaceFile(f)
	c.limit = c.off
	return nil
}

func (s *otherProcessLogLimiter) damageOrEOFIfTornEnd(d *DamageError) error {
	if err := markIfTornTail(d); err != nil {
		return err
	}
	if d.Torn {
		return io.EOF
	}
	return d
}
