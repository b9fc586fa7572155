package state

import (
	"encoding/binary"
	"errors"
)

// sectionEncoder appends the primitive values of a snapshot's sections.
type sectionEncoder struct{ buf []byte }

func (w *sectionEncoder) writeUint(v uint64) { w.buf = binary.AppendUvarint(w.buf, v) }
func (w *sectionEncoder) writeInt(v int64)   { w.buf = binary.AppendVarint(w.buf, v) }
func (w *sectionEncoder) writeFixed(v uint64) {
	w.buf = binary.LittleEndian.AppendUint64(w.buf, v)
}
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

// sectionDecoder reads the values that sectionEncoder writes. After an error every result is zero and err
// is set, so the caller checks once.
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

func (r *sectionDecoder) readFixed() uint64 {
	b := r.readRaw(8)
	if len(b) < 8 {
		return 0
	}
	return binary.LittleEndian.Uint64(b)
}

// readRaw returns the next n bytes, which alias the section.
func (r *sectionDecoder) readRaw(n int) []byte {
	if n < 0 || n > len(r.buf) {
		r.fail()
		return nil
	}
	b := r.buf[:n]
	r.buf = r.buf[n:]
	return b
}

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

// readCount reads the number of elements that take at least one byte each.
func (r *sectionDecoder) readCount() int {
	n := r.readUint()
	if n > uint64(len(r.buf)) {
		r.fail()
		return 0
	}
	return int(n)
}

func (r *sectionDecoder) fail() {
	if r.err == nil {
		r.err = errDamaged
	}
	r.buf = nil
}
