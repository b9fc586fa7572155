package event

import (
	"reflect"
	"testing"

	"pgregory.net/rapid"

	"pingpost/engine/market"
)

// An intent that comes out of the log goes where it was meant to go.
func TestAnIntentKeepsItsEndpoint(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		to := rapid.Make[market.Endpoint]().Draw(t, "endpoint")
		if to.OAuth != nil && to.OAuth.TokenURL == "" {
			to.OAuth = nil // it cannot be configured
		}
		fact := LeadDecided{Post: PostTo(&to, 7, true)}
		if to.URL == "" {
			return // no intent
		}
		var d Decoder
		read, err := d.Decode(Append(nil, &fact))
		if err != nil {
			t.Fatal(err)
		}
		post := read.(*LeadDecided).Post
		if got := post.Endpoint(); !reflect.DeepEqual(got, to) || post.Timeout != 7 || !post.Idempotent {
			t.Fatalf("%+v, want %+v", post, to)
		}
	})
}
