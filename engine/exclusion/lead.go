package exclusion

import (
	"strconv"

	"pingpost/engine/event"
	"pingpost/engine/market"
)

// FillLead copies recorded fields into the slots of the mapping. It knows a field by its name in the
// log, by the supplier's name (contact fields, and plain fields in old logs), and omits a field
// whose type has changed since. The caller has reset the lead.
func FillLead(lead *market.Lead, mapping *market.FieldMapping, recorded []event.LeadField) {
	slots := make(map[string]market.LeadFieldIndex, mapping.SlotCount())
	for slot := range lead.Values {
		slots[mapping.FieldNameInLog(market.LeadFieldIndex(slot))] = market.LeadFieldIndex(slot)
		slots[mapping.FieldNameFromSuppliers(market.LeadFieldIndex(slot))] = market.LeadFieldIndex(slot)
	}
	for i := range recorded {
		if slot, ok := slots[recorded[i].Name]; ok {
			lead.Values[slot] = leadValueOrAbsent(&recorded[i], mapping.FieldTypeOf(slot))
		}
	}
}

// leadValueOrAbsent returns the value of a field from the log, or the absent value if its type is
// not wantedType.
func leadValueOrAbsent(field *event.LeadField, wantedType market.FieldType) market.FieldValue {
	form := market.KindString
	switch wantedType {
	case market.TypeInteger:
		form = market.KindInteger
	case market.TypeNumber:
		form = market.KindNumber
	case market.TypeBoolean:
		form = market.KindBoolean
	}
	if field.Kind != form {
		return market.FieldValue{}
	}
	value := market.FieldValue{Kind: form, Text: field.Text}
	if form == market.KindInteger || form == market.KindNumber {
		var err error
		if value.Num, err = strconv.ParseFloat(string(field.Text), 64); err != nil {
			return market.FieldValue{}
		}
	}
	return value
}
