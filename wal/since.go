package wal

import (
	"errors"
	"io/fs"
	"slices"
	"sort"
)

// ReadSince reads from about a time on: every entry that history still holds and
// whose batch's time is at (unix nanoseconds) or later comes, after some that are
// older, less than a segment of them. Time never goes back in a log, so the segment
// to begin with is found by looking at the first entries of a few. Of the reader the
// same holds as of NewReader's.
func (l *Log) ReadSince(at int64) (*Reader, error) {
	first, err := l.shelf.before(at)
	if err != nil {
		return nil, err
	}
	r, err := l.NewReader(first)
	if errors.Is(err, ErrGone) { // by now; what follows it is there
		return l.NewReader(0)
	}
	return r, err
}

// before is the last segment that begins before a time, or the oldest. One that was
// removed meanwhile began before all others; one without an entry yet has none of
// that time.
func (s *shelf) before(at int64) (first uint64, err error) {
	s.mu.Lock()
	firsts := slices.Concat(s.archived, s.live)
	s.mu.Unlock()
	later := sort.Search(len(firsts), func(i int) bool {
		began, begun, e := firstTime(s.dir, firsts[i])
		if e != nil && !errors.Is(e, fs.ErrNotExist) {
			err = e
		}
		return e == nil && (!begun || began >= at)
	})
	if err != nil || len(firsts) == 0 {
		return 0, err
	}
	return firsts[max(0, later-1)], nil
}
