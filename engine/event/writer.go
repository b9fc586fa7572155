package event

import (
	"encoding/binary"
	"sync"
)

// recordWriter encodes one message in protobuf's wire format, directly into its place. One
// goroutine uses it.
//
// An embedded message begins with its length, which is known only at its end. The recordWriter
// leaves one byte for it, because most are short, and moves the content of a longer one
// up. So the caller writes an inner message before the following fields of the outer one,
// and writing to the outer one ends the inner one.
//
// Rejected: the library that decodes (easyproto). It keeps a tree of all fields and walks
// it twice. For a lead that is several times the lead's own memory, and twice the time
// even with all of it in the cache, which a server rarely has.
type recordWriter struct {
	buf  []byte
	open []int // positions of the lengths of open messages
}

var writers = sync.Pool{New: func() any { return new(recordWriter) }}

// newRecordWriter starts a message that done appends to dst.
func newRecordWriter(dst []byte) *recordWriter {
	w := writers.Get().(*recordWriter)
	w.buf = dst
	return w
}

// outermostMessage returns the outermostMessage message.
func (w *recordWriter) outermostMessage() openMessage { return openMessage{w: w} }

// finishRecord ends the message and returns the buffer. The caller must not use the writer after
// it.
func (w *recordWriter) finishRecord() []byte {
	w.endMessagesBelow(0)
	buf := w.buf
	w.buf = nil
	writers.Put(w)
	return buf
}

// openMessage is one openMessage of a writer: the outermost one, or one at nesting level depth.
type openMessage struct {
	w     *recordWriter
	depth int
}

// The wire types of protobuf.
const (
	wireVarint = 0
	wireFixed  = 1
	wireBytes  = 2
)

// appendTag ends the messages below m and appends the tag of a field of m.
func (m openMessage) appendTag(field uint32, wire uint64) []byte {
	if len(m.w.open) > m.depth {
		m.w.endMessagesBelow(m.depth)
	}
	return appendVarint(m.w.buf, uint64(field)<<3|wire)
}

// appendVarint is short, so that the compiler inlines it: most numbers are one byte.
func appendVarint(dst []byte, v uint64) []byte {
	if v < 1<<7 {
		return append(dst, byte(v))
	}
	return binary.AppendUvarint(dst, v)
}

func (m openMessage) AppendUint64(field uint32, v uint64) {
	m.w.buf = appendVarint(m.appendTag(field, wireVarint), v)
}

func (m openMessage) AppendSint64(field uint32, v int64) {
	m.AppendUint64(field, uint64(v)<<1^uint64(v>>63))
}

func (m openMessage) AppendFixed64(field uint32, v uint64) {
	m.w.buf = binary.LittleEndian.AppendUint64(m.appendTag(field, wireFixed), v)
}

func (m openMessage) AppendBytes(field uint32, v []byte) {
	m.w.buf = append(appendVarint(m.appendTag(field, wireBytes), uint64(len(v))), v...)
}

func (m openMessage) AppendString(field uint32, v string) {
	m.w.buf = append(appendVarint(m.appendTag(field, wireBytes), uint64(len(v))), v...)
}

func (m openMessage) AppendBool(field uint32, v bool) {
	if v {
		m.AppendUint64(field, 1)
	} else {
		m.AppendUint64(field, 0)
	}
}

// AppendUint64s appends numbers in the packed form.
func (m openMessage) AppendUint64s(field uint32, vs []uint64) {
	w := m.AppendMessage(field).w
	for _, v := range vs {
		w.buf = appendVarint(w.buf, v)
	}
}

// AppendMessage begins a message within m.
func (m openMessage) AppendMessage(field uint32) openMessage {
	w := m.w
	w.buf = m.appendTag(field, wireBytes)
	w.open = append(w.open, len(w.buf))
	w.buf = append(w.buf, 0)
	return openMessage{w: w, depth: m.depth + 1}
}

// endMessagesBelow ends every message below the given depth.
func (w *recordWriter) endMessagesBelow(depth int) {
	for len(w.open) > depth {
		at := w.open[len(w.open)-1]
		w.open = w.open[:len(w.open)-1]
		size := len(w.buf) - at - 1
		if size < 1<<7 {
			w.buf[at] = byte(size)
			continue
		}
		var length [binary.MaxVarintLen64]byte
		n := binary.PutUvarint(length[:], uint64(size))
		w.buf = append(w.buf, length[:n-1]...) // make space
		copy(w.buf[at+n:], w.buf[at+1:at+1+size])
		copy(w.buf[at:], length[:n])
	}
}
