package state

import (
	"encoding/binary"
	"errors"
)

// sectionEncoder appends numbers, byte strings and texts to the body of a snapshot's section.
type sectionEncoder struct{ buf []byte }

// writeUint appends v as a varint; writeInt appends a signed number in zigzag form.
func (w *sectionEncoder) writeUint(v uint64) { w.buf = binary.AppendUvarint(w.buf, v) }
func (w *sectionEncoder) writeInt(v int64)   { w.buf = binary.AppendVarint(w.buf, v) }

// writeFixed appends v in eight bytes, for hashes and times, whose varints would be longer.
func (w *sectionEncoder) writeFixed(v uint64) {
	w.buf = binary.LittleEndian.AppendUint64(w.buf, v)
}

// writeRaw appends b without its length. writeBytes and writeString append the length first.
func (w *sectionEncoder) writeRaw(b []byte) { w.buf = append(w.buf, b...) }

func (w *sectionEncoder) writeBytes(b []byte) {
	w.writeUint(uint64(len(b)))
	w.writeRaw(b)
}

func (w *sectionEncoder) writeString(s string) {
	w.writeUint(uint64(len(s)))
	w.buf = append(w.buf, s...)
}
func (w *sectionEncoder) writeBool(b bool) { w.writeUint(boolAsUint(b)) }

var errDamaged = errors.New("the section is truncated or damaged; use the snapshot before this one")

// sectionDecoder reads the values that sectionEncoder has written. After an error, err is set and
// every further result is zero. So the caller checks err once, at the end.
type sectionDecoder struct {
	buf     []byte
	err     error
	version byte // of the snapshot
}

func (r *sectionDecoder) readUint() uint64 {
	v, n := binary.Uvarint(r.buf)
	if n <= 0 {
		r.fail()
		return 0
	}
	r.buf = r.buf[n:]
	return v
}

func (r *sectionDecoder) readInt() int64 {
	v, n := binary.Varint(r.buf)
	if n <= 0 {
		r.fail()
		return 0
	}
	r.buf = r.buf[n:]
	return v
}

// readFixed reads a number in eight bytes.
func (r *sectionDecoder) readFixed() uint64 {
	b := r.readRaw(8)
	if len(b) < 8 {
		return 0
	}
	return binary.LittleEndian.Uint64(b)
}

// readRaw returns the next n bytes without a copy. It returns nil and sets err if the section is
// shorter.
func (r *sectionDecoder) readRaw(n int) []byte {
	if n < 0 || n > len(r.buf) {
		r.fail()
		return nil
	}
	b := r.buf[:n]
	r.buf = r.buf[n:]
	return b
}

// readBytes reads a byte string with its length, and returns a copy.
func (r *sectionDecoder) readBytes() []byte {
	n := r.readUint()
	if n > uint64(len(r.buf)) {
		r.fail()
		return nil
	}
	return append([]byte(nil), r.readRaw(int(n))...)
}

func (r *sectionDecoder) readString() string {
	n := r.readUint()
	if n > uint64(len(r.buf)) {
		r.fail()
		return ""
	}
	return string(r.readRaw(int(n)))
}

func (r *sectionDecoder) readBool() bool { return r.readUint() != 0 }

// readCount reads the number of elements that follow. Each element takes at least one byte, so a
// number greater than the remaining bytes means damage and sets err.
func (r *sectionDecoder) readCount() int {
	n := r.readUint()
	if n > uint64(len(r.buf)) {
		r.fail()
		return 0
	}
	return int(n)
}

// fail records that the section is damaged and ends the reading. The first error stays.
func (r *sectionDecoder) fail() {
	if r.err == nil {
		r.err = errDamaged
	}
	r.buf = nil
}
