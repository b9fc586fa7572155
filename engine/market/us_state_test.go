package market_test

import (
	"strings"
	"testing"

	"pingpost/engine/market"
	"pingpost/engine/market/format"
)

// usps is the postal service's list: states, district, territories, military.
const usps = "AL AK AZ AR CA CO CT DE FL GA HI ID IL IN IA KS KY LA ME MD MA MI MN MS MO MT NE NV NH NJ NM NY NC ND OH OK OR PA " +
	"RI SC SD TN TX UT VT VA WA WV WI WY DC AS GU MP PR VI AA AE AP"

func TestParseUSStateAcceptsExactlyUSPSCodes(t *testing.T) {
	isCode := map[string]bool{}
	for _, code := range strings.Fields(usps) {
		isCode[code] = true
	}
	seen := map[market.USState]string{}
	for a := range 256 {
		for b := range 256 {
			text := string([]byte{byte(a), byte(b)})
			state := market.ParseUSStateCode([]byte(text))
			if (state != market.NoState) != isCode[text] {
				t.Errorf("%q is parsed as state %d", text, state)
			}
			if state == market.NoState {
				continue
			}
			if other, twice := seen[state]; twice {
				t.Errorf("%s and %s are the same state", text, other)
			}
			seen[state] = text
			if state.String() != text || !market.AllStates.Has(state) {
				t.Errorf("String of %s is %s", text, state)
			}
		}
	}
	if len(seen) != 59 {
		t.Errorf("%d states, want 59", len(seen))
	}
	for _, text := range []string{"", "C", "CAL", "ca", "Ca", " CA"} {
		if market.ParseUSStateCode([]byte(text)) != market.NoState {
			t.Errorf("%q is accepted as a state", text)
		}
	}
	if market.NoState.String() != "" || market.USState(60).String() != "" || market.USState(255).String() != "" {
		t.Error("an invalid state has a code")
	}
}

func TestParseUSStates(t *testing.T) {
	california, nevada := market.ParseUSStateCode([]byte("CA")), market.ParseUSStateCode([]byte("NV"))
	set, err := market.ParseUSStatesOrAll([]string{"CA", "AZ"})
	if err != nil || !set.Has(california) || set.Has(nevada) || set.Has(market.NoState) {
		t.Errorf("CA, AZ: %b %v", set, err)
	}
	if set = set.WithState(nevada).WithState(market.NoState); !set.Has(nevada) || set.Has(market.NoState) {
		t.Errorf("with NV: %b", set)
	}
	if set, err := market.ParseUSStatesOrAll(nil); err != nil || set != market.AllStates || set.Has(market.NoState) {
		t.Errorf("empty list: %b %v", set, err)
	}
	for _, codes := range [][]string{{"CA", "CA"}, {"ca"}, {""}, {"XX"}, {"California"}} {
		if _, err := market.ParseUSStatesOrAll(codes); err == nil {
			t.Errorf("%v is accepted", codes)
		}
	}
}

func TestZIP3(t *testing.T) {
	for zip, want := range map[string]string{
		"94107": "941", "00501": "005", "94107-1234": "941", "941": "941",
		"": "", "94": "", "9410": "", "941071": "", "94107-": "", "94107-123": "", "94107 1234": "", "9410a": "", "٩٤١٠٧": "",
	} {
		if got := format.ZIPPrefix3([]byte(zip)); string(got) != want {
			t.Errorf("%q: %q, want %q", zip, got, want)
		}
	}
}
