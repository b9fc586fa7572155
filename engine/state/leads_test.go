package state

import (
	"reflect"
	"testing"

	"pingpost/engine/event"
	"pingpost/engine/market"
)

// Replay and snapshot keep all that a restart needs to post a lead again.
func TestOpenIntentKeepsAllFields(t *testing.T) {
	want := event.PostIntent{
		URL: "https://buyer.example/v1/post", Credential: "c", Header: "h", Scheme: "s ", Timeout: 5, Repeatable: true,
		TokenURL: "https://buyer.example/oauth/token", ClientID: "i", Scope: "post",
		Auction: market.AuctionID{7}, AdapterProtocol: market.AdapterProtocol{
			Method: "PUT", ContentType: "application/xml", Headers: "X-A: 1\n", KeyHeader: "X-Key", Idempotent: true,
			Answer: market.BuyerAnswerValuePaths{
				Format: market.FormatXML, Accepted: "a", Yes: "y", No: "n", Price: "p", Currency: "c", Token: "t", ID: "i", Reason: "r",
			},
		},
		Trusted: true,
	}
	if v := reflect.ValueOf(want); !allFieldsSet(v) {
		t.Fatalf("the test leaves a field of the intent empty: %+v", want)
	}
	x := newTestExchange()
	x.logAndApply(leadDecided(redSale, want, 0))
	for name, s := range map[string]*State{"replayed": x.State, "loaded": restoreFromSnapshot(t, x.State)} {
		if post := s.UnfinishedPost(testLead); post == nil || post.Intent != want {
			t.Errorf("%s: %+v", name, post)
		}
	}
}

func allFieldsSet(v reflect.Value) bool {
	for i := range v.NumField() {
		if field := v.Field(i); field.IsZero() || (field.Kind() == reflect.Struct && !allFieldsSet(field)) {
			return false
		}
	}
	return true
}
