package engine

import (
	"bytes"
	"strconv"

	"pingpost/api/errcode"
	"pingpost/engine/event"
	"pingpost/engine/market"
	"pingpost/engine/market/format"
)

// fillFromPing fills pingLead with the ping's fields, by the campaign's present mapping. It
// omits a field whose type has changed since, because the sale follows the present
// configuration, except for the price.
func (in *ingest) fillFromPing(mapping *market.Mapping) {
	earlier := &in.accepted.pingLead
	earlier.Reset(mapping.SlotCount())
	if in.accepted.auction == nil {
		return
	}
	slots := make(map[string]market.Slot, mapping.SlotCount())
	for slot := range earlier.Values {
		slots[mapping.LogName(market.Slot(slot))] = market.Slot(slot)
		slots[mapping.ArrivalName(market.Slot(slot))] = market.Slot(slot) // the name in old logs
	}
	for i := range in.accepted.auction.fields {
		field := &in.accepted.auction.fields[i]
		if slot, ok := slots[field.Name]; ok {
			earlier.Values[slot] = valueOf(field, mapping.TypeOf(slot))
		}
	}
}

// valueOf returns a recorded field's value, or the absent value if the type does not fit.
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

// checkAgainstPing adds a fault if the lead's state or ZIP code differs from the ping's,
// because the buyers bid for that place.
func (in *ingest) checkAgainstPing(statePath, zipPath string) {
	then, now := in.accepted.pingLead.Values, in.lead.Values
	if differ(then[market.SlotState], now[market.SlotState], nil) {
		in.addFault(statePath, errcode.FieldPingMismatch, "the state of the ping")
	}
	if differ(then[market.SlotZip], now[market.SlotZip], format.CutZIP3) {
		in.addFault(zipPath, errcode.FieldPingMismatch, "a ZIP code that begins as the ping's zip3")
	}
}

// differ reports whether both values are present and differ. If part is not nil, it
// compares only the part that this function returns.
func differ(a, b market.Value, part func([]byte) []byte) bool {
	if a.Kind == market.KindAbsent || b.Kind == market.KindAbsent {
		return false
	}
	if part != nil {
		return !bytes.Equal(part(a.Text), part(b.Text))
	}
	return !bytes.Equal(a.Text, b.Text)
}
