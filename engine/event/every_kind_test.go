package event

import (
	"bytes"
	"fmt"
	"reflect"
	"testing"

	"pgregory.net/rapid"
)

// everyKind is a new, empty fact of every kind, in the order of their numbers.
func everyKind() (all []Event) {
	var d Decoder
	for kind := Kind(1); d.reusedEventOf(kind) != nil; kind++ {
		all = append(all, reflect.New(reflect.TypeOf(d.reusedEventOf(kind)).Elem()).Interface().(Event))
	}
	return all
}

func TestEveryKindHasItsNumber(t *testing.T) {
	for i, e := range everyKind() {
		if e.Kind() != Kind(i+1) {
			t.Errorf("the decoder reads kind %d into a %s", i+1, e.Kind())
		}
	}
	if got, last := len(everyKind()), int(KindAPITokenAddedOrRevoked); got != last {
		t.Errorf("%d kinds, the last is number %d", got, last)
	}
}

// fill gives every field another value that is not zero, and every list two
// elements. The same fact comes out every time.
func fill(e Event) Event {
	var f filler
	f.fill(reflect.ValueOf(e).Elem())
	for _, later := range f.later {
		for _, v := range later {
			f.fill(v)
		}
	}
	return e
}

// addedLater are fields in the midst of facts that frozen lines without them
// were written from, by the time at which they came. They are filled last, so
// that the others get the values that they have there.
var addedLater = map[string]int{
	"PostIntent.TokenURL": 1, "PostIntent.ClientID": 1, "PostIntent.Scope": 1,
	"PostIntent.Auction": 2, "PostIntent.Dialect": 2, "Sale.Ping": 2, "LeadDecided.Auction": 2,
	"Sale.Test": 3, "LeadDecided.SellerAuction": 3, "LeadDecided.Webhook": 3,
	"PostSettled.Webhook": 3, "PostSettled.Supplier": 3, "PostSettled.Decided": 3,
	"PostSettled.Fault": 4,
	"LeadDecided.Slot":  5, "PostSettled.Slot": 5,
	"PostSettled.By": 6,
}

type filler struct {
	given uint64
	later [6][]reflect.Value
}

func (f *filler) next() uint64 {
	f.given++
	return f.given
}

func (f *filler) fill(v reflect.Value) {
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			field := v.Type().Name() + "." + v.Type().Field(i).Name
			if time := addedLater[field]; time > 0 {
				f.later[time-1] = append(f.later[time-1], v.Field(i))
				continue
			}
			f.fill(v.Field(i))
		}
	case reflect.Array:
		for i := range v.Len() {
			f.fill(v.Index(i))
		}
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 2, 2))
		f.fill(v.Index(0))
		f.fill(v.Index(1))
	case reflect.String:
		v.SetString(fmt.Sprintf("text %d", f.next()))
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Uint8: // bytes and small enums; letters, so that codes are text
		v.SetUint('A' + f.next()%26)
	case reflect.Uint32, reflect.Uint64:
		v.SetUint(f.next())
	case reflect.Int64:
		v.SetInt(int64(f.next()))
	default:
		panic("BUG: a fact has a field of kind " + v.Kind().String())
	}
}

// someFact draws a fact of any kind. What a fact cannot say is left out: a sale
// to nobody, a post to nowhere.
func someFact() *rapid.Generator[Event] {
	return rapid.OneOf(
		any1[ExchangeFounded](), any1[ConfigActivated](), any1[CredentialAddedOrRevoked](), any1[SecretStoredOrDeleted](), any1[LeadDecided](),
		any1[PostAttemptFailed](), any1[PostSettled](), any1[BuyerFundsAdjusted](), any1[PausedOrResumed](), any1[SuppressionListReplaced](), any1[ConfigNumbersAssigned](), any1[PingAuctionCompleted](),
		any1[LeadStatusesChanged](), any1[WebhookAttempted](), any1[SupplierWebhooksTurnedOnOrOff](), any1[LeadsErased](), any1[UserAccountChanged](), any1[APITokenAddedOrRevoked](),
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
			if e.Sale.Buyer == 0 && !e.Sale.Test {
				e.Sale = Sale{}
			}
			if e.Post.URL == "" {
				e.Post = PostIntent{}
			}
			if e.Auction.ID.IsZero() {
				e.Auction = LeadDecisionAuction{}
			}
		case *PingAuctionCompleted:
			e.Trail = trimmed(e.Trail)
		case *PostSettled:
			e.Trail = trimmed(e.Trail)
			if e.Next.Buyer == 0 {
				e.Next, e.Post = Sale{}, PostIntent{}
			}
		case *LeadStatusesChanged:
			for i := range e.Changes {
				if e.Changes[i].Return.Month == 0 {
					e.Changes[i].Return = ResourcesFreedByReturn{}
				}
			}
		}
		return E(&v)
	})
}

func trimmed(trail []FilterSetsWithOutcome) []FilterSetsWithOutcome {
	for i := range trail {
		seats := trail[i].FilterSets
		for len(seats) > 0 && seats[len(seats)-1] == 0 {
			seats = seats[:len(seats)-1]
		}
		trail[i].FilterSets = seats
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
		if a.Type().Elem().Kind() == reflect.Uint8 {
			return bytes.Equal(a.Bytes(), b.Bytes())
		}
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
