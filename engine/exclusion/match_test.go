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

func TestDescribeCondition(t *testing.T) {
	mapping, mistakes := market.NewFieldMapping(market.FieldMappingSpec{Fields: []market.FieldSpec{{Name: "born", Type: market.TypeDate}, {Name: "rooms", Type: market.TypeInteger}}})
	if len(mistakes) > 0 {
		t.Fatal(mistakes)
	}
	adult, old, miles, two := 18, 65, "25", "2"
	for _, test := range []struct {
		spec market.FilterSpec
		want string
	}{
		{market.FilterSpec{Field: "rooms", Min: &two, Max: &two}, "between 2 and 2"},
		{market.FilterSpec{Field: "rooms", Min: &two}, ">= 2"},
		{market.FilterSpec{Field: "rooms", Absent: true}, "no value"},
		{market.FilterSpec{Field: "zip", Prefix: []string{"752", "10"}}, "a text that begins with one of 10, 752"},
		{market.FilterSpec{Field: "zip", NotPrefix: []string{"752"}}, "a text that begins with none of 752"},
		{market.FilterSpec{Field: "zip", Near: &market.NearSpec{ZIP: "75201", Miles: &miles}}, "within 25 miles of 75201"},
		{market.FilterSpec{Field: "source", Matches: "[A-Z]+"}, "a text that matches [A-Z]+"},
		{market.FilterSpec{Field: "born", From: "2020-01-01", Until: "2025-12-31"}, "between 2020-01-01 and 2025-12-31"},
		{market.FilterSpec{Field: "born", Until: "2025-12-31"}, "<= 2025-12-31"},
		{market.FilterSpec{Field: "born", MinAge: &adult}, "age >= 18"},
		{market.FilterSpec{Field: "born", MaxAge: &old}, "age <= 65"},
		{market.FilterSpec{Field: "born", MinAge: &adult, MaxAge: &old}, "age between 18 and 65"},
	} {
		filter := must.Value(market.NewFilter(test.spec, mapping))(t)
		if got := DescribeCondition(filter.Conditions()[0]); got != test.want {
			t.Errorf("%+v: %s, want %s", test.spec, got, test.want)
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
