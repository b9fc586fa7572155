package buyer

import (
	"encoding/json"
	"strings"
	"time"

	"pingpost/sdk/go/model"
)

// memberType is the required type of a member.
type memberType int

const (
	text memberType = iota
	truth
	number
	integer
	instant
	object
)

var expected = [...]string{
	text: "a text", truth: "true or false", number: "a number", integer: "a whole number",
	instant: "a time as RFC 3339 has it", object: "an object",
}

// memberRule is the rule for one member, checked before the body is decoded into a model.
type memberRule struct {
	path     string
	kind     memberType
	required bool
}

var pingRules = []memberRule{
	{"auction_id", text, true},
	{"vertical", text, true},
	{"state", text, true},
	{"tcpa_consent", truth, true},
	{"sub_vertical", text, false},
	{"zip3", text, false},
	{"currently_insured", truth, false},
	{"vehicle_count", integer, false},
	{"driver_age_band", text, false},
	{"ai_quality_score", number, false},
	{"source", text, false},
	{"consent_cert_url", text, false},
	{"expires_at", instant, false},
}

var postRules = []memberRule{
	{"auction_id", text, true},
	{"bid_token", text, false},
	{"lead", object, true},
	{"lead.lead_uuid", text, true},
	{"lead.first_name", text, true},
	{"lead.last_name", text, true},
	{"lead.email", text, true},
	{"lead.phone", text, true},
	{"lead.source", text, false},
	{"lead.tcpa_consent", truth, false},
	{"lead.ai_quality_score", number, false},
	{"lead.address", object, false},
	{"lead.address.line1", text, false},
	{"lead.address.city", text, false},
	{"lead.address.state", text, false},
	{"lead.address.zip", text, false},
	{"lead.tcpa", object, false},
	{"lead.tcpa.consent_text", text, false},
	{"lead.tcpa.consent_timestamp", instant, false},
	{"lead.tcpa.ip_address", text, false},
	{"lead.tcpa.consent_cert_url", text, false},
}

// checkMembers returns a field error for every missing or wrong member. Null and blank texts
// count as missing. Members of a missing object are not reported in addition to the object.
func checkMembers(members map[string]any, rules []memberRule) (wrong []model.FieldError) {
	for _, r := range rules {
		value, within := memberAt(members, r.path)
		if !within {
			continue
		}
		words, isText := value.(string)
		switch {
		case value == nil || isText && strings.TrimSpace(words) == "":
			if r.required {
				wrong = append(wrong, model.FieldError{Field: r.path, Code: model.FieldErrorCodeMissingRequired, Expected: expected[r.kind]})
			}
		case !r.kind.fits(value):
			wrong = append(wrong, model.FieldError{Field: r.path, Code: model.FieldErrorCodeWrongType, Expected: expected[r.kind]})
		case r.kind == instant:
			if _, err := time.Parse(time.RFC3339Nano, words); err != nil {
				wrong = append(wrong, model.FieldError{Field: r.path, Code: model.FieldErrorCodeInvalidFormat, Expected: expected[r.kind]})
			}
		}
	}
	return wrong
}

// memberAt returns the value at a path, or nil if it is missing. within is false if there is no
// object that could contain it.
func memberAt(members map[string]any, path string) (value any, within bool) {
	first, rest, deep := strings.Cut(path, ".")
	if !deep {
		return members[first], true
	}
	inner, is := members[first].(map[string]any)
	if !is {
		return nil, false
	}
	return memberAt(inner, rest)
}

func (k memberType) fits(value any) (fits bool) {
	switch k {
	case text, instant:
		_, fits = value.(string)
	case truth:
		_, fits = value.(bool)
	case number, integer:
		n, is := value.(json.Number)
		_, err := n.Int64()
		fits = is && (k == number || err == nil)
	case object:
		_, fits = value.(map[string]any)
	}
	return fits
}

// removeMissing removes members that count as missing, so that the rest can be decoded: a blank
// text is no valid time, for example.
func removeMissing(members map[string]any, rules []memberRule) {
	for _, r := range rules {
		value, within := memberAt(members, r.path)
		words, isText := value.(string)
		if !within || value != nil && (!isText || strings.TrimSpace(words) != "") {
			continue
		}
		inner, last := members, r.path
		for {
			first, rest, deep := strings.Cut(last, ".")
			if !deep {
				break
			}
			inner, last = inner[first].(map[string]any), rest
		}
		delete(inner, last)
	}
}

// decodeMembers decodes checked members into a model.
func decodeMembers(members map[string]any, rules []memberRule, into any) {
	removeMissing(members, rules)
	text, err := json.Marshal(members)
	if err == nil {
		err = json.Unmarshal(text, into)
	}
	if err != nil {
		panic("BUG: a body that was checked does not fit its model: " + err.Error())
	}
}
