package adapter_test

import (
	"strings"
	"testing"
	"time"

	"pingpost/engine/market"
)

var pingHead = market.PingMetadata{
	Auction: market.AuctionID(market.ComposeID(1, [10]byte{1})), Vertical: "auto_insurance",
	ExpiresAt: time.Date(2026, 3, 2, 12, 0, 4, 987_654_321, time.UTC).UnixNano(),
}

// members reads name=value lines, where value is JSON in short: a string in
// quotes (taken as it stands), null, true, false, a number, {…} or […].
func members(lines ...string) []market.JSONMember {
	var list []market.JSONMember
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

// person is what every ingest must bring.
func person(more ...string) []market.JSONMember {
	return members(append([]string{
		`flo_campaign_id="cmp_auto"`, `flo_supplier_id="sup_acme"`,
		`first_name="Ann"`, `last_name="O'Neil"`, `phone="(415) 555-0123"`, `email="Ann@Example.COM"`,
	}, more...)...)
}

func fill(m *market.FieldMapping, list []market.JSONMember) (*market.Lead, []string) {
	var l market.Lead
	l.Reset(m.SlotCount())
	return &l, codes(m.FillLeadFromIngest(&l, list, nil))
}

func codes(errors []market.FieldError) []string {
	var found []string
	for _, e := range errors {
		found = append(found, e.Field+" "+e.Code)
		if e.Expected == "" || strings.Contains(e.Expected, "%!") {
			found = append(found, "badly worded: "+e.Expected)
		}
	}
	return found
}

func mapping(t testing.TB, fields ...market.FieldSpec) *market.FieldMapping {
	t.Helper()
	return mappingOf(t, market.UnknownDrop, fields...)
}

func mappingOf(t testing.TB, unknown market.UnknownMemberPolicy, fields ...market.FieldSpec) *market.FieldMapping {
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
