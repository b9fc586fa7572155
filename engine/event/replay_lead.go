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

// replayFieldReader reads the fields of an encoded lead from left to right, for the fast decoder of
// replays. If a value does not match its tag, failed is set and rest is empty.
type replayFieldReader struct {
	rest   []byte
	failed bool
}

// A tag is a field's number and, in the lowest three bits, its wire type.
const (
	tagVarint = 0
	tagFixed  = 1
	tagBytes  = 2
)

var errMalformedField = errors.New("a field's value in the lead_decided event is truncated, too large or has the wrong length")

// decodeForReplay decodes the fields that Apply needs. At the first tag that it does not know, it
// gives the rest of encoded to fallbackDecoder.
func (l *LeadDecided) decodeForReplay(fallbackDecoder *protobufCodec, encoded []byte) error {
	w := replayFieldReader{rest: encoded}
	for len(w.rest) > 0 {
		switch w.rest[0] {
		case 1<<3 | tagBytes:
			w.skipTagAndReadID16((*[16]byte)(&l.Lead))
		case 2<<3 | tagBytes:
			w.skipTagAndReadID16((*[16]byte)(&l.Request))
		case 3<<3 | tagVarint:
			l.Campaign = market.PermanentNumber(w.skipTagAndReadUint32())
		case 4<<3 | tagVarint:
			l.Supplier = market.PermanentNumber(w.skipTagAndReadUint32())
		case 5<<3 | tagVarint:
			l.Catalog = w.skipTagAndReadUint32()
		case 6<<3 | tagFixed:
			l.Decided = w.skipTagAndReadFixed64()
		case 7<<3 | tagBytes:
			w.skipTagAndReadID16(&l.Idempotency.Key)
		case 8<<3 | tagFixed:
			l.Idempotency.Fingerprint = uint64(w.skipTagAndReadFixed64())
		case 9<<3 | tagFixed:
			l.Idempotency.ExpiresAt = w.skipTagAndReadFixed64()
		case 11<<3 | tagBytes, 15<<3 | tagBytes: // the trail, and the lead's fields
			w.skipTagAndReadBytes()
		case 12<<3 | tagBytes:
			if err := l.Sale.decodeForReplay(fallbackDecoder, w.skipTagAndReadBytes()); err != nil {
				return err
			}
		case 14<<3 | tagFixed:
			l.Keep = w.skipTagAndReadFixed64()
		case 16<<3&0x7f | tagBytes | 0x80: // the first of two bytes: of number 16, 32 and so on
			if len(w.rest) < 2 || w.rest[1] != 1 {
				return w.decodeRestWithFallback(fallbackDecoder, l)
			}
			w.rest = w.rest[1:]
			l.Sealed = w.skipTagAndReadBytes()
		default:
			return w.decodeRestWithFallback(fallbackDecoder, l)
		}
	}
	return w.errorIfMalformed()
}

// decodeForReplay decodes a sale with the fast decoder. At the first tag that it does not know,
// it gives the rest of encoded to fallbackDecoder.
func (s *Sale) decodeForReplay(fallbackDecoder *protobufCodec, encoded []byte) error {
	w := replayFieldReader{rest: encoded}
	for len(w.rest) > 0 {
		switch w.rest[0] {
		case 1<<3 | tagVarint:
			s.Buyer = market.PermanentNumber(w.skipTagAndReadUint32())
		case 2<<3 | tagVarint:
			s.FilterSet = w.skipTagAndReadUint32()
		case 3<<3 | tagVarint:
			s.Price = market.Money(w.skipTagAndReadZigzag())
		case 4<<3 | tagVarint:
			s.Payout = market.Money(w.skipTagAndReadZigzag())
		case 5<<3 | tagBytes:
			w.skipTagAndReadCurrency(&s.Currency)
		case 7<<3 | tagFixed:
			s.Turn.Set = uint64(w.skipTagAndReadFixed64())
		case 8<<3 | tagVarint:
			s.Turn.Phase = w.skipTagAndReadUint32()
		case 10<<3 | tagVarint:
			s.Turn.Member = w.skipTagAndReadUint32()
		case 6<<3 | tagBytes:
			if err := appendZeroElement(&s.Charges).decodeForReplay(fallbackDecoder, w.skipTagAndReadBytes()); err != nil {
				return err
			}
		case 9<<3 | tagBytes:
			if err := appendZeroElement(&s.Duplicates).decodeForReplay(fallbackDecoder, w.skipTagAndReadBytes()); err != nil {
				return err
			}
		default:
			return w.decodeRestWithFallback(fallbackDecoder, s)
		}
	}
	return w.errorIfMalformed()
}

// decodeForReplay decodes a cap charge with the fast decoder. At the first tag that it does not
// know, it gives the rest of encoded to fallbackDecoder.
func (c *CapCharge) decodeForReplay(fallbackDecoder *protobufCodec, encoded []byte) error {
	w := replayFieldReader{rest: encoded}
	for len(w.rest) > 0 {
		switch w.rest[0] {
		case 1<<3 | tagVarint:
			c.Cap = market.PermanentNumber(w.skipTagAndReadUint32())
		case 2<<3 | tagFixed:
			c.Window = w.skipTagAndReadFixed64()
		case 3<<3 | tagVarint:
			c.Amount = w.skipTagAndReadZigzag()
		default:
			return w.decodeRestWithFallback(fallbackDecoder, c)
		}
	}
	return w.errorIfMalformed()
}

// decodeForReplay decodes a duplicate value with the fast decoder. At the first tag that it does
// not know, it gives the rest of encoded to fallbackDecoder.
func (d *DuplicateCheckValue) decodeForReplay(fallbackDecoder *protobufCodec, encoded []byte) error {
	w := replayFieldReader{rest: encoded}
	for len(w.rest) > 0 {
		switch w.rest[0] {
		case 1<<3 | tagBytes:
			w.skipTagAndReadID16((*[16]byte)(&d.Key))
		case 2<<3 | tagFixed:
			d.Until = w.skipTagAndReadFixed64()
		default:
			return w.decodeRestWithFallback(fallbackDecoder, d)
		}
	}
	return w.errorIfMalformed()
}

// decodeRestWithFallback decodes the remaining fields into the message with fallbackDecoder.
func (w *replayFieldReader) decodeRestWithFallback(fallbackDecoder *protobufCodec, into message) error {
	if w.failed {
		return errMalformedField
	}
	return fallbackDecoder.decodeMessage(w.rest, into)
}

// skipTagAndReadVarint skips the tag, which is one byte, and reads the varint after it.
func (w *replayFieldReader) skipTagAndReadVarint() uint64 {
	if len(w.rest) > 1 && w.rest[1] < 0x80 {
		value := w.rest[1]
		w.rest = w.rest[2:]
		return uint64(value)
	}
	value, n := binary.Uvarint(w.rest[1:])
	if n <= 0 {
		w.markMalformed()
		return 0
	}
	w.rest = w.rest[1+n:]
	return value
}

// skipTagAndReadUint32 skips the tag and reads a number. A number over 32 bits is an error.
func (w *replayFieldReader) skipTagAndReadUint32() uint32 {
	value := w.skipTagAndReadVarint()
	if value > math.MaxUint32 {
		w.markMalformed()
	}
	return uint32(value)
}

// skipTagAndReadZigzag skips the tag and reads a signed number in zigzag form.
func (w *replayFieldReader) skipTagAndReadZigzag() int64 {
	value := w.skipTagAndReadVarint()
	return int64(value>>1) ^ -int64(value&1)
}

// skipTagAndReadFixed64 skips the tag and reads a number of eight bytes.
func (w *replayFieldReader) skipTagAndReadFixed64() int64 {
	if len(w.rest) < 9 {
		w.markMalformed()
		return 0
	}
	value := binary.LittleEndian.Uint64(w.rest[1:])
	w.rest = w.rest[9:]
	return int64(value)
}

// skipTagAndReadBytes skips the tag and returns the byte string after it, without a copy.
func (w *replayFieldReader) skipTagAndReadBytes() []byte {
	n := w.skipTagAndReadVarint()
	if n > uint64(len(w.rest)) {
		w.markMalformed()
		return nil
	}
	value := w.rest[:n]
	w.rest = w.rest[n:]
	return value
}

// skipTagAndReadID16 skips the tag and copies a byte string of 16 bytes to into. Another length is
// an error.
func (w *replayFieldReader) skipTagAndReadID16(into *[16]byte) {
	if value := w.skipTagAndReadBytes(); len(value) == len(into) {
		*into = [16]byte(value)
	} else {
		w.markMalformed()
	}
}

// skipTagAndReadCurrency skips the tag and copies a currency code of three bytes to into. Another
// length is an error.
func (w *replayFieldReader) skipTagAndReadCurrency(into *market.Currency) {
	if value := w.skipTagAndReadBytes(); len(value) == len(into) {
		*into = market.Currency(value)
	} else {
		w.markMalformed()
	}
}

// markMalformed records that a value does not match its tag, and ends the reading.
func (w *replayFieldReader) markMalformed() { w.rest, w.failed = nil, true }

// errorIfMalformed returns an error if a value did not match its tag.
func (w *replayFieldReader) errorIfMalformed() error {
	if w.failed {
		return errMalformedField
	}
	return nil
}
