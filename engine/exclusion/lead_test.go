package exclusion

import (
	"fmt"
	"testing"

	"pingpost/engine/event"
	"pingpost/engine/market"
)

// A logged value is absent if the field has another type now.
func TestFieldValueFromLog(t *testing.T) {
	tests := []struct {
		kind market.FieldValueKind
		text string
		as   market.FieldType
		want string
	}{
		{market.KindString, "CA", market.TypeState, "CA 0"},
		{market.KindString, "CA", market.TypeInteger, "absent"},
		{market.KindInteger, "12", market.TypeInteger, "12 12"},
		{market.KindInteger, "12", market.TypeNumber, "absent"},
		{market.KindNumber, "1.5", market.TypeNumber, "1.5 1.5"},
		{market.KindNumber, "x", market.TypeNumber, "absent"},
		{market.KindBoolean, "true", market.TypeBoolean, "true 0"},
		{market.KindBoolean, "true", market.TypeString, "absent"},
		{market.KindRaw, "[1]", market.TypeString, "absent"},
	}
	for _, test := range tests {
		value := leadValueOrAbsent(&event.LeadField{Kind: test.kind, Text: []byte(test.text)}, test.as)
		got := fmt.Sprintf("%s %g", value.Text, value.Num)
		if value.Kind == market.KindAbsent {
			got = "absent"
		}
		if got != test.want {
			t.Errorf("%s as %s: %s, want %s", test.text, test.as, got, test.want)
		}
	}
}
