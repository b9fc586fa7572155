package fakedata

import (
	"strings"
	"testing"

	"github.com/nyaruka/phonenumbers"

	"pingpost/engine/market"
	"pingpost/engine/market/format"
	"pingpost/internal/must"
)

// zipRanges has the first three ZIP digits of each state.
var zipRanges = map[string]string{
	"AL": "350-369", "AK": "995-999", "AZ": "850-865", "AR": "716-729", "CA": "900-961", "CO": "800-816", "CT": "060-069",
	"DE": "197-199", "DC": "200-205", "FL": "320-339 341-349", "GA": "300-319 398-399", "HI": "967-968", "ID": "832-838",
	"IL": "600-629", "IN": "460-479", "IA": "500-528", "KS": "660-679", "KY": "400-427", "LA": "700-714", "ME": "039-049",
	"MD": "206-219", "MA": "010-027", "MI": "480-499", "MN": "550-567", "MS": "386-397", "MO": "630-658", "MT": "590-599",
	"NE": "680-693", "NV": "889-898", "NH": "030-038", "NJ": "070-089", "NM": "870-884", "NY": "100-149", "NC": "270-289",
	"ND": "580-588", "OH": "430-459", "OK": "730-749", "OR": "970-979", "PA": "150-196", "PR": "006-007 009-009",
	"RI": "028-029", "SC": "290-299", "SD": "570-577", "TN": "370-385", "TX": "750-799", "UT": "840-847", "VT": "050-059",
	"VA": "201-201 220-246", "WA": "980-994", "WV": "247-268", "WI": "530-549", "WY": "820-831", "VI": "008-008",
	"GU": "969-969", "MP": "969-969", "AS": "967-967", "AA": "340-340", "AE": "090-098", "AP": "962-966",
}

// stateNames has libphonenumber's names of states. Military numbers belong to the state that
// forwards the mail.
var stateNames = map[string]string{
	"AL": "Alabama", "AK": "Alaska", "AZ": "Arizona", "AR": "Arkansas", "CA": "California", "CO": "Colorado", "CT": "Connecticut",
	"DE": "Delaware", "DC": "Washington D.C.", "FL": "Florida", "GA": "Georgia", "HI": "Hawaii", "ID": "Idaho", "IL": "Illinois",
	"IN": "Indiana", "IA": "Iowa", "KS": "Kansas", "KY": "Kentucky", "LA": "Louisiana", "ME": "Maine", "MD": "Maryland",
	"MA": "Massachusetts", "MI": "Michigan", "MN": "Minnesota", "MS": "Mississippi", "MO": "Missouri", "MT": "Montana",
	"NE": "Nebraska", "NV": "Nevada", "NH": "New Hampshire", "NJ": "New Jersey", "NM": "New Mexico", "NY": "New York",
	"NC": "North Carolina", "ND": "North Dakota", "OH": "Ohio", "OK": "Oklahoma", "OR": "Oregon", "PA": "Pennsylvania",
	"PR": "Puerto Rico", "RI": "Rhode Island", "SC": "South Carolina", "SD": "South Dakota", "TN": "Tennessee", "TX": "Texas",
	"UT": "Utah", "VT": "Vermont", "VA": "Virginia", "WA": "Washington State", "WV": "West Virginia", "WI": "Wisconsin",
	"WY": "Wyoming", "VI": "U.S. Virgin Islands", "GU": "Guam", "MP": "Northern Mariana Islands", "AS": "American Samoa",
	"AA": "Florida", "AE": "New York", "AP": "California",
}

func isInRanges(ranges, zip string) bool {
	for r := range strings.FieldsSeq(ranges) {
		if low, high, _ := strings.Cut(r, "-"); low <= zip[:3] && zip[:3] <= high {
			return true
		}
	}
	return false
}

func TestAllStatesHavePlace(t *testing.T) {
	n := 0
	for a := 'A'; a <= 'Z'; a++ {
		for b := 'A'; b <= 'Z'; b++ {
			state := market.ParseUSStateCode([]byte{byte(a), byte(b)})
			if state == market.NoState {
				continue
			}
			n++
			if p := MustDataOfUSState(state); p.State != state.String() {
				t.Errorf("%s: %+v", state, p)
			}
		}
	}
	if n != len(AllUSStateData()) || n != len(zipRanges) {
		t.Errorf("%d states, %d places", n, len(AllUSStateData()))
	}
	defer func() {
		if recover() == nil {
			t.Error("DataOfUSState(NoState) does not panic")
		}
	}()
	MustDataOfUSState(market.NoState)
}

func TestPlaces(t *testing.T) {
	areas := map[string]string{}
	for _, p := range AllUSStateData() {
		if len(p.Areas) == 0 || len(p.Towns) == 0 {
			t.Errorf("%s: %+v", p.State, p)
		}
		for _, area := range p.Areas {
			if other := areas[area]; other != "" {
				t.Errorf("area code %s is in %s and in %s", area, other, p.State)
			}
			areas[area] = p.State
			number := must.Value(phonenumbers.Parse("+1"+area+"5550123", ""))(t)
			where, err := phonenumbers.GetGeocodingForNumber(number, "en")
			if err != nil || where != stateNames[p.State] && !strings.HasSuffix(where, ", "+p.State) {
				t.Errorf("area code %s belongs to %s, not to %s (%v)", area, where, p.State, err)
			}
		}
		for _, town := range p.Towns {
			if len(town.Zip) != 5 || !isInRanges(zipRanges[p.State], town.Zip) || len(town.Name) < 3 {
				t.Errorf("%s: %+v", p.State, town)
			}
		}
	}
}

// TestPhones: all numbers of a place come before one repeats, and each is fictional and
// valid for an exchange.
func TestPhones(t *testing.T) {
	for _, p := range AllUSStateData() {
		seen := map[string]bool{}
		for n := range p.PhoneCount() {
			phone := p.Phone(n)
			if form, ok := format.AppendPhoneAsE164(nil, []byte(phone)); !ok || string(form) != phone || phone[5:10] != "55501" {
				t.Fatalf("%s: %s", p.State, phone)
			}
			seen[phone] = true
		}
		if len(seen) != p.PhoneCount() || len(seen) != 100*len(p.Areas) || p.Phone(p.PhoneCount()) != p.Phone(0) {
			t.Errorf("%s: %d numbers of %d", p.State, len(seen), p.PhoneCount())
		}
	}
}

// TestNamesHaveASCIILetter: an e-mail address needs one.
func TestNamesHaveASCIILetter(t *testing.T) {
	for _, names := range [][]string{firstNames, lastNames} {
		for _, name := range names {
			if lowerASCIILetters(name) == "" {
				t.Errorf("%s has no ASCII letter", name)
			}
		}
	}
}
