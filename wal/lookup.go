package wal

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"sort"
	"sync"
)

// ErrNoEntry means that the number of the entry is higher than that of LastEntry.
var ErrNoEntry = errors.New("log: no such entry")

// EntryAt returns the entry with number seq, up to LastEntry; the caller owns its data. It reads the
// entry's segment from the beginning, half a segment on average, so use it for occasional
// lookups. It blocks no writer, works after Close, and is safe for concurrent use. The error
// is ErrNoEntry, ErrGone, a *DamageError, a *VersionError, or an I/O error.
func (l *Log) EntryAt(seq uint64) (Entry, error) {
	if last := l.publishedEnd().seq; seq == 0 || seq > last {
		return Entry{}, fmt.Errorf("cannot read log entry %d; the last entry is %d: %w", seq, last, ErrNoEntry)
	}
	first, ok := l.archiver.segmentWithEntry(seq)
	if !ok {
		return Entry{}, fmt.Errorf("cannot read log entry %d: %w", seq, ErrGone)
	}
	buf := entryAtBuffers.Get().(*[]byte)
	defer entryAtBuffers.Put(buf)
	r := &Reader{dir: l.dir, from: seq, src: ownLogLimiter{l}, cur: cursor{buf: *buf}}
	defer r.Close()
	if err := r.moveToSegment(first); err != nil {
		return Entry{}, err
	}
	e, err := r.Next()
	if errors.Is(err, io.EOF) || (err == nil && e.Seq != seq) {
		panic(fmt.Sprintf("BUG: entry %d is durable, but its segment holds entries %d to %d", seq, first, r.cur.chain.seq))
	}
	e.Data = bytes.Clone(e.Data)
	return e, err
}

// entryAtBuffers pools the cursor buffers of EntryAt.
var entryAtBuffers = sync.Pool{New: func() any {
	buf := make([]byte, readBuffer)
	return &buf
}}

// segmentWithEntry returns the first entry, and so the name, of the segment that contains the
// entry seq. ok is false if that segment was deleted. Rejected: listing the folders,
// which takes time in proportion to the archive.
func (a *archiver) segmentWithEntry(seq uint64) (first uint64, ok bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, firsts := range [][]uint64{a.live, a.archived} {
		i, found := slices.BinarySearch(firsts, seq)
		if found {
			return seq, true
		}
		if i > 0 {
			return firsts[i-1], true
		}
	}
	return 0, false
}

// NewReaderFromSegmentBefore returns a reader of all entries that still exist with a time at or after
// `at` (unix nanoseconds). The reader first returns some older entries, less than a segment
// of them. Times never decrease in a log, so a binary search over the first entries of
// segments finds the start. Otherwise the reader is like that of NewReader.
func (l *Log) NewReaderFromSegmentBefore(at int64) (*Reader, error) {
	first, err := l.archiver.firstEntryOfSegmentToReadFrom(at)
	if err != nil {
		return nil, err
	}
	r, err := l.NewReader(first)
	if errors.Is(err, ErrGone) { // deleted meanwhile; all later segments exist
		return l.NewReader(0)
	}
	return r, err
}

// firstEntryOfSegmentToReadFrom returns the first entry of the last segment that begins before
// unixNanos, or else of the oldest segment; 0 if the log has no segment. The search treats a
// segment that was just deleted as older, and one without entries as later.
func (a *archiver) firstEntryOfSegmentToReadFrom(unixNanos int64) (first uint64, err error) {
	a.mu.Lock()
	firsts := slices.Concat(a.archived, a.live)
	a.mu.Unlock()
	later := sort.Search(len(firsts), func(i int) bool {
		began, begun, e := timeOfFirstEntry(a.dir, firsts[i])
		if e != nil && !errors.Is(e, fs.ErrNotExist) {
			err = e
		}
		return e == nil && (!begun || began >= unixNanos)
	})
	if err != nil || len(firsts) == 0 {
		return 0, err
	}
	return firsts[max(0, later-1)], nil
}
