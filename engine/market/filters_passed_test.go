package market_test

import (
	"testing"

	"pingpost/engine/market"
)

func TestPassedConditionSet(t *testing.T) {
	fields := mapping(t)
	filter := func(spec market.FilterSpec) market.Filter {
		t.Helper()
		f, err := market.NewFilter(spec, fields)
		if err != nil {
			t.Fatal(err)
		}
		return f
	}
	states, err := market.ParseUSStatesOrAll([]string{"CA", "NV"})
	if err != nil {
		t.Fatal(err)
	}
	half := "0.5"
	score := filter(market.FilterSpec{Field: "ai_quality_score", Min: &half})
	consent := filter(market.FilterSpec{Field: "tcpa_consent", In: []string{"true"}})
	state := filter(market.FilterSpec{Field: "state", NotIn: []string{"TX"}})
	source := filter(market.FilterSpec{Field: "source", Absent: true})
	for _, row := range []struct {
		name     string
		campaign []market.Filter
		states   market.USStateSet
		filters  []market.Filter
		want     string
	}{
		{"no conditions", nil, market.AllStates, nil, `["vertical"]`},
		{"states", nil, states, nil, `["state","vertical"]`},
		{"filter on state", nil, market.AllStates, []market.Filter{state}, `["state","vertical"]`},
		{"filter on consent", nil, market.AllStates, []market.Filter{consent}, `["vertical","tcpa"]`},
		{"campaign filter on consent", []market.Filter{consent}, market.AllStates, nil, `["vertical","tcpa"]`},
		{"filter without a condition name", nil, market.AllStates, []market.Filter{source}, `["vertical"]`},
		{"all conditions", []market.Filter{source, score}, states, []market.Filter{consent, state}, `["state","vertical","tcpa","score_threshold"]`},
	} {
		c := market.Campaign{Filters: row.campaign, FilterSets: []market.FilterSet{
			{States: states, Filters: []market.Filter{score}}, // another buyer's
			{States: row.states, Filters: row.filters},
		}}
		if got := string(c.ConditionsEachSaleMeets(1).AppendJSON(nil)); got != row.want {
			t.Errorf("%s: %s, want %s", row.name, got, row.want)
		}
	}
	if got := string(market.ConditionsMetByLead(0x80).AppendJSON(nil)); got != `[]` {
		t.Errorf("an unknown condition bit is written as %s, want []", got)
	}
}
