package market_test

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

	"pingpost/engine/market"
	"pingpost/engine/market/escape"
)

func TestAppendPostLead(t *testing.T) {
	m := mappingOf(
		t, market.UnknownKeep,
		market.FieldSpec{Name: "homeowner", NameForBuyers: "owns \"home\"", Type: market.TypeBoolean},
		market.FieldSpec{Name: "vehicle_count", Type: market.TypeInteger},
		market.FieldSpec{Name: "note", Type: market.TypeString},
	)
	id := market.LeadID(market.ComposeID(1, [10]byte{1}))
	tests := []struct {
		name  string
		lines []string
		want  string
	}{
		{
			"everything",
			[]string{
				`line1="1 \"Main\" St"`, `city="San José"`, `state="CA"`, `zip="94107"`, `source="search"`, `tcpa_consent=false`, `ai_quality_score=0.820`,
				`consent_text="I agree` + "\n" + `"`, `consent_timestamp="2026-01-31T09:30:00Z"`, `ip_address="203.0.113.7"`, `consent_cert_url="https://c.example/1"`,
				`homeowner=true`, `vehicle_count=2.0`, `deep={"a": [1]}`, `more="x"`,
			},
			`{"lead_uuid":"` + id.String() + `","first_name":"Ann","last_name":"O'Neil","email":"Ann@example.com","phone":"+14155550123",` +
				`"address":{"line1":"1 \\\"Main\\\" St","city":"San José","state":"CA","zip":"94107"},` +
				`"tcpa":{"consent_text":"I agree\n","consent_timestamp":"2026-01-31T09:30:00Z","ip_address":"203.0.113.7","consent_cert_url":"https://c.example/1"},` +
				`"source":"search","tcpa_consent":false,"ai_quality_score":0.820,"owns \"home\"":true,"vehicle_count":2,"deep":{"a": [1]},"more":"x"}`,
		},
		{
			"only required fields",
			nil,
			`{"lead_uuid":"` + id.String() + `","first_name":"Ann","last_name":"O'Neil","email":"Ann@example.com","phone":"+14155550123","address":{},"tcpa":{}}`,
		},
	}
	for _, test := range tests {
		l, failed := fill(m, person(test.lines...))
		if failed != nil {
			t.Fatalf("%s: %q", test.name, failed)
		}
		got := m.AppendLeadOfBuyerPost([]byte("lead: "), l, id)
		if string(got) != "lead: "+test.want {
			t.Errorf("%s:\n%s\nwant\n%s", test.name, got, test.want)
		}
		if !json.Valid(got[len("lead: "):]) {
			t.Errorf("%s: not JSON", test.name)
		}
	}
}

// TestPostKeepsFieldText checks that the post is valid JSON with the lead's text.
func TestPostKeepsFieldText(t *testing.T) {
	m := mapping(t, market.FieldSpec{Name: "note", Type: market.TypeString})
	rapid.Check(t, func(t *rapid.T) {
		note := rapid.String().Draw(t, "note")
		l, failed := fill(m, append(person(), market.JSONMember{Name: []byte("note"), Kind: market.JSONString, Text: []byte(note)}))
		if failed != nil {
			return
		}
		var post struct{ Note string }
		if err := json.Unmarshal(m.AppendLeadOfBuyerPost(nil, l, market.LeadID{}), &post); err != nil {
			t.Fatal(err)
		}
		if slot, _ := m.SlotByNameForBuyers("note"); post.Note != string(l.Values[slot].Text) {
			t.Fatalf("note %q is %q in the post", note, post.Note)
		}
	})
}

func TestAppendJSONString(t *testing.T) {
	for in, want := range map[string]string{
		"":                   `""`,
		"a/b<>&'":            `"a/b<>&'"`,
		"\"\\\n\r\t":         `"\"\\\n\r\t"`,
		"\x00\x08\x1f\x7f":   `"\u0000\u0008\u001f` + "\x7f" + `"`,
		"é\U0001F600\u2028":  "\"é\U0001F600\u2028\"",
		"a\xffb\xed\xa0\x80": "\"a\uFFFDb\uFFFD\uFFFD\uFFFD\"",
		"\uFFFD":             "\"\uFFFD\"",
	} {
		if got := string(escape.AppendJSONString([]byte("x"), []byte(in))); got != "x"+want {
			t.Errorf("%q: %s, want %s", in, got[1:], want)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		in := rapid.SliceOf(rapid.Byte()).Draw(t, "bytes")
		out := escape.AppendJSONString(nil, in)
		var back string
		if err := json.Unmarshal(out, &back); err != nil || !utf8.Valid(out) {
			t.Fatalf("%q: %s: %v", in, out, err)
		}
		if want := string([]rune(string(in))); !reflect.DeepEqual(back, want) { // each invalid byte is one U+FFFD
			t.Fatalf("%q is decoded as %q", in, back)
		}
	})
}

func TestAppendValue(t *testing.T) {
	for want, v := range map[string]market.FieldValue{
		"null": {}, `"a"`: {Kind: market.KindString, Text: []byte("a")}, "1e3": {Kind: market.KindNumber, Text: []byte("1e3")},
		"true": {Kind: market.KindBoolean, Text: []byte("true")}, "[1]": {Kind: market.KindRaw, Text: []byte("[1]")},
	} {
		if got := string(v.AppendJSON(nil)); got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
}

func TestPostPath(t *testing.T) {
	for field, want := range map[string]string{
		"phone": "lead.phone", "state": "lead.address.state", "zip": "lead.address.zip", "line1": "lead.address.line1", "city": "lead.address.city",
		"consent_cert_url": "lead.tcpa.consent_cert_url", "consent_text": "lead.tcpa.consent_text", "ip_address": "lead.tcpa.ip_address",
		"source": "lead.source", "vehicle_count": "lead.vehicle_count",
	} {
		if got := market.FieldPathInSupplierPost(field); got != want {
			t.Errorf("%s: %s, want %s", field, got, want)
		}
	}
	if !strings.HasPrefix(market.FieldPathInSupplierPost(""), "lead.") {
		t.Error("the path of an empty name is outside lead")
	}
}
