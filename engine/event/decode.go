package event

import (
	"encoding/binary"
	"fmt"
	"math"
)

// decodeMessage decodes data into m. Strings and slices of m share memory with data.
func (pb *protobufCodec) decodeMessage(data []byte, m message) error {
	pb.decoding, pb.err = true, nil
	pb.record, pb.at, pb.end = data, 0, len(data)
	pb.decodeFields(0, m)
	pb.record = nil
	return pb.err
}

// decodeFields decodes into m all fields of record from the index at to pb.end. It is also called
// for a message within a message.
func (pb *protobufCodec) decodeFields(at int, m message) {
	for pb.nextField(at); pb.number != 0; {
		number, before := pb.number, pb.at
		m.encodeOrDecode(pb)
		if pb.number == number && pb.at == before {
			pb.skipField()
		}
	}
}

// nextField reads the tag at the index at, and so makes that field the current one. At the end of
// the message, number is zero.
func (pb *protobufCodec) nextField(at int) {
	if at >= pb.end {
		pb.number, pb.at = 0, at
		return
	}
	tag, n := uint64(pb.record[at]), 1
	if tag >= 1<<7 {
		tag, n = binary.Uvarint(pb.record[at:pb.end])
	}
	pb.number, pb.wire, pb.at = uint32(tag>>3), uint8(tag&7), at+n
	if n <= 0 || pb.number == 0 || tag>>3 > math.MaxUint32 {
		pb.fail()
	}
}

// fail records that the current field is faulty, and ends the decoding.
func (pb *protobufCodec) fail() {
	if pb.err == nil {
		pb.err = fmt.Errorf("field %d of the log record is malformed or has the wrong wire type", pb.number)
	}
	pb.number, pb.at = 0, pb.end
}

// skipField moves to the next field without decoding the current one.
func (pb *protobufCodec) skipField() {
	switch pb.wire {
	case wireVarint:
		pb.readVarint(math.MaxUint64)
	case wireFixed64:
		pb.readFixed64()
	case wireBytes:
		pb.readBytes()
	case wireFixed32:
		if pb.end-pb.at >= 4 {
			pb.nextField(pb.at + 4)
			return
		}
		fallthrough
	default:
		pb.fail()
	}
}

// skipFieldsHereIfReplay skips current fields numbered from first to last if the decoder decodes
// for a replay, which does not need them.
func (pb *protobufCodec) skipFieldsHereIfReplay(firstNumber, lastNumber uint32) {
	for pb.forReplay && firstNumber <= pb.number && pb.number <= lastNumber {
		pb.skipField()
	}
}

// varint returns the varint that begins the current field's value, and the index behind it. A
// fault returns zero and the message's end.
func (pb *protobufCodec) varint() (value uint64, after int) {
	if at := pb.at; at < pb.end && pb.record[at] < 1<<7 {
		return uint64(pb.record[at]), at + 1
	}
	return pb.longVarint()
}

// longVarint is varint for a number of two bytes or more, or a fault.
func (pb *protobufCodec) longVarint() (value uint64, after int) {
	value, n := binary.Uvarint(pb.record[pb.at:pb.end])
	if n <= 0 {
		pb.fail()
		return 0, pb.end
	}
	return value, pb.at + n
}

// readVarint returns the current field's varint, and moves to the next field. A value above most
// is an error.
func (pb *protobufCodec) readVarint(most uint64) uint64 {
	value, after := pb.varint()
	if pb.wire != wireVarint || value > most {
		pb.fail()
		return 0
	}
	pb.nextField(after)
	return value
}

// readFixed64 returns the current field's number of eight bytes, and moves to the next field.
func (pb *protobufCodec) readFixed64() uint64 {
	at := pb.at
	if pb.wire != wireFixed64 || pb.end-at < 8 {
		pb.fail()
		return 0
	}
	value := binary.LittleEndian.Uint64(pb.record[at:])
	pb.nextField(at + 8)
	return value
}

// readBytes returns the current field's byte string, which shares memory with the record, and
// moves to the next field.
func (pb *protobufCodec) readBytes() []byte {
	at, after := pb.findBytes()
	if pb.number != 0 {
		pb.nextField(after)
	}
	return pb.record[at:after]
}

// findBytes returns where the current field's byte string begins and ends in the record. After a
// fault it is empty and number is zero.
func (pb *protobufCodec) findBytes() (at, after int) {
	size, at := pb.varint()
	if pb.wire != wireBytes || size > uint64(pb.end-at) {
		pb.fail()
		return pb.end, pb.end
	}
	return at, at + int(size)
}
