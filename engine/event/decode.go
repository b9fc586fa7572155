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

// decodeFields decodes into m all fields of record from firstTagIndex to pb.end. It is also called
// for a message within a message.
func (pb *protobufCodec) decodeFields(firstTagIndex int, m message) {
	for pb.moveToFieldAt(firstTagIndex); pb.number != 0; {
		number, before := pb.number, pb.at
		m.encodeOrDecode(pb)
		if pb.number == number && pb.at == before {
			pb.skipCurrentField()
		}
	}
}

// moveToFieldAt reads the tag at tagIndex, and so makes that field the current one. At the end of
// the message, number is zero.
func (pb *protobufCodec) moveToFieldAt(tagIndex int) {
	if tagIndex >= pb.end {
		pb.number, pb.at = 0, tagIndex
		return
	}
	tag, n := uint64(pb.record[tagIndex]), 1
	if tag >= 1<<7 {
		tag, n = binary.Uvarint(pb.record[tagIndex:pb.end])
	}
	pb.number, pb.wire, pb.at = uint32(tag>>3), uint8(tag&7), tagIndex+n
	if n <= 0 || pb.number == 0 || tag>>3 > math.MaxUint32 {
		pb.failAtCurrentField()
	}
}

// failAtCurrentField records that the current field is faulty, and ends the decoding.
func (pb *protobufCodec) failAtCurrentField() {
	if pb.err == nil {
		pb.err = fmt.Errorf("a protobuf field with number %d in the log record has a malformed tag or value, or the wrong wire type", pb.number)
	}
	pb.number, pb.at = 0, pb.end
}

// skipCurrentField moves to the next field without decoding the current one.
func (pb *protobufCodec) skipCurrentField() {
	switch pb.wire {
	case wireVarint:
		pb.readVarintAndAdvance(math.MaxUint64)
	case wireFixed64:
		pb.readFixed64AndAdvance()
	case wireBytes:
		pb.readBytesAndAdvance()
	case wireFixed32:
		if pb.end-pb.at >= 4 {
			pb.moveToFieldAt(pb.at + 4)
			return
		}
		fallthrough
	default:
		pb.failAtCurrentField()
	}
}

// skipFieldRangeIfReplay skips current fields numbered from first to last if the decoder decodes
// for a replay, which does not need them.
func (pb *protobufCodec) skipFieldRangeIfReplay(firstNumber, lastNumber uint32) {
	for pb.forReplay && firstNumber <= pb.number && pb.number <= lastNumber {
		pb.skipCurrentField()
	}
}

// peekVarint returns the varint that begins the current field's value, and the index behind it. A
// fault returns zero and the message's end.
func (pb *protobufCodec) peekVarint() (value uint64, indexAfter int) {
	if at := pb.at; at < pb.end && pb.record[at] < 1<<7 {
		return uint64(pb.record[at]), at + 1
	}
	return pb.peekLongVarint()
}

// peekLongVarint is peekVarint for a number of two bytes or more, or a fault.
func (pb *protobufCodec) peekLongVarint() (value uint64, indexAfter int) {
	value, n := binary.Uvarint(pb.record[pb.at:pb.end])
	if n <= 0 {
		pb.failAtCurrentField()
		return 0, pb.end
	}
	return value, pb.at + n
}

// readVarintAndAdvance returns the current field's varint, and moves to the next field. A value
// above maxValue is an error.
func (pb *protobufCodec) readVarintAndAdvance(maxValue uint64) uint64 {
	value, after := pb.peekVarint()
	if pb.wire != wireVarint || value > maxValue {
		pb.failAtCurrentField()
		return 0
	}
	pb.moveToFieldAt(after)
	return value
}

// readFixed64AndAdvance returns the current field's number of eight bytes, and moves to the next field.
func (pb *protobufCodec) readFixed64AndAdvance() uint64 {
	at := pb.at
	if pb.wire != wireFixed64 || pb.end-at < 8 {
		pb.failAtCurrentField()
		return 0
	}
	value := binary.LittleEndian.Uint64(pb.record[at:])
	pb.moveToFieldAt(at + 8)
	return value
}

// readBytesAndAdvance returns the current field's byte string, which shares memory with the record, and
// moves to the next field.
func (pb *protobufCodec) readBytesAndAdvance() []byte {
	at, after := pb.locateBytes()
	if pb.number != 0 {
		pb.moveToFieldAt(after)
	}
	return pb.record[at:after]
}

// locateBytes returns where the current field's byte string begins and ends in the record. After a
// fault it is empty and number is zero.
func (pb *protobufCodec) locateBytes() (beginIndex, endIndex int) {
	size, beginIndex := pb.peekVarint()
	if pb.wire != wireBytes || size > uint64(pb.end-beginIndex) {
		pb.failAtCurrentField()
		return pb.end, pb.end
	}
	return beginIndex, beginIndex + int(size)
}
