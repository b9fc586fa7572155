package event

import (
	"reflect"
	"testing"
)

// A replay may leave out what applying never looks at, and nothing else.
func TestBriefLeavesOutFieldsAndTrailOfALead(t *testing.T) {
	brief, whole := Decoder{Brief: true}, Decoder{}
	for _, e := range everyKind() {
		data := Append(nil, fill(e))
		want, err := whole.Decode(data)
		if err != nil {
			t.Fatal(err)
		}
		if lead, ok := want.(*LeadDecided); ok {
			if len(lead.Fields) == 0 || len(lead.Trail) == 0 {
				t.Fatal("the lead has nothing to leave out")
			}
			lead.Fields, lead.Trail = nil, nil
		}
		got, err := brief.Decode(data)
		if err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %+v, want %+v", e.Kind(), got, want)
		}
	}
}
