package market

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Check judges the template against a campaign: every field that it names must
// be one of the campaign's, and in a ping one that pings may carry; and what it
// writes must be well formed. That is proven with sample leads: one with every
// value, one with none but those that no lead lacks, each with all that is said
// beside a lead and with what always is; and for each field that is named each of
// these two with that field changed: left out, true and false, each value of an
// enum, and every constant that it, or what functions make of it, is compared
// with. The samples hold the characters that mean something in JSON, XML and forms.
//
// What Check passes is well formed for every lead, as far as a field's value
// alone decides which parts are written. An if over several fields at once, or
// over what a hash or a part of a date happens to be, may hide a comma too many
// from it.
func (a *Adapter) Check(m *Mapping) (mistakes []TemplateError) {
	told := map[fieldUseKey]bool{}
	for _, use := range a.uses {
		key := fieldUseKey{use.name, use.line}
		if message := a.judge(m, use.name); message != "" && !told[key] {
			told[key] = true
			mistakes = append(mistakes, TemplateError{use.line, message})
		}
	}
	if len(mistakes) > 0 {
		return mistakes
	}
	if bad := a.trySamples(m); bad != nil {
		return []TemplateError{{1, bad.String()}}
	}
	return nil
}

type fieldUseKey struct {
	name string
	line int
}

// judge says what is wrong with naming the field here.
func (a *Adapter) judge(m *Mapping, name string) string {
	if name == "zip3" {
		return ""
	}
	slot, ok := m.mapped[name]
	switch {
	case !ok:
		return "there is no field " + shortName([]byte(name)) + m.near(name)
	case a.purpose == forPost:
		return ""
	case m.rules[slot].contact:
		return name + " says who the person is, and a ping never does; remove it"
	case slot == SlotZip:
		return "a ping never tells the whole zip; write .zip3"
	case !m.rules[slot].ping:
		return name + " is not marked ping: true, so pings do not carry it; mark it, or remove it here"
	}
	return ""
}

// near helps with a field that is known by the name under which it arrives, or
// with other capitals.
func (m *Mapping) near(name string) string {
	if slot, ok := m.arrive[name]; ok {
		return "; towards buyers it is called " + m.rules[slot].to
	}
	for _, known := range slices.Sorted(maps.Keys(m.mapped)) {
		if strings.EqualFold(known, name) {
			return "; it is written " + known
		}
	}
	return "; add it to the campaign's fields, or correct the name"
}

// sampleText has what a lead could try to break a body with.
var sampleText = []byte("a\"b'c\\d<e>&amp;f{{.x}}]]>--g%26=h+i\té\U0001F600")

// sampleView is a sample with all that is said beside it, or with as little as
// there can be: no auction, no line of business.
func (a *Adapter) sampleView(m *Mapping, l *Lead, bare bool) view {
	v := view{mapping: m, lead: l}
	said := string(sampleText)
	if bare {
		said = ""
	}
	if a.purpose == forPing {
		v.ping = &PingHead{Vertical: string(sampleText), SubVertical: said, ExpiresAt: 1_770_000_000_000_000_000}
	} else {
		v.post = &PostHead{
			Token: said, Vertical: said, SubVertical: said,
			Price: 12_500_000, Currency: Currency{'U', 'S', 'D'},
		}
	}
	return v
}

func (a *Adapter) trySamples(m *Mapping) *malformed {
	for _, whole := range [...]bool{true, false} {
		lead := m.sample(whole, a.purpose)
		if bad := a.try(m, lead, false); bad != nil {
			return bad
		}
		if bad := a.try(m, lead, true); bad != nil {
			bad.where = ", where there was no auction, or the campaign has no vertical or sub_vertical"
			return bad
		}
		if bad := a.tryFields(m, lead); bad != nil {
			return bad
		}
	}
	return nil
}

// tryFields changes one field of a sample at a time.
func (a *Adapter) tryFields(m *Mapping, lead *Lead) *malformed {
	tried := map[Slot]bool{}
	for _, use := range a.uses {
		slot, ok := m.mapped[use.name]
		if !ok {
			slot = SlotZip
		}
		var values []Value
		for _, v := range use.others {
			if v, ok := m.rules[slot].couldSay(v); ok {
				values = append(values, v)
			}
		}
		if !tried[slot] {
			values = append(values, m.samples(slot, a.purpose)...)
		}
		tried[slot] = true
		kept := lead.Values[slot]
		for _, v := range values {
			lead.Values[slot] = v
			if bad := a.try(m, lead, false); bad != nil {
				bad.where = ", where " + use.name + " is " + describeSample(v)
				return bad
			}
		}
		lead.Values[slot] = kept
	}
	return nil
}

// couldSay is a constant as a value of the field, if it could be one. Values are
// compared as they are written: 2 and "2" are the same.
func (r *rule) couldSay(v Value) (Value, bool) {
	text := string(v.Text)
	switch r.kind {
	case TypeInteger:
		_, code := ReadInteger(v.Text)
		return Value{Kind: KindInteger, Text: v.Text}, code == "" && plainInteger(v.Text)
	case TypeNumber:
		_, code := readNumber(v.Text)
		return Value{Kind: KindNumber, Text: v.Text}, code == ""
	case TypeBoolean:
		return Value{Kind: KindBoolean, Text: v.Text}, text == "true" || text == "false"
	case TypeEnum:
		_, is := r.values[text]
		return textual(v.Text), is
	}
	return textual(v.Text), text != ""
}

func describeSample(v Value) string {
	if v.Kind == KindAbsent {
		return "not known"
	}
	return string(v.AppendJSON(nil))
}

// try writes one body and reads it again.
func (a *Adapter) try(m *Mapping, l *Lead, bare bool) *malformed {
	body, ok := a.write(nil, a.sampleView(m, l, bare))
	if !ok {
		return &malformed{why: fmt.Sprintf("the body is over %d bytes", MaxAdapterBody)}
	}
	return judgeBody(a.format, body)
}

// sample is a lead with every value, or with those alone that none lacks.
func (m *Mapping) sample(whole bool, of purpose) *Lead {
	var l Lead
	l.Reset(len(m.rules))
	for slot := range m.rules {
		if values := m.samples(Slot(slot), of); whole || values[0].Kind != KindAbsent {
			l.Values[slot] = values[len(values)-1]
		}
	}
	return &l
}

// samples are values that a field may have: absent first, unless no lead lacks
// it.
func (m *Mapping) samples(slot Slot, of purpose) (values []Value) {
	r := &m.rules[slot]
	if r.fallback.Kind == KindAbsent && (!r.required || of == forPing && !r.ping) {
		values = append(values, Value{})
	}
	for _, text := range slices.Sorted(maps.Keys(r.values)) {
		values = append(values, textual([]byte(text)))
	}
	if len(r.values) > 0 {
		return values
	}
	switch r.kind {
	case TypeBoolean:
		return append(values, truth(false), truth(true))
	case TypeInteger:
		return append(values, Value{Kind: KindInteger, Text: []byte("12")}, Value{Kind: KindInteger, Text: []byte("-98765")})
	case TypeNumber:
		return append(values, Value{Kind: KindNumber, Text: []byte("12")}, Value{Kind: KindNumber, Text: []byte("-1.5e1")})
	case TypeDate:
		return append(values, textual([]byte("1980-02-29")))
	case TypePhone:
		return append(values, textual([]byte("+12025550143")))
	case TypeState:
		return append(values, textual([]byte("CA")))
	case TypeZIP:
		return append(values, textual([]byte("94107")), textual([]byte("94107-1234")))
	case TypeURL, typeHTTPS:
		return append(values, textual([]byte("https://a.example/")), textual([]byte("https://a.example/?b='c'&d=1")))
	case typeTimestamp:
		return append(values, textual([]byte("2026-01-31T09:30:00Z")))
	}
	for _, text := range plainTexts {
		values = append(values, textual([]byte(text)))
	}
	return append(values, textual(sampleText))
}

// plainTexts are those of which functions make something, or nothing: no digit, a
// number, a day.
var plainTexts = [...]string{"a", "12", "1980-02-29"}
