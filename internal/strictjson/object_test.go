package strictjson_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"pingpost/engine/market"
	"pingpost/internal/must"
	"pingpost/internal/strictjson"
)

// lead is a typical ingest of about 400 bytes.
const lead = `{"flo_campaign_id":"cmp_auto","flo_supplier_id":"sup_acme","first_name":"Ann","last_name":"O'Neil",` +
	`"phone":"(415) 555-0123","email":"ann.oneil@example.com","state":"CA","zip":"94107","source":"search",` +
	`"tcpa_consent":true,"consent_cert_url":"https://cert.example/3f2a9c1e77","ai_quality_score":0.82,` +
	`"homeowner":false,"vehicle_count":2,"driver_age_band":"25-34","currently_insured":true,"line1":"1 Main St","city":"San Jos\u00e9"}`

// objectWithMembers returns an object of n members whose names have a common prefix.
func objectWithMembers(n int, prefix string) string {
	var b strings.Builder
	b.WriteByte('{')
	for i := range n {
		if i > 0 {
			b.WriteByte(',')
		}
		fmt.Fprintf(&b, `"%s%d":%d`, prefix, i, i)
	}
	b.WriteByte('}')
	return b.String()
}

func TestMembersKeepTextOrder(t *testing.T) {
	var o strictjson.Object
	body := []byte(` {"z":"\u0041\ud83d\ude00\n", "\u0061":-1.50e3,"t":true,"f":false,"n":null,"o":{"x":[1]},"l":[{}, 2]} `)
	must.Succeed(t, o.Parse(body))
	want := []struct {
		name string
		kind market.JSONKind
		text string
	}{
		{"z", market.JSONString, "A\U0001F600\n"},
		{"a", market.JSONNumber, "-1.50e3"},
		{"t", market.JSONBoolean, "true"},
		{"f", market.JSONBoolean, "false"},
		{"n", market.JSONNull, "null"},
		{"o", market.JSONObject, `{"x":[1]}`},
		{"l", market.JSONArray, `[{}, 2]`},
	}
	members := o.Members()
	if len(members) != len(want) {
		t.Fatalf("%d members, want %d", len(members), len(want))
	}
	for i, w := range want {
		m := members[i]
		if string(m.Name) != w.name || m.Kind != w.kind || string(m.Text) != w.text {
			t.Errorf("member %d is %q %d %q, want %q %d %q", i, m.Name, m.Kind, m.Text, w.name, w.kind, w.text)
		}
	}
}

func TestParseErrors(t *testing.T) {
	tests := []struct {
		body    string
		offset  int
		message string // part of the message
	}{
		{``, 0, "one JSON object"},
		{`  `, 2, "one JSON object"},
		{`[1]`, 0, "one JSON object"},
		{`"a"`, 0, "one JSON object"},
		{"\xef\xbb\xbf{}", 0, "one JSON object"},
		{`{`, 1, "ends too early"},
		{`{"a":1`, 6, "ends too early"},
		{`{"a":"x`, 7, "ends too early"},
		{`{"a":"x\`, 8, "ends too early"},
		{`{"a":1,}`, 7, "name in double quotes"},
		{`{a:1}`, 1, "name in double quotes"},
		{`{"a" 1}`, 5, "colon"},
		{`{"a":1 "b":2}`, 7, "end of the object"},
		{`{"a":[1 2]}`, 8, "end of the array"},
		{`{"a":[1,]}`, 8, "value is expected"},
		{`{"a":tru}`, 5, "value is expected"},
		{`{} {}`, 3, "unexpected text"},
		{`{}` + "\x00", 2, "unexpected text"},
		{`{"a":01}`, 5, "unnecessary zero"},
		{`{"a":-012}`, 6, "unnecessary zero"},
		{`{"a":1.}`, 7, "digit is expected"},
		{`{"a":-}`, 6, "digit is expected"},
		{`{"a":1e+}`, 8, "digit is expected"},
		{`{"a":` + strings.Repeat("1", 129) + `}`, 5, "too long"},
		{"{\"a\":\"\n\"}", 6, "control character"},
		{`{"a":"\x"}`, 6, "no such escape"},
		{`{"a":"\u12G4"}`, 6, "no such escape"},
		{`{"a":"\ud800"}`, 6, "surrogate"},
		{`{"a":"\ud800\ud800"}`, 6, "surrogate"},
		{`{"a":"\udc00"}`, 6, "surrogate"},
		{"{\"a\":\"\xff\"}", 6, "UTF-8"},
		{"{\"a\":\"\xc0\xaf\"}", 6, "UTF-8"},
		{"{\"\xff\":1}", 2, "UTF-8"},
		{strings.Repeat(`{"a":`, 33), 160, "nested too deep"},
		{`{"a":` + strings.Repeat(`[`, 32), 36, "nested too deep"},
		{`{"a":1,"b":2,"a":3}`, 13, "has this member twice"},
		{`{"a":1,"\u0061":3}`, 7, "has this member twice"},
		{`{"x":[{"a":1,"a":3}]}`, 13, "has this member twice"},
	}
	var o strictjson.Object
	for _, test := range tests {
		err := o.Parse([]byte(test.body))
		var syntax *strictjson.SyntaxError
		if !errors.As(err, &syntax) {
			t.Errorf("%q: %v, want a SyntaxError", test.body, err)
			continue
		}
		if syntax.Offset != test.offset || !strings.Contains(syntax.Message, test.message) {
			t.Errorf("%q: %v, want %q at byte %d", test.body, err, test.message, test.offset)
		}
		if len(o.Members()) != 0 {
			t.Errorf("%q: members are left after the error", test.body)
		}
	}
}

func TestParseErrorOmitsBodyText(t *testing.T) {
	var o strictjson.Object
	err := o.Parse([]byte(`{"ssn":"078-05-1120","ssn":"078-05-1120"}`))
	if err == nil || strings.Contains(err.Error(), "ssn") || strings.Contains(err.Error(), "078") {
		t.Errorf("the error shows text of the body: %v", err)
	}
}

func TestParseBodySizeLimit(t *testing.T) {
	var o strictjson.Object
	body := []byte(`{"a":"` + strings.Repeat("x", strictjson.MaxBody) + `"}`)
	if err := o.Parse(body); err == nil {
		t.Error("a body over the limit is accepted")
	}
}

func TestPlainTextsAliasBody(t *testing.T) {
	var o strictjson.Object
	body := []byte(`{"name":"Ann"}`)
	must.Succeed(t, o.Parse(body))
	m, ok := o.Lookup("name")
	if !ok || &m.Text[0] != &body[9] || &m.Name[0] != &body[2] {
		t.Error("the member was copied")
	}
	if cap(m.Text) != len(m.Text) {
		t.Error("appending to the text would overwrite the body")
	}
}

func TestLookupMatchesExactName(t *testing.T) {
	var o strictjson.Object
	must.Succeed(t, o.Parse([]byte(`{"Email":"a","email":"b"}`)))
	if m, ok := o.Lookup("email"); !ok || string(m.Text) != "b" {
		t.Errorf("email is %q", m.Text)
	}
	if _, ok := o.Lookup("EMAIL"); ok {
		t.Error("Lookup ignores case")
	}
}

func TestParseMember(t *testing.T) {
	var o, address strictjson.Object
	must.Succeed(t, o.Parse([]byte(`{"address":{"city":"San Jos\u00e9","geo":{"lat":1}},"list":[{}],"none":null,"text":"{\u007d"}`)))
	m, _ := o.Lookup("address")
	if !o.ParseMember(m, &address) {
		t.Fatal("the address cannot be parsed")
	}
	if city, _ := address.Lookup("city"); string(city.Text) != "San José" {
		t.Errorf("city is %q", city.Text)
	}
	for _, name := range []string{"list", "none", "text"} {
		m, _ := o.Lookup(name)
		if o.ParseMember(m, &address) || len(address.Members()) != 0 {
			t.Errorf("%s is parsed as an object", name)
		}
	}
	defer func() {
		if recover() == nil {
			t.Error("parsing an object into itself does not panic")
		}
	}()
	o.ParseMember(m, &o)
}

func TestReleaseDropsBody(t *testing.T) {
	var o strictjson.Object
	must.Succeed(t, o.Parse([]byte(lead)))
	members := o.Members()
	o.ClearForReuse()
	if len(o.Members()) != 0 || members[0].Name != nil {
		t.Error("members still refer to the body")
	}
}

func TestParseDoesNotAllocate(t *testing.T) {
	bodies := map[string][]byte{
		"lead":     []byte(lead),
		"nested":   []byte(`{"auction_id":"a","bid":{"amount":12.5,"currency":"USD","bid_token":"\u0041"},"list":[{"a":1},{"a":2}]}`),
		"30 names": []byte(objectWithMembers(30, "field_")),
	}
	for name, body := range bodies {
		var o strictjson.Object
		if n := testing.AllocsPerRun(100, func() {
			if err := o.Parse(body); err != nil {
				t.Fatal(err)
			}
		}); n != 0 {
			t.Errorf("%s: %v allocations, want 0", name, n)
		}
	}
}
