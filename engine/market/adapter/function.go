package adapter

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"pingpost/engine/market"
	"pingpost/engine/market/format"
)

// function is what a template may call. It sees values and gives one: a text, a
// number, true or false, or nothing where it cannot make sense of what it got,
// so that default can stand in.
type function struct {
	least, most int // arguments
	// prepare judges the constant arguments when the template is compiled, and
	// may rewrite them; nil: no check.
	prepare  func(arguments []expression) error
	compares bool // constants among the arguments are what others may be
	apply    func(w *bodyWriter, arguments []market.Value) market.Value
}

// functions are all there are. The value that a pipe brings is the last
// argument.
var functions = map[string]*function{
	"upper":  transformFunction(market.TransformUpper),
	"lower":  transformFunction(market.TransformLower),
	"title":  transformFunction(market.TransformTitle),
	"trim":   transformFunction(market.TransformTrim),
	"digits": transformFunction(market.TransformDigits),
	"sha256": transformFunction(market.TransformSHA256),

	"default":  {least: 2, most: 2, apply: func(_ *bodyWriter, a []market.Value) market.Value { return firstKnownValue(a[1], a[0]) }},
	"first":    {least: 2, most: 2, prepare: wantsCount, apply: func(_ *bodyWriter, a []market.Value) market.Value { return cutText(a, true) }},
	"last":     {least: 2, most: 2, prepare: wantsCount, apply: func(_ *bodyWriter, a []market.Value) market.Value { return cutText(a, false) }},
	"map":      {least: 3, most: 64, prepare: wantsConstants, compares: true, apply: func(_ *bodyWriter, a []market.Value) market.Value { return mapValue(a) }},
	"national": {least: 1, most: 1, apply: func(_ *bodyWriter, a []market.Value) market.Value { return nationalNumber(a[0]) }},
	"number":   {least: 1, most: 1, apply: func(_ *bodyWriter, a []market.Value) market.Value { return numberValue(a[0]) }},
	"text":     {least: 1, most: 1, apply: func(_ *bodyWriter, a []market.Value) market.Value { return market.TextValue(a[0].Text) }},

	"date":     {least: 2, most: 2, prepare: wantsDateForm, apply: formatDate},
	"epoch":    {least: 1, most: 1, apply: func(w *bodyWriter, a []market.Value) market.Value { return w.epoch(a[0], time.Time.Unix) }},
	"epoch_ms": {least: 1, most: 1, apply: func(w *bodyWriter, a []market.Value) market.Value { return w.epoch(a[0], time.Time.UnixMilli) }},

	"known": {least: 1, most: 1, apply: func(_ *bodyWriter, a []market.Value) market.Value {
		return market.BoolValue(a[0].Kind != market.KindAbsent)
	}},
	"not": {least: 1, most: 1, apply: func(_ *bodyWriter, a []market.Value) market.Value { return market.BoolValue(!isTrue(a[0])) }},
	"and": {least: 2, most: 64, apply: func(_ *bodyWriter, a []market.Value) market.Value { return market.BoolValue(all(a)) }},
	"or":  {least: 2, most: 64, apply: func(_ *bodyWriter, a []market.Value) market.Value { return market.BoolValue(anyHolds(a)) }},
	"eq":  {least: 2, most: 64, compares: true, apply: func(_ *bodyWriter, a []market.Value) market.Value { return market.BoolValue(amongFirst(a)) }},
	"ne":  {least: 2, most: 2, compares: true, apply: func(_ *bodyWriter, a []market.Value) market.Value { return market.BoolValue(!sameText(a[0], a[1])) }},
}

// transforming is a field's transform, as a function.
func transformFunction(t market.Transform) *function {
	return &function{least: 1, most: 1, apply: func(w *bodyWriter, a []market.Value) market.Value {
		if a[0].Kind == market.KindAbsent {
			return market.Value{}
		}
		text, grown, ok := t.Apply(a[0].Text, w.scratch)
		w.scratch = grown
		if !ok {
			return market.Value{}
		}
		return market.TextValue(text)
	}}
}

func firstKnownValue(v, other market.Value) market.Value {
	if v.Kind == market.KindAbsent {
		return other
	}
	return v
}

// cut keeps so many characters of one end.
func cutText(a []market.Value, front bool) market.Value {
	count, _ := format.ParseDigits(a[0].Text)
	runes := []rune(string(a[1].Text))
	if count >= len(runes) {
		return market.TextValue(a[1].Text)
	}
	if front {
		return market.TextValue([]byte(string(runes[:count])))
	}
	return market.TextValue([]byte(string(runes[len(runes)-count:])))
}

// mapped changes the last argument by the pairs before it; one without a
// partner, before the last, is for everything else that is known.
func mapValue(a []market.Value) market.Value {
	pairs, v := a[:len(a)-1], a[len(a)-1]
	if v.Kind == market.KindAbsent {
		return market.Value{}
	}
	for ; len(pairs) > 1; pairs = pairs[2:] {
		if sameText(pairs[0], v) {
			return pairs[1]
		}
	}
	if len(pairs) == 1 {
		return pairs[0]
	}
	return market.Value{}
}

// national is a US number's ten digits; what is none stays as it is.
func nationalNumber(v market.Value) market.Value {
	digits, ok := strings.CutPrefix(string(v.Text), "+1")
	if !ok || len(digits) != format.NationalDigits {
		return v
	}
	return market.TextValue([]byte(digits))
}

// numeric is a number out of a text that is one.
func numberValue(v market.Value) market.Value {
	if _, code := format.ReadNumber(v.Text); code != "" {
		return market.Value{}
	}
	return market.Value{Kind: market.KindNumber, Text: v.Text}
}

func all(a []market.Value) bool {
	for _, v := range a {
		if !isTrue(v) {
			return false
		}
	}
	return true
}

func anyHolds(a []market.Value) bool {
	for _, v := range a {
		if isTrue(v) {
			return true
		}
	}
	return false
}

// amongFirst tells whether the first is the same as one of the others.
func amongFirst(a []market.Value) bool {
	for _, other := range a[1:] {
		if sameText(a[0], other) {
			return true
		}
	}
	return false
}

// same compares by what is written, so that 2 and "2" are the same. Nothing is
// the same as what is absent.
func sameText(a, b market.Value) bool {
	return a.Kind != market.KindAbsent && b.Kind != market.KindAbsent && string(a.Text) == string(b.Text)
}

func wantsCount(a []expression) error {
	if c, ok := a[0].(constant); ok && c.Kind == market.KindInteger {
		if n, ok := format.ParseDigits(c.Text); ok && n > 0 {
			return nil
		}
	}
	return errors.New("wants how many characters, from 1, and then the value")
}

// wantsConstants is of map: only the value may be looked up.
func wantsConstants(a []expression) error {
	for _, e := range a[:len(a)-1] {
		if _, ok := e.(constant); !ok {
			return errors.New(`wants pairs in quotes, and the value last: .tcpa_consent | map "true" "Y" "false" "N"`)
		}
	}
	return nil
}

// Dates are written by a form such as YYYY-MM-DD.
var dateParts = strings.NewReplacer("YYYY", "2006", "YY", "06", "MM", "01", "DD", "02", "hh", "15", "mm", "04", "ss", "05")

// wantsDateForm turns the form into a layout of package time. What could be
// part of one by accident is refused.
func wantsDateForm(a []expression) error {
	c, ok := a[0].(constant)
	layout := dateParts.Replace(string(c.Text))
	rest := strings.NewReplacer("YYYY", "", "YY", "", "MM", "", "DD", "", "hh", "", "mm", "", "ss", "").Replace(string(c.Text))
	if !ok || c.Kind != market.KindString || layout == rest || strings.Trim(rest, "-/.: TZ") != "" || len(c.Text) > 40 {
		return errors.New(`wants a form of YYYY YY MM DD hh mm ss with - / . : T Z and spaces between, such as "MM/DD/YYYY"`)
	}
	a[0] = constant{Kind: market.KindString, Text: []byte(layout)}
	return nil
}

func formatDate(_ *bodyWriter, a []market.Value) market.Value {
	at, ok := parseTime(a[1])
	if !ok {
		return market.Value{}
	}
	return market.TextValue(at.AppendFormat(nil, string(a[0].Text)))
}

func (w *bodyWriter) epoch(v market.Value, of func(time.Time) int64) market.Value {
	at, ok := parseTime(v)
	if !ok {
		return market.Value{}
	}
	start := len(w.scratch)
	w.scratch = fmt.Append(w.scratch, of(at))
	return market.Value{Kind: market.KindInteger, Text: w.scratch[start:len(w.scratch):len(w.scratch)]}
}

// moment reads a day, or a time as RFC 3339 has it, in UTC.
func parseTime(v market.Value) (at time.Time, ok bool) {
	for _, layout := range [...]string{time.DateOnly, time.RFC3339} {
		if at, err := time.Parse(layout, string(v.Text)); err == nil {
			return at.UTC(), true
		}
	}
	return time.Time{}, false
}
