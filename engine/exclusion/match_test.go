package exclusion

import (
	"testing"

	"pingpost/engine/market"
	"pingpost/internal/must"
)

// TestFilterOnMissingText: a missing text is unknown if the lead's contact data was lost, because the
// text may have been part of it. A ping never had contact data, so its missing text is missing.
func TestFilterOnMissingText(t *testing.T) {
	mapping, mistakes := market.NewFieldMapping(market.FieldMappingSpec{Fields: []market.FieldSpec{{Name: "comments", Type: market.TypeString}}})
	if len(mistakes) > 0 {
		t.Fatal(mistakes)
	}
	lead := new(market.Lead)
	lead.Reset(mapping.SlotCount())
	filters := []market.Filter{must.Value(market.NewFilter(market.FilterSpec{Field: "comments", NotIn: []string{"spam"}}, mapping))(t)}
	campaign := &market.Campaign{Mapping: mapping, FilterSets: []market.FilterSet{{Buyer: &market.Buyer{ID: "buy"}, Filters: filters}}}
	const missing = "comments: required none of spam, got none"
	for _, test := range []struct {
		noContact, lost bool
		want            string
	}{
		{false, false, missing},
		{true, false, missing},
		{true, true, "comments: required a condition on a text that may have contained personal data, got an unknown value"},
	} {
		d := &DecisionInputs{Campaign: campaign, Lead: lead, NoContact: test.noContact, ContactLost: test.lost}
		if got := d.UnmetRuleFor(0, market.OutcomeFiltered, nil).Text; got != test.want {
			t.Errorf("no contact %t, lost %t: got %s, want %s", test.noContact, test.lost, got, test.want)
		}
	}
}

// TestFilterOnSupplier: the rule of a filter set that does not take the supplier's leads.
func TestFilterOnSupplier(t *testing.T) {
	set := func(ids ...market.SupplierID) map[market.SupplierID]struct{} {
		set := map[market.SupplierID]struct{}{}
		for _, id := range ids {
			set[id] = struct{}{}
		}
		return set
	}
	for want, filterSet := range map[string]market.FilterSet{
		"supplier: required one of bolt, core, got acme":  {Suppliers: set("core", "bolt")},
		"supplier: required none of acme, bolt, got acme": {Suppliers: set("acme"), NotSuppliers: set("bolt", "acme")},
	} {
		filterSet.Buyer = &market.Buyer{ID: "buy"}
		d := &DecisionInputs{Campaign: &market.Campaign{FilterSets: []market.FilterSet{filterSet}}, Supplier: "acme", Lead: new(market.Lead)}
		if got := d.UnmetRuleFor(0, market.OutcomeFiltered, nil).Text; got != want {
			t.Errorf("got %s, want %s", got, want)
		}
		d.Supplier = ""
		if rule := d.UnmetRuleFor(0, market.OutcomeFiltered, nil); rule != nil {
			t.Errorf("an unknown supplier: %s", rule.Text)
		}
	}
}
