package public

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"pingpost/api/errcode"
	"pingpost/engine/market"
	"pingpost/internal/must"
)

// parsePost returns the scratch with a parsed post. It returns false if the body is no JSON object.
func parsePost(body string) (*scratch, bool) {
	r := new(scratch)
	if r.object.Parse([]byte(body)) != nil {
		return r, false
	}
	r.parseLeadAndFillPostRequest(nil, market.RequestID{}, 0)
	return r, true
}

// formatMembers formats members as name=value.
func formatMembers(members ...market.JSONMember) string {
	var texts []string
	for _, m := range members {
		texts = append(texts, string(m.Name)+"="+string(m.Text))
	}
	return strings.Join(texts, " ")
}

func TestPostLeadIsFlattened(t *testing.T) {
	for _, row := range []struct{ name, body, members, faults string }{
		{"no lead", `{}`, "", ""},
		{"null", `{"lead":null}`, "", ""},
		{"a text", `{"lead":"x"}`, "", "lead"},
		{"a list", `{"lead":[{"a":1}]}`, "", "lead"},
		{"empty", `{"lead":{}}`, "", ""},
		{"another name", `{"Lead":{"a":1}}`, "", ""},
		{"its own members", `{"a":1,"lead":{"b":"\u0041","c":{"d":1}}}`, `b=A c={"d":1}`, ""},
		{"an address and a consent", `{"lead":{"tcpa":{"ip_address":"::1"},"address":{"zip":"94105","line1":null},"phone":"1"}}`, "phone=1 zip=94105 line1=null ip_address=::1", ""},
		{"escapes", `{"le\u0061d":{"addr\u0065ss":{"zi\u0070":"1"}}}`, "zip=1", ""},
		{"an address outside", `{"address":{"zip":"1"},"lead":{"a":1}}`, "a=1", ""},
		{"address and tcpa are no objects", `{"lead":{"address":7,"tcpa":[]}}`, "", "lead.address lead.tcpa"},
		{"nulls", `{"lead":{"address":null,"tcpa":null,"a":1}}`, "a=1", ""},
		{"the lead's id", `{"lead":{"lead_uuid":"u","a":1}}`, "a=1", ""},
		{"inside and outside: an address member", `{"lead":{"zip":"1","address":{"zip":"2"}}}`, "zip=1 zip=2", ""},
		{"inside and outside: a contact member", `{"lead":{"phone":"1","tcpa":{"phone":"2"},"address":{"first_name":"Bob"}}}`, "phone=1", ""},
		{"contact members only inside", `{"lead":{"tcpa":{"email":"e","phone":"2","lead_uuid":"u"}}}`, "", ""},
		{"members of the other object", `{"lead":{"tcpa":{"zip":"2"},"address":{"consent_text":"t"}}}`, "", ""},
		{"unknown members inside", `{"lead":{"county":"a","address":{"county":"b","floor":3},"tcpa":{"tcpa_consent":true}}}`, "county=a floor=3 tcpa_consent=true", ""},
		{"nested address and tcpa", `{"lead":{"address":{"address":{"zip":"1"},"tcpa":{"ip_address":"::1"}}}}`, "", ""},
	} {
		r, ok := parsePost(row.body)
		if !ok {
			t.Fatalf("cannot parse %s", row.body)
		}
		var faults []string
		for _, f := range r.post.Faults {
			if f.Code != errcode.FieldWrongType || f.Expected == "" {
				t.Errorf("%s: %+v", row.name, f)
			}
			faults = append(faults, f.Field)
		}
		if got := formatMembers(r.post.Lead...); got != row.members || strings.Join(faults, " ") != row.faults {
			t.Errorf("%s: got members %q and faults %q, want %q and %q", row.name, got, faults, row.members, row.faults)
		}
	}
}

func TestPostMembersOutsideLead(t *testing.T) {
	r, _ := parsePost(`{"lead":{"lead_uuid":"u","auction_id":"no"},"bid_token":"b","auction_id":"a","lead_uuid":"no"}`)
	if got := formatMembers(r.post.Auction, r.post.Token, r.post.LeadUUID); got != "auction_id=a bid_token=b lead_uuid=u" {
		t.Error(got)
	}
	if r, _ = parsePost(`{"lead":{}}`); r.post.Auction.Kind != 0 || r.post.Token.Kind != 0 || r.post.LeadUUID.Kind != 0 {
		t.Errorf("%+v", r.post)
	}
}

// A post in reused scratch memory does not see members of the previous post.
func TestReusedScratchHasNoOldLead(t *testing.T) {
	r, _ := parsePost(`{"auction_id":"a","bid_token":"b","lead":{"lead_uuid":"u","first_name":"Ann","address":{"zip":"94105"},"tcpa":7}}`)
	for _, body := range []string{`{"lead":{"x":1}}`, `{"lead":null}`, `{}`} {
		must.Succeed(t, r.object.Parse([]byte(body)))
		r.parseLeadAndFillPostRequest(nil, market.RequestID{}, 0)
		if got := formatMembers(r.post.Lead...); len(r.post.Faults) > 0 || got != "" && got != "x=1" || formatMembers(r.post.Auction, r.post.Token, r.post.LeadUUID) != "= = =" {
			t.Errorf("%s: %+v", body, r.post)
		}
	}
	r.releaseToPool()
	if len(r.lead.members) > 0 || slices.ContainsFunc(r.lead.members[:cap(r.lead.members)], func(m market.JSONMember) bool { return m.Text != nil }) {
		t.Error("released scratch memory holds a lead")
	}
}

// FuzzOpenLead compares the members of a lead with encoding/json and a second
// implementation of the rule: the last of repeated names counts, and the phone of a
// consent is not the lead's.
func FuzzOpenLead(f *testing.F) {
	for _, body := range []string{
		`{"lead":{"first_name":"Ann","address":{"zip":"94105"},"tcpa":{"consent_timestamp":"2026-01-01T00:00:00Z"}}}`,
		`{"lead":{"address":[],"tcpa":{"a":{"b":[1,2.5e3,true,null]}}}}`, `{"lead":1}`, `{}`, `{"le\u0061d":{"\ud83d\ude00":"\n"}}`,
		`{"auction_id":"a","lead":{"phone":"1","x":2,"state":"CA","tcpa":{"phone":"2","x":3,"city":"c"},"address":{"state":"NV","city":"d","x":4}}}`,
	} {
		f.Add(body)
	}
	f.Fuzz(func(t *testing.T, body string) {
		r, ok := parsePost(body)
		if !ok {
			return
		}
		got := map[string]market.JSONMember{}
		for _, m := range r.post.Lead {
			got[string(m.Name)] = m
		}
		want := parseAndFlatten(t, body)
		if len(got) != len(want) {
			t.Fatalf("%d members, by encoding/json %d", len(got), len(want))
		}
		for name, raw := range want {
			if m, ok := got[name]; !ok || !equalsJSON(m, raw) {
				t.Errorf("%s is %q, by encoding/json %q", name, m.Text, raw)
			}
		}
	})
}

type object = map[string]json.RawMessage

func parseAndFlatten(t *testing.T, body string) object {
	lead, leadJSON := objectIn(t, []byte(body), "lead")
	flat := object{}
	for _, inner := range []struct {
		name string
		home []string
	}{
		{"tcpa", []string{"consent_text", "consent_timestamp", "ip_address", "consent_cert_url"}},
		{"address", []string{"line1", "city", "state", "zip"}},
	} {
		members, _ := objectIn(t, leadJSON, inner.name)
		for name, raw := range members {
			_, own := lead[name]
			elsewhere := slices.Contains([]string{
				"lead_uuid", "first_name", "last_name", "email", "phone", "source", "address", "tcpa",
				"line1", "city", "state", "zip", "consent_text", "consent_timestamp", "ip_address", "consent_cert_url",
			}, name)
			_, later := flat[name] // tcpa comes after address
			if slices.Contains(inner.home, name) || !own && !elsewhere && !later {
				flat[name] = raw
			}
		}
	}
	for name, raw := range lead {
		_, inside := flat[name]
		if !inside && !slices.Contains([]string{"lead_uuid", "address", "tcpa"}, name) {
			flat[name] = raw
		}
	}
	return flat
}

// objectIn returns the members and the text of an inner object, or nil.
func objectIn(t *testing.T, text []byte, name string) (inner object, raw []byte) {
	var outer object
	if text == nil {
		return nil, nil
	}
	if err := json.Unmarshal(text, &outer); err != nil {
		t.Fatalf("encoding/json rejects %q: %v", text, err)
	}
	if raw = outer[name]; !bytes.HasPrefix(raw, []byte("{")) {
		return nil, nil
	}
	must.Succeed(t, json.Unmarshal(raw, &inner))
	return inner, raw
}

func equalsJSON(m market.JSONMember, raw json.RawMessage) bool {
	if m.Kind != market.JSONString {
		return bytes.Equal(raw, m.Text)
	}
	var text string
	return json.Unmarshal(raw, &text) == nil && text == string(m.Text)
}
