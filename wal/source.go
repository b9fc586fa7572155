package wal

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
)

// A source says how far a segment may be read.
type source interface {
	// end refreshes c.limit. sealed says that the segment has ended and that another
	// has begun.
	end(c *cursor) (sealed bool, err error)
	// settle judges a bad frame: io.EOF where it is the unfinished end of the log.
	settle(d *DamageError) error
}

// ownLog is the log that this process writes.
type ownLog struct{ log *Log }

func (s ownLog) end(c *cursor) (sealed bool, err error) {
	p := s.log.position()
	switch {
	case c.seg == p.seg:
		c.limit = max(c.limit, p.off)
		return false, nil
	case c.seg > p.seg:
		return false, nil // it was found before its first entry became durable
	}
	info, err := c.f.Stat()
	if err != nil {
		return false, fmt.Errorf("cannot read the log: %w", err)
	}
	c.limit = info.Size()
	return true, nil
}

func (s ownLog) settle(d *DamageError) error { return d }

// folder is a log that another process may be writing, or none.
type folder struct {
	dir    string
	newest uint64 // live segment that was seen; there is one no older from then on
}

func (s *folder) end(c *cursor) (sealed bool, err error) {
	if s.newest <= c.seg {
		if err := s.look(); err != nil {
			return false, err
		}
	}
	sealed = s.newest > c.seg
	if err := s.renew(c); err != nil {
		return false, err
	}
	info, err := c.f.Stat()
	if err != nil {
		return false, fmt.Errorf("cannot read the log: %w", err)
	}
	if !sealed && info.Size() > c.limit {
		if err := syncRead(c.f); err != nil {
			return false, fmt.Errorf("cannot fsync log segment %q before reading it: %w", c.f.Name(), err)
		}
	}
	c.limit = max(c.limit, info.Size())
	return sealed, nil
}

// look lists the live segments. A reader behind many looks once for all of them:
// a look for each would cost the square of their number.
func (s *folder) look() error {
	live, err := list(logDir(s.dir), "")
	if err != nil {
		return fmt.Errorf("cannot read the log in %q: %w", s.dir, err)
	}
	if len(live) > 0 {
		s.newest = max(s.newest, live[len(live)-1])
	}
	return nil
}

// renew goes on in the file that a restarted writer has put in this one's place. Up
// to where the cursor stands they are the same.
func (s *folder) renew(c *cursor) error {
	f, err := openSegment(s.dir, c.seg)
	if errors.Is(err, fs.ErrNotExist) {
		return nil // past its history; what is open can be read to its end
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
	c.swap(f)
	c.limit = c.off
	return nil
}

func (s *folder) settle(d *DamageError) error {
	if err := classify(d); err != nil {
		return err
	}
	if d.Torn {
		return io.EOF
	}
	return d
}
