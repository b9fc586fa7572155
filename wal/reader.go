package wal

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
)

// An Entry is one entry as it stands in the log.
type Entry struct {
	Seq   uint64
	Batch uint64 // sequence of the first entry of its batch
	At    int64  // the batch's time, unix nanoseconds
	Epoch uint32
	Data  []byte // valid until the next call of Next
}

// A Reader streams entries in order, from the archive and then from the live
// segments, through a buffer of 1 MB. It takes no lock, blocks no writer and keeps no
// file from being removed. One goroutine uses it.
//
// It never reads past what is durable: bytes that an fsync has not covered may be
// gone after a crash, and whoever acted on them would have acted on nothing.
type Reader struct {
	dir  string
	from uint64
	src  source
	cur  cursor
	read int64 // bytes of records
	fail error // set by Close
}

// NewReader reads a folder that this or another process may be writing to, or none,
// from entry `from` on; 0 means the oldest there is. It goes up to the last whole
// record, which it makes durable itself before handing it out. The error is ErrGone
// where history no longer holds from, fs.ErrNotExist where there is no log.
func NewReader(dir string, from uint64) (*Reader, error) {
	return openReader(dir, from, &folder{dir: dir})
}

// NewReader reads this log up to Durable, from entry `from` on; 0 means the oldest
// there is. It goes on working after Close.
func (l *Log) NewReader(from uint64) (*Reader, error) {
	return openReader(l.dir, from, ownLog{l})
}

func openReader(dir string, from uint64, src source) (*Reader, error) {
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
	i := holding(segments, from)
	if i < 0 {
		return nil, fmt.Errorf("cannot read from entry %d, the oldest is %d: %w", from, segments[0].First, ErrGone)
	}
	r := &Reader{dir: dir, from: from, src: src}
	if err := r.enter(segments[i].First); err != nil {
		return nil, err
	}
	return r, nil
}

// Next returns the next entry; io.EOF at the present end, after which it may be
// called again when there is more. Other errors: ErrGone, *DamageError,
// *VersionError, or of the disk.
func (r *Reader) Next() (Entry, error) {
	for {
		h, data, err := r.next()
		if err != nil {
			return Entry{}, err
		}
		r.read += int64(recordSize(len(data)))
		if h.seq >= r.from {
			return Entry{Seq: h.seq, Batch: h.batch, At: h.at, Epoch: h.epoch, Data: data}, nil
		}
	}
}

// Ready tells whether the next entry is in memory already: then Next leaves the data
// of those before it as it is.
func (r *Reader) Ready() bool { return r.cur.ready() }

// Position says where Next goes on: the segment's name, and bytes into it.
func (r *Reader) Position() (segment uint64, offset int64) { return r.cur.seg, r.cur.off }

// Bytes is how many bytes of records were read, those before the first that was
// asked for included.
func (r *Reader) Bytes() int64 { return r.read }

// Close gives the file back.
func (r *Reader) Close() { r.cur.close(); r.fail = fs.ErrClosed }

func (r *Reader) next() (header, []byte, error) {
	for {
		if r.fail != nil {
			return header{}, nil, r.fail
		}
		h, data, err := r.cur.next()
		if err == nil {
			return h, data, nil
		}
		var bad badFrame
		if !errors.Is(err, io.EOF) && !errors.Is(err, errShort) && !errors.As(err, &bad) {
			return h, nil, r.cur.blame(err)
		}
		limit := r.cur.limit
		sealed, endErr := r.src.end(&r.cur)
		switch {
		case endErr != nil:
			return h, nil, endErr
		case r.cur.limit > limit:
			// There is more to read.
		case !errors.Is(err, io.EOF):
			return h, nil, r.judge(err, sealed)
		case !sealed:
			return h, nil, io.EOF
		default:
			if err := r.enter(r.cur.due()); err != nil {
				return h, nil, err
			}
		}
	}
}

// judge says what a record that is not whole means.
func (r *Reader) judge(err error, sealed bool) error {
	blamed := r.cur.blame(err)
	var damage *DamageError
	if sealed || !errors.As(blamed, &damage) {
		return blamed
	}
	return r.src.settle(damage)
}

// enter opens the segment that begins with entry first.
func (r *Reader) enter(first uint64) error {
	if r.cur.f != nil && first == r.cur.seg {
		return r.cur.blame(badFrame("the segment is empty, and others follow"))
	}
	f, err := openSegment(r.dir, first)
	if errors.Is(err, fs.ErrNotExist) {
		return r.explain(first)
	}
	if err != nil {
		return fmt.Errorf("cannot read the log: %w", err)
	}
	r.cur.enter(f, first)
	return nil
}

// explain tells a segment that is past its history, since they go oldest first, from
// one that is missing.
func (r *Reader) explain(first uint64) error {
	segments, err := Segments(r.dir)
	if err != nil {
		return fmt.Errorf("cannot read the log in %q: %w", r.dir, err)
	}
	if len(segments) > 0 && segments[0].First > first {
		return fmt.Errorf("cannot read on from entry %d, the oldest is %d: %w", first, segments[0].First, ErrGone)
	}
	return &DamageError{Segment: first, Seq: first, Reason: "the segment is missing"}
}
