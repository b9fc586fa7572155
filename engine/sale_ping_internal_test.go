package engine

import (
	"testing"

	"pingpost/engine/event"
	"pingpost/engine/market"
)

// TestFieldsOfAPing: a field that arrives by another name is read back from a ping's fact
// by its known name, under which it is written, and by that under which it arrives, as
// earlier programs wrote it.
func TestFieldsOfAPing(t *testing.T) {
	mapping, err := market.NewMapping(market.MappingSpec{Fields: []market.FieldSpec{
		{Name: "utm_source", BuyerName: "source", Type: market.TypeString}, {Name: "homeowner", BuyerName: "owns_home", Type: market.TypeString},
	}})
	if err != nil {
		t.Fatal(err)
	}
	for name, slot := range map[string]market.Slot{"source": market.SlotSource, "utm_source": market.SlotSource, "homeowner": market.FirstCustomSlot} {
		in := new(ingest)
		in.accepted.auction = &pastAuction{fields: []event.Field{{Name: name, Kind: market.KindString, Text: []byte("x")}}}
		in.fillFromPing(mapping)
		if got := string(in.accepted.pingLead.Values[slot].Text); got != "x" {
			t.Errorf("%s: %q", name, got)
		}
	}
	for slot, want := range map[market.Slot]string{market.SlotSource: "source", market.FirstCustomSlot: "homeowner"} {
		if got := mapping.LogName(slot); got != want {
			t.Errorf("the log calls %s %s", want, got)
		}
	}
}
