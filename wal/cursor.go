package wal

import (
	"errors"
	"fmt"
	"io"
	"os"
)

// readBuffer is the size of a cursor's buffer. The largest record fits.
const readBuffer = maxRecord + 4<<10

// cursor reads the records of consecutive segments and checks that each record follows the
// one before. It reads no byte at or after limit, because such a byte may not be published. It
// owns its file and its buffer.
type cursor struct {
	chain frameOrderChecker
	f     *os.File
	seg   uint64
	limit int64 // end of the readable bytes
	off   int64 // of the next record
	begun bool  // nextRecord has returned a record of this segment

	buf        []byte
	start, end int // buf[start:end] holds the file's bytes from off on
}

// switchToSegmentFile makes the cursor continue at the beginning of another segment, whose first
// entry is seg. The cursor closes f later.
func (c *cursor) switchToSegmentFile(f *os.File, seg uint64) {
	c.close()
	c.f, c.seg = f, seg
	c.limit, c.off, c.begun = 0, 0, false
	c.start, c.end = 0, 0
	if !c.chain.any {
		c.chain = frameOrderChecker{frameHeader: frameHeader{seq: seg - 1}}
	}
}

// replaceFile makes the cursor continue at the same offset in f. It is called when a
// restarted writer has replaced the segment's file by a copy.
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

// nextSeq returns the number of the entry that the next record must have.
func (c *cursor) nextSeq() uint64 { return c.chain.seq + 1 }

// nextRecord returns the next record. data is valid until the following call. io.EOF means
// that the readable bytes end with a whole record, errShort that they end inside one. Any
// other error is an invalidFrameError, an unknownVersionError, or an I/O error. An error does not move
// the cursor.
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
		return h, nil, invalidFrameError(fmt.Sprintf("the first entry is %d, not the one that the file name gives", h.seq))
	}
	if err := c.chain.checkNext(h, !c.begun); err != nil {
		return h, nil, err
	}
	c.begun = true
	c.start += n
	c.off += int64(n)
	return h, data, nil
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

// withPosition adds the cursor's position to an error of nextRecord. It returns a
// *DamageError or a *VersionError; other errors stay unchanged.
func (c *cursor) withPosition(err error) error {
	var bad invalidFrameError
	var version unknownVersionError
	switch {
	case errors.As(err, &bad), errors.Is(err, errShort):
		return &DamageError{Segment: c.seg, Path: c.f.Name(), Offset: c.off, Seq: c.nextSeq(), Reason: err.Error()}
	case errors.As(err, &version):
		return &VersionError{Path: c.f.Name(), Offset: c.off, Version: byte(version)}
	}
	return err
}
