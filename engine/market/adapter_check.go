package market

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
)

// Check judges the template against a campaign: every field that it names must
// be one of the campaign's, and in a ping one that pings may carry; and what it
// writes must be well formed. That is proven with sample leads: one with every
// value, one with none but those that no lead lacks, and for each field that is
// named each of these two with that field changed: left out, true and false,
// each value of an enum, and every constant it is compared with. The samples
// hold the characters that mean something in JSON, XML and forms.
//
// What Check passes is well formed for every lead, as far as a field's value
// alone decides which parts are written. An if over several fields at once may
// hide a comma too many from it.
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
	if err := a.trySamples(m); err != nil {
		return []TemplateError{{1, err.Error()}}
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

// near helps with a field that is known by the name under which it arrives.
func (m *Mapping) near(name string) string {
	if slot, ok := m.arrive[name]; ok {
		return "; towards buyers it is called " + m.rules[slot].to
	}
	return "; add it to the campaign's fields, or correct the name"
}

// sampleText has what a lead could try to break a body with.
var sampleText = []byte("a\"b'c\\d<e>&amp;f{{.x}}]]>--g%26=h+i\té\U0001F600")

// sampleHead is what stands beside a sample.
func (a *Adapter) sampleView(m *Mapping, l *Lead) view {
	v := view{mapping: m, lead: l}
	if a.purpose == forPing {
		v.ping = &PingHead{Vertical: string(sampleText), SubVertical: string(sampleText), ExpiresAt: 1_770_000_000_000_000_000}
	} else {
		v.post = &PostHead{
			Token: string(sampleText), Vertical: string(sampleText), SubVertical: string(sampleText),
			Price: 12_500_000, Currency: Currency{'U', 'S', 'D'},
		}
	}
	return v
}

func (a *Adapter) trySamples(m *Mapping) error {
	for _, whole := range [...]bool{true, false} {
		lead := m.sample(whole, a.purpose)
		if err := a.try(m, lead); err != nil {
			return err
		}
		tried := map[Slot]bool{}
		for _, use := range a.uses {
			slot, ok := m.mapped[use.name]
			if !ok {
				slot = SlotZip
			}
			values := append([]Value(nil), use.others...)
			if !tried[slot] {
				values = append(values, m.samples(slot, a.purpose)...)
			}
			tried[slot] = true
			kept := lead.Values[slot]
			for _, v := range values {
				lead.Values[slot] = v
				if err := a.try(m, lead); err != nil {
					return fmt.Errorf("%w, where %s is %s", err, use.name, describeSample(v))
				}
			}
			lead.Values[slot] = kept
		}
	}
	return nil
}

func describeSample(v Value) string {
	if v.Kind == KindAbsent {
		return "not known"
	}
	return string(v.AppendJSON(nil))
}

// try writes one body and reads it again.
func (a *Adapter) try(m *Mapping, l *Lead) error {
	body, ok := a.write(nil, a.sampleView(m, l))
	if !ok {
		return fmt.Errorf("the body is over %d bytes", MaxAdapterBody)
	}
	var err error
	switch a.format {
	case FormatJSON:
		if !json.Valid(body) {
			err = errors.New("check its commas, quotes and brackets")
		}
	case FormatXML:
		err = wellFormed(body)
	default:
		err = checkPairs(body)
	}
	if err != nil {
		return fmt.Errorf("the body is not %s: %w", strings.ToUpper(a.format), err)
	}
	return nil
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
		return append(values, Value{Kind: KindInteger, Text: []byte("-12")})
	case TypeNumber:
		return append(values, Value{Kind: KindNumber, Text: []byte("-1.5e1")})
	case TypeDate:
		return append(values, textual([]byte("1980-02-29")))
	case TypePhone:
		return append(values, textual([]byte("+12025550143")))
	case TypeState:
		return append(values, textual([]byte("CA")))
	case TypeZIP:
		return append(values, textual([]byte("94107-1234")))
	case TypeURL, typeHTTPS:
		return append(values, textual([]byte("https://a.example/?b='c'&d=1")))
	case typeTimestamp:
		return append(values, textual([]byte("2026-01-31T09:30:00Z")))
	}
	return append(values, textual(sampleText))
}

// wellFormed reads XML to its end: one element, and nothing that has to be
// looked up elsewhere.
func wellFormed(body []byte) error {
	decoder := xml.NewDecoder(bytes.NewReader(body))
	depth, roots := 0, 0
	for {
		token, err := decoder.Token()
		switch token := token.(type) {
		case xml.StartElement:
			if depth == 0 {
				roots++
			}
			depth++
		case xml.EndElement:
			depth--
		case xml.CharData:
			if depth == 0 && len(bytes.TrimSpace(token)) > 0 {
				return errors.New("text stands outside of the element that holds all others")
			}
		}
		switch {
		case err == nil:
		case !errors.Is(err, io.EOF):
			return errors.New(strings.TrimPrefix(err.Error(), "XML syntax error on "))
		case roots != 1:
			return fmt.Errorf("it has %d elements where one holds all others", roots)
		default:
			return nil
		}
	}
}

// checkPairs wants a name before each = and no stray & between.
func checkPairs(body []byte) error {
	for pair := range bytes.SplitSeq(body, []byte("&")) {
		if name, _, ok := bytes.Cut(pair, []byte("=")); !ok || len(name) == 0 {
			return errors.New("it is name=value with one & between")
		}
	}
	return nil
}
