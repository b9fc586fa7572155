package state

import (
	"math"
	"reflect"
	"testing"
)

// fieldsNotInDigest changes each field of an empty value, with those of nested values, and
// returns the fields that do not change the digest.
func fieldsNotInDigest[T any](digest func(*T) uint64) (missing []string) {
	var empty T
	base := digest(&empty)
	eachLeaf(reflect.TypeFor[T](), "", nil, func(name string, path []int) {
		var changed T
		v := reflect.ValueOf(&changed).Elem()
		for _, i := range path {
			switch v.Kind() {
			case reflect.Slice:
				v.Set(reflect.MakeSlice(v.Type(), 1, 1))
				v = v.Index(0)
			case reflect.Array:
				v = v.Index(i)
			default:
				v = v.Field(i)
			}
		}
		setLeaf(reflect.NewAt(v.Type(), v.Addr().UnsafePointer()).Elem()) // an unexported field, too
		if digest(&changed) == base {
			missing = append(missing, name)
		}
	})
	return missing
}

// eachLeaf visits every field that is not a struct. The last element represents a list or an
// array.
func eachLeaf(t reflect.Type, name string, path []int, visit func(name string, path []int)) {
	switch t.Kind() {
	case reflect.Struct:
		for i := range t.NumField() {
			eachLeaf(t.Field(i).Type, name+"."+t.Field(i).Name, append(path[:len(path):len(path)], i), visit)
		}
	case reflect.Array:
		eachLeaf(t.Elem(), name, append(path[:len(path):len(path)], t.Len()-1), visit)
	case reflect.Slice:
		eachLeaf(t.Elem(), name, append(path[:len(path):len(path)], 0), visit)
	default:
		visit(name, path)
	}
}

func setLeaf(v reflect.Value) {
	switch v.Kind() {
	case reflect.String:
		v.SetString("x")
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Int64:
		v.SetInt(1)
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
	default:
		v.SetUint(1)
	}
}

// A row counts until the minute of its expiry begins, whether a sweep removes it or not.
func TestRowHashSumsLeaveOutExpiredRows(t *testing.T) {
	const begin = 20_000 * 24 * 3600
	expiries := []uint32{begin, begin + 59, begin + 60, begin + 3600, begin + 86_399, begin + 86_400, begin + 9*86_400, math.MaxUint32}
	for _, now := range []uint32{0, begin - 1, begin, begin + 59, begin + 60, begin + 61, begin + 86_400, begin + 86_460, begin + 20*86_400} {
		var sums rowHashSums
		want := uint64(0)
		for i, expiry := range expiries {
			hash := newRunningHash(uint64(i)).sum()
			sums.add(expiry, hash)
			sums.add(expiry, hash)
			sums.add(expiry, -hash)
			if expiry/60 > now/60 {
				want += hash
			}
		}
		if got := sums.sumOfUnexpired(now); got != want {
			t.Errorf("at %d the sum is %d, want %d", now, got, want)
		}
	}
}
