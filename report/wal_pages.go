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

	maxPageGap = 64 << 10 // pages no further apart are flushed together
)

type walHeader [32]byte

func (h *walHeader) salt() string { return string(h[logSalt:][:8]) }

// logged is what SQLite's log has beyond some frames.
type walPages struct {
	head                    walHeader
	firstFrame, endOfFrames int64   // of the frames, in the log
	pageOffsets             []int64 // of their pages, in the file
	pageSize                int64   // of a page
}

// readLog reads which pages a log has. Frames that were done are passed over where it has
// not begun anew since. Frames of a transaction that was given up may be among them, which
// does not matter: their pages are flushed as well.
func readWAL(log *os.File, head walHeader, done int64) (l walPages, err error) {
	if _, err := log.ReadAt(l.head[:], 0); errors.Is(err, io.EOF) {
		return l, nil // nothing was ever written
	} else if err != nil {
		return l, err
	}
	l.pageSize = int64(binary.BigEndian.Uint32(l.head[logPageSize:]))
	if l.pageSize < smallestPage || l.pageSize > biggestPage {
		return l, fmt.Errorf("SQLite's log has pages of %d bytes", l.pageSize)
	}
	if l.head != head {
		done = 0
	}
	l.firstFrame = int64(len(l.head)) + done*(frameHeader+l.pageSize)
	l.endOfFrames = l.firstFrame
	r := bufio.NewReaderSize(io.NewSectionReader(log, l.firstFrame, 1<<62), biggestPage)
	for {
		var frame [frameHeader]byte
		_, err := io.ReadFull(r, frame[:])
		if err == nil && string(frame[frameSalt:][:8]) != l.head.salt() {
			break
		}
		if err == nil {
			_, err = r.Discard(int(l.pageSize))
		}
		if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
			break
		}
		if err != nil {
			return l, err
		}
		l.pageOffsets = append(l.pageOffsets, (int64(binary.BigEndian.Uint32(frame[:]))-1)*l.pageSize)
		l.endOfFrames += frameHeader + l.pageSize
	}
	slices.Sort(l.pageOffsets)
	return l, nil
}

// frames is where they lie in the log, with its header.
func (l *walPages) frames() iter.Seq2[int64, int64] {
	return func(yield func(off, n int64) bool) {
		if yield(0, int64(len(l.head))) && l.endOfFrames > l.firstFrame {
			yield(l.firstFrame, l.endOfFrames-l.firstFrame)
		}
	}
}

// pages is where they lie in the file; what is near each other is one.
func (l *walPages) pages() iter.Seq2[int64, int64] {
	return func(yield func(off, n int64) bool) {
		for i := 0; i < len(l.pageOffsets); {
			first := l.pageOffsets[i]
			end := first + l.pageSize
			for i++; i < len(l.pageOffsets) && l.pageOffsets[i] <= end+maxPageGap; i++ {
				end = max(end, l.pageOffsets[i]+l.pageSize)
			}
			if !yield(first, end-first) {
				return
			}
		}
	}
}
