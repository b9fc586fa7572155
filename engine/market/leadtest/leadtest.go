// Package leadtest makes leads and field mappings for tests.
package leadtest

import (
	"strings"
	"testing"

	"pingpost/engine/market"
)

// ParseNameEqualsValueLines parses name=value lines. A value is a string in quotes (without escapes),
// null, true, false, a number, {…} or […].
func ParseNameEqualsValueLines(lines ...string) []market.JSONMember {
	list := make([]market.JSONMember, 0, len(lines))
	for _, line := range lines {
		name, value, _ := strings.Cut(line, "=")
		m := market.JSONMember{Name: []byte(name), Text: []byte(value), Kind: market.JSONNumber}
		switch {
		case strings.HasPrefix(value, `"`):
			m.Kind, m.Text = market.JSONString, []byte(value[1:len(value)-1])
		case value == "null":
			m.Kind = market.JSONNull
		case value == "true" || value == "false":
			m.Kind = market.JSONBoolean
		case strings.HasPrefix(value, "{"):
			m.Kind = market.JSONObject
		case strings.HasPrefix(value, "["):
			m.Kind = market.JSONArray
		}
		list = append(list, m)
	}
	return list
}

// RequiredIngestMembers returns the members that every ingest must have, and more.
func RequiredIngestMembers(more ...string) []market.JSONMember {
	return ParseNameEqualsValueLines(append([]string{
		`flo_campaign_id="cmp_auto"`, `flo_supplier_id="sup_acme"`,
		`first_name="Ann"`, `last_name="O'Neil"`, `phone="(415) 555-0123"`, `email="Ann@Example.COM"`,
	}, more...)...)
}

// FillLead fills a lead from the members of an ingest. It returns a line for each field error.
func FillLead(m *market.FieldMapping, ingest []market.JSONMember) (lead *market.Lead, errorLines []string) {
	var l market.Lead
	l.Reset(m.SlotCount())
	return &l, FieldErrorLines(m.FillLeadFromIngest(&l, ingest, nil))
}

// FieldErrorLines returns a line with the field and the code for each error. A badly formatted
// error has one more line.
func FieldErrorLines(errors []market.FieldError) []string {
	var found []string
	for _, e := range errors {
		found = append(found, e.Field+" "+e.Code)
		if e.Expected == "" || strings.Contains(e.Expected, "%!") {
			found = append(found, "badly formatted: "+e.Expected)
		}
	}
	return found
}

// NewMapping returns the mapping of a campaign with these fields. It fails the test if a field has a mistake.
func NewMapping(t testing.TB, unknown market.UnknownMemberPolicy, fields ...market.FieldSpec) *market.FieldMapping {
	t.Helper()
	m, mistakes := market.NewFieldMapping(market.FieldMappingSpec{Fields: fields, Unknown: unknown})
	for _, mistake := range mistakes {
		t.Errorf("%v", &mistake)
	}
	if m == nil {
		t.FailNow()
	}
	return m
}
