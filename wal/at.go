package wal

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"sync"
)

// ErrNoEntry means that the log has no entry of that number yet.
var ErrNoEntry = errors.New("log: there is no such entry")

// At returns one entry that is durable, with data that is the caller's. It reads
// from the beginning of the segment that holds the entry, so it costs what half a
// segment costs to read and check: it is for answers that are asked for once in a
// while. It blocks no writer, goes on working after Close, and is safe for many
// goroutines. The error is ErrNoEntry, ErrGone, a *DamageError, a *VersionError, or
// of the disk.
func (l *Log) At(seq uint64) (Entry, error) {
	if last := l.position().seq; seq == 0 || seq > last {
		return Entry{}, fmt.Errorf("cannot read entry %d, the last is %d: %w", seq, last, ErrNoEntry)
	}
	first, ok := l.shelf.holding(seq)
	if !ok {
		return Entry{}, fmt.Errorf("cannot read entry %d: %w", seq, ErrGone)
	}
	buf := atBuffers.Get().(*[]byte)
	defer atBuffers.Put(buf)
	r := &Reader{dir: l.dir, from: seq, src: ownLog{l}, cur: cursor{buf: *buf}}
	defer r.Close()
	if err := r.enter(first); err != nil {
		return Entry{}, err
	}
	e, err := r.Next()
	if errors.Is(err, io.EOF) || (err == nil && e.Seq != seq) {
		panic(fmt.Sprintf("BUG: entry %d is durable, and its segment goes from %d to %d", seq, first, r.cur.chain.seq))
	}
	e.Data = bytes.Clone(e.Data)
	return e, err
}

// atBuffers are the cursors' buffers of calls of At that have returned.
var atBuffers = sync.Pool{New: func() any {
	buf := make([]byte, readBuffer)
	return &buf
}}

// holding is the first entry of the segment that holds a durable entry; false
// where that is past its history. (Listing the folders would say the same, in a
// time that grows with the archive.)
func (s *shelf) holding(seq uint64) (first uint64, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, firsts := range [][]uint64{s.live, s.archived} {
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
