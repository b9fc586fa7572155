package market_test

import (
	"fmt"
	"strings"
	"testing"

	"pingpost/engine/market"
)

func mapping(t testing.TB, fields ...market.FieldSpec) *market.FieldMapping {
	t.Helper()
	return mappingOf(t, market.UnknownDrop, fields...)
}

func TestKnownFieldsWithoutMapping(t *testing.T) {
	m := mapping(t)
	if m.SlotCount() != int(market.FirstCustomSlot) {
		t.Errorf("%d slots", m.SlotCount())
	}
	ping := map[string]bool{"state": true, "zip": true, "source": true, "tcpa_consent": true, "consent_cert_url": true, "ai_quality_score": true}
	contact := map[string]bool{"first_name": true, "last_name": true, "phone": true, "email": true, "line1": true}
	for slot, name := range map[market.LeadFieldIndex]string{
		market.SlotFirstName: "first_name", market.SlotLastName: "last_name", market.SlotPhone: "phone", market.SlotEmail: "email",
		market.SlotState: "state", market.SlotSource: "source", market.SlotTCPAConsent: "tcpa_consent",
		market.SlotConsentCertURL: "consent_cert_url", market.SlotConsentText: "consent_text", market.SlotConsentTimestamp: "consent_timestamp",
		market.SlotIPAddress: "ip_address", market.SlotLine1: "line1", market.SlotCity: "city", market.SlotZip: "zip", market.SlotQualityScore: "ai_quality_score",
	} {
		got, ok := m.SlotByNameForBuyers(name)
		if !ok || got != slot || m.FieldNameFromSuppliers(slot) != name || m.FieldNameForBuyers(slot) != name {
			t.Errorf("%s has slot %d, want %d", name, got, slot)
		}
		if m.IsSentInPings(slot) != ping[name] || m.IsContactField(slot) != contact[name] {
			t.Errorf("%s: ping %v, contact %v", name, m.IsSentInPings(slot), m.IsContactField(slot))
		}
	}
}

func TestCustomFieldsFollowKnownFields(t *testing.T) {
	m := mapping(
		t,
		market.FieldSpec{Name: "homeowner", NameForBuyers: "owns_home", Type: market.TypeBoolean, Ping: true},
		market.FieldSpec{Name: "zip", Required: true},
		market.FieldSpec{Name: "ssn", Type: market.TypeString, Contact: true},
		market.FieldSpec{Name: "postal_town", NameForBuyers: "city", Type: market.TypeString},
	)
	if m.SlotCount() != int(market.FirstCustomSlot)+2 {
		t.Errorf("%d slots", m.SlotCount())
	}
	slot, ok := m.SlotByNameForBuyers("owns_home")
	if !ok || slot != market.FirstCustomSlot || m.FieldNameFromSuppliers(slot) != "homeowner" || m.FieldTypeOf(slot) != market.TypeBoolean || !m.IsSentInPings(slot) {
		t.Errorf("owns_home has slot %d", slot)
	}
	if _, ok := m.SlotByNameForBuyers("homeowner"); ok {
		t.Error("SlotByNameForBuyers finds the arrival name homeowner")
	}
	if slot, _ := m.SlotByNameForBuyers("ssn"); slot != market.FirstCustomSlot+1 || !m.IsContactField(slot) {
		t.Errorf("ssn has slot %d", slot)
	}
	if slot, _ := m.SlotByNameForBuyers("city"); slot != market.SlotCity || m.FieldNameFromSuppliers(slot) != "postal_town" {
		t.Errorf("city has slot %d and arrival name %s", slot, m.FieldNameFromSuppliers(slot))
	}
}

func text(s string) *string { return &s }
func length(n int) *int     { return &n }

func TestInvalidFieldSpecs(t *testing.T) {
	str, num, enum := market.TypeString, market.TypeInteger, market.TypeEnum
	tests := []struct {
		spec market.FieldSpec
		key  string
	}{
		{market.FieldSpec{Type: str}, "name"},
		{market.FieldSpec{Name: " x", Type: str}, "name"},
		{market.FieldSpec{Name: "x\n", Type: str}, "name"},
		{market.FieldSpec{Name: strings.Repeat("x", 65), Type: str}, "name"},
		{market.FieldSpec{Name: "\xff", Type: str}, "name"},
		{market.FieldSpec{Name: "flo_buyer_id", Type: str}, "name"},
		{market.FieldSpec{Name: "x", NameForBuyers: "flo_ping_id", Type: str}, "to"},
		{market.FieldSpec{Name: "x", NameForBuyers: "address", Type: str}, "to"},
		{market.FieldSpec{Name: "zip3", Type: str}, "to"},
		{market.FieldSpec{Name: "x", NameForBuyers: "email", Type: market.TypeEmail}, "to"},
		{market.FieldSpec{Name: "zip", NameForBuyers: "postcode"}, "to"},
		{market.FieldSpec{Name: "zip", NameForBuyers: "city"}, "to"},
		{market.FieldSpec{Name: "x"}, "type"},
		{market.FieldSpec{Name: "x", Type: 200}, "type"},
		{market.FieldSpec{Name: "phone", Type: str}, "type"},
		{market.FieldSpec{Name: "tcpa_consent", Type: str}, "type"},
		{market.FieldSpec{Name: "state", Type: enum, Values: []string{"CA"}}, "type"},
		{market.FieldSpec{Name: "phone", Ping: true}, "ping"},
		{market.FieldSpec{Name: "x", Type: str, Ping: true, Contact: true}, "ping"},
		{market.FieldSpec{Name: "x", Type: enum}, "values"},
		{market.FieldSpec{Name: "x", Type: enum, Values: []string{"a", "a"}}, "values"},
		{market.FieldSpec{Name: "x", Type: enum, Values: []string{" "}}, "values"},
		{market.FieldSpec{Name: "x", Type: str, Values: []string{"a"}}, "values"},
		{market.FieldSpec{Name: "x", Type: str, Min: text("1")}, "min"},
		{market.FieldSpec{Name: "x", Type: str, Max: text("1")}, "max"},
		{market.FieldSpec{Name: "x", Type: num, Min: text("1.5")}, "min"},
		{market.FieldSpec{Name: "x", Type: num, Max: text("1e30")}, "max"},
		{market.FieldSpec{Name: "x", Type: num, Max: text("many")}, "max"},
		{market.FieldSpec{Name: "x", Type: num, Min: text("2"), Max: text("1")}, "max"},
		{market.FieldSpec{Name: "x", Type: num, MinLength: length(1)}, "min_length"},
		{market.FieldSpec{Name: "x", Type: num, MaxLength: length(1)}, "max_length"},
		{market.FieldSpec{Name: "x", Type: str, MaxLength: length(0)}, "max_length"},
		{market.FieldSpec{Name: "x", Type: str, MaxLength: length(4097)}, "max_length"},
		{market.FieldSpec{Name: "x", Type: str, MinLength: length(-1)}, "min_length"},
		{market.FieldSpec{Name: "x", Type: str, MinLength: length(3), MaxLength: length(2)}, "min_length"},
		{market.FieldSpec{Name: "x", Type: str, Pattern: "("}, "pattern"},
		{market.FieldSpec{Name: "x", Type: str, Pattern: `a)|(?:b`}, "pattern"},
		{market.FieldSpec{Name: "x", Type: str, Pattern: `(?=a)`}, "pattern"},
		{market.FieldSpec{Name: "x", Type: str, Pattern: strings.Repeat("a", 1001)}, "pattern"},
		{market.FieldSpec{Name: "x", Type: num, Pattern: "1"}, "pattern"},
		{market.FieldSpec{Name: "x", Type: num, Default: text("one")}, "default"},
		{market.FieldSpec{Name: "x", Type: num, Default: text("3"), Max: text("2")}, "default"},
		{market.FieldSpec{Name: "x", Type: num, Default: text("3"), DefaultKind: market.JSONString}, "default"},
		{market.FieldSpec{Name: "x", Type: market.TypeBoolean, Default: text("yes")}, "default"},
		{market.FieldSpec{Name: "x", Type: str, Default: text(" ")}, "default"},
		{market.FieldSpec{Name: "x", Type: str, Transforms: []market.FieldTransform{0}}, "transform"},
		{market.FieldSpec{Name: "x", Type: str, Transforms: []market.FieldTransform{market.TransformSHA256 + 1}}, "transform"},
		{market.FieldSpec{Name: "x", Type: num, Transforms: []market.FieldTransform{market.TransformTrim}}, "transform"},
		{market.FieldSpec{Name: "x", Type: num, Coerce: true, Transforms: []market.FieldTransform{market.TransformSHA256}}, "transform"},
		{market.FieldSpec{Name: "x", Type: market.TypeEmail, Transforms: []market.FieldTransform{market.TransformE164}}, "transform"},
		{market.FieldSpec{Name: "x", Type: market.TypePhone, Transforms: []market.FieldTransform{market.TransformZIP3}}, "transform"},
		{market.FieldSpec{Name: "email", Transforms: []market.FieldTransform{market.TransformSHA256}}, "transform"},
	}
	for i, test := range tests {
		m, mistakes := market.NewFieldMapping(market.FieldMappingSpec{Fields: []market.FieldSpec{test.spec}})
		if m != nil || len(mistakes) != 1 || mistakes[0].Field != 0 || mistakes[0].Key != test.key || mistakes[0].Message == "" {
			t.Errorf("row %d: %+v: %v, want one error in %s", i, test.spec, mistakes, test.key)
		}
	}
}

func TestAllFieldSpecErrorsAreReported(t *testing.T) {
	_, mistakes := market.NewFieldMapping(market.FieldMappingSpec{Unknown: 9, Fields: []market.FieldSpec{
		{Name: "a", Type: market.TypeString},
		{Name: "a", NameForBuyers: "b", Type: market.TypeString},
		{Name: "c", NameForBuyers: "b", Type: market.TypeString},
		{Name: "d", Type: market.TypeInteger, Pattern: "x", Min: text("x")},
		{Name: "zip"},
		{Name: "postcode", NameForBuyers: "zip"},
		{Name: "phone", Type: market.TypeString},
	}})
	var got []string
	for _, mistake := range mistakes {
		got = append(got, fmt.Sprintf("%d.%s", mistake.Field, mistake.Key))
	}
	want := "-1.unknown 1.name 2.to 3.min 3.pattern 5.name 6.type"
	if strings.Join(got, " ") != want {
		t.Errorf("%s, want %s", strings.Join(got, " "), want)
	}
	if text := mistakes[0].Error() + mistakes[1].Error(); !strings.Contains(text, "unknown: ") || !strings.Contains(text, "fields[1].name: ") {
		t.Errorf("%s", text)
	}
}

func TestTooManyFields(t *testing.T) {
	fields := make([]market.FieldSpec, 257)
	for i := range fields {
		fields[i] = market.FieldSpec{Name: fmt.Sprintf("f%d", i), Type: market.TypeString}
	}
	if m, mistakes := market.NewFieldMapping(market.FieldMappingSpec{Fields: fields}); m != nil || len(mistakes) != 1 {
		t.Errorf("%v", mistakes)
	}
	mapping(t, fields[:256]...)
}

func TestParseFieldTypeAndUnknown(t *testing.T) {
	for _, name := range strings.Fields("string integer number boolean date email phone state zip enum url") {
		if kind, err := market.ParseFieldType(name); err != nil || kind.String() != name {
			t.Errorf("%s: %v %v", name, kind, err)
		}
	}
	for _, name := range []string{"", "String", "int", "timestamp", "https url"} {
		if _, err := market.ParseFieldType(name); err == nil {
			t.Errorf("%q is accepted", name)
		}
	}
	for name, want := range map[string]market.UnknownMemberPolicy{"": market.UnknownDrop, "drop": market.UnknownDrop, "keep": market.UnknownKeep, "reject": market.UnknownReject} {
		if unknown, err := market.ParseUnknownMemberPolicy(name); err != nil || unknown != want {
			t.Errorf("%q: %v %v", name, unknown, err)
		}
	}
	if _, err := market.ParseUnknownMemberPolicy("ignore"); err == nil {
		t.Error("policy ignore is accepted")
	}
}
