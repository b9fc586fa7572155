package wal

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
)

// Entry is one entry of the log.
type Entry struct {
	Seq   uint64
	Batch uint64 // sequence of the first entry of its batch
	At    int64  // the batch's time, unix nanoseconds
	Epoch uint32
	Data  []byte // valid until the next call of Next
}

// Reader streams entries in order, first from the archive, then from the live segments,
// through a buffer of 1 MB. It takes no lock, blocks no writer and does not prevent the
// deletion of a segment. It is not safe for concurrent use.
//
// It never reads past the durable end. A crash may remove bytes that no fsync has covered,
// and a caller must not act on an entry that can disappear. The reader of a Replica reads such bytes too: the
// cluster has them on other disks.
type Reader struct {
	dir  string
	from uint64
	src  segmentLimiter
	cur  cursor
	read int64 // bytes of the records read so far
	fail error // set by Close
}

// NewReader reads the log in dir from entry `from` on; 0 means the oldest entry. Any
// process may be writing the log. The reader goes up to the last whole record, and fsyncs
// a record itself before it returns it. The error is ErrGone if the history no longer
// holds from, and fs.ErrNotExist if there is no log.
func NewReader(dir string, from uint64) (*Reader, error) {
	return openReader(dir, from, &otherProcessLogLimiter{dir: dir})
}

// NewReader returns a reader of this log's entries from number `from` on, up to LastEntry; 0 means the
// oldest entry. It works after Close.
func (l *Log) NewReader(from uint64) (*Reader, error) {
	return openReader(l.dir, from, ownLogLimiter{l})
}

func openReader(dir string, from uint64, src segmentLimiter) (*Reader, error) {
	segments, err := Segments(dir)
	if err == nil && len(segments) == 0 {
		err = fs.ErrNotExist
	}
	if err != nil {
		return nil, fmt.Errorf("cannot read the log in %q: %w", dir, err)
	}
	if from == 0 {
		from = segments[0].First
	}
	i := indexOfSegmentWith(segments, from)
	if i < 0 {
		return nil, fmt.Errorf("cannot read the log from entry %d; the oldest entry is %d: %w", from, segments[0].First, ErrGone)
	}
	r := &Reader{dir: dir, from: from, src: src}
	if err := r.moveToSegment(segments[i].First); err != nil {
		return nil, err
	}
	return r, nil
}

// Next returns the next entry, or io.EOF at the log's current end. After io.EOF, call it
// again when the log has grown. Other errors are ErrGone, *DamageError, *VersionError, or an
// I/O error.
func (r *Reader) Next() (Entry, error) {
	for {
		h, data, err := r.nextRecord()
		if err != nil {
			return Entry{}, err
		}
		r.read += int64(recordSize(len(data)))
		if h.seq >= r.from {
			return Entry{Seq: h.seq, Batch: h.batch, At: h.at, Epoch: h.epoch, Data: data}, nil
		}
	}
}

// Position returns where the next entry begins: the name (first entry) of its segment, and
// the offset in the file.
func (r *Reader) Position() (segment uint64, offset int64) { return r.cur.seg, r.cur.off }

// RecordBytesRead returns the total size of the records that the reader has read. It includes the
// records of the first segment before the first requested entry.
func (r *Reader) RecordBytesRead() int64 { return r.read }

// Close closes the reader's file. Later calls of Next fail.
func (r *Reader) Close() { r.cur.close(); r.fail = fs.ErrClosed }

func (r *Reader) nextRecord() (frameHeader, []byte, error) {
	for {
		if r.fail != nil {
			return frameHeader{}, nil, r.fail
		}
		h, data, err := r.cur.nextRecord()
		if err == nil {
			return h, data, nil
		}
		var bad invalidFrameError
		if !errors.Is(err, io.EOF) && !errors.Is(err, errShort) && !errors.As(err, &bad) {
			return h, nil, r.cur.withPosition(err)
		}
		limit := r.cur.limit
		sealed, endErr := r.src.refreshLimit(&r.cur)
		switch {
		case endErr != nil:
			return h, nil, endErr
		case r.cur.limit > limit:
			// The limit has risen: try again.
		case !errors.Is(err, io.EOF):
			return h, nil, r.damageOrEOFForLastRecord(err, sealed)
		case !sealed:
			return h, nil, io.EOF
		default:
			if err := r.moveToSegment(r.cur.nextSeq()); err != nil {
				return h, nil, err
			}
		}
	}
}

// damageOrEOFForLastRecord explains an incomplete or invalid record at the end of the readable bytes. It
// returns io.EOF if the record may still be completed, otherwise the damage. segmentEnded says that
// a later segment exists, so that the record never will be completed.
func (r *Reader) damageOrEOFForLastRecord(err error, segmentEnded bool) error {
	blamed := r.cur.withPosition(err)
	var damage *DamageError
	if segmentEnded || !errors.As(blamed, &damage) {
		return blamed
	}
	return r.src.damageOrEOFIfTornEnd(damage)
}

// moveToSegment makes the reader continue in the segment whose first entry is `first`.
func (r *Reader) moveToSegment(first uint64) error {
	if r.cur.f != nil && first == r.cur.seg {
		return r.cur.withPosition(invalidFrameError("the segment is empty, but a later one exists"))
	}
	f, err := openSegmentOrArchived(r.dir, first)
	if errors.Is(err, fs.ErrNotExist) {
		return r.missingSegmentError(first)
	}
	if err != nil {
		return fmt.Errorf("cannot read the log: %w", err)
	}
	r.cur.switchToSegmentFile(f, first)
	return nil
}

// missingSegmentError explains why a segment does not exist. It returns ErrGone if all
// segments up to it were deleted as too old, otherwise a *DamageError.
func (r *Reader) missingSegmentError(first uint64) error {
	segments, err := Segments(r.dir)
	if err != nil {
		return fmt.Errorf("cannot read the log in %q: %w", r.dir, err)
	}
	if len(segments) > 0 && segments[0].First > first {
		return fmt.Errorf("cannot continue reading at entry %d; the oldest entry in the log is %d: %w", first, segments[0].First, ErrGone)
	}
	return &DamageError{Segment: first, Seq: first, Reason: "the segment is missing"}
}
