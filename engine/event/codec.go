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

// takeEncoderFromPool returns an encoder that appends to dst. The encoder comes from a pool, and
// finishAndReturnToPool puts it back.
func takeEncoderFromPool(dst []byte) *protobufCodec {
	pb := encoders.Get().(*protobufCodec)
	pb.encoded = dst
	return pb
}

// finishAndReturnToPool returns the encoded bytes, and puts the encoder back into the pool. The
// caller must not use the encoder afterwards.
func (pb *protobufCodec) finishAndReturnToPool() []byte {
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
func appendTag(dst []byte, fieldNumber uint32, wireType uint64) []byte {
	return appendVarint(dst, uint64(fieldNumber)<<3|wireType)
}

// appendVarint appends v as a protobuf varint. Most numbers take one byte, and the function is
// short enough for the compiler to inline it.
func appendVarint(dst []byte, v uint64) []byte {
	if v < 1<<7 {
		return append(dst, byte(v))
	}
	return binary.AppendUvarint(dst, v)
}

// appendUint64Field appends the field with this number and the value v, even if v is zero.
func (pb *protobufCodec) appendUint64Field(fieldNumber uint32, v uint64) {
	pb.encoded = appendVarint(appendTag(pb.encoded, fieldNumber, wireVarint), v)
}

// appendBytesField appends the field with this number and the value v, even if v is empty.
func appendBytesField[T string | []byte](pb *protobufCodec, fieldNumber uint32, v T) {
	pb.encoded = append(appendVarint(appendTag(pb.encoded, fieldNumber, wireBytes), uint64(len(v))), v...)
}

// encodeOrDecodeUint64 encodes or decodes the field with this number as a varint of up to 64 bits.
func encodeOrDecodeUint64(pb *protobufCodec, fieldNumber uint32, v *uint64) {
	if !pb.decoding && *v != 0 {
		pb.appendUint64Field(fieldNumber, *v)
	}
	for pb.number == fieldNumber {
		*v = pb.readVarintAndAdvance(math.MaxUint64)
	}
}

// encodeOrDecodeUint32 encodes or decodes the field with this number as a varint of up to 32 bits.
func encodeOrDecodeUint32[T ~uint32](pb *protobufCodec, fieldNumber uint32, v *T) {
	if !pb.decoding && *v != 0 {
		pb.appendUint64Field(fieldNumber, uint64(*v))
	}
	for pb.number == fieldNumber {
		*v = T(pb.readVarintAndAdvance(math.MaxUint32))
	}
}

// encodeOrDecodeEnum encodes or decodes the field with this number as a number below 256, such as an
// enum's value.
func encodeOrDecodeEnum[T ~uint8](pb *protobufCodec, fieldNumber uint32, v *T) {
	if !pb.decoding && *v != 0 {
		pb.appendUint64Field(fieldNumber, uint64(*v))
	}
	for pb.number == fieldNumber {
		*v = T(pb.readVarintAndAdvance(math.MaxUint8))
	}
}

// encodeOrDecodeZigzag encodes or decodes the field with this number as a signed number (protobuf's
// sint64), which is short for numbers near zero.
func encodeOrDecodeZigzag[T ~int64](pb *protobufCodec, fieldNumber uint32, v *T) {
	if !pb.decoding && *v != 0 {
		pb.appendUint64Field(fieldNumber, uint64(*v)<<1^uint64(*v>>63))
	}
	for pb.number == fieldNumber {
		value := pb.readVarintAndAdvance(math.MaxUint64)
		*v = T(int64(value>>1) ^ -int64(value&1))
	}
}

// encodeOrDecodeFixed64 encodes or decodes this field in eight bytes. Times and hashes use it,
// because a varint would be longer.
func encodeOrDecodeFixed64[T int64 | uint64](pb *protobufCodec, fieldNumber uint32, v *T) {
	if !pb.decoding && *v != 0 {
		pb.encoded = binary.LittleEndian.AppendUint64(appendTag(pb.encoded, fieldNumber, wireFixed64), uint64(*v))
	}
	for pb.number == fieldNumber {
		*v = T(pb.readFixed64AndAdvance())
	}
}

// encodeOrDecodeBool encodes or decodes the field with this number as a boolean. False is not written.
func encodeOrDecodeBool(pb *protobufCodec, fieldNumber uint32, v *bool) {
	if !pb.decoding && *v {
		pb.appendUint64Field(fieldNumber, 1)
	}
	for pb.number == fieldNumber {
		*v = pb.readVarintAndAdvance(1) == 1
	}
}

// encodeOrDecodeString encodes or decodes the field with this number as a text. A decoded text shares
// memory with the record.
func encodeOrDecodeString(pb *protobufCodec, fieldNumber uint32, v *string) {
	if !pb.decoding && *v != "" {
		appendBytesField(pb, fieldNumber, *v)
	}
	for pb.number == fieldNumber {
		*v = stringSharingMemory(pb.readBytesAndAdvance())
	}
}

// encodeOrDecodeBytes encodes or decodes the field with this number as a byte string. A decoded byte
// string shares memory with the record.
func encodeOrDecodeBytes(pb *protobufCodec, fieldNumber uint32, v *[]byte) {
	if !pb.decoding && len(*v) != 0 {
		appendBytesField(pb, fieldNumber, *v)
	}
	for pb.number == fieldNumber {
		*v = pb.readBytesAndAdvance()
	}
}

// encodeOrDecodeFixedBytes encodes or decodes the field with this number as a byte string with the
// length of v. Encoding writes it only if isPresent is set. Decoding rejects another
// length.
func encodeOrDecodeFixedBytes(pb *protobufCodec, fieldNumber uint32, v []byte, isPresent bool) {
	if !pb.decoding && isPresent {
		appendBytesField(pb, fieldNumber, v)
	}
	for pb.number == fieldNumber {
		pb.readFixedBytesInto(v)
	}
}

// readFixedBytesInto copies the current field's value to dst, and moves to the next field. A value of
// another length is an error.
func (pb *protobufCodec) readFixedBytesInto(dst []byte) {
	at, after := pb.locateBytes()
	if after-at != len(dst) {
		pb.failAtCurrentField()
		return
	}
	copy(dst, pb.record[at:after])
	pb.moveToFieldAt(after)
}

// encodeOrDecodeID16 encodes or decodes the field with this number as 16 bytes: an identifier or a
// key. Zero is not written.
func encodeOrDecodeID16[T ~[16]byte](pb *protobufCodec, fieldNumber uint32, id *T) {
	var none T
	encodeOrDecodeFixedBytes(pb, fieldNumber, (*id)[:], *id != none)
}

// encodeOrDecodeID16List encodes or decodes the field with this number as a list of 16-byte
// identifiers.
func encodeOrDecodeID16List[T ~[16]byte](pb *protobufCodec, fieldNumber uint32, list *[]T) {
	for i := 0; !pb.decoding && i < len(*list); i++ {
		appendBytesField(pb, fieldNumber, (*list)[i][:])
	}
	for pb.number == fieldNumber {
		pb.readFixedBytesInto((*appendZeroElement(list))[:])
	}
}

// encodeOrDecodeStringList encodes or decodes the field with this number as a list of texts.
// Decoded texts share memory with the record.
func encodeOrDecodeStringList(pb *protobufCodec, fieldNumber uint32, list *[]string) {
	for i := 0; !pb.decoding && i < len(*list); i++ {
		appendBytesField(pb, fieldNumber, (*list)[i])
	}
	for pb.number == fieldNumber {
		*list = append(*list, stringSharingMemory(pb.readBytesAndAdvance()))
	}
}

// encodeOrDecodePackedUint64s encodes or decodes the field with this number as a list of numbers in one
// packed byte string.
func encodeOrDecodePackedUint64s[T ~[]uint64](pb *protobufCodec, fieldNumber uint32, list *T) {
	if !pb.decoding && len(*list) > 0 {
		start := pb.beginLengthPrefixedField(fieldNumber)
		for _, v := range *list {
			pb.encoded = appendVarint(pb.encoded, v)
		}
		pb.endLengthPrefixedField(start)
	}
	for pb.number == fieldNumber {
		if pb.wire != wireBytes {
			*list = append(*list, pb.readVarintAndAdvance(math.MaxUint64))
			continue
		}
		at, after := pb.locateBytes()
		for at < after {
			v, n := binary.Uvarint(pb.record[at:after])
			if n <= 0 {
				pb.failAtCurrentField()
				return
			}
			*list, at = append(*list, v), at+n
		}
		pb.moveToFieldAt(after)
	}
}

// encodeOrDecodeMessage encodes or decodes the field with this number as the inner message m. Encoding
// writes it only if writeWhenEncoding is set.
func encodeOrDecodeMessage(pb *protobufCodec, fieldNumber uint32, m message, writeWhenEncoding bool) {
	if !pb.decoding && writeWhenEncoding {
		start := pb.beginLengthPrefixedField(fieldNumber)
		m.encodeOrDecode(pb)
		pb.endLengthPrefixedField(start)
	}
	for pb.number == fieldNumber {
		pb.readInnerMessageInto(m)
	}
}

// readInnerMessageInto decodes the current field as the message m, and then moves to the field
// after it.
func (pb *protobufCodec) readInnerMessageInto(m message) {
	at, after := pb.locateBytes()
	outerEnd := pb.end
	pb.end = after
	pb.decodeFields(at, m)
	pb.end = outerEnd
	if pb.err == nil {
		pb.moveToFieldAt(after)
	}
}

// encodeOrDecodeMessageList encodes or decodes the field with this number as a list of messages.
func encodeOrDecodeMessageList[T any, P interface {
	*T
	message
}](pb *protobufCodec, number uint32, list *[]T) {
	if !pb.decoding {
		for i := range *list {
			encodeOrDecodeMessage(pb, number, P(&(*list)[i]), true)
		}
	}
	for pb.number == number {
		pb.readInnerMessageInto(P(appendZeroElement(list)))
	}
}

// beginLengthPrefixedField begins the field with this number, whose content is appended next and has an
// unknown length. It leaves one byte for the length, because most are short, and returns that
// byte's position. endLengthPrefixedField completes the field.
func (pb *protobufCodec) beginLengthPrefixedField(fieldNumber uint32) (lengthIndex int) {
	pb.encoded = append(appendTag(pb.encoded, fieldNumber, wireBytes), 0)
	return len(pb.encoded) - 1
}

// endLengthPrefixedField completes a field that beginLengthPrefixedField has begun at lengthIndex:
// it writes the content's length. If the length needs more than one byte, it moves the content.
func (pb *protobufCodec) endLengthPrefixedField(lengthIndex int) {
	size := len(pb.encoded) - lengthIndex - 1
	if size < 1<<7 {
		pb.encoded[lengthIndex] = byte(size)
		return
	}
	var length [binary.MaxVarintLen64]byte
	n := binary.PutUvarint(length[:], uint64(size))
	pb.encoded = append(pb.encoded, length[:n-1]...) // make space
	copy(pb.encoded[lengthIndex+n:], pb.encoded[lengthIndex+1:lengthIndex+1+size])
	copy(pb.encoded[lengthIndex:], length[:n])
}

// appendZeroElement appends a zero element to the list and returns that element's address.
func appendZeroElement[T any](list *[]T) *T {
	var zero T
	*list = append(*list, zero)
	return &(*list)[len(*list)-1]
}

// stringSharingMemory returns a text that shares memory with b.
func stringSharingMemory(b []byte) string { return unsafe.String(unsafe.SliceData(b), len(b)) }
