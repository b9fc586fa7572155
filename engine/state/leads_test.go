package state

import (
	"reflect"
	"testing"

	"pingpost/engine/event"
	"pingpost/engine/market"
)

// What a restart needs to send a lead again is there: the next time the facts
// are read, and after a snapshot.
func TestAnOpenIntentIsKeptWhole(t *testing.T) {
	want := event.PostIntent{
		URL: "https://buyer.example/v1/post", Credential: "c", Header: "h", Scheme: "s ", Timeout: 5, Repeatable: true,
		TokenURL: "https://buyer.example/oauth/token", ClientID: "i", Scope: "post",
		Auction: market.AuctionID{7}, Dialect: market.Dialect{
			Method: "PUT", ContentType: "application/xml", Headers: "X-A: 1\n", KeyHeader: "X-Key", Idempotent: true,
			Answer: market.AnswerPaths{
				Format: market.FormatXML, Accepted: "a", Yes: "y", No: "n", Price: "p", Currency: "c", Token: "t", ID: "i", Reason: "r",
			},
		},
		Trusted: true,
	}
	if v := reflect.ValueOf(want); !everyFieldSet(v) {
		t.Fatalf("a field of an intent is missing here: %+v", want)
	}
	w := newWorld()
	w.fact(decided(red, want, 0))
	for name, s := range map[string]*State{"replayed": w.State, "loaded": loaded(t, w.State)} {
		if post := s.UnfinishedPost(history); post == nil || post.Intent != want {
			t.Errorf("%s: %+v", name, post)
		}
	}
}

func everyFieldSet(v reflect.Value) bool {
	for i := range v.NumField() {
		if field := v.Field(i); field.IsZero() || (field.Kind() == reflect.Struct && !everyFieldSet(field)) {
			return false
		}
	}
	return true
}
