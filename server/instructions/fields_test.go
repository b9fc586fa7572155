package instructions

import (
	"strings"
	"testing"
	"time"

	"pingpost/engine/market"
	"pingpost/internal/must"
)

// TestStateThatEachSaleNeeds: the rule of the field state says when a lead without it can only be
// unsold. It names no buyer and no state.
func TestStateThatEachSaleNeeds(t *testing.T) {
	const said = "a lead without it is unsold"
	california := must.Value(market.ParseUSStatesOrAll([]string{"CA"}))(t)
	optional, mistakes := market.NewFieldMapping(market.FieldMappingSpec{})
	if len(mistakes) > 0 {
		t.Fatal(mistakes)
	}
	required, mistakes := market.NewFieldMapping(market.FieldMappingSpec{Fields: []market.FieldSpec{{Name: "state", Required: true}}})
	if len(mistakes) > 0 {
		t.Fatal(mistakes)
	}
	filter := func(spec market.FilterSpec) []market.Filter {
		return []market.Filter{must.Value(market.NewFilter(spec, optional))(t)}
	}
	some, all := market.FilterSet{States: california}, market.FilterSet{States: market.AllStates}
	filtered := market.FilterSet{States: market.AllStates, Filters: filter(market.FilterSpec{Field: "state", In: []string{"NV"}})}
	for name, row := range map[string]struct {
		campaign market.Campaign
		want     bool
	}{
		"each buyer lists states":        {market.Campaign{FilterSets: []market.FilterSet{some, filtered}}, true},
		"one buyer takes all":            {market.Campaign{FilterSets: []market.FilterSet{some, all}}, false},
		"no buyer":                       {market.Campaign{}, false},
		"a filter of the campaign":       {market.Campaign{FilterSets: []market.FilterSet{all}, Filters: filter(market.FilterSpec{Field: "state", NotIn: []string{"NY"}})}, true},
		"a filter for leads without one": {market.Campaign{FilterSets: []market.FilterSet{all}, Filters: filter(market.FilterSpec{Field: "state", Absent: true})}, false},
		"a filter of another field":      {market.Campaign{FilterSets: []market.FilterSet{all}, Filters: filter(market.FilterSpec{Field: "source", In: []string{"search"}})}, false},
		"an auction":                     {market.Campaign{Method: market.PingPost, FilterSets: []market.FilterSet{all}}, true},
		"required anyway":                {market.Campaign{Mapping: required, FilterSets: []market.FilterSet{some}}, false},
	} {
		campaign := row.campaign
		campaign.Currency, _ = market.ParseCurrency("USD")
		campaign.Zone = time.UTC
		if campaign.Mapping == nil {
			campaign.Mapping = optional
		}
		for i := range campaign.FilterSets {
			campaign.FilterSets[i].Buyer = &market.Buyer{ID: "buy_secret"}
		}
		d := Build(&ExchangeSettings{FormatDuration: time.Duration.String}, &campaign, &market.Supplier{ID: "sup"}, SupplierCredentialHints{})
		if got := strings.Contains(d.Fields[market.SlotState].Rule, said); got != row.want {
			t.Errorf("%s: the rule is %q", name, d.Fields[market.SlotState].Rule)
		}
		if text := string(d.AppendMarkdown(nil)); strings.Contains(text, said) != row.want || strings.Contains(text, "buy_secret") {
			t.Errorf("%s: the text is %.2000s", name, text)
		}
	}
}

// TestNoPartOfSecretsInTexts: whoever has the link reads the texts, so they do not have the
// beginnings of the credentials. The JSON form, for operators, has them.
func TestNoPartOfSecretsInTexts(t *testing.T) {
	d := hostileDocument(t)
	for _, format := range []string{"html", "md"} {
		file, _, err := d.Render(format, nil, time.Time{})
		must.Succeed(t, err)
		for _, hint := range []string{"key_1", "sec_1"} {
			if strings.Contains(string(file.Body), hint) {
				t.Errorf("the %s form has %s", format, hint)
			}
		}
	}
	file, _, err := d.Render("json", nil, time.Time{})
	must.Succeed(t, err)
	if text := string(file.Body); !strings.Contains(text, "key_1") || !strings.Contains(text, "sec_1") {
		t.Error("the JSON form has no hints")
	}
	for n, want := range map[int]string{0: "You have no key yet", 1: "You have one key.", 3: "You have 3 keys."} {
		d.APIKeyHints = make([]string, n)
		if text := string(d.AppendMarkdown(nil)); !strings.Contains(text, want) {
			t.Errorf("%d keys: no %q", n, want)
		}
	}
}
