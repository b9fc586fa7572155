package event

import (
	"encoding/binary"
	"errors"
	"math"

	"github.com/VictoriaMetrics/easyproto"

	"pingpost/engine/market"
)

// A replay reads millions of LeadDecided events, so they have a second, faster decoder.
// It knows the tags that this program writes, and passes all other bytes to the general
// decoder. So both accept the same input, and unknown fields are read as well.
//
// (Rejected: a second decoder for every kind, or for serving: their speed does not matter.)

// wire is the unread rest of a message. If a value does not match its tag, bad is set and
// src is empty.
type wire struct {
	src []byte
	bad bool
}

// Tags are a field's number and, in the lowest three bits, its form.
const (
	asVarint = 0
	asFixed  = 1
	asBytes  = 2
)

var errWrongForm = errors.New("lead_decided event: a field does not have the wire type of its tag")

// toApply reads the fields that applying the lead needs.
func (l *LeadDecided) toApply(fc *easyproto.FieldContext, src []byte) error {
	w := wire{src: src}
	for len(w.src) > 0 {
		switch w.src[0] {
		case 1<<3 | asBytes:
			w.id((*[16]byte)(&l.Lead))
		case 2<<3 | asBytes:
			w.id((*[16]byte)(&l.Request))
		case 3<<3 | asVarint:
			l.Campaign = market.Ref(w.uint32())
		case 4<<3 | asVarint:
			l.Supplier = market.Ref(w.uint32())
		case 5<<3 | asVarint:
			l.Catalog = w.uint32()
		case 6<<3 | asFixed:
			l.Decided = w.fixed()
		case 7<<3 | asBytes:
			w.id(&l.Idempotency.Key)
		case 8<<3 | asFixed:
			l.Idempotency.Print = uint64(w.fixed())
		case 9<<3 | asFixed:
			l.Idempotency.Until = w.fixed()
		case 11<<3 | asBytes, 15<<3 | asBytes: // the trail, and the lead's fields
			w.bytes()
		case 12<<3 | asBytes:
			if err := l.Sale.toApply(fc, w.bytes()); err != nil {
				return err
			}
		case 14<<3 | asFixed:
			l.Keep = w.fixed()
		default:
			w.other(fc, l.fieldToApply)
		}
	}
	return w.err()
}

func (s *Sale) toApply(fc *easyproto.FieldContext, src []byte) error {
	w := wire{src: src}
	for len(w.src) > 0 {
		switch w.src[0] {
		case 1<<3 | asVarint:
			s.Buyer = market.Ref(w.uint32())
		case 2<<3 | asVarint:
			s.FilterSet = w.uint32()
		case 3<<3 | asVarint:
			s.Price = market.Money(w.sint())
		case 4<<3 | asVarint:
			s.Payout = market.Money(w.sint())
		case 7<<3 | asFixed:
			s.Turn.Set = uint64(w.fixed())
		case 8<<3 | asVarint:
			s.Turn.Phase = w.uint32()
		case 10<<3 | asVarint:
			s.Turn.Member = w.uint32()
		case 6<<3 | asBytes:
			var charge *Charge
			s.Charges, charge = grow(s.Charges)
			*charge = Charge{}
			if err := charge.toApply(fc, w.bytes()); err != nil {
				return err
			}
		case 9<<3 | asBytes:
			var dup *Dup
			s.Dups, dup = grow(s.Dups)
			*dup = Dup{}
			if err := dup.toApply(fc, w.bytes()); err != nil {
				return err
			}
		default:
			w.other(fc, s.field)
		}
	}
	return w.err()
}

func (c *Charge) toApply(fc *easyproto.FieldContext, src []byte) error {
	w := wire{src: src}
	for len(w.src) > 0 {
		switch w.src[0] {
		case 1<<3 | asVarint:
			c.Cap = market.Ref(w.uint32())
		case 2<<3 | asFixed:
			c.Window = w.fixed()
		case 3<<3 | asVarint:
			c.Amount = w.sint()
		default:
			w.other(fc, c.field)
		}
	}
	return w.err()
}

func (d *Dup) toApply(fc *easyproto.FieldContext, src []byte) error {
	w := wire{src: src}
	for len(w.src) > 0 {
		switch w.src[0] {
		case 1<<3 | asBytes:
			w.id((*[16]byte)(&d.Key))
		case 2<<3 | asFixed:
			d.Until = w.fixed()
		default:
			w.other(fc, d.field)
		}
	}
	return w.err()
}

// other passes one field to the general decoder.
func (w *wire) other(fc *easyproto.FieldContext, take func(*easyproto.FieldContext) bool) {
	rest, err := fc.NextField(w.src)
	if err != nil || !take(fc) {
		w.fail()
		return
	}
	w.src = rest
}

// varint reads the value behind a tag of one byte.
func (w *wire) varint() uint64 {
	if len(w.src) > 1 && w.src[1] < 0x80 {
		value := w.src[1]
		w.src = w.src[2:]
		return uint64(value)
	}
	value, n := binary.Uvarint(w.src[1:])
	if n <= 0 {
		w.fail()
		return 0
	}
	w.src = w.src[1+n:]
	return value
}

func (w *wire) uint32() uint32 {
	value := w.varint()
	if value > math.MaxUint32 {
		w.fail()
	}
	return uint32(value)
}

func (w *wire) sint() int64 {
	value := w.varint()
	return int64(value>>1) ^ -int64(value&1)
}

func (w *wire) fixed() int64 {
	if len(w.src) < 9 {
		w.fail()
		return 0
	}
	value := binary.LittleEndian.Uint64(w.src[1:])
	w.src = w.src[9:]
	return int64(value)
}

func (w *wire) bytes() []byte {
	n := w.varint()
	if n > uint64(len(w.src)) {
		w.fail()
		return nil
	}
	value := w.src[:n]
	w.src = w.src[n:]
	return value
}

func (w *wire) id(into *[16]byte) {
	if value := w.bytes(); len(value) == len(into) {
		*into = [16]byte(value)
	} else {
		w.fail()
	}
}

func (w *wire) fail() { w.src, w.bad = nil, true }

func (w *wire) err() error {
	if w.bad {
		return errWrongForm
	}
	return nil
}
