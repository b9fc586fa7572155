package event

import (
	"encoding/binary"
	"math"
	"sync"
	"unsafe"
)

// message is a struct that is encoded as a protobuf message. Its method encodeOrDecode calls one
// function for each field, and these calls serve both directions. So a field's number and
// encoding cannot differ between encoder and decoder.
type message interface {
	encodeOrDecode(pb *protobufCodec)
}

// protobufCodec encodes or decodes one message in protobuf's wire format. One goroutine uses it.
//
// Encoding appends each field directly to its place in the buffer. A zero value is not written,
// as in proto3.
//
// Decoding has one current field of the message. A call for a field of that number decodes it and
// makes the next field the current one. The encoder writes fields in the order of the calls in
// encodeOrDecode, so one call of encodeOrDecode decodes a message of this program. Fields in
// another order need further calls. If a call decodes no field, a later program has added the
// field, and the decoder skips it.
//
// Rejected: the library's encoder (easyproto). It keeps a tree of all fields and walks it twice.
// For a lead that is several times the lead's own memory, and twice the time even with all of it
// in the cache, which a server rarely has. Also rejected: its decoder. It stores each value before
// it returns it, and with it a replay of leads took a fifth longer.
type protobufCodec struct {
	decoding bool

	encoded []byte // encoding: the buffer

	record    []byte // decoding: the outermost message
	at        int    // index in record: the current field's value
	end       int    // index in record: the end of the message that is decoded now
	number    uint32 // of the current field; zero: the message has ended
	wire      uint8  // wire type of the current field
	err       error  // the first fault of the encoded bytes
	forReplay bool   // skips fields that Apply does not use
}

var encoders = sync.Pool{New: func() any { return new(protobufCodec) }}

// newEncoder returns an encoder that appends to dst. It comes from a pool; finishEncoding returns
// it.
func newEncoder(dst []byte) *protobufCodec {
	pb := encoders.Get().(*protobufCodec)
	pb.encoded = dst
	return pb
}

// finishEncoding returns the encoded bytes, and returns the encoder to the pool. The caller must
// not use the encoder afterwards.
func (pb *protobufCodec) finishEncoding() []byte {
	encoded := pb.encoded
	pb.encoded = nil
	encoders.Put(pb)
	return encoded
}

// The wire types of protobuf.
const (
	wireVarint  = 0
	wireFixed64 = 1
	wireBytes   = 2
	wireFixed32 = 5
)

// appendTag appends a field's tag, which is its number and its wire type.
func appendTag(dst []byte, number uint32, wire uint64) []byte {
	return appendVarint(dst, uint64(number)<<3|wire)
}

// appendVarint appends v as a protobuf varint. Most numbers take one byte, and the function is
// short enough for the compiler to inline it.
func appendVarint(dst []byte, v uint64) []byte {
	if v < 1<<7 {
		return append(dst, byte(v))
	}
	return binary.AppendUvarint(dst, v)
}

// appendUint64 appends the field with this number and the value v, even if v is zero.
func (pb *protobufCodec) appendUint64(number uint32, v uint64) {
	pb.encoded = appendVarint(appendTag(pb.encoded, number, wireVarint), v)
}

// appendBytes appends the field with this number and the value v, even if v is empty.
func appendBytes[T string | []byte](pb *protobufCodec, number uint32, v T) {
	pb.encoded = append(appendVarint(appendTag(pb.encoded, number, wireBytes), uint64(len(v))), v...)
}

// uint64Field encodes or decodes the field with this number as a varint of up to 64 bits.
func uint64Field(pb *protobufCodec, number uint32, v *uint64) {
	if !pb.decoding && *v != 0 {
		pb.appendUint64(number, *v)
	}
	for pb.number == number {
		*v = pb.readVarint(math.MaxUint64)
	}
}

// uint32Field encodes or decodes the field with this number as a varint of up to 32 bits.
func uint32Field[T ~uint32](pb *protobufCodec, number uint32, v *T) {
	if !pb.decoding && *v != 0 {
		pb.appendUint64(number, uint64(*v))
	}
	for pb.number == number {
		*v = T(pb.readVarint(math.MaxUint32))
	}
}

// enumField encodes or decodes the field with this number as a number below 256, such as an
// enum's value.
func enumField[T ~uint8](pb *protobufCodec, number uint32, v *T) {
	if !pb.decoding && *v != 0 {
		pb.appendUint64(number, uint64(*v))
	}
	for pb.number == number {
		*v = T(pb.readVarint(math.MaxUint8))
	}
}

// zigzagField encodes or decodes the field with this number as a signed number (protobuf's
// sint64), which is short for numbers near zero.
func zigzagField[T ~int64](pb *protobufCodec, number uint32, v *T) {
	if !pb.decoding && *v != 0 {
		pb.appendUint64(number, uint64(*v)<<1^uint64(*v>>63))
	}
	for pb.number == number {
		value := pb.readVarint(math.MaxUint64)
		*v = T(int64(value>>1) ^ -int64(value&1))
	}
}

// fixed64Field encodes or decodes this field in eight bytes. Times and hashes use it,
// because a varint would be longer.
func fixed64Field[T int64 | uint64](pb *protobufCodec, number uint32, v *T) {
	if !pb.decoding && *v != 0 {
		pb.encoded = binary.LittleEndian.AppendUint64(appendTag(pb.encoded, number, wireFixed64), uint64(*v))
	}
	for pb.number == number {
		*v = T(pb.readFixed64())
	}
}

// boolField encodes or decodes the field with this number as a boolean. False is not written.
func boolField(pb *protobufCodec, number uint32, v *bool) {
	if !pb.decoding && *v {
		pb.appendUint64(number, 1)
	}
	for pb.number == number {
		*v = pb.readVarint(1) == 1
	}
}

// stringField encodes or decodes the field with this number as a text. A decoded text shares
// memory with the record.
func stringField(pb *protobufCodec, number uint32, v *string) {
	if !pb.decoding && *v != "" {
		appendBytes(pb, number, *v)
	}
	for pb.number == number {
		*v = bytesAsString(pb.readBytes())
	}
}

// bytesField encodes or decodes the field with this number as a byte string. A decoded byte
// string shares memory with the record.
func bytesField(pb *protobufCodec, number uint32, v *[]byte) {
	if !pb.decoding && len(*v) != 0 {
		appendBytes(pb, number, *v)
	}
	for pb.number == number {
		*v = pb.readBytes()
	}
}

// fixedBytesField encodes or decodes the field with this number as a byte string with the length
// of v. Encoding writes it only if present is set. Decoding rejects another length.
func fixedBytesField(pb *protobufCodec, number uint32, v []byte, present bool) {
	if !pb.decoding && present {
		appendBytes(pb, number, v)
	}
	for pb.number == number {
		pb.decodeFixedBytes(v)
	}
}

// decodeFixedBytes copies the current field's value to v, and moves to the next field. A value of
// another length is an error.
func (pb *protobufCodec) decodeFixedBytes(v []byte) {
	at, after := pb.findBytes()
	if after-at != len(v) {
		pb.fail()
		return
	}
	copy(v, pb.record[at:after])
	pb.nextField(after)
}

// idField encodes or decodes the field with this number as 16 bytes: an identifier or a key. Zero
// is not written.
func idField[T ~[16]byte](pb *protobufCodec, number uint32, id *T) {
	var none T
	fixedBytesField(pb, number, (*id)[:], *id != none)
}

// idListField encodes or decodes the field with this number as a list of 16-byte identifiers.
func idListField[T ~[16]byte](pb *protobufCodec, number uint32, list *[]T) {
	for i := 0; !pb.decoding && i < len(*list); i++ {
		appendBytes(pb, number, (*list)[i][:])
	}
	for pb.number == number {
		pb.decodeFixedBytes((*extendList(list))[:])
	}
}

// stringListField encodes or decodes the field with this number as a list of texts. Decoded texts
// share memory with the record.
func stringListField(pb *protobufCodec, number uint32, list *[]string) {
	for i := 0; !pb.decoding && i < len(*list); i++ {
		appendBytes(pb, number, (*list)[i])
	}
	for pb.number == number {
		*list = append(*list, bytesAsString(pb.readBytes()))
	}
}

// packedUint64Field encodes or decodes the field with this number as a list of numbers in one
// packed byte string.
func packedUint64Field[T ~[]uint64](pb *protobufCodec, number uint32, list *T) {
	if !pb.decoding && len(*list) > 0 {
		start := pb.beginLength(number)
		for _, v := range *list {
			pb.encoded = appendVarint(pb.encoded, v)
		}
		pb.endLength(start)
	}
	for pb.number == number {
		if pb.wire != wireBytes {
			*list = append(*list, pb.readVarint(math.MaxUint64))
			continue
		}
		at, after := pb.findBytes()
		for at < after {
			v, n := binary.Uvarint(pb.record[at:after])
			if n <= 0 {
				pb.fail()
				return
			}
			*list, at = append(*list, v), at+n
		}
		pb.nextField(after)
	}
}

// messageField encodes or decodes the field with this number as the inner message m. Encoding
// writes it only if present is set.
func messageField(pb *protobufCodec, number uint32, m message, present bool) {
	if !pb.decoding && present {
		start := pb.beginLength(number)
		m.encodeOrDecode(pb)
		pb.endLength(start)
	}
	for pb.number == number {
		pb.decodeInnerMessage(m)
	}
}

// decodeInnerMessage decodes the current field as the message m, and then moves to the field
// after it.
func (pb *protobufCodec) decodeInnerMessage(m message) {
	at, after := pb.findBytes()
	outerEnd := pb.end
	pb.end = after
	pb.decodeFields(at, m)
	pb.end = outerEnd
	if pb.err == nil {
		pb.nextField(after)
	}
}

// messageListField encodes or decodes the field with this number as a list of messages.
func messageListField[T any, P interface {
	*T
	message
}](pb *protobufCodec, number uint32, list *[]T) {
	if !pb.decoding {
		for i := range *list {
			messageField(pb, number, P(&(*list)[i]), true)
		}
	}
	for pb.number == number {
		pb.decodeInnerMessage(P(extendList(list)))
	}
}

// beginLength begins the field with this number, whose content is appended next and has an
// unknown length. It leaves one byte for the length, because most are short, and returns that
// byte's position. endLength completes the field.
func (pb *protobufCodec) beginLength(number uint32) (start int) {
	pb.encoded = append(appendTag(pb.encoded, number, wireBytes), 0)
	return len(pb.encoded) - 1
}

// endLength completes a field that beginLength has begun at start: it writes the content's
// length. If the length needs more than one byte, it moves the content.
func (pb *protobufCodec) endLength(start int) {
	size := len(pb.encoded) - start - 1
	if size < 1<<7 {
		pb.encoded[start] = byte(size)
		return
	}
	var length [binary.MaxVarintLen64]byte
	n := binary.PutUvarint(length[:], uint64(size))
	pb.encoded = append(pb.encoded, length[:n-1]...) // make space
	copy(pb.encoded[start+n:], pb.encoded[start+1:start+1+size])
	copy(pb.encoded[start:], length[:n])
}

// extendList appends a zero element to the list and returns that element's address.
func extendList[T any](list *[]T) *T {
	var zero T
	*list = append(*list, zero)
	return &(*list)[len(*list)-1]
}

// bytesAsString returns a text that shares memory with b.
func bytesAsString(b []byte) string { return unsafe.String(unsafe.SliceData(b), len(b)) }
