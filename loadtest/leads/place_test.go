package leads

import (
	"testing"

	"pingpost/engine/market"
)

// zipsOf are the first digits of a state's ZIP codes.
var zipsOf = map[string]string{
	"CA": "9", "TX": "7", "FL": "3", "NY": "1", "PA": "1", "IL": "6", "OH": "4", "GA": "3", "NC": "2", "MI": "4", "NJ": "0", "VA": "2",
	"WA": "9", "AZ": "8", "TN": "3", "MA": "0", "IN": "4", "MO": "6", "CO": "8", "MN": "5", "NV": "8", "UT": "8", "OR": "9", "HI": "9",
}

func TestPlaces(t *testing.T) {
	areas := map[string]string{}
	for _, p := range places {
		if p.weight < 1 || len(p.areas) == 0 || len(p.towns) == 0 {
			t.Errorf("%s: %+v", p.state, p)
		}
		for _, area := range p.areas {
			if other := areas[area]; other != "" {
				t.Errorf("area code %s is in %s and in %s", area, other, p.state)
			}
			areas[area] = p.state
			if _, ok := market.ParsePhone(nil, []byte(area+"5550100")); !ok {
				t.Errorf("%s: %s is no area code", p.state, area)
			}
			if _, ok := market.ParsePhone(nil, []byte(area+"7311000")); !ok {
				t.Errorf("%s: nobody has a number in %s", p.state, area)
			}
		}
		for _, town := range p.towns {
			if len(town.zip) != 5 || town.zip[:1] != zipsOf[p.state] || len(town.name) < 3 {
				t.Errorf("%s: %+v", p.state, town)
			}
		}
	}
	if len(States()) != len(zipsOf) {
		t.Errorf("%d states, want %d", len(States()), len(zipsOf))
	}
}

// TestPlacesBelongTogether holds the parts of a lead against each other.
func TestPlacesBelongTogether(t *testing.T) {
	byArea, byZip := map[string]string{}, map[string]string{}
	for _, p := range places {
		for _, area := range p.areas {
			byArea[area] = p.state
		}
		for _, town := range p.towns {
			byZip[town.zip] = p.state + town.name
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

func TestLetters(t *testing.T) {
	for name, want := range map[string]string{"O'Neil": "oneil", "Núñez": "nez", "Saint-Clair": "saintclair", "": ""} {
		if got := letters(name); got != want {
			t.Errorf("%q: %q, want %q", name, got, want)
		}
	}
}

// TestNamesMakeAddresses: every name keeps a letter for its e-mail address.
func TestNamesMakeAddresses(t *testing.T) {
	for _, names := range [][]string{firstNames, lastNames} {
		for _, name := range names {
			if letters(name) == "" {
				t.Errorf("%s has no plain letter", name)
			}
		}
	}
}
