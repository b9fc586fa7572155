package wal

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
)

// logEnd describes the end of the intact part of a log, as a scan of its segments has found
// it.
type logEnd struct {
	chain    frameOrderChecker
	seg      Segment // the last one
	size     int64   // intact bytes of the last segment
	fileSize int64   // size of its file
}

// readWholeSegmentsFrom checks the segments that contain entry from-1 and all later ones, and calls
// `each`, if set, for their entries. It begins one entry early, so that time and epoch are
// checked from that entry on. The error is a *DamageError (with Torn set for an unfinished
// last write), a *VersionError, or an I/O error. After damage the result is the end of the
// intact part.
func readWholeSegmentsFrom(segments []Segment, from uint64, each func(frameHeader, []byte)) (logEnd, error) {
	var end logEnd
	var c cursor
	defer c.close()
	start := max(0, indexOfSegmentWith(segments, max(1, from)-1))
	if len(segments) > 0 && segments[start].First > max(1, from) {
		return end, &DamageError{
			Segment: segments[start].First, Seq: from,
			Reason: fmt.Sprintf("the log begins with entry %d, but this start needs entries from %d on", segments[start].First, max(1, from)),
		}
	}
	for i, s := range segments[start:] {
		if i > 0 && s.First != c.nextSeq() {
			return end, misplacedError(s, c.nextSeq())
		}
		err := readSegment(&c, s, each)
		end = logEnd{chain: c.chain, seg: s, size: c.off, fileSize: c.limit}
		var damage *DamageError
		last := start+i == len(segments)-1
		if errors.As(err, &damage) && last {
			if cerr := markIfTornTail(damage); cerr != nil {
				return end, cerr
			}
		}
		if err != nil {
			return end, err
		}
		if c.off == 0 && !last {
			return end, &DamageError{Segment: s.First, Path: s.Path, Seq: s.First, Reason: "the segment is empty, but a later one exists"}
		}
	}
	return end, nil
}

// misplacedError describes why segment s cannot follow its predecessor: the next segment
// should begin with entry due.
func misplacedError(s Segment, due uint64) *DamageError {
	if s.First > due {
		return &DamageError{Segment: due, Seq: due, Reason: fmt.Sprintf("the segment is missing; the next one begins with entry %d", s.First)}
	}
	return &DamageError{
		Segment: s.First, Path: s.Path, Seq: due,
		Reason: fmt.Sprintf("the segment before it ends with entry %d, so this file is out of place; if it is a stray copy, move it away", due-1),
	}
}

// readSegment opens segment s with the cursor c and checks it to its end. It calls `each`, if
// set, for its entries.
func readSegment(c *cursor, s Segment, each func(frameHeader, []byte)) error {
	f, err := os.Open(s.Path)
	if err != nil {
		return fmt.Errorf("cannot read the log: %w", err)
	}
	c.switchToSegmentFile(f, s.First)
	return readOpenedSegment(c, each)
}

// readOpenedSegment checks the segment that the cursor c has opened, to the end of the file.
// It calls `each`, if set, for its entries.
func readOpenedSegment(c *cursor, each func(frameHeader, []byte)) error {
	info, err := c.f.Stat()
	if err != nil {
		return fmt.Errorf("cannot read the log: %w", err)
	}
	c.limit = info.Size()
	for {
		h, data, err := c.nextRecord()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return c.withPosition(err)
		}
		if each != nil {
			each(h, data)
		}
	}
}

// markIfTornTail decides whether damage in the last segment is a torn tail, a write that a
// crash left unfinished. If so, it sets d.Torn; otherwise it adds the proof to d.Reason. The
// disk may write one batch in any order, so intact frames of the unfinished batch may follow
// the damage. A batch begins only after the fsync of the batch before it. So a frame of a later
// batch proves that the damaged bytes were durable once, and acknowledged. It returns an error
// only if it cannot read the segment.
func markIfTornTail(d *DamageError) error {
	f, err := os.Open(d.Path)
	if err != nil {
		return err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return err
	}
	later, at, err := findLaterBatch(f, d.Offset, info.Size(), d.Seq)
	if err != nil {
		return err
	}
	if at < 0 {
		d.Torn = true
		return nil
	}
	d.Reason += fmt.Sprintf("; these bytes were durable before, because entry %d of the later batch %d follows at offset %d", later.seq, later.batch, at)
	return nil
}

// findLaterBatch searches the bytes from..size of a damaged segment for a frame of a batch
// that begins after entry due. It returns the frame's header and offset; the offset is -1 if
// it finds no such frame.
func findLaterBatch(f io.ReaderAt, from, size int64, due uint64) (h frameHeader, offsetOrMinus1 int64, err error) {
	window := make([]byte, 1<<20)
	frame := make([]byte, headerSize+MaxEntry)
	for from < size {
		n, err := f.ReadAt(window[:min(int64(len(window)), size-from)], from)
		if err != nil && !errors.Is(err, io.EOF) {
			return h, -1, fmt.Errorf("cannot search the damaged log segment for an entry after the damage: %w", err)
		}
		for i := bytes.Index(window[:n], magic[:]); i >= 0; i = indexOfMagicFrom(window[:n], i+1) {
			at := from + int64(i)
			m, err := f.ReadAt(frame[:min(int64(len(frame)), size-at)], at)
			if err != nil && !errors.Is(err, io.EOF) {
				return h, -1, fmt.Errorf("cannot search the damaged log segment for an entry after the damage: %w", err)
			}
			h, _, err := parseFrame(frame[:m])
			// A sequence too high for the number of bytes is a coincidence.
			if err == nil && h.batch > due && h.seq >= h.batch && h.seq-due <= uint64(size)/headerSize {
				return h, at, nil
			}
		}
		if n < len(magic) || from+int64(n) == size {
			break
		}
		from += int64(n - len(magic) + 1) // a magic may span two windows
	}
	return frameHeader{}, -1, nil
}

// indexOfMagicFrom returns the index in b of the next magic bytes, with which every frame
// begins, from index i on, or -1.
func indexOfMagicFrom(b []byte, i int) int {
	if step := bytes.Index(b[i:], magic[:]); step >= 0 {
		return i + step
	}
	return -1
}
