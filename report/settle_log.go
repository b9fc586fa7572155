package report

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"slices"
)

// A log of SQLite is a header and frames, which are a header and a page each. Those that
// have not the salt of the log's header are of before it began anew. Numbers are
// big-endian: see sqlite.org/fileformat2.html, "The Write-Ahead Log".
const (
	logPageSize  = 8  // where the header has it
	logSalt      = 16 // 8 bytes; in a frame's header
	frameSalt    = 8
	frameHeader  = 24
	biggestPage  = 64 << 10
	smallestPage = 512

	withinOneRead = 64 << 10 // pages no further apart are flushed together
)

type logHead [32]byte

func (h *logHead) salt() string { return string(h[logSalt:][:8]) }

// logged is what SQLite's log has beyond some frames.
type logged struct {
	head      logHead
	from, end int64   // of the frames, in the log
	starts    []int64 // of their pages, in the file
	size      int64   // of a page
}

// readLog reads which pages a log has. Frames that were done are passed over where it has
// not begun anew since. Frames of a transaction that was given up may be among them, which
// does not matter: their pages are flushed as well.
func readLog(log *os.File, head logHead, done int64) (l logged, err error) {
	if _, err := log.ReadAt(l.head[:], 0); errors.Is(err, io.EOF) {
		return l, nil // nothing was ever written
	} else if err != nil {
		return l, err
	}
	l.size = int64(binary.BigEndian.Uint32(l.head[logPageSize:]))
	if l.size < smallestPage || l.size > biggestPage {
		return l, fmt.Errorf("SQLite's log has pages of %d bytes", l.size)
	}
	if l.head != head {
		done = 0
	}
	l.from = int64(len(l.head)) + done*(frameHeader+l.size)
	l.end = l.from
	r := bufio.NewReaderSize(io.NewSectionReader(log, l.from, 1<<62), biggestPage)
	for {
		var frame [frameHeader]byte
		_, err := io.ReadFull(r, frame[:])
		if err == nil && string(frame[frameSalt:][:8]) != l.head.salt() {
			break
		}
		if err == nil {
			_, err = r.Discard(int(l.size))
		}
		if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
			break
		}
		if err != nil {
			return l, err
		}
		l.starts = append(l.starts, (int64(binary.BigEndian.Uint32(frame[:]))-1)*l.size)
		l.end += frameHeader + l.size
	}
	slices.Sort(l.starts)
	return l, nil
}

// frames is where they lie in the log, with its header.
func (l *logged) frames() iter.Seq2[int64, int64] {
	return func(yield func(off, n int64) bool) {
		if yield(0, int64(len(l.head))) && l.end > l.from {
			yield(l.from, l.end-l.from)
		}
	}
}

// pages is where they lie in the file; what is near each other is one.
func (l *logged) pages() iter.Seq2[int64, int64] {
	return func(yield func(off, n int64) bool) {
		for i := 0; i < len(l.starts); {
			first := l.starts[i]
			end := first + l.size
			for i++; i < len(l.starts) && l.starts[i] <= end+withinOneRead; i++ {
				end = max(end, l.starts[i]+l.size)
			}
			if !yield(first, end-first) {
				return
			}
		}
	}
}
