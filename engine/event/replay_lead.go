package event

import (
	"encoding/binary"
	"errors"
	"math"

	"pingpost/engine/market"
)

// A replay reads millions of LeadDecided events, so they have a second, faster decoder.
// It knows the frequent tags that this program writes. At any other tag it passes the rest of
// the message to the general decoder. So both accept the same input, and unknown fields are
// read as well.
//
// (Rejected: a second decoder for every kind, or for serving: their speed does not matter.)

// leadReader reads the fields of an encoded lead from left to right, for the fast decoder of
// replays. If a value does not match its tag, failed is set and rest is empty.
type leadReader struct {
	rest   []byte
	failed bool
}

// A tag is a field's number and, in the lowest three bits, its wire type.
const (
	tagVarint = 0
	tagFixed  = 1
	tagBytes  = 2
)

var errMalformedField = errors.New("lead_decided event: a field's value is malformed or has the wrong wire type")

// decodeForReplay decodes the fields that Apply needs. At the first tag that it does not know, it
// gives the rest of src to the general decoder pb.
func (l *LeadDecided) decodeForReplay(pb *protobufCodec, src []byte) error {
	w := leadReader{rest: src}
	for len(w.rest) > 0 {
		switch w.rest[0] {
		case 1<<3 | tagBytes:
			w.readID((*[16]byte)(&l.Lead))
		case 2<<3 | tagBytes:
			w.readID((*[16]byte)(&l.Request))
		case 3<<3 | tagVarint:
			l.Campaign = market.Ref(w.readUint32())
		case 4<<3 | tagVarint:
			l.Supplier = market.Ref(w.readUint32())
		case 5<<3 | tagVarint:
			l.Catalog = w.readUint32()
		case 6<<3 | tagFixed:
			l.Decided = w.readFixed()
		case 7<<3 | tagBytes:
			w.readID(&l.Idempotency.Key)
		case 8<<3 | tagFixed:
			l.Idempotency.Fingerprint = uint64(w.readFixed())
		case 9<<3 | tagFixed:
			l.Idempotency.ExpiresAt = w.readFixed()
		case 11<<3 | tagBytes, 15<<3 | tagBytes: // the trail, and the lead's fields
			w.readBytes()
		case 12<<3 | tagBytes:
			if err := l.Sale.decodeForReplay(pb, w.readBytes()); err != nil {
				return err
			}
		case 14<<3 | tagFixed:
			l.Keep = w.readFixed()
		case 16<<3&0x7f | tagBytes | 0x80: // the first of two bytes: of number 16, 32 and so on
			if len(w.rest) < 2 || w.rest[1] != 1 {
				return w.decodeRest(pb, l)
			}
			w.rest = w.rest[1:]
			l.Sealed = w.readBytes()
		default:
			return w.decodeRest(pb, l)
		}
	}
	return w.finish()
}

// decodeForReplay decodes a sale with the fast decoder. At the first tag that it does not know,
// it gives the rest of src to the general decoder pb.
func (s *Sale) decodeForReplay(pb *protobufCodec, src []byte) error {
	w := leadReader{rest: src}
	for len(w.rest) > 0 {
		switch w.rest[0] {
		case 1<<3 | tagVarint:
			s.Buyer = market.Ref(w.readUint32())
		case 2<<3 | tagVarint:
			s.FilterSet = w.readUint32()
		case 3<<3 | tagVarint:
			s.Price = market.Money(w.readSint())
		case 4<<3 | tagVarint:
			s.Payout = market.Money(w.readSint())
		case 5<<3 | tagBytes:
			w.readCurrency(&s.Currency)
		case 7<<3 | tagFixed:
			s.Turn.Set = uint64(w.readFixed())
		case 8<<3 | tagVarint:
			s.Turn.Phase = w.readUint32()
		case 10<<3 | tagVarint:
			s.Turn.Member = w.readUint32()
		case 6<<3 | tagBytes:
			if err := extendList(&s.Charges).decodeForReplay(pb, w.readBytes()); err != nil {
				return err
			}
		case 9<<3 | tagBytes:
			if err := extendList(&s.Duplicates).decodeForReplay(pb, w.readBytes()); err != nil {
				return err
			}
		default:
			return w.decodeRest(pb, s)
		}
	}
	return w.finish()
}

// decodeForReplay decodes a cap charge with the fast decoder. At the first tag that it does not
// know, it gives the rest of src to the general decoder pb.
func (c *CapCharge) decodeForReplay(pb *protobufCodec, src []byte) error {
	w := leadReader{rest: src}
	for len(w.rest) > 0 {
		switch w.rest[0] {
		case 1<<3 | tagVarint:
			c.Cap = market.Ref(w.readUint32())
		case 2<<3 | tagFixed:
			c.Window = w.readFixed()
		case 3<<3 | tagVarint:
			c.Amount = w.readSint()
		default:
			return w.decodeRest(pb, c)
		}
	}
	return w.finish()
}

// decodeForReplay decodes a duplicate value with the fast decoder. At the first tag that it does
// not know, it gives the rest of src to the general decoder pb.
func (d *DuplicateValue) decodeForReplay(pb *protobufCodec, src []byte) error {
	w := leadReader{rest: src}
	for len(w.rest) > 0 {
		switch w.rest[0] {
		case 1<<3 | tagBytes:
			w.readID((*[16]byte)(&d.Key))
		case 2<<3 | tagFixed:
			d.Until = w.readFixed()
		default:
			return w.decodeRest(pb, d)
		}
	}
	return w.finish()
}

// decodeRest decodes the remaining fields into m with the general decoder pb.
func (w *leadReader) decodeRest(pb *protobufCodec, m message) error {
	if w.failed {
		return errMalformedField
	}
	return pb.decodeMessage(w.rest, m)
}

// readVarint skips the tag, which is one byte, and reads the varint after it.
func (w *leadReader) readVarint() uint64 {
	if len(w.rest) > 1 && w.rest[1] < 0x80 {
		value := w.rest[1]
		w.rest = w.rest[2:]
		return uint64(value)
	}
	value, n := binary.Uvarint(w.rest[1:])
	if n <= 0 {
		w.fail()
		return 0
	}
	w.rest = w.rest[1+n:]
	return value
}

// readUint32 skips the tag and reads a number. A number over 32 bits is an error.
func (w *leadReader) readUint32() uint32 {
	value := w.readVarint()
	if value > math.MaxUint32 {
		w.fail()
	}
	return uint32(value)
}

// readSint skips the tag and reads a signed number in zigzag form.
func (w *leadReader) readSint() int64 {
	value := w.readVarint()
	return int64(value>>1) ^ -int64(value&1)
}

// readFixed skips the tag and reads a number of eight bytes.
func (w *leadReader) readFixed() int64 {
	if len(w.rest) < 9 {
		w.fail()
		return 0
	}
	value := binary.LittleEndian.Uint64(w.rest[1:])
	w.rest = w.rest[9:]
	return int64(value)
}

// readBytes skips the tag and returns the byte string after it, without a copy.
func (w *leadReader) readBytes() []byte {
	n := w.readVarint()
	if n > uint64(len(w.rest)) {
		w.fail()
		return nil
	}
	value := w.rest[:n]
	w.rest = w.rest[n:]
	return value
}

// readID skips the tag and copies a byte string of 16 bytes to into. Another length is an error.
func (w *leadReader) readID(into *[16]byte) {
	if value := w.readBytes(); len(value) == len(into) {
		*into = [16]byte(value)
	} else {
		w.fail()
	}
}

// readCurrency skips the tag and copies a currency code of three bytes to into.
func (w *leadReader) readCurrency(into *market.Currency) {
	if value := w.readBytes(); len(value) == len(into) {
		*into = market.Currency(value)
	} else {
		w.fail()
	}
}

// fail records that a value does not match its tag, and ends the reading.
func (w *leadReader) fail() { w.rest, w.failed = nil, true }

// finish returns an error if a value did not match its tag.
func (w *leadReader) finish() error {
	if w.failed {
		return errMalformedField
	}
	return nil
}
