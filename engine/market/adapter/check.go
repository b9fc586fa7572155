package adapter

import (
	"fmt"
	"strings"

	"pingpost/engine/market"
)

// Check tests the template against a campaign. Every field that it names must be one of the
// campaign's, and in a ping one that pings may have. The bodies must be well formed, which Check
// tests with sample leads: one with every value, and one with only the values that every lead
// has. Each is combined with all request values, and with the mandatory ones alone.
//
// For each named field, Check also changes both samples: absent, true and false, each value of an
// enum, and every constant that the field, or a function's result from it, is compared with. The
// samples contain the special characters of JSON, XML and forms.
//
// A template that passes writes well-formed bodies for every lead, if each of its conditions
// depends on one field. A condition on several fields, on a hash or on a part of a date can still
// hide a mistake such as an extra comma.
func (t *Template) Check(m *market.FieldMapping) (mistakes []market.TemplateError) {
	reported := map[fieldUseOnLine]bool{}
	for _, use := range t.uses {
		key := fieldUseOnLine{use.name, use.line}
		if message := t.checkFieldUse(m, use.name); message != "" && !reported[key] {
			reported[key] = true
			mistakes = append(mistakes, market.TemplateError{Line: use.line, Message: message})
		}
	}
	if len(mistakes) > 0 {
		return mistakes
	}
	if bad := t.checkBodiesOfSampleLeads(m); bad != nil {
		return []market.TemplateError{{Line: 1, Message: bad.String()}}
	}
	return nil
}

// fieldUseOnLine identifies the uses of a field on one line, so that Check reports a mistake there
// once.
type fieldUseOnLine struct {
	name string
	line int
}

// checkFieldUse returns the mistake if this template may not use the field fieldName, or an empty
// string.
func (t *Template) checkFieldUse(m *market.FieldMapping, fieldName string) (mistake string) {
	if fieldName == "zip3" {
		return ""
	}
	slot, ok := m.SlotByNameForBuyers(fieldName)
	switch {
	case !ok:
		return "there is no field " + market.ShortenMemberName([]byte(fieldName)) + suggestFieldName(m, fieldName)
	case t.kind == postBody:
		return ""
	case m.IsContactField(slot):
		return fieldName + " identifies the person, so a ping cannot have it; remove it"
	case slot == market.SlotZip:
		return "a ping cannot have the whole zip; write .zip3"
	case !m.IsSentInPings(slot):
		return fieldName + " is not marked ping: true, so pings do not have it; mark it in the campaign's fields, or remove it from the template"
	}
	return ""
}

// suggestFieldName returns the end of a message about an unknown field: the right name, if this is the
// suppliers' name of a field or differs only in capitals, else general advice.
func suggestFieldName(m *market.FieldMapping, unknownName string) (messageEnd string) {
	if slot, ok := m.SlotByNameFromSuppliers(unknownName); ok {
		return "; the field's name for buyers is " + m.FieldNameForBuyers(slot)
	}
	for _, known := range m.FieldNamesForBuyers() {
		if strings.EqualFold(known, unknownName) {
			return "; capitals matter, write " + known
		}
	}
	return "; add it to the campaign's fields, or correct the name"
}

// newSampleTemplateData returns the data for a sample body of the lead l. With
// omitOptionalMetadata, the optional request values are empty: the sub-vertical and, in a post, the
// token and the vertical.
func (t *Template) newSampleTemplateData(m *market.FieldMapping, l *market.Lead, omitOptionalMetadata bool) bodyData {
	v := bodyData{mapping: m, lead: l, sample: true}
	optional := string(market.SampleText)
	if omitOptionalMetadata {
		optional = ""
	}
	if t.kind == pingBody {
		v.ping = &market.BuyerPingMetadata{Vertical: string(market.SampleText), SubVertical: optional, ExpiresAt: 1_770_000_000_000_000_000}
	} else {
		v.post = &market.BuyerPostMetadata{
			Token: optional, Vertical: optional, SubVertical: optional,
			Price: 12_500_000, Currency: market.Currency{'U', 'S', 'D'},
		}
	}
	return v
}

// checkBodiesOfSampleLeads writes bodies for sample leads and checks them. It returns the first
// mistake, or nil.
func (t *Template) checkBodiesOfSampleLeads(m *market.FieldMapping) *malformedBodyError {
	for _, whole := range [...]bool{true, false} {
		lead := m.NewSampleLead(whole, t.kind == pingBody)
		if bad := t.checkBodyOfSampleLead(m, lead, false); bad != nil {
			return bad
		}
		if bad := t.checkBodyOfSampleLead(m, lead, true); bad != nil {
			bad.sampleCase = ", for a lead without auction or a campaign without vertical or sub_vertical"
			return bad
		}
		if bad := t.checkBodiesOfFieldVariants(m, lead); bad != nil {
			return bad
		}
	}
	return nil
}

// checkBodiesOfFieldVariants checks bodies for variants of the sample lead. In each variant, one field
// that the template names has another value.
func (t *Template) checkBodiesOfFieldVariants(m *market.FieldMapping, sampleLead *market.Lead) *malformedBodyError {
	tried := map[market.LeadFieldIndex]bool{}
	for _, use := range t.uses {
		slot, ok := m.SlotByNameForBuyers(use.name)
		if !ok {
			slot = market.SlotZip
		}
		var values []market.FieldValue
		for _, v := range use.comparedWith {
			if v, ok := m.ConstantAsFieldValue(slot, v); ok {
				values = append(values, v)
			}
		}
		if !tried[slot] {
			values = append(values, m.SampleValuesOfField(slot, t.kind == pingBody)...)
		}
		tried[slot] = true
		kept := sampleLead.Values[slot]
		for _, v := range values {
			sampleLead.Values[slot] = v
			if bad := t.checkBodyOfSampleLead(m, sampleLead, false); bad != nil {
				bad.sampleCase = ", for a lead whose " + use.name + " is " + describeSampleValue(v)
				return bad
			}
		}
		sampleLead.Values[slot] = kept
	}
	return nil
}

// describeSampleValue returns a sample value as text for a mistake.
func describeSampleValue(v market.FieldValue) string {
	if v.Kind == market.KindAbsent {
		return "absent"
	}
	return string(v.AppendJSON(nil))
}

// checkBodyOfSampleLead writes one body for the lead and returns the mistake if the body is not well
// formed.
func (t *Template) checkBodyOfSampleLead(m *market.FieldMapping, l *market.Lead, omitOptionalMetadata bool) *malformedBodyError {
	body, ok := t.appendBody(nil, t.newSampleTemplateData(m, l, omitOptionalMetadata))
	if !ok {
		return &malformedBodyError{reason: fmt.Sprintf("the body is over %d bytes", MaxBody)}
	}
	return checkBodyWellFormed(t.format, body)
}
