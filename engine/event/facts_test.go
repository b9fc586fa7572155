package event

import (
	"fmt"
	"reflect"
	"testing"

	"pgregory.net/rapid"
)

// everyKind is a new, empty fact of every kind, in the order of their numbers.
func everyKind() (all []Event) {
	var d Decoder
	for kind := Kind(1); d.of(kind) != nil; kind++ {
		all = append(all, reflect.New(reflect.TypeOf(d.of(kind)).Elem()).Interface().(Event))
	}
	return all
}

func TestEveryKindHasItsNumber(t *testing.T) {
	for i, e := range everyKind() {
		if e.Kind() != Kind(i+1) {
			t.Errorf("the decoder reads kind %d into a %s", i+1, e.Kind())
		}
	}
	if got, last := len(everyKind()), int(KindNamesGiven); got != last {
		t.Errorf("%d kinds, the last is number %d", got, last)
	}
}

// fill gives every field another value that is not zero, and every list two
// elements. The same fact comes out every time.
func fill(e Event) Event {
	next := uint64(0)
	fillValue(reflect.ValueOf(e).Elem(), &next)
	return e
}

func fillValue(v reflect.Value, next *uint64) {
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			fillValue(v.Field(i), next)
		}
	case reflect.Array:
		for i := range v.Len() {
			fillValue(v.Index(i), next)
		}
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 2, 2))
		fillValue(v.Index(0), next)
		fillValue(v.Index(1), next)
	case reflect.String:
		*next++
		v.SetString(fmt.Sprintf("text %d", *next))
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Uint8: // bytes and small enums; letters, so that codes are text
		*next++
		v.SetUint('A' + *next%26)
	case reflect.Uint32, reflect.Uint64:
		*next++
		v.SetUint(*next)
	case reflect.Int64:
		*next++
		v.SetInt(int64(*next))
	default:
		panic("BUG: a fact has a field of kind " + v.Kind().String())
	}
}

// someFact draws a fact of any kind. What a fact cannot say is left out: a sale
// to nobody, a post to nowhere.
func someFact() *rapid.Generator[Event] {
	return rapid.OneOf(
		any1[Founded](), any1[CatalogSet](), any1[CredentialSet](), any1[SecretSet](), any1[LeadDecided](),
		any1[PostTried](), any1[PostSettled](), any1[FundsMoved](), any1[DoorSet](), any1[ListLoaded](), any1[NamesGiven](),
	)
}

func any1[T any, E interface {
	*T
	Event
}]() *rapid.Generator[Event] {
	return rapid.Map(rapid.Make[T](), func(v T) Event {
		switch e := any(&v).(type) {
		case *LeadDecided:
			e.Trail = trimmed(e.Trail)
			if e.Sale.Buyer == 0 {
				e.Sale = Sale{}
			}
			if e.Post.URL == "" {
				e.Post = Post{}
			}
		case *PostSettled:
			e.Trail = trimmed(e.Trail)
			if e.Next.Buyer == 0 {
				e.Next, e.Post = Sale{}, Post{}
			}
		}
		return E(&v)
	})
}

func trimmed(trail []Step) []Step {
	for i := range trail {
		seats := trail[i].Seats
		for len(seats) > 0 && seats[len(seats)-1] == 0 {
			seats = seats[:len(seats)-1]
		}
		trail[i].Seats = seats
	}
	return trail
}

// same compares two facts; an empty list is one that is not there.
func same(a, b Event) bool {
	return reflect.TypeOf(a) == reflect.TypeOf(b) && sameValue(reflect.ValueOf(a).Elem(), reflect.ValueOf(b).Elem())
}

func sameValue(a, b reflect.Value) bool {
	switch a.Kind() {
	case reflect.Struct:
		for i := range a.NumField() {
			if !sameValue(a.Field(i), b.Field(i)) {
				return false
			}
		}
		return true
	case reflect.Slice:
		if a.Len() != b.Len() {
			return false
		}
		for i := range a.Len() {
			if !sameValue(a.Index(i), b.Index(i)) {
				return false
			}
		}
		return true
	}
	return a.Interface() == b.Interface()
}
