package market_test

import (
	"testing"

	"pingpost/engine/market"
)

func TestWhatALeadHasPassed(t *testing.T) {
	fields := mapping(t)
	filter := func(spec market.FilterSpec) market.Filter {
		t.Helper()
		f, err := market.NewFilter(spec, fields)
		if err != nil {
			t.Fatal(err)
		}
		return f
	}
	some, err := market.ParseUSStates([]string{"CA", "NV"})
	if err != nil {
		t.Fatal(err)
	}
	half := "0.5"
	score := filter(market.FilterSpec{Field: "ai_quality_score", Min: &half})
	consent := filter(market.FilterSpec{Field: "tcpa_consent", In: []string{"true"}})
	state := filter(market.FilterSpec{Field: "state", NotIn: []string{"TX"}})
	source := filter(market.FilterSpec{Field: "source", Absent: true})
	for _, row := range []struct {
		seat     string
		campaign []market.Filter
		states   market.USStateSet
		filters  []market.Filter
		want     string
	}{
		{"asks for nothing", nil, market.AllStates, nil, `["vertical"]`},
		{"wants some states", nil, some, nil, `["state","vertical"]`},
		{"excludes a state by a filter", nil, market.AllStates, []market.Filter{state}, `["state","vertical"]`},
		{"wants consent", nil, market.AllStates, []market.Filter{consent}, `["vertical","tcpa"]`},
		{"in a campaign that wants consent", []market.Filter{consent}, market.AllStates, nil, `["vertical","tcpa"]`},
		{"has a filter that has no name between buyers", nil, market.AllStates, []market.Filter{source}, `["vertical"]`},
		{"wants everything", []market.Filter{source, score}, some, []market.Filter{consent, state}, `["state","vertical","tcpa","score_threshold"]`},
	} {
		c := market.Campaign{Filters: row.campaign, FilterSets: []market.FilterSet{
			{States: some, Filters: []market.Filter{score}}, // another's, of which nothing is told
			{States: row.states, Filters: row.filters},
		}}
		if got := string(c.PassedConditionSet(1).AppendJSON(nil)); got != row.want {
			t.Errorf("a seat that %s has %s, want %s", row.seat, got, row.want)
		}
	}
	if got := string(market.PassedConditionSet(0x80).AppendJSON(nil)); got != `[]` {
		t.Errorf("a condition of a later exchange is told as %s", got)
	}
}
