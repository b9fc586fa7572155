package config

import (
	"reflect"
	"testing"

	"pingpost/config/canonical"
	"pingpost/engine/market"
)

// TestBuyerTestEndpoints: a test endpoint differs from the buyer's endpoint in the address only.
func TestBuyerTestEndpoints(t *testing.T) {
	const adapter = `adapter: {idempotent: true, post: {format: json, body: '{"id": {{lead_id}}}', answer: {accepted: ok, yes: [yes]}}}`
	for _, c := range []struct{ keys, ping, post string }{
		{`endpoint: "https://a.example", test_endpoint: "https://t.example"`, "https://t.example/v1/ping", "https://t.example/v1/post"},
		{`endpoint: "https://a.example", test_endpoint: "https://a.example", auth: {bearer: x}`, "https://a.example/v1/ping", "https://a.example/v1/post"},
		{`endpoint: "https://a.example", test_endpoint: "https://t.example/x/", auth: {oauth: {token_url: "https://o.example", client_id: c, client_secret: s}}`, "https://t.example/x/v1/ping", "https://t.example/x/v1/post"},
		{`endpoint: "https://a.example", test_post_url: "https://t.example/q"`, "", "https://t.example/q"},
		{`post_url: "https://a.example/q", test_post_url: "https://t.example/q?k=1", ` + adapter, "", "https://t.example/q?k=1"},
		{`ping_url: "https://a.example/p", post_url: "https://a.example/q", test_ping_url: "https://t.example/p", test_post_url: "https://t.example/q"`, "https://t.example/p", "https://t.example/q"},
		{`test_endpoint: "https://t.example", auth: {api_key: x}`, "https://t.example/v1/ping", "https://t.example/v1/post"},
		{`endpoint: "https://a.example", test_endpoint: ""`, "", ""},
	} {
		buyer := compileText(t, "buyers: [{id: a, "+c.keys+"}]\n", nil).Catalog.Buyers["a"]
		if urlOf(buyer.TestPing) != c.ping || urlOf(buyer.TestPost) != c.post {
			t.Errorf("%s: %q %q", c.keys, urlOf(buyer.TestPing), urlOf(buyer.TestPost))
		}
		for _, pair := range [][2]*market.OutboundEndpoint{{buyer.Ping, buyer.TestPing}, {buyer.Post, buyer.TestPost}} {
			own, test := pair[0], pair[1]
			if own == nil || test == nil {
				continue
			}
			moved := *own
			moved.URL = test.URL
			if own == test || !reflect.DeepEqual(&moved, test) {
				t.Errorf("%s: test endpoint %+v, production endpoint %+v", c.keys, test, own)
			}
		}
		if secrets := compileText(t, "buyers: [{id: a, "+c.keys+"}]\n", nil).Initial.Secrets; buyer.TestPost != nil && buyer.TestPost.Credential != "" &&
			(len(secrets) != 1 || secrets[0].Name != buyer.TestPost.Credential) {
			t.Errorf("%s: secrets %+v", c.keys, secrets)
		}
	}
}

func TestTestSuppliers(t *testing.T) {
	suppliers := compileText(t, "suppliers: [{id: a, test: true}, {id: b, test: false}, {id: c}]\n", nil).Catalog.Suppliers
	if !suppliers["a"].Test || suppliers["b"].Test || suppliers["c"].Test {
		t.Errorf("%+v %+v %+v", suppliers["a"], suppliers["b"], suppliers["c"])
	}
}

// TestDiffOfTestSettings: default test settings are not in the canonical document, so old
// documents stay the same.
func TestDiffOfTestSettings(t *testing.T) {
	before := compileText(t, "suppliers: [{id: a}]\nbuyers: [{id: b, endpoint: \"https://b.example\"}]\n", nil).Canonical
	withDefaults := compileText(t, "suppliers: [{id: a, test: false}]\nbuyers: [{id: b, endpoint: \"https://b.example\", test_endpoint: \"\"}]\n", nil).Canonical
	if changes := canonical.Diff(before, withDefaults); len(changes) != 0 {
		t.Errorf("default test settings cause changes %v", changes)
	}
	after := compileText(t, "suppliers: [{id: a, test: true}]\nbuyers: [{id: b, endpoint: \"https://b.example\", test_endpoint: \"https://t.example\"}]\n", nil).Canonical
	if changes := canonical.Diff(before, after); len(changes) != 2 {
		t.Errorf("changes %v, want two", changes)
	}
}
