package format

import (
	"fmt"
	"testing"

	"github.com/nyaruka/phonenumbers"
)

// TestFullyAssignedAreas: the table may lack areas, but must not contain one that is not fully
// assigned. It samples the exchanges of each area.
func TestFullyAssignedAreas(t *testing.T) {
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
				t.Errorf("area %s does not have exchange %d: remove it from the table", code, exchange)
			}
		}
	}
	if areas < 400 {
		t.Errorf("the table has only %d areas", areas)
	}
	for _, code := range []string{"000", "199", "242", "411", "555", "911", "999"} {
		if fullyAssignedAreas.has([]byte(code)) {
			t.Errorf("area %s is in the table", code)
		}
	}
}
