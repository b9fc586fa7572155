package leads

import (
	"strings"
	"testing"

	"pingpost/engine/market"
	"pingpost/server/strictjson"
)

// mapping is what a campaign of a vertical asks for.
func mapping(t *testing.T, v Vertical) *market.Mapping {
	t.Helper()
	fields := map[Vertical][]market.FieldSpec{
		Auto: {
			{Name: "vehicle_count", Type: market.TypeInteger},
			{Name: "driver_age_band", Type: market.TypeEnum, Values: AgeBands},
			{Name: "currently_insured", Type: market.TypeBoolean},
			{Name: "homeowner", Type: market.TypeBoolean},
		},
		Solar: {
			{Name: "homeowner", Type: market.TypeBoolean},
			{Name: "monthly_bill", Type: market.TypeInteger},
			{Name: "roof", Type: market.TypeEnum, Values: Roofs},
			{Name: "shaded", Type: market.TypeBoolean},
		},
		Life: {
			{Name: "birth_date", Type: market.TypeDate}, {Name: "tobacco", Type: market.TypeBoolean}, {Name: "coverage", Type: market.TypeInteger},
		},
	}
	m, mistakes := market.NewMapping(market.MappingSpec{Fields: fields[v]})
	if len(mistakes) > 0 {
		t.Fatal(mistakes)
	}
	return m
}

// judge is what an exchange would say of a lead's fields.
func judge(t *testing.T, campaign *Campaign, body []byte) (faults []market.FieldError, parsed bool) {
	t.Helper()
	var object strictjson.Object
	if err := object.Parse(body); err != nil {
		return nil, false
	}
	defer object.Release()
	m := mapping(t, campaign.Vertical)
	var lead market.Lead
	lead.Reset(m.Slots())
	faults = m.Fill(&lead, object.Members(), nil)
	terms := &market.Campaign{}
	if campaign.Certified != "" {
		terms.ConsentSources = map[string]struct{}{campaign.Certified: {}}
	}
	return lead.CheckConsent(terms, faults, "consent_cert_url"), true
}

func campaignOf(lead *Lead) *Campaign {
	for i := range three {
		if three[i].ID == lead.Campaign {
			return &three[i]
		}
	}
	return nil
}

// TestMistakesAreWhatTheySay holds every lead against the exchange's own rules:
// one fault, and the one that was promised, or none.
func TestMistakesAreWhatTheySay(t *testing.T) {
	opt := options(11)
	opt.Mistakes = 400
	seen := map[Mistake]int{}
	for i, lead := range New(opt).Take(3000) {
		seen[lead.Mistake]++
		faults, parsed := judge(t, campaignOf(&lead), lead.Body)
		want := lead.Mistake.Refusal()
		if parsed == (lead.Mistake == CutShort) {
			t.Fatalf("lead %d, mistake %d: taken for JSON %v: %s", i, lead.Mistake, parsed, lead.Body)
		}
		switch {
		case want.Code == "" || lead.Mistake == NoSuchCampaign: // not for the mapping to find
			if len(faults) > 0 {
				t.Fatalf("lead %d, mistake %d: %+v: %s", i, lead.Mistake, faults, lead.Body)
			}
		case len(faults) != 1 || faults[0].Code != want.Code || (want.Field != "" && faults[0].Field != want.Field):
			t.Fatalf("lead %d, mistake %d: %+v, want %+v: %s", i, lead.Mistake, faults, want, lead.Body)
		}
	}
	for m := None; m < mistakes; m++ {
		if seen[m] == 0 {
			t.Errorf("mistake %d was never made", m)
		}
	}
}

func TestMistakesBeyondFields(t *testing.T) {
	opt := options(12)
	opt.Mistakes = 1000
	for _, lead := range New(opt).Take(500) {
		text := string(lead.Body)
		if known := strings.Contains(text, `"flo_campaign_id":"`+lead.Campaign+`"`); lead.Mistake != CutShort && known == (lead.Mistake == NoSuchCampaign) {
			t.Fatalf("mistake %d: %s", lead.Mistake, text)
		}
		if own := strings.Contains(text, `"flo_supplier_id":"sup_acme"`); lead.Mistake != CutShort && own == (lead.Mistake == OtherSupplier) {
			t.Fatalf("mistake %d: %s", lead.Mistake, text)
		}
	}
}

// TestImpossibleMistakes: a campaign without numbers or certificates has none
// wrong.
func TestImpossibleMistakes(t *testing.T) {
	opt := Options{Supplier: "sup", Campaigns: []Campaign{{ID: "one", Weight: 1}}, Mistakes: 1000}
	for _, lead := range New(opt).Take(500) {
		if lead.Mistake == None || lead.Mistake == TextForNumber || lead.Mistake == NoCertificate {
			t.Fatalf("mistake %d: %s", lead.Mistake, lead.Body)
		}
	}
}

func TestRefusals(t *testing.T) {
	if None.Refusal() != (Refusal{}) {
		t.Error("a good lead has earned a refusal")
	}
	for m := None + 1; m < mistakes; m++ {
		if r := m.Refusal(); r.Status < 400 || r.Status > 499 || r.Error == "" || (r.Error == "invalid_payload") != (r.Code != "") {
			t.Errorf("mistake %d: %+v", m, r)
		}
	}
}
