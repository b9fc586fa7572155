package public

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"testing"

	"pingpost/api"
	"pingpost/internal/must"
)

// schemaPattern returns the pattern of a schema in the OpenAPI document.
func schemaPattern(t *testing.T, schema string) *regexp.Regexp {
	t.Helper()
	var document struct {
		Components struct {
			Schemas map[string]struct{ Pattern string }
		}
	}
	must.Succeed(t, json.Unmarshal(api.PublicJSON(), &document))
	pattern := document.Components.Schemas[schema].Pattern
	if pattern == "" {
		t.Fatalf("%s has no pattern", schema)
	}
	return regexp.MustCompile(pattern)
}

// The server accepts exactly the values that match the patterns of the OpenAPI document.
func TestSchemaPatternsMatchServer(t *testing.T) {
	h := newAuctionExchange(t)
	acme := h.requestToken("acme", "")
	won := h.postBodyForNewBid(acme, "won")
	ping := func(key, member, value string) *apiAnswer {
		return h.ping(acme, key, withMembers(pingBody, "auction_id", `"`+key+`"`, member, value))
	}
	post := func(key, member, value string) *apiAnswer { // the wrong token is reported only if all members are valid
		return h.post(acme, key, withMembers(won, "bid_token", `"bid_none"`, member, value))
	}
	texts := []string{"a", " a ", "é", "a\u0001", "a\tb", "a\nb", "a\u007f", "a\u0080", "a\u009f", "a\u00a1", "日本"}
	addresses := []string{
		"https://a", "HTTPS://a.b/c?d=e#f", "http://a", "https://", "https:///a", "https://-a", "https://a-", "https://a..b", "https://a_b",
		"https://a:1", "https://a:", "https://a:b", "https://u@a", "https://u:p@a/", "https://[::1]:8443/x", "https://[::1", "https://a/%2F", "https://a/%2",
		"https://a/%zz", "https://a/b c", `https://a/"`, "https://a/<b>", "https://a/é", "https://a#b[c]", "https://a?b^c", "https://a.b.", "https://" + strings.Repeat("a", 63), "https://" + strings.Repeat("a", 64),
	}
	for _, row := range []struct {
		schema, member string
		values         []string
		send           func(key, member, value string) *apiAnswer
	}{
		{"Text", "source", texts, ping},
		{"Label", "vertical", texts, ping},
		{"Label", "sub_vertical", texts, ping},
		{"Name", "lead.first_name", texts, post},
		{"Text", "lead.address.city", texts, post},
		{"ConsentText", "lead.tcpa.consent_text", texts, post},
		{"ConsentCertUrl", "consent_cert_url", addresses, ping},
		{"ConsentCertUrl", "lead.tcpa.consent_cert_url", addresses, post},
	} {
		pattern := schemaPattern(t, row.schema)
		for i, value := range row.values {
			text := must.Value(json.Marshal(value))(t)
			a := row.send(fmt.Sprint(row.member, i), row.member, string(text))
			accepted := !strings.Contains(a.body, `"field":"`+row.member+`"`)
			if matches := pattern.MatchString(value); matches != accepted {
				t.Errorf("%s: %q matches the document's %s: %t, but the server accepts it: %t: %s", row.member, value, row.schema, matches, accepted, a.body)
			}
		}
	}
}
