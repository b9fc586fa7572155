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

// SQLite's log has a header and frames, each with a header and a page. Frames without the
// salt of the log's header are from before the log restarted. Numbers are big-endian: see
// sqlite.org/fileformat2.html, "The Write-Ahead Log".
const (
	logPageSize  = 8  // offset in the log's header
	logSalt      = 16 // 8 bytes; in a frame's header
	frameSalt    = 8
	frameHeader  = 24
	biggestPage  = 64 << 10
	smallestPage = 512

	maxPageGap = 64 << 10 // pages no further apart are flushed together
)

type sqliteWALHeader [32]byte

func (h *sqliteWALHeader) salt() string { return string(h[logSalt:][:8]) }

// uncheckpointedPageList describes the part of SQLite's write-ahead log that the last checkpoint
// has not moved, and the pages of the database file that it changes.
type uncheckpointedPageList struct {
	head                    sqliteWALHeader
	firstFrame, endOfFrames int64   // offsets in the log
	pageOffsets             []int64 // offsets of the pages in the file
	pageSize                int64
}

// listUncheckpointedPages lists the pages in SQLite's write-ahead log. It skips the first
// movedFrames frames, unless the log has restarted since its header was lastHeader. The list
// may contain pages of an aborted transaction, which is harmless: they are flushed too.
func listUncheckpointedPages(log *os.File, lastHeader sqliteWALHeader, movedFrames int64) (l uncheckpointedPageList, err error) {
	if _, err := log.ReadAt(l.head[:], 0); errors.Is(err, io.EOF) {
		return l, nil // the log is empty
	} else if err != nil {
		return l, err
	}
	l.pageSize = int64(binary.BigEndian.Uint32(l.head[logPageSize:]))
	if l.pageSize < smallestPage || l.pageSize > biggestPage {
		return l, fmt.Errorf("the SQLite log of the report's database has an invalid page size of %d bytes", l.pageSize)
	}
	if l.head != lastHeader {
		movedFrames = 0
	}
	l.firstFrame = int64(len(l.head)) + movedFrames*(frameHeader+l.pageSize)
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

// rangesOfHeaderAndNewFrames returns the byte ranges (offset, length) of the log that must be flushed: its
// header and the new frames.
func (l *uncheckpointedPageList) rangesOfHeaderAndNewFrames() (offsetsAndLengths iter.Seq2[int64, int64]) {
	return func(yield func(off, n int64) bool) {
		if yield(0, int64(len(l.head))) && l.endOfFrames > l.firstFrame {
			yield(l.firstFrame, l.endOfFrames-l.firstFrame)
		}
	}
}

// rangesOfChangedPages returns the byte ranges (offset, length) of the database file that the log
// changes. It joins pages that are near to each other.
func (l *uncheckpointedPageList) rangesOfChangedPages() (offsetsAndLengths iter.Seq2[int64, int64]) {
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
