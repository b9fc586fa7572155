package refbuyer

import (
	"encoding/json"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"pingpost/engine/market"
	"pingpost/internal/strictjson"
)

var contactFields = []string{
	"first_name", "last_name", "full_name", "phone", "phone_number", "email", "email_address",
	"line1", "street", "street_address", "address_line1",
}

func TestIsContact(t *testing.T) {
	for _, name := range contactFields {
		if !isContact([]byte(name)) || !isContact([]byte(strings.ToUpper(name))) || !isContact([]byte(strings.ToUpper(name[:1])+name[1:])) {
			t.Errorf("%s is no contact field", name)
		}
		for _, spelt := range []string{" " + name, strings.ReplaceAll(name, "_", ""), strings.ReplaceAll(name, "_", "-") + "."} {
			if !isContact([]byte(spelt)) {
				t.Errorf("%q is no contact field", spelt)
			}
		}
		for _, other := range []string{"x" + name, name + "x", name[1:], name + "\u00a0"} {
			if isContact([]byte(other)) && other != "hone" {
				t.Errorf("%q is a contact field", other)
			}
		}
	}
	for _, name := range []string{"", "state", "zip3", "source", "vertical", "auction_id", "consent_cert_url", "name", "city", strings.Repeat("email", 100)} {
		if isContact([]byte(name)) {
			t.Errorf("%q is a contact field", name)
		}
	}
}

// TestContactAtAnyDepth puts a contact field, or a harmless one, at any depth of a ping.
func TestContactAtAnyDepth(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		name := rapid.SampledFrom(append([]string{"mail", "age", "Ünïcode"}, contactFields...)).Draw(t, "name")
		guilty := isContact([]byte(name))
		var value any = map[string]any{name: rapid.SampledFrom([]any{nil, 1.5, "email", true, []any{}}).Draw(t, "value"), "a": "phone"}
		path := "." + name
		for range rapid.IntRange(0, 12).Draw(t, "depth") {
			if rapid.Bool().Draw(t, "list") {
				value, path = []any{"email", value}, ".1"+path
			} else {
				value, path = map[string]any{"z": value, "b": []any{map[string]any{}}}, ".z"+path
			}
		}
		body, err := json.Marshal(map[string]any{"outer": value})
		if err != nil {
			t.Fatal(err)
		}
		var object strictjson.Object
		if err := object.Parse(body); err != nil {
			t.Fatal(err)
		}
		got, want := findContact(&object.Members()[0]), ""
		if guilty {
			want = "outer" + path
		}
		if got != want {
			t.Fatalf("%s: found %q, want %q", body, got, want)
		}
	})
}

// TestAnyPing: no body makes the reader panic, and an accepted ping has all that a bid
// needs.
func TestAnyPing(t *testing.T) {
	names := append([]string{"auction_id", "vertical", "sub_vertical", "state", "zip3", "source", "tcpa_consent", "consent_cert_url", "ai_quality_score", "expires_at", "currently_insured", "vehicle_count", "driver_age_band", "other"}, contactFields[0])
	values := []any{nil, "", " ", "CA", "auc", "941", true, false, 0, 1.5, -1, "https://x.example", "2099-01-01T00:00:00Z", "2001-01-01T00:00:00Z", []any{1}, map[string]any{"x": 1}}
	rapid.Check(t, func(t *rapid.T) {
		members := rapid.MapOf(rapid.SampledFrom(names), rapid.SampledFrom(values)).Draw(t, "members")
		body, err := json.Marshal(members)
		if err != nil {
			t.Fatal(err)
		}
		var object strictjson.Object
		if err := object.Parse(body); err != nil {
			t.Fatal(err)
		}
		var q request
		wrong := q.read(object.Members(), noon, nil)
		for i, f := range wrong {
			if f.Field == "" || f.Code == "" || f.Expected == "" || named(wrong[:i], f.Field) {
				t.Fatalf("%s: %+v", body, wrong)
			}
		}
		if len(wrong) == 0 && (len(q.auction) == 0 || q.state == market.NoState || !q.hasVertical || !q.hasConsent) {
			t.Fatalf("%s was taken as %+v", body, q)
		}
		if _, there := members["first_name"]; there && !named(wrong, "first_name") {
			t.Fatalf("%s was taken", body)
		}
	})
}
