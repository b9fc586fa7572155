package state

import (
	"encoding/binary"
	"errors"
	"runtime"
)

// snapshotSectionCodec encodes or decodes the body of a snapshot's section. Each type has one list
// of its fields (its method encodeOrDecodeSnapshot), which serves both directions. So the encoder
// and the decoder cannot differ. The zero value is an encoder.
//
// After a decoding error, err is set, and every further value is zero or stays as it was. So the caller
// checks err once, at the end.
type snapshotSectionCodec struct {
	decoding bool
	buf      []byte // encoding: the bytes so far; decoding: the bytes that are left
	err      error
	version  byte     // decoding: of the snapshot
	pieces   [][]byte // encoding: the bytes before buf
}

// pieceBytes is the size of a long body's pieces. A single buffer would be copied each time it grows, and
// the garbage collector would stop all goroutines until the end of such a copy.
const pieceBytes = 1 << 20

// endStep ends one of the steps of a long encoding. It lets other goroutines run. If all processors are
// busy, the committer would otherwise wait for the rest of this goroutine's time slice.
func (c *snapshotSectionCodec) endStep() {
	if len(c.buf) >= pieceBytes {
		c.pieces, c.buf = append(c.pieces, c.buf), make([]byte, 0, pieceBytes*9/8)
	}
	runtime.Gosched()
}

var errDamaged = errors.New("the snapshot's section is truncated or damaged; use the snapshot before this one")

// hasFieldsSinceVersion reports whether the section contains the fields that were added to snapshots
// in version. An encoder always writes them.
func (c *snapshotSectionCodec) hasFieldsSinceVersion(version byte) bool {
	return !c.decoding || c.version >= version
}

// encodeOrDecodeUvarint encodes or decodes v as a varint.
func encodeOrDecodeUvarint[T ~uint8 | ~uint32 | ~uint64](c *snapshotSectionCodec, v *T) {
	if !c.decoding {
		c.buf = binary.AppendUvarint(c.buf, uint64(*v))
		return
	}
	value, n := binary.Uvarint(c.buf)
	c.skipDecodedVarint(n)
	*v = T(value)
}

// encodeOrDecodeZigzag encodes or decodes v as a varint in zigzag form.
func encodeOrDecodeZigzag[T ~int64](c *snapshotSectionCodec, v *T) {
	if !c.decoding {
		c.buf = binary.AppendVarint(c.buf, int64(*v))
		return
	}
	value, n := binary.Varint(c.buf)
	c.skipDecodedVarint(n)
	*v = T(value)
}

// skipDecodedVarint skips the byteCount bytes of a decoded varint. byteCount is 0 or less for a
// damaged one.
func (c *snapshotSectionCodec) skipDecodedVarint(byteCount int) {
	if byteCount <= 0 {
		c.markDamaged()
		return
	}
	c.buf = c.buf[byteCount:]
}

// encodeOrDecodeFixed64 encodes or decodes v in eight bytes, for hashes and times, whose varints
// would be longer.
func encodeOrDecodeFixed64[T ~int64 | ~uint64](c *snapshotSectionCodec, v *T) {
	if !c.decoding {
		c.buf = binary.LittleEndian.AppendUint64(c.buf, uint64(*v))
	} else if b := c.takeBytes(8); len(b) == 8 {
		*v = T(binary.LittleEndian.Uint64(b))
	}
}

// encodeOrDecodeByte encodes or decodes v in one byte.
func encodeOrDecodeByte[T ~uint8](c *snapshotSectionCodec, v *T) {
	if !c.decoding {
		c.buf = append(c.buf, byte(*v))
	} else if b := c.takeBytes(1); len(b) == 1 {
		*v = T(b[0])
	}
}

// encodeOrDecodeFixedBytes encodes the bytes of an array without their length, or decodes them into it.
func encodeOrDecodeFixedBytes(c *snapshotSectionCodec, array []byte) {
	if !c.decoding {
		c.buf = append(c.buf, array...)
		return
	}
	copy(array, c.takeBytes(len(array)))
}

// encodeOrDecodeBytes encodes or decodes a byte string with its length. Decoding copies it.
func encodeOrDecodeBytes(c *snapshotSectionCodec, b *[]byte) {
	if n := c.encodeOrDecodeCount(len(*b)); c.decoding {
		*b = append([]byte(nil), c.takeBytes(n)...)
	} else {
		c.buf = append(c.buf, *b...)
	}
}

func encodeOrDecodeString(c *snapshotSectionCodec, s *string) {
	if n := c.encodeOrDecodeCount(len(*s)); c.decoding {
		*s = string(c.takeBytes(n))
	} else {
		c.buf = append(c.buf, *s...)
	}
}

func encodeOrDecodeBool(c *snapshotSectionCodec, b *bool) {
	v := boolAsUint(*b)
	if encodeOrDecodeUvarint(c, &v); c.decoding {
		*b = v != 0
	}
}

// encodeOrDecodeCount encodes elementCount, the number of elements that follow, or decodes and
// returns this number. Each element takes at least one byte, so a number greater than the remaining
// bytes means damage and sets err.
func (c *snapshotSectionCodec) encodeOrDecodeCount(elementCount int) int {
	count := uint64(elementCount)
	if encodeOrDecodeUvarint(c, &count); c.decoding && count > uint64(len(c.buf)) {
		c.markDamaged()
		return 0
	}
	return int(count)
}

// encodeOrDecodeList encodes or decodes a list. encodeOrDecodeElement encodes or decodes one element.
func encodeOrDecodeList[T any](c *snapshotSectionCodec, list *[]T, encodeOrDecodeElement func(*T)) {
	for i := range c.encodeOrDecodeCount(len(*list)) {
		if c.decoding {
			*list = append(*list, *new(T))
		}
		encodeOrDecodeElement(&(*list)[i])
	}
}

// encodeOrDecodeMap encodes the entries of m, or decodes them into m. encodeOrDecodeEntry encodes
// or decodes one entry.
func encodeOrDecodeMap[K comparable, V any](c *snapshotSectionCodec, m map[K]V, encodeOrDecodeEntry func(*K, *V)) {
	n := c.encodeOrDecodeCount(len(m))
	var key K
	var value V
	if !c.decoding {
		for key, value = range m {
			encodeOrDecodeEntry(&key, &value)
		}
		return
	}
	for range n {
		key, value = *new(K), *new(V)
		encodeOrDecodeEntry(&key, &value)
		m[key] = value
	}
}

// takeBytes returns the next byteCount bytes without a copy. It returns nil and sets err if the section
// is shorter.
func (c *snapshotSectionCodec) takeBytes(byteCount int) []byte {
	if byteCount > len(c.buf) {
		c.markDamaged()
		return nil
	}
	b := c.buf[:byteCount]
	c.buf = c.buf[byteCount:]
	return b
}

// markDamaged records that the section is damaged and ends the reading. The first error stays.
func (c *snapshotSectionCodec) markDamaged() {
	if c.err == nil {
		c.err = errDamaged
	}
	c.buf = nil
}
