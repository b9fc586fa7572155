package state

import (
	"encoding/binary"
	"errors"
)

// sectionCodec encodes or decodes the body of a snapshot's section. Each type has one list of its
// fields (a method snapshotFields), which serves both directions. So the encoder and the decoder
// cannot differ. The zero value is an encoder.
//
// After a decoding error, err is set and every further value is zero. So the caller checks err
// once, at the end.
type sectionCodec struct {
	decoding bool
	buf      []byte // encoding: the bytes so far; decoding: the bytes that are left
	err      error
	version  byte // decoding: of the snapshot
}

var errDamaged = errors.New("the section is truncated or damaged; use the snapshot before this one")

// hasFieldsSince reports whether the section contains the fields that snapshots have since version.
func (c *sectionCodec) hasFieldsSince(version byte) bool { return !c.decoding || c.version >= version }

// uintField encodes or decodes v as a varint.
func uintField[T ~uint8 | ~uint32 | ~uint64](c *sectionCodec, v *T) {
	if !c.decoding {
		c.buf = binary.AppendUvarint(c.buf, uint64(*v))
		return
	}
	value, n := binary.Uvarint(c.buf)
	c.skipVarint(n)
	*v = T(value)
}

// intField encodes or decodes v as a varint in zigzag form.
func intField[T ~int64](c *sectionCodec, v *T) {
	if !c.decoding {
		c.buf = binary.AppendVarint(c.buf, int64(*v))
		return
	}
	value, n := binary.Varint(c.buf)
	c.skipVarint(n)
	*v = T(value)
}

// skipVarint skips the n bytes of a decoded varint. n is 0 or less for a damaged one.
func (c *sectionCodec) skipVarint(n int) {
	if n <= 0 {
		c.markDamaged()
		return
	}
	c.buf = c.buf[n:]
}

// fixedField encodes or decodes v in eight bytes, for hashes and times, whose varints would be
// longer.
func fixedField[T ~int64 | ~uint64](c *sectionCodec, v *T) {
	if !c.decoding {
		c.buf = binary.LittleEndian.AppendUint64(c.buf, uint64(*v))
	} else if b := c.takeBytes(8); len(b) == 8 {
		*v = T(binary.LittleEndian.Uint64(b))
	}
}

// byteField encodes or decodes v in one byte.
func byteField[T ~uint8](c *sectionCodec, v *T) {
	if !c.decoding {
		c.buf = append(c.buf, byte(*v))
	} else if b := c.takeBytes(1); len(b) == 1 {
		*v = T(b[0])
	}
}

// arrayField encodes the bytes of an array without their length, or decodes them into it.
func arrayField(c *sectionCodec, array []byte) {
	if !c.decoding {
		c.buf = append(c.buf, array...)
		return
	}
	copy(array, c.takeBytes(len(array)))
}

// bytesField encodes or decodes a byte string with its length. Decoding copies it.
func bytesField(c *sectionCodec, b *[]byte) {
	if n := c.countField(len(*b)); c.decoding {
		*b = append([]byte(nil), c.takeBytes(n)...)
	} else {
		c.buf = append(c.buf, *b...)
	}
}

func stringField(c *sectionCodec, s *string) {
	if n := c.countField(len(*s)); c.decoding {
		*s = string(c.takeBytes(n))
	} else {
		c.buf = append(c.buf, *s...)
	}
}

func boolField(c *sectionCodec, b *bool) {
	v := boolAsUint(*b)
	if uintField(c, &v); c.decoding {
		*b = v != 0
	}
}

// countField encodes n, the number of elements that follow, or decodes and returns this number.
// Each element takes at least one byte, so a number greater than the remaining bytes means damage
// and sets err.
func (c *sectionCodec) countField(n int) int {
	count := uint64(n)
	if uintField(c, &count); c.decoding && count > uint64(len(c.buf)) {
		c.markDamaged()
		return 0
	}
	return int(count)
}

// listField encodes or decodes a list. element encodes or decodes one element.
func listField[T any](c *sectionCodec, list *[]T, element func(*T)) {
	for i := range c.countField(len(*list)) {
		if c.decoding {
			*list = append(*list, *new(T))
		}
		element(&(*list)[i])
	}
}

// mapField encodes the entries of m, or decodes them into m. entry encodes or decodes one entry.
func mapField[K comparable, V any](c *sectionCodec, m map[K]V, entry func(*K, *V)) {
	n := c.countField(len(m))
	var key K
	var value V
	if !c.decoding {
		for key, value = range m {
			entry(&key, &value)
		}
		return
	}
	for range n {
		key, value = *new(K), *new(V)
		entry(&key, &value)
		m[key] = value
	}
}

// takeBytes returns the next n bytes without a copy. It returns nil and sets err if the section
// is shorter.
func (c *sectionCodec) takeBytes(n int) []byte {
	if n > len(c.buf) {
		c.markDamaged()
		return nil
	}
	b := c.buf[:n]
	c.buf = c.buf[n:]
	return b
}

// markDamaged records that the section is damaged and ends the reading. The first error stays.
func (c *sectionCodec) markDamaged() {
	if c.err == nil {
		c.err = errDamaged
	}
	c.buf = nil
}
