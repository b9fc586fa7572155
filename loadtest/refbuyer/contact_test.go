package refbuyer

import (
	"encoding/json"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"pingpost/internal/must"
	"pingpost/internal/strictjson"
)

var contactFields = []string{
	"first_name", "last_name", "full_name", "phone", "phone_number", "email", "email_address",
	"line1", "street", "street_address", "address_line1",
}

func TestIsContact(t *testing.T) {
	for _, name := range contactFields {
		for _, spelt := range []string{name, strings.ToUpper(name), " " + name, strings.ReplaceAll(name, "_", ""), strings.ReplaceAll(name, "_", "-") + "."} {
			if !isContact([]byte(spelt)) {
				t.Errorf("%q is no contact field", spelt)
			}
		}
		if isContact([]byte("x"+name)) || isContact([]byte(name+"x")) || isContact([]byte(name+"\u00a0")) {
			t.Errorf("a longer name than %q is a contact field", name)
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
		body := must.Value(json.Marshal(map[string]any{"outer": value}))(t)
		var object strictjson.Object
		must.Succeed(t, object.Parse(body))
		got, want := findContact(&object.Members()[0]), ""
		if guilty {
			want = "outer" + path
		}
		if got != want {
			t.Fatalf("%s: found %q, want %q", body, got, want)
		}
	})
}
