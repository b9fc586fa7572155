package leads

import (
	"slices"
	"testing"

	"pingpost/server/seed"
)

// TestPlacesBelongTogether holds the parts of a lead against each other.
func TestPlacesBelongTogether(t *testing.T) {
	byArea, byZip := map[string]string{}, map[string]string{}
	for _, p := range seed.Places() {
		for _, area := range p.Areas {
			byArea[area] = p.State
		}
		for _, town := range p.Towns {
			byZip[town.Zip] = p.State + town.Name
		}
	}
	opt := options(21)
	opt.Mistakes, opt.Repeats = 0, 0
	for _, lead := range New(opt).Take(2000) {
		m := members(t, &lead)
		state := byArea[lead.Phone[2:5]]
		if lead.State != "" && lead.State != state {
			t.Fatalf("a number of %s, and the state %s", state, lead.State)
		}
		if zip, ok := m["zip"].(string); ok && byZip[zip] != state+m["city"].(string) {
			t.Fatalf("%s is the ZIP code of %s, not of %s in %s", zip, byZip[zip], m["city"], state)
		}
	}
}

// TestStates: the states proper and the capital are among those that leads come
// from, and nobody is from where no weight is.
func TestStates(t *testing.T) {
	states := States()
	if len(states) != 52 || !slices.Contains(states, "WY") || !slices.Contains(states, "DC") || slices.Contains(states, "AE") {
		t.Errorf("%d states: %q", len(states), states)
	}
}
