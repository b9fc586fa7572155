package event

import (
	"bytes"
	"fmt"
	"reflect"
	"testing"

	"pgregory.net/rapid"
)

// emptyEvents returns a new, empty event of every kind, in the order of their numbers.
func emptyEvents() (all []Event) {
	var d Decoder
	for kind := Kind(1); int(kind) < len(eventKinds); kind++ {
		if !kind.isKnown() {
			continue
		}
		all = append(all, reflect.New(reflect.TypeOf(d.reusedEventIfKnown(kind)).Elem()).Interface().(Event))
	}
	return all
}

func TestKindNumbers(t *testing.T) {
	var d Decoder
	for kind := range Kind(len(eventKinds)) {
		if e := d.reusedEventIfKnown(kind); e != nil && e.Kind() != kind {
			t.Errorf("the decoder decodes kind %d as %s", kind, e.Kind())
		}
	}
	if got, last := len(emptyEvents()), int(KindReportMailEnded); got != last {
		t.Errorf("got %d kinds, want %d", got, last)
	}
}

// fill sets every field to a different value that is not zero, and every list to two elements.
// It gives the same event every time.
func fill(e Event) Event {
	var f filler
	f.fill(reflect.ValueOf(e).Elem())
	for i := range f.later { // an element may append fields that were added after it to a later list
		for _, v := range f.later[i] {
			f.fill(v)
		}
	}
	return e
}

// addedLater lists fields in the middle of events that were added after the first frozen lines,
// with the order of their addition. They are filled last, so that the other fields keep their
// values.
var addedLater = map[string]int{
	"PostIntent.TokenURL": 1, "PostIntent.ClientID": 1, "PostIntent.Scope": 1,
	"PostIntent.Auction": 2, "PostIntent.AdapterProtocol": 2, "Sale.Ping": 2, "LeadDecided.Auction": 2,
	"Sale.Test": 3, "LeadDecided.SellerAuction": 3, "LeadDecided.Webhook": 3,
	"PostSettled.Webhook": 3, "PostSettled.Supplier": 3, "PostSettled.Decided": 3,
	"PostSettled.Fault": 4,
	"LeadDecided.Slot":  5, "PostSettled.Slot": 5,
	"PostSettled.By":  6,
	"Bid.PausedUntil": 7,
	"CapKey.Entry":    8,
	"Bid.Set":         9,
}

type filler struct {
	count uint64
	later [9][]reflect.Value
}

func (f *filler) next() uint64 {
	f.count++
	return f.count
}

func (f *filler) fill(v reflect.Value) {
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			field := v.Type().Name() + "." + v.Type().Field(i).Name
			if version := addedLater[field]; version > 0 {
				f.later[version-1] = append(f.later[version-1], v.Field(i))
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
		panic("BUG: an event has a field of kind " + v.Kind().String())
	}
}

// drawEvent draws an event of any kind. It leaves out values that an event cannot have: a sale
// without a buyer, a post without a URL.
func drawEvent() *rapid.Generator[Event] {
	return rapid.OneOf(
		drawEventOf[ExchangeFounded](), drawEventOf[ConfigActivated](), drawEventOf[CredentialAddedOrRevoked](), drawEventOf[SecretStoredOrDeleted](), drawEventOf[LeadDecided](),
		drawEventOf[PostAttemptFailed](), drawEventOf[PostSettled](), drawEventOf[BuyerFundsAdjusted](), drawEventOf[CampaignOrBuyerPausedOrResumed](), drawEventOf[SuppressionListContentLoaded](), drawEventOf[ConfigObjectNumbersAssigned](), drawEventOf[PingAuctionCompleted](),
		drawEventOf[LeadStatusChangesDecided](), drawEventOf[WebhookAttemptedOrDecided](), drawEventOf[SupplierWebhooksTurnedOnOrOff](), drawEventOf[PersonalDataOfLeadsErased](), drawEventOf[UserAccountChanged](), drawEventOf[APITokenAddedOrRevoked](), drawEventOf[OperatorActionRecorded](), drawEventOf[AlertSettingsChanged](), drawEventOf[AlertOrNotificationChanged](), drawEventOf[InvitationCreatedOrRevoked](), drawEventOf[UserSecondFactorChangedOrUsed](), drawEventOf[SavedReportChanged](), drawEventOf[ReportMailEnded](),
	)
}

func drawEventOf[T any, E interface {
	*T
	Event
}]() *rapid.Generator[Event] {
	return rapid.Map(rapid.Make[T](), func(v T) Event {
		switch e := any(&v).(type) {
		case *LeadDecided:
			e.Trail = trimTrail(e.Trail)
			if e.Sale.Buyer == 0 && !e.Sale.Test {
				e.Sale = Sale{}
			}
			if e.Post.URL == "" {
				e.Post = PostIntent{}
			}
			if e.Auction.ID.IsZero() {
				e.Auction = AuctionOfIngestedLead{}
			}
		case *PingAuctionCompleted:
			e.Trail = trimTrail(e.Trail)
		case *PostSettled:
			e.Trail = trimTrail(e.Trail)
			if e.Next.Buyer == 0 {
				e.Next, e.Post = Sale{}, PostIntent{}
			}
		case *LeadStatusChangesDecided:
			for i := range e.Changes {
				if e.Changes[i].Return.Month == 0 {
					e.Changes[i].Return = MoneyAndCapsReversedByReturn{}
				}
			}
		}
		return E(&v)
	})
}

func trimTrail(trail []FilterSetsWithOutcome) []FilterSetsWithOutcome {
	for i := range trail {
		filterSets := trail[i].FilterSets
		for len(filterSets) > 0 && filterSets[len(filterSets)-1] == 0 {
			filterSets = filterSets[:len(filterSets)-1]
		}
		trail[i].FilterSets = filterSets
	}
	return trail
}

// equalEvents compares two events; an empty list equals a missing one.
func equalEvents(a, b Event) bool {
	return reflect.TypeOf(a) == reflect.TypeOf(b) && equalValues(reflect.ValueOf(a).Elem(), reflect.ValueOf(b).Elem())
}

func equalValues(a, b reflect.Value) bool {
	switch a.Kind() {
	case reflect.Struct:
		for i := range a.NumField() {
			if !equalValues(a.Field(i), b.Field(i)) {
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
			if !equalValues(a.Index(i), b.Index(i)) {
				return false
			}
		}
		return true
	}
	return a.Interface() == b.Interface()
}
