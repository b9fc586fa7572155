package format

import (
	"fmt"
	"testing"

	"github.com/nyaruka/phonenumbers"
)

// The table may hold fewer areas than it could, never one too many. Exchanges
// are sampled: each area is tried with other ones.
func TestEveryWholeAreaIsWhole(t *testing.T) {
	areas := 0
	for area := range 1000 {
		code := fmt.Sprintf("%03d", area)
		if !fullyAssignedAreas.has([]byte(code)) {
			continue
		}
		areas++
		for step := range 8 {
			exchange := 200 + (step*101+area*37)%800
			number, err := phonenumbers.Parse(fmt.Sprintf("+1%s%d%04d", code, exchange, (area*7919+step*31)%10000), "")
			if err != nil || !phonenumbers.IsValidNumber(number) {
				t.Errorf("area %s does not have exchange %d: take it out of wholeAreas", code, exchange)
			}
		}
	}
	if areas < 400 {
		t.Errorf("only %d areas are in the table", areas)
	}
	for _, code := range []string{"000", "199", "242", "411", "555", "911", "999"} {
		if fullyAssignedAreas.has([]byte(code)) {
			t.Errorf("area %s is in the table", code)
		}
	}
}
