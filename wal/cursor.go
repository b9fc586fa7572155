package wal

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
)

// readBuffer is the size of a cursor's buffer. The largest record fits.
const readBuffer = maxRecord + 4<<10

// cursor reads the records of consecutive segments and checks each record against the
// one before. It reads no byte at or after limit, because such a byte may not be durable.
// It owns its file and its buffer.
type cursor struct {
	chain orderChecker
	f     *os.File
	seg   uint64
	limit int64 // end of the readable bytes
	off   int64 // of the next record
	begun bool  // next has returned a record of this segment

	buf        []byte
	start, end int // buf[start:end] holds the file's bytes from off on
}

// openSegmentFile continues in another segment; the cursor takes ownership of f.
func (c *cursor) openSegmentFile(f *os.File, seg uint64) {
	c.close()
	c.f, c.seg = f, seg
	c.limit, c.off, c.begun = 0, 0, false
	c.start, c.end = 0, 0
	if !c.chain.any {
		c.chain = orderChecker{frameHeader: frameHeader{seq: seg - 1}}
	}
}

// replaceFile continues at the same offset in a file that replaced the current one.
func (c *cursor) replaceFile(f *os.File) {
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

// nextSeq returns the sequence of the next record.
func (c *cursor) nextSeq() uint64 { return c.chain.seq + 1 }

// nextRecord returns the next record; data stays valid until the following call. io.EOF means
// that limit is the end of a record, errShort that it is inside a record. Any other error
// is an invalidFrame, an unknownVersion, or an I/O error. After an error the cursor has not
// moved.
func (c *cursor) nextRecord() (h frameHeader, data []byte, err error) {
	if c.off == c.limit {
		return h, nil, io.EOF
	}
	h, data, n, err := parseRecord(c.buf[c.start:c.end])
	if errors.Is(err, errShort) {
		if err = c.fillBuffer(); err != nil {
			return h, nil, err
		}
		h, data, n, err = parseRecord(c.buf[c.start:c.end])
	}
	if err != nil {
		return h, nil, err
	}
	if !c.begun && h.seq != c.seg {
		return h, nil, invalidFrame(fmt.Sprintf("the first entry is %d, not the one that the file name gives", h.seq))
	}
	if err := c.chain.checkNext(h, !c.begun); err != nil {
		return h, nil, err
	}
	c.begun = true
	c.start += n
	c.off += int64(n)
	return h, data, nil
}

// hasBufferedRecord reports whether the buffer holds the whole next record.
func (c *cursor) hasBufferedRecord() bool {
	size, w := binary.Uvarint(c.buf[c.start:c.end])
	return w > 0 && size <= uint64(c.end-c.start-w)
}

// fillBuffer moves the unread bytes to the front of the buffer and reads more, up to limit.
func (c *cursor) fillBuffer() error {
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

// withPosition converts an error of next into a *DamageError, a *VersionError, or returns
// it unchanged.
func (c *cursor) withPosition(err error) error {
	var bad invalidFrame
	var version unknownVersion
	switch {
	case errors.As(err, &bad), errors.Is(err, errShort):
		return &DamageError{Segment: c.seg, Path: c.f.Name(), Offset: c.off, Seq: c.nextSeq(), Reason: err.Error()}
	case errors.As(err, &version):
		return &VersionError{Path: c.f.Name(), Offset: c.off, Version: byte(version)}
	}
	return err
}
