package engine

import (
	"bytes"
	"strconv"

	"pingpost/api/errcode"
	"pingpost/engine/event"
	"pingpost/engine/market"
	"pingpost/engine/market/format"
)

// fillEarlier makes a lead again of what the ping said, by the fields that the
// campaign has now. What was a field of another form then is left out: the sale
// goes by what is configured now, but for the price.
func (in *ingest) fillEarlier(mapping *market.Mapping) {
	earlier := &in.promise.earlier
	earlier.Reset(mapping.Slots())
	if in.promise.auction == nil {
		return
	}
	slots := make(map[string]market.Slot, mapping.Slots())
	for slot := range earlier.Values {
		slots[mapping.LogName(market.Slot(slot))] = market.Slot(slot)
		slots[mapping.ArrivalName(market.Slot(slot))] = market.Slot(slot) // as earlier programs wrote it
	}
	for i := range in.promise.auction.fields {
		field := &in.promise.auction.fields[i]
		if slot, ok := slots[field.Name]; ok {
			earlier.Values[slot] = valueOf(field, mapping.TypeOf(slot))
		}
	}
}

// valueOf is a recorded field's value, absent where the type takes no such.
func valueOf(field *event.Field, as market.FieldType) market.Value {
	form := market.KindString
	switch as {
	case market.TypeInteger:
		form = market.KindInteger
	case market.TypeNumber:
		form = market.KindNumber
	case market.TypeBoolean:
		form = market.KindBoolean
	}
	if field.Kind != form {
		return market.Value{}
	}
	value := market.Value{Kind: form, Text: field.Text}
	if form == market.KindInteger || form == market.KindNumber {
		var err error
		if value.Num, err = strconv.ParseFloat(string(field.Text), 64); err != nil {
			return market.Value{}
		}
	}
	return value
}

// matchPing reports where the lead contradicts its ping: buyers bid for that
// place and no other.
func (in *ingest) matchPing(statePath, zipPath string) {
	then, now := in.promise.earlier.Values, in.lead.Values
	if differ(then[market.SlotState], now[market.SlotState], nil) {
		in.fault(statePath, errcode.FieldPingMismatch, "the state of the ping")
	}
	if differ(then[market.SlotZip], now[market.SlotZip], format.ZIP3) {
		in.fault(zipPath, errcode.FieldPingMismatch, "a ZIP code that begins as the ping's zip3")
	}
}

// differ tells whether both are there and are not the same, as seen by the view.
func differ(a, b market.Value, view func([]byte) []byte) bool {
	if a.Kind == market.KindAbsent || b.Kind == market.KindAbsent {
		return false
	}
	if view != nil {
		return !bytes.Equal(view(a.Text), view(b.Text))
	}
	return !bytes.Equal(a.Text, b.Text)
}
