package market_test

import (
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"pingpost/api/errcode"
	"pingpost/engine/market"
)

// Flags of a fuzzed field and of the request that contains it.
const (
	drawRequired = 1 << iota
	drawCoerce
	drawPing
	drawContact
	drawMin
	drawMax
	drawMinLength
	drawMaxLength
	drawDefault
	drawAbsent
	drawInPing
	drawKeep
	drawReject
)

// specFromFuzzInput returns the field that the fuzz arguments describe.
func specFromFuzzInput(kind uint8, flags uint16, transforms uint32, values, least, most, pattern, fallback string, minLength, maxLength int16) market.FieldSpec {
	spec := market.FieldSpec{
		Name: "x", Type: market.TypeString + market.FieldType(kind)%market.TypeURL, Pattern: pattern,
		Required: flags&drawRequired != 0, Coerce: flags&drawCoerce != 0, Ping: flags&drawPing != 0, Contact: flags&drawContact != 0,
	}
	for ; transforms > 0 && len(spec.Transforms) < 4; transforms /= 9 {
		spec.Transforms = append(spec.Transforms, market.FieldTransform(transforms%9))
	}
	if spec.Type == market.TypeEnum {
		spec.Values = strings.Split(values, "\n")
	}
	if flags&drawMin != 0 {
		spec.Min = &least
	}
	if flags&drawMax != 0 {
		spec.Max = &most
	}
	if flags&drawMinLength != 0 {
		spec.MinLength = length(int(minLength))
	}
	if flags&drawMaxLength != 0 {
		spec.MaxLength = length(int(maxLength))
	}
	if flags&drawDefault != 0 {
		spec.Default = &fallback
	}
	return spec
}

// memberFromFuzzInput returns a member that the parser could have returned, or false if
// the text is impossible for its kind.
func memberFromFuzzInput(name string, kind uint8, text string) (m market.JSONMember, ok bool) {
	m = market.JSONMember{Name: []byte(name), Kind: market.JSONNull + market.JSONKind(kind%6), Text: []byte(text)}
	switch m.Kind {
	case market.JSONString:
		return m, utf8.ValidString(text)
	case market.JSONNumber:
		return m, numberForm.MatchString(text)
	case market.JSONBoolean:
		m.Text = strconv.AppendBool(nil, len(text)%2 == 0)
	case market.JSONNull:
		m.Text = []byte("null")
	case market.JSONObject:
		m.Text = []byte(`{"a":1}`)
	default:
		m.Text = []byte(`[1]`)
	}
	return m, true
}

// FuzzMapping compares the mapping of one field with the model, in an ingest and in a ping.
// Mapping the result again must not change it.
func FuzzMapping(f *testing.F) {
	seed := func(kind market.FieldType, flags uint16, transforms uint32, memberKind market.JSONKind, value string) {
		f.Add(uint8(kind-1), flags, transforms, "a\nb", "0", "100", "", "7", int16(1), int16(40), uint8(memberKind-1), value)
	}
	for _, value := range []string{" Ann O'NEIL ", "a", "94107-1234", "CA", "(415) 555-0123", "Ann@Example.COM", "https://[::1]:443/x?%20#a", "2024-02-29", "12", "1e2", "true", "", "\u200b", "ǆ ß İ"} {
		for kind := market.TypeString; kind <= market.TypeURL; kind++ {
			seed(kind, drawRequired, 0, market.JSONString, value)
			seed(kind, drawCoerce|drawMin|drawMax|drawDefault, 1, market.JSONString, value)
		}
	}
	for transforms := range uint32(9 * 9 * 3) {
		seed(market.TypeString, 0, transforms, market.JSONString, " matt's +1 415 555-0123 x")
	}
	seed(market.TypeInteger, drawMin|drawMax, 0, market.JSONNumber, "1e1")
	seed(market.TypeNumber, drawMin|drawInPing, 0, market.JSONNumber, "-0")
	seed(market.TypeBoolean, drawContact|drawInPing, 0, market.JSONBoolean, "")
	f.Fuzz(func(t *testing.T, kind uint8, flags uint16, transforms uint32, values, least, most, pattern, fallback string, minLength, maxLength int16, memberKind uint8, value string) {
		spec := specFromFuzzInput(kind, flags, transforms, values, least, most, pattern, fallback, minLength, maxLength)
		member, ok := memberFromFuzzInput("x", memberKind, value)
		if !ok {
			return
		}
		mapping, mistakes := market.NewFieldMapping(market.FieldMappingSpec{Fields: []market.FieldSpec{spec}})
		if mapping == nil {
			if len(mistakes) == 0 || slices.ContainsFunc(mistakes, func(e market.FieldSpecError) bool { return e.Message == "" || e.Field != 0 }) {
				t.Fatalf("%+v is rejected without a usable error: %v", spec, mistakes)
			}
			return
		}
		list := []market.JSONMember{member}
		if flags&drawAbsent != 0 {
			list = nil
		}
		want := expected(spec, list, flags&drawInPing != 0)
		got := mapValue(mapping, list, flags&drawInPing != 0)
		if !sameVerdict(got, want) {
			t.Fatalf("%+v\nvalue %q: got %+v, want %+v", spec, member.Text, got, want)
		}
		checkStable(t, mapping, spec, got, flags&drawInPing != 0)
	})
}

// expected returns the field's result according to the contract.
func expected(spec market.FieldSpec, list []market.JSONMember, ping bool) verdict {
	model := fieldModel{spec}
	isPresent := len(list) > 0 && list[0].Kind != market.JSONNull && (list[0].Kind != market.JSONString || strings.TrimFunc(string(list[0].Text), isInvisible) != "")
	switch {
	case isPresent && ping && spec.Contact:
		return verdict{code: errcode.FieldContactFieldNotAllowed}
	case isPresent:
		return model.readMember(list[0].Kind, string(list[0].Text))
	case ping && spec.Contact:
		return verdict{}
	case spec.Default != nil:
		kind := market.JSONString
		switch spec.Type {
		case market.TypeInteger, market.TypeNumber:
			kind = market.JSONNumber
		case market.TypeBoolean:
			kind = market.JSONBoolean
		}
		return model.readMember(kind, *spec.Default)
	case spec.Required && (!ping || spec.Ping):
		return verdict{code: errcode.FieldMissingRequired}
	}
	return verdict{}
}

// mapValue returns the mapping's result for the field.
func mapValue(m *market.FieldMapping, list []market.JSONMember, ping bool) (v verdict) {
	var l market.Lead
	l.Reset(m.SlotCount())
	var failed []market.FieldError
	if ping {
		failed = m.FillLeadFromPing(&l, list, 0, nil)
	} else {
		failed = m.FillLeadFromIngest(&l, append(person(), list...), nil)
	}
	slot, _ := m.SlotByNameForBuyers("x")
	v.value = l.Values[slot]
	for _, e := range failed {
		if e.Field != "x" || e.Expected == "" || v.code != "" {
			v.code += " and " + e.Field + " " + e.Expected
		}
		v.code += e.Code
	}
	return v
}

func sameVerdict(a, b verdict) bool {
	return a.code == b.code && a.value.Kind == b.value.Kind && string(a.value.Text) == string(b.value.Text) &&
		a.value.Num == b.value.Num && math.Signbit(a.value.Num) == math.Signbit(b.value.Num)
}

// checkStable maps the result once more. It skips lossy transforms (hash, zip3, a phone number
// cut to its digits) and texts that may have grown too long.
func checkStable(t *testing.T, m *market.FieldMapping, spec market.FieldSpec, first verdict, ping bool) {
	kinds := map[market.FieldValueKind]market.JSONKind{
		market.KindString: market.JSONString, market.KindInteger: market.JSONNumber, market.KindNumber: market.JSONNumber, market.KindBoolean: market.JSONBoolean,
	}
	kind, ok := kinds[first.value.Kind]
	isLossy := slices.ContainsFunc(spec.Transforms, func(t market.FieldTransform) bool {
		return t == market.TransformSHA256 || t == market.TransformZIP3 || t == market.TransformE164
	})
	if !ok || isLossy && len(spec.Transforms) > 1 || slices.Contains(spec.Transforms, market.TransformSHA256) || len(first.value.Text) > 2048 ||
		spec.Type == market.TypeZIP && isLossy || ping && spec.Contact {
		return
	}
	again := mapValue(m, []market.JSONMember{{Name: []byte("x"), Kind: kind, Text: first.value.Text}}, ping)
	if !sameVerdict(again, first) {
		t.Fatalf("%+v\nfirst result %+v, second %+v", spec, first, again)
	}
}

// FuzzUnknown checks that the campaign's policy decides about unknown members, and that a ping
// never accepts a contact field.
func FuzzUnknown(f *testing.F) {
	for _, name := range []string{"extra", "Email", "e_mail", "tcpa", "zip3", "flo_buyer_id", "PHONE", "\u200b", "first-name", "auction_id", "owns_home", "", strings.Repeat("é", 50)} {
		f.Add(name, uint8(market.JSONString-1), "x", uint16(drawKeep))
		f.Add(name, uint8(market.JSONObject-1), "x", uint16(drawReject|drawInPing))
	}
	f.Fuzz(func(t *testing.T, name string, kind uint8, text string, flags uint16) {
		member, ok := memberFromFuzzInput(name, kind, text)
		if !ok || !utf8.ValidString(name) {
			return
		}
		rule := market.UnknownDrop
		switch {
		case flags&drawKeep != 0:
			rule = market.UnknownKeep
		case flags&drawReject != 0:
			rule = market.UnknownReject
		}
		m := mappingOf(t, rule)
		if _, known := m.SlotByNameForBuyers(name); known {
			return
		}
		var l market.Lead
		l.Reset(m.SlotCount())
		if flags&drawInPing != 0 {
			failed := m.FillLeadFromPing(&l, []market.JSONMember{member}, 0, nil)
			if len(failed)+len(l.Extras) > 1 || len(failed) == 1 && !utf8.ValidString(failed[0].Field) {
				t.Fatalf("%q: %v and %v", name, failed, l.Extras)
			}
			return
		}
		failed := codes(m.FillLeadFromIngest(&l, append(person(), member), nil))
		missing := member.Kind == market.JSONNull || member.Kind == market.JSONString && strings.TrimFunc(text, isInvisible) == ""
		isAddressing := slices.Contains([]string{"flo_campaign_id", "flo_supplier_id", "flo_ping_id", "flo_buyer_id"}, name)
		isReserved := slices.Contains([]string{"lead_uuid", "address", "tcpa", "auction_id", "vertical", "sub_vertical", "zip3", "expires_at"}, name)
		rejected := rule == market.UnknownReject && !missing && !isAddressing
		kept := rule == market.UnknownKeep && !missing && !isAddressing && !isReserved
		if rejected != (len(failed) == 1) || len(failed) > 1 || kept != (len(l.Extras) == 1) || len(l.Extras) > 1 {
			t.Fatalf("%q %q, rule %d: %q, kept %v", name, text, rule, failed, l.Extras)
		}
		if kept && (string(l.Extras[0].Name) != name || string(l.Extras[0].Value.Text) != string(member.Text)) {
			t.Fatalf("%q: kept member is %+v", name, l.Extras[0])
		}
	})
}
