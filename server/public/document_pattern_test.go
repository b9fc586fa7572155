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

// patternOf is the pattern of a schema of the document.
func patternOf(t *testing.T, schema string) *regexp.Regexp {
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

// TestPatterns: what a pattern of the document lets through is taken, and nothing else is.
func TestPatterns(t *testing.T) {
	h := holding(t)
	acme := h.token("acme", "")
	won := h.won(acme, "won")
	ping := func(key, member, value string) *heard {
		return h.ping(acme, key, with(aPing, "auction_id", `"`+key+`"`, member, value))
	}
	post := func(key, member, value string) *heard { // the token is wrong, which is told last
		return h.post(acme, key, with(won, "bid_token", `"bid_none"`, member, value))
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
		send           func(key, member, value string) *heard
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
		pattern := patternOf(t, row.schema)
		for i, value := range row.values {
			text := must.Value(json.Marshal(value))(t)
			a := row.send(fmt.Sprint(row.member, i), row.member, string(text))
			taken := !strings.Contains(a.body, `"field":"`+row.member+`"`)
			if fits := pattern.MatchString(value); fits != taken {
				t.Errorf("%s: %q: by the document's %s it fits: %t, and the exchange takes it: %t: %s", row.member, value, row.schema, fits, taken, a.body)
			}
		}
	}
}
