package adapter

import (
	"fmt"
	"strings"

	"pingpost/engine/market"
)

// Check tests the template against a campaign. Every named field must be one of the
// campaign's, and in a ping one that pings may carry. The bodies must be well formed,
// which Check tests with sample leads: one with every value, and one with only the values
// that no lead lacks. Each is combined with all values beside the lead and with the
// mandatory ones. For each named field, Check also changes both samples: absent, true and
// false, each value of an enum, and every constant that the field, or a function's result
// from it, is compared with. The samples contain the special characters of JSON, XML and
// forms.
//
// A template that passes is well formed for every lead as far as one field's value decides
// which parts are written. An if over several fields at once, or over a hash or a part of
// a date, may hide a mistake such as an extra comma.
func (a *Template) Check(m *market.Mapping) (mistakes []market.TemplateError) {
	told := map[fieldUseKey]bool{}
	for _, use := range a.uses {
		key := fieldUseKey{use.name, use.line}
		if message := a.fieldMistake(m, use.name); message != "" && !told[key] {
			told[key] = true
			mistakes = append(mistakes, market.TemplateError{Line: use.line, Message: message})
		}
	}
	if len(mistakes) > 0 {
		return mistakes
	}
	if bad := a.checkSamples(m); bad != nil {
		return []market.TemplateError{{Line: 1, Message: bad.String()}}
	}
	return nil
}

type fieldUseKey struct {
	name string
	line int
}

// fieldMistake returns the mistake in using the field here, or an empty string.
func (a *Template) fieldMistake(m *market.Mapping, name string) string {
	if name == "zip3" {
		return ""
	}
	slot, ok := m.SlotOf(name)
	switch {
	case !ok:
		return "there is no field " + market.ShortenName([]byte(name)) + suggestName(m, name)
	case a.purpose == forPost:
		return ""
	case m.IsContact(slot):
		return name + " says who the person is, and a ping never does; remove it"
	case slot == market.SlotZip:
		return "a ping never tells the whole zip; write .zip3"
	case !m.InPing(slot):
		return name + " is not marked ping: true, so pings do not carry it; mark it, or remove it here"
	}
	return ""
}

// suggestName suggests a correction for a field that is known by its arriving name or with
// other capitals.
func suggestName(m *market.Mapping, name string) string {
	if slot, ok := m.SlotOfArrival(name); ok {
		return "; towards buyers it is called " + m.BuyerName(slot)
	}
	for _, known := range m.BuyerNames() {
		if strings.EqualFold(known, name) {
			return "; it is written " + known
		}
	}
	return "; add it to the campaign's fields, or correct the name"
}

// sampleView returns a sample with all values beside the lead, or with the minimum: no
// auction, no vertical.
func (a *Template) sampleView(m *market.Mapping, l *market.Lead, bare bool) view {
	v := view{mapping: m, lead: l, sample: true}
	said := string(market.SampleText)
	if bare {
		said = ""
	}
	if a.purpose == forPing {
		v.ping = &market.PingHeader{Vertical: string(market.SampleText), SubVertical: said, ExpiresAt: 1_770_000_000_000_000_000}
	} else {
		v.post = &market.PostHeader{
			Token: said, Vertical: said, SubVertical: said,
			Price: 12_500_000, Currency: market.Currency{'U', 'S', 'D'},
		}
	}
	return v
}

func (a *Template) checkSamples(m *market.Mapping) *bodyError {
	for _, whole := range [...]bool{true, false} {
		lead := m.SampleLead(whole, a.purpose == forPing)
		if bad := a.checkSample(m, lead, false); bad != nil {
			return bad
		}
		if bad := a.checkSample(m, lead, true); bad != nil {
			bad.where = ", where there was no auction, or the campaign has no vertical or sub_vertical"
			return bad
		}
		if bad := a.checkFieldSamples(m, lead); bad != nil {
			return bad
		}
	}
	return nil
}

// checkFieldSamples changes one field of a sample at a time.
func (a *Template) checkFieldSamples(m *market.Mapping, lead *market.Lead) *bodyError {
	tried := map[market.Slot]bool{}
	for _, use := range a.uses {
		slot, ok := m.SlotOf(use.name)
		if !ok {
			slot = market.SlotZip
		}
		var values []market.Value
		for _, v := range use.comparedWith {
			if v, ok := m.FieldValue(slot, v); ok {
				values = append(values, v)
			}
		}
		if !tried[slot] {
			values = append(values, m.SampleValues(slot, a.purpose == forPing)...)
		}
		tried[slot] = true
		kept := lead.Values[slot]
		for _, v := range values {
			lead.Values[slot] = v
			if bad := a.checkSample(m, lead, false); bad != nil {
				bad.where = ", where " + use.name + " is " + describeSample(v)
				return bad
			}
		}
		lead.Values[slot] = kept
	}
	return nil
}

func describeSample(v market.Value) string {
	if v.Kind == market.KindAbsent {
		return "not known"
	}
	return string(v.AppendJSON(nil))
}

// checkSample writes one body and checks that it is well formed.
func (a *Template) checkSample(m *market.Mapping, l *market.Lead, bare bool) *bodyError {
	body, ok := a.write(nil, a.sampleView(m, l, bare))
	if !ok {
		return &bodyError{why: fmt.Sprintf("the body is over %d bytes", MaxBody)}
	}
	return checkBody(a.format, body)
}
