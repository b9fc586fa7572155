package event

import (
	"github.com/VictoriaMetrics/easyproto"

	"pingpost/engine/market"
)

// Zero values are not written, as in proto3.

func putUint(mm openMessage, field uint32, v uint64) {
	if v != 0 {
		mm.AppendUint64(field, v)
	}
}

func putSint(mm openMessage, field uint32, v int64) {
	if v != 0 {
		mm.AppendSint64(field, v)
	}
}

func putFixed(mm openMessage, field uint32, v uint64) {
	if v != 0 {
		mm.AppendFixed64(field, v)
	}
}

func putString(mm openMessage, field uint32, v string) {
	if v != "" {
		mm.AppendString(field, v)
	}
}

func putBytes(mm openMessage, field uint32, v []byte) {
	if len(v) != 0 {
		mm.AppendBytes(field, v)
	}
}

func putID(mm openMessage, field uint32, id [16]byte) {
	if id != [16]byte{} {
		mm.AppendBytes(field, id[:])
	}
}

func putBool(mm openMessage, field uint32, v bool) {
	if v {
		mm.AppendBool(field, v)
	}
}

func putCurrency(mm openMessage, field uint32, c market.Currency) {
	if c != (market.Currency{}) {
		mm.AppendBytes(field, c[:])
	}
}

func getCurrency(fc *easyproto.FieldContext, c *market.Currency) bool {
	code, ok := fc.Bytes()
	return ok && copy(c[:], code) == len(c) && len(code) == len(c)
}

func getID(fc *easyproto.FieldContext, id *[16]byte) bool {
	data, ok := fc.Bytes()
	return ok && copy(id[:], data) == len(id) && len(data) == len(id)
}

func getRef(fc *easyproto.FieldContext, ref *market.Ref) bool {
	v, ok := fc.Uint32()
	*ref = market.Ref(v)
	return ok
}

func getMoney(fc *easyproto.FieldContext, money *market.Money) bool {
	v, ok := fc.Sint64()
	*money = market.Money(v)
	return ok
}

// getByte reads a small enum.
func getByte[T ~uint8](fc *easyproto.FieldContext, v *T) bool {
	number, ok := fc.Uint32()
	*v = T(number)
	return ok && number <= 255
}

func getUint(fc *easyproto.FieldContext, v *uint64) (ok bool)   { *v, ok = fc.Uint64(); return ok }
func getUint32(fc *easyproto.FieldContext, v *uint32) (ok bool) { *v, ok = fc.Uint32(); return ok }
func getSint(fc *easyproto.FieldContext, v *int64) (ok bool)    { *v, ok = fc.Sint64(); return ok }
func getString(fc *easyproto.FieldContext, v *string) (ok bool) { *v, ok = fc.String(); return ok }
func getBytes(fc *easyproto.FieldContext, v *[]byte) (ok bool)  { *v, ok = fc.Bytes(); return ok }
func getBool(fc *easyproto.FieldContext, v *bool) (ok bool)     { *v, ok = fc.Bool(); return ok }

func getFixed(fc *easyproto.FieldContext, v *int64) bool {
	number, ok := fc.Fixed64()
	*v = int64(number)
	return ok
}

// appendZero appends a zero element, reusing what the slice held before.
func appendZero[T any](s []T) ([]T, *T) {
	if len(s) < cap(s) {
		s = s[:len(s)+1]
	} else {
		var zero T
		s = append(s, zero)
	}
	return s, &s[len(s)-1]
}
