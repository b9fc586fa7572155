//go:build !race

package market_test

import (
	"testing"

	"pingpost/engine/market"
	"pingpost/engine/market/format"
)

// typicalLead returns a mapping with custom fields and the members of a valid lead.
func typicalLead(t testing.TB) (*market.FieldMapping, []market.JSONMember) {
	m := mappingOf(
		t, market.UnknownKeep,
		market.FieldSpec{Name: "homeowner", NameForBuyers: "owns_home", Type: market.TypeBoolean, Ping: true},
		market.FieldSpec{Name: "vehicle_count", Type: market.TypeInteger, Min: text("0"), Max: text("20"), Ping: true},
		market.FieldSpec{Name: "driver_age_band", Type: market.TypeEnum, Values: []string{"18-24", "25-34"}, Ping: true},
		market.FieldSpec{Name: "fuel", Type: market.TypeEnum, Values: []string{"Petrol", "Diesel"}},
		market.FieldSpec{Name: "town", NameForBuyers: "city", Type: market.TypeString, Transforms: []market.FieldTransform{market.TransformTrim, market.TransformTitle}},
	)
	return m, person(`state="CA"`, `zip="94107"`, `source="search"`, `tcpa_consent=true`, `consent_cert_url="https://cert.example/1"`,
		`ai_quality_score=0.82`, `homeowner=true`, `vehicle_count=2.0`, `driver_age_band="25-34"`, `fuel="Diesel"`, `town=" san josé"`, `more={"a":1}`)
}

func TestFillValidLeadDoesNotAllocate(t *testing.T) {
	m, list := typicalLead(t)
	for i := range list { // other spellings, which are replaced
		switch string(list[i].Name) {
		case "state":
			list[i].Text = []byte(" ca")
		case "fuel":
			list[i].Text = []byte("DIESEL ")
		}
	}
	campaign := &market.Campaign{Mapping: m, ConsentSources: map[string]struct{}{"facebook": {}}}
	var l market.Lead
	body := make([]byte, 0, 4096)
	run := func() {
		l.Reset(m.SlotCount())
		failed := m.FillLeadFromIngest(&l, list, nil)
		failed = l.AppendConsentCertificateError(campaign, failed, "consent_cert_url")
		if failed != nil {
			t.Fatal(failed)
		}
		m.AppendLeadOfBuyerPost(body, &l, market.LeadID{})
	}
	if n := testing.AllocsPerRun(100, run); n != 0 {
		t.Errorf("%v allocations", n)
	}
	phone, address := []byte("(415) 555-2671"), []byte("Ann@Example.com")
	if n := testing.AllocsPerRun(100, func() {
		format.AppendPhoneAsE164(body, phone)
		format.AppendEmailWithLowerDomain(body, address)
	}); n != 0 {
		t.Errorf("phone and email: %v allocations", n)
	}
}

func BenchmarkFill(b *testing.B) {
	m, list := typicalLead(b)
	var l market.Lead
	b.ReportAllocs()
	for b.Loop() {
		l.Reset(m.SlotCount())
		m.FillLeadFromIngest(&l, list, nil)
	}
}
