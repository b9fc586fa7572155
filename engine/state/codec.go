package state

import (
	"encoding/binary"
	"errors"
)

// writer appends the primitive values of a snapshot's sections.
type writer struct{ buf []byte }

func (w *writer) uint(v uint64) { w.buf = binary.AppendUvarint(w.buf, v) }
func (w *writer) int(v int64)   { w.buf = binary.AppendVarint(w.buf, v) }
func (w *writer) fixed(v uint64) {
	w.buf = binary.LittleEndian.AppendUint64(w.buf, v)
}
func (w *writer) raw(b []byte) { w.buf = append(w.buf, b...) }
func (w *writer) bytes(b []byte) {
	w.uint(uint64(len(b)))
	w.raw(b)
}

func (w *writer) string(s string) {
	w.uint(uint64(len(s)))
	w.buf = append(w.buf, s...)
}
func (w *writer) bool(b bool) { w.uint(flag(b)) }

var errDamaged = errors.New("the section is truncated or damaged; use the snapshot before this one")

// reader reads the values that writer writes. After an error every result is zero and err
// is set, so the caller checks once.
type reader struct {
	buf     []byte
	err     error
	version byte // of the snapshot
}

func (r *reader) uint() uint64 {
	v, n := binary.Uvarint(r.buf)
	if n <= 0 {
		r.fail()
		return 0
	}
	r.buf = r.buf[n:]
	return v
}

func (r *reader) int() int64 {
	v, n := binary.Varint(r.buf)
	if n <= 0 {
		r.fail()
		return 0
	}
	r.buf = r.buf[n:]
	return v
}

func (r *reader) fixed() uint64 {
	b := r.raw(8)
	if len(b) < 8 {
		return 0
	}
	return binary.LittleEndian.Uint64(b)
}

// raw returns the next n bytes, which alias the section.
func (r *reader) raw(n int) []byte {
	if n < 0 || n > len(r.buf) {
		r.fail()
		return nil
	}
	b := r.buf[:n]
	r.buf = r.buf[n:]
	return b
}

func (r *reader) bytes() []byte {
	n := r.uint()
	if n > uint64(len(r.buf)) {
		r.fail()
		return nil
	}
	return append([]byte(nil), r.raw(int(n))...)
}

func (r *reader) string() string {
	n := r.uint()
	if n > uint64(len(r.buf)) {
		r.fail()
		return ""
	}
	return string(r.raw(int(n)))
}

func (r *reader) bool() bool { return r.uint() != 0 }

// count reads the number of elements that take at least one byte each.
func (r *reader) count() int {
	n := r.uint()
	if n > uint64(len(r.buf)) {
		r.fail()
		return 0
	}
	return int(n)
}

func (r *reader) fail() {
	if r.err == nil {
		r.err = errDamaged
	}
	r.buf = nil
}
