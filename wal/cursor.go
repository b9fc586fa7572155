package wal

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
)

// readBuffer is at least one record, so that each fits.
const readBuffer = maxRecord + 4<<10

// A cursor reads the records of one segment after another, checking each against
// the one before. It reads no byte past limit, since what lies there may not be
// durable. It owns its file and its buffer.
type cursor struct {
	chain chain
	f     *os.File
	seg   uint64
	limit int64 // end of what may be read
	off   int64 // of the next record
	begun bool  // a record of this segment has been read

	buf        []byte
	start, end int // buf[start:end] is what the file has from off on
}

// enter goes on to another segment; the cursor owns f from here on.
func (c *cursor) enter(f *os.File, seg uint64) {
	c.close()
	c.f, c.seg = f, seg
	c.limit, c.off, c.begun = 0, 0, false
	c.start, c.end = 0, 0
	if !c.chain.any {
		c.chain = chain{header: header{seq: seg - 1}}
	}
}

// swap goes on at the same place in a file that has replaced this one.
func (c *cursor) swap(f *os.File) {
	c.close()
	c.f = f
	c.start, c.end = 0, 0
}

func (c *cursor) close() {
	if c.f != nil {
		c.f.Close()
		c.f = nil
	}
}

// due is the sequence of the next record.
func (c *cursor) due() uint64 { return c.chain.seq + 1 }

// next returns the next record; data is valid until the call after. io.EOF means
// that limit stands behind a whole record, errShort inside one. Any other error is a
// badFrame, an unknownVersion, or of the disk. On an error the cursor stays.
func (c *cursor) next() (h header, data []byte, err error) {
	if c.off == c.limit {
		return h, nil, io.EOF
	}
	h, data, n, err := parseRecord(c.buf[c.start:c.end])
	if errors.Is(err, errShort) {
		if err = c.fill(); err != nil {
			return h, nil, err
		}
		h, data, n, err = parseRecord(c.buf[c.start:c.end])
	}
	if err != nil {
		return h, nil, err
	}
	if !c.begun && h.seq != c.seg {
		return h, nil, badFrame(fmt.Sprintf("the segment begins with entry %d", h.seq))
	}
	if err := c.chain.follow(h, !c.begun); err != nil {
		return h, nil, err
	}
	c.begun = true
	c.start += n
	c.off += int64(n)
	return h, data, nil
}

// ready tells whether the next record is in the buffer whole.
func (c *cursor) ready() bool {
	size, w := binary.Uvarint(c.buf[c.start:c.end])
	return w > 0 && size <= uint64(c.end-c.start-w)
}

// fill moves what is left to the front of the buffer and reads on, up to limit.
func (c *cursor) fill() error {
	if c.buf == nil {
		c.buf = make([]byte, readBuffer)
	}
	c.end = copy(c.buf, c.buf[c.start:c.end])
	c.start = 0
	at := c.off + int64(c.end)
	want := min(int64(len(c.buf)-c.end), c.limit-at)
	if want <= 0 {
		return nil
	}
	n, err := c.f.ReadAt(c.buf[c.end:c.end+int(want)], at)
	c.end += n
	if err != nil && !errors.Is(err, io.EOF) {
		return fmt.Errorf("cannot read log segment %q: %w", c.f.Name(), err)
	}
	return nil
}

// blame turns what next returned into what a caller is told.
func (c *cursor) blame(err error) error {
	var bad badFrame
	var version unknownVersion
	switch {
	case errors.As(err, &bad), errors.Is(err, errShort):
		return &DamageError{Segment: c.seg, Path: c.f.Name(), Offset: c.off, Seq: c.due(), Reason: err.Error()}
	case errors.As(err, &version):
		return &VersionError{Path: c.f.Name(), Offset: c.off, Version: byte(version)}
	}
	return err
}
