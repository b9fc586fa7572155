package wal

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
)

// MaxEntry is the size of the largest entry in bytes.
const MaxEntry = 1 << 20

const (
	frameVersion = 1
	headerSize   = 40
	crcOffset    = 36
	// maxRecord is the largest record: the uvarint of a frame has at most three bytes.
	maxRecord = 3 + headerSize + MaxEntry
)

// magic begins with a byte that never occurs in UTF-8. Entries hold text from other
// parties, so no such text can imitate a frame when a damaged file is searched.
var magic = [3]byte{0xFF, 'W', 'L'}

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// errShort means that the bytes end inside the record.
var errShort = errors.New("the segment's file ends in the middle of this entry's record")

// invalidFrameError is the error for bytes that are not a valid frame; its text is the reason.
type invalidFrameError string

func (b invalidFrameError) Error() string { return string(b) }

const (
	badLength   = invalidFrameError("the record's length is out of bounds")
	badMagic    = invalidFrameError("no record begins here")
	badMismatch = invalidFrameError("the two lengths of the record differ")
	badChecksum = invalidFrameError("the checksum does not match")
)

// unknownVersionError is the error for a frame whose format version this program cannot read.
type unknownVersionError byte

func (v unknownVersionError) Error() string {
	return fmt.Sprintf("the record has format version %d, but this program reads version %d", byte(v), frameVersion)
}

// frameHeader holds the values that precede an entry's data in the log: number, first entry
// of its batch, time and epoch.
type frameHeader struct {
	seq   uint64
	batch uint64
	at    int64
	epoch uint32
}

// recordSize returns how many bytes of a segment a record with dataSize bytes of data takes.
func recordSize(dataSize int) int {
	return uvarintSize(uint64(headerSize+dataSize)) + headerSize + dataSize
}

func uvarintSize(x uint64) int {
	n := 1
	for ; x >= 0x80; x >>= 7 {
		n++
	}
	return n
}

// appendFrame appends one entry in the format of the log (header, checksum, data) to dst. It
// omits the length that tidwall/wal writes before each frame.
func appendFrame(dst []byte, h frameHeader, data []byte) []byte {
	at := len(dst)
	dst = append(dst, magic[0], magic[1], magic[2], frameVersion)
	dst = binary.LittleEndian.AppendUint32(dst, uint32(len(data)))
	dst = binary.LittleEndian.AppendUint64(dst, h.seq)
	dst = binary.LittleEndian.AppendUint64(dst, h.batch)
	dst = binary.LittleEndian.AppendUint64(dst, uint64(h.at))
	dst = binary.LittleEndian.AppendUint32(dst, h.epoch)
	dst = binary.LittleEndian.AppendUint32(dst, checksum(dst[at:], data))
	return append(dst, data...)
}

// parseRecord parses the record (length and frame) at the beginning of b. data is a part of
// b; n is the size of the record. The error is errShort if b ends inside the record, an
// invalidFrameError or an unknownVersionError.
func parseRecord(b []byte) (h frameHeader, data []byte, n int, err error) {
	size, w := binary.Uvarint(b)
	if w < 0 || (w == 0 && len(b) >= binary.MaxVarintLen64) {
		return h, nil, 0, badLength
	}
	if w == 0 {
		return h, nil, 0, errShort
	}
	if size <= headerSize || size > headerSize+MaxEntry || w != uvarintSize(size) {
		return h, nil, 0, badLength
	}
	if len(b) < w+int(size) {
		return h, nil, 0, errShort
	}
	h, data, err = parseFrame(b[w:])
	if err == nil && headerSize+len(data) != int(size) {
		err = badMismatch
	}
	return h, data, w + int(size), err
}

// parseFrame parses and verifies the frame at the beginning of b. data is a part of b.
func parseFrame(b []byte) (h frameHeader, data []byte, err error) {
	if len(b) < headerSize {
		return h, nil, errShort
	}
	if [3]byte(b[:3]) != magic {
		return h, nil, badMagic
	}
	length := binary.LittleEndian.Uint32(b[4:])
	if length == 0 || length > MaxEntry {
		err = badLength
	} else if len(b) < headerSize+int(length) {
		err = badMismatch
	} else if data = b[headerSize : headerSize+int(length)]; !isChecksumValid(b, data) {
		err = badChecksum
	}
	if b[3] == 0 {
		return h, nil, badMagic // version 0 does not exist: the rest of the frame never reached the disk
	}
	if b[3] != frameVersion && !(errors.Is(err, badChecksum) && isVersionByteDamaged(b, data)) {
		return h, nil, unknownVersionError(b[3])
	}
	if err != nil {
		return h, nil, err
	}
	h.seq = binary.LittleEndian.Uint64(b[8:])
	h.batch = binary.LittleEndian.Uint64(b[16:])
	h.at = int64(binary.LittleEndian.Uint64(b[24:]))
	h.epoch = binary.LittleEndian.Uint32(b[32:])
	return h, data, nil
}

func isChecksumValid(frame, data []byte) bool {
	return checksum(frame[:crcOffset], data) == binary.LittleEndian.Uint32(frame[crcOffset:])
}

func checksum(head, data []byte) uint32 {
	return crc32.Update(crc32.Checksum(head, castagnoli), castagnoli, data)
}

// isVersionByteDamaged decides why a frame has an unknown version. It returns true if the
// checksum is valid with the current version in its place, because then the version byte is
// damaged. Otherwise a later program wrote the frame.
func isVersionByteDamaged(frame, data []byte) bool {
	var head [headerSize]byte
	copy(head[:], frame)
	head[3] = frameVersion
	return isChecksumValid(head[:], data)
}

// frameOrderChecker checks that each frame follows from the one before it: numbers without gap,
// and times and epochs that do not decrease.
type frameOrderChecker struct {
	frameHeader
	any bool // a frame was checked, and frameHeader is its header; before that, only seq is set
}

// checkNext returns an invalidFrameError if the frame with header h does not follow from the one
// before. startsSegment says that the frame is the first in its file.
func (c *frameOrderChecker) checkNext(h frameHeader, startsSegment bool) error {
	switch {
	case c.any && h.seq != c.seq+1:
		return invalidFrameError(fmt.Sprintf("found entry %d, expected entry %d", h.seq, c.seq+1))
	case startsSegment && h.batch != h.seq:
		return invalidFrameError(fmt.Sprintf("the segment begins inside batch %d", h.batch))
	case h.batch == h.seq:
		if c.any && h.at < c.at {
			return invalidFrameError("the batch is dated before the batch that precedes it")
		}
		if c.any && h.epoch < c.epoch {
			return invalidFrameError("the epoch goes back")
		}
	case !c.any || h.batch != c.batch || h.at != c.at || h.epoch != c.epoch:
		return invalidFrameError(fmt.Sprintf("entry %d has batch number %d, but the entries before it have another", h.seq, h.batch))
	}
	c.frameHeader, c.any = h, true
	return nil
}

// AppendRecord appends the entry to dst, byte for byte as in a segment. A copy of a log made
// with it therefore contains the log's own checksums.
func AppendRecord(dst []byte, e *Entry) []byte {
	dst = binary.AppendUvarint(dst, uint64(headerSize+len(e.Data)))
	return appendFrame(dst, frameHeader{seq: e.Seq, batch: e.Batch, at: e.At, epoch: e.Epoch}, e.Data)
}

// ParseRecord parses the record at the beginning of b and verifies its checksum. The entry's
// data is a part of b; n is the size of the record.
func ParseRecord(b []byte) (e Entry, n int, err error) {
	h, data, n, err := parseRecord(b)
	var version unknownVersionError
	switch {
	case errors.As(err, &version):
		return e, 0, fmt.Errorf("a later version of the program wrote this record: %w", err)
	case err != nil:
		return e, 0, fmt.Errorf("%w: %w", ErrDamaged, err)
	}
	return Entry{Seq: h.seq, Batch: h.batch, At: h.at, Epoch: h.epoch, Data: data}, n, nil
}
