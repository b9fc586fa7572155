package event

import (
	"reflect"
	"testing"

	"pgregory.net/rapid"

	"pingpost/engine/market"
	"pingpost/engine/market/adapter"
)

func TestIntentKeepsEndpoint(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.String()
		to := market.OutboundEndpoint{
			URL: "https://" + text.Draw(t, "url"), Credential: text.Draw(t, "credential"),
			Header: text.Draw(t, "header"), Scheme: text.Draw(t, "scheme"),
		}
		if rapid.Bool().Draw(t, "oauth") {
			oauth := rapid.Make[market.OutboundOAuthClient]().Draw(t, "client")
			oauth.TokenURL = "https://" + oauth.TokenURL
			to.OAuth = &oauth
		}
		if rapid.Bool().Draw(t, "adapter") {
			protocol := rapid.Make[market.AdapterProtocol]().Draw(t, "adapter protocol")
			protocol.Method = "PUT"
			to.AdapterProtocol = &protocol
		}
		configured := to
		configured.Adapter = new(adapter.Template) // not in the log: the body is already rendered
		configured.Certified = rapid.Bool().Draw(t, "certified")
		decision := LeadDecided{Post: NewPostIntent(&configured, 7)}
		var d Decoder
		read, err := d.Decode(AppendRecord(nil, &decision))
		if err != nil {
			t.Fatal(err)
		}
		post := read.(*LeadDecided).Post
		if got := post.Endpoint(); !reflect.DeepEqual(got, to) || post.Timeout != 7 || post.Repeatable != configured.MayRepeatPost() || post.Trusted != configured.CountsRefusalOfRepeatedPost() {
			t.Fatalf("%+v, want %+v", post, to)
		}
	})
}
