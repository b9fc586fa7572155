package adapter

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"pingpost/engine/market"
	"pingpost/engine/market/format"
)

// templateFunction is a function that templates can call. It returns text, a number, true or
// false. If it cannot use an argument, it returns an absent value, which the function default can
// then replace.
type templateFunction struct {
	minArguments, maxArguments int

	// prepareArguments checks the constant arguments when the template is compiled, and
	// may rewrite them; nil: no check.
	prepareArguments  func(arguments []valueExpression) error
	comparesConstants bool // Check uses the constant arguments as samples of the fields
	apply             func(w *bodyWriter, arguments []market.Value) market.Value
}

// functions are all functions that templates can call, by name. The value before a | is the last
// argument.
var functions = map[string]*templateFunction{
	"upper":  transformFunction(market.TransformUpper),
	"lower":  transformFunction(market.TransformLower),
	"title":  transformFunction(market.TransformTitle),
	"trim":   transformFunction(market.TransformTrim),
	"digits": transformFunction(market.TransformDigits),
	"sha256": transformFunction(market.TransformSHA256),

	"default":  {minArguments: 2, maxArguments: 2, apply: func(_ *bodyWriter, a []market.Value) market.Value { return firstPresentValue(a[1], a[0]) }},
	"first":    {minArguments: 2, maxArguments: 2, prepareArguments: checkNumberOfCharacters, apply: func(_ *bodyWriter, a []market.Value) market.Value { return keepCharacters(a, true) }},
	"last":     {minArguments: 2, maxArguments: 2, prepareArguments: checkNumberOfCharacters, apply: func(_ *bodyWriter, a []market.Value) market.Value { return keepCharacters(a, false) }},
	"map":      {minArguments: 3, maxArguments: 64, prepareArguments: checkMapArguments, comparesConstants: true, apply: func(_ *bodyWriter, a []market.Value) market.Value { return mapValue(a) }},
	"national": {minArguments: 1, maxArguments: 1, apply: func(_ *bodyWriter, a []market.Value) market.Value { return toNationalNumber(a[0]) }},
	"number":   {minArguments: 1, maxArguments: 1, apply: func(_ *bodyWriter, a []market.Value) market.Value { return parseNumberValue(a[0]) }},
	"text":     {minArguments: 1, maxArguments: 1, apply: func(_ *bodyWriter, a []market.Value) market.Value { return market.TextValue(a[0].Text) }},

	"date":     {minArguments: 2, maxArguments: 2, prepareArguments: prepareDateLayout, apply: formatDate},
	"epoch":    {minArguments: 1, maxArguments: 1, apply: func(w *bodyWriter, a []market.Value) market.Value { return w.toEpoch(a[0], time.Time.Unix) }},
	"epoch_ms": {minArguments: 1, maxArguments: 1, apply: func(w *bodyWriter, a []market.Value) market.Value { return w.toEpoch(a[0], time.Time.UnixMilli) }},

	"known": {minArguments: 1, maxArguments: 1, apply: func(_ *bodyWriter, a []market.Value) market.Value {
		return market.BoolValue(a[0].Kind != market.KindAbsent)
	}},
	"not": {minArguments: 1, maxArguments: 1, apply: func(_ *bodyWriter, a []market.Value) market.Value { return market.BoolValue(!isTruthy(a[0])) }},
	"and": {minArguments: 2, maxArguments: 64, apply: func(_ *bodyWriter, a []market.Value) market.Value { return market.BoolValue(andValues(a)) }},
	"or":  {minArguments: 2, maxArguments: 64, apply: func(_ *bodyWriter, a []market.Value) market.Value { return market.BoolValue(orValues(a)) }},
	"eq":  {minArguments: 2, maxArguments: 64, comparesConstants: true, apply: func(_ *bodyWriter, a []market.Value) market.Value { return market.BoolValue(firstEqualsAny(a)) }},
	"ne":  {minArguments: 2, maxArguments: 2, comparesConstants: true, apply: func(_ *bodyWriter, a []market.Value) market.Value { return market.BoolValue(!hasSameText(a[0], a[1])) }},
}

// transformFunction returns a template function that applies the field transform t to its
// argument.
func transformFunction(t market.FieldTransform) *templateFunction {
	return &templateFunction{minArguments: 1, maxArguments: 1, apply: func(w *bodyWriter, a []market.Value) market.Value {
		if a[0].Kind == market.KindAbsent {
			return market.Value{}
		}
		text, grown, ok := t.TransformText(a[0].Text, w.scratch)
		w.scratch = grown
		if !ok {
			return market.Value{}
		}
		return market.TextValue(text)
	}}
}

// firstPresentValue returns value, or fallback if value is absent.
func firstPresentValue(value, fallback market.Value) market.Value {
	if value.Kind == market.KindAbsent {
		return fallback
	}
	return value
}

// keepCharacters returns the first or the last characters of a text, as fromStart says. The
// arguments are the number of characters and the text.
func keepCharacters(arguments []market.Value, fromStart bool) market.Value {
	count, _ := format.ParseDigits(arguments[0].Text)
	runes := []rune(string(arguments[1].Text))
	if count >= len(runes) {
		return market.TextValue(arguments[1].Text)
	}
	if fromStart {
		return market.TextValue([]byte(string(runes[:count])))
	}
	return market.TextValue([]byte(string(runes[len(runes)-count:])))
}

// mapValue replaces a value, its last argument. The arguments before it are pairs of a value and
// its replacement. A single argument after the pairs replaces every other present value.
func mapValue(arguments []market.Value) market.Value {
	pairs, v := arguments[:len(arguments)-1], arguments[len(arguments)-1]
	if v.Kind == market.KindAbsent {
		return market.Value{}
	}
	for ; len(pairs) > 1; pairs = pairs[2:] {
		if hasSameText(pairs[0], v) {
			return pairs[1]
		}
	}
	if len(pairs) == 1 {
		return pairs[0]
	}
	return market.Value{}
}

// toNationalNumber returns the ten national digits of a phone number that begins with +1. It
// returns other values unchanged.
func toNationalNumber(v market.Value) market.Value {
	digits, ok := strings.CutPrefix(string(v.Text), "+1")
	if !ok || len(digits) != format.NationalDigits {
		return v
	}
	return market.TextValue([]byte(digits))
}

// parseNumberValue returns the text of v as a number, or an absent value if the text is not a
// number.
func parseNumberValue(v market.Value) market.Value {
	if _, code := format.ParseNumber(v.Text); code != "" {
		return market.Value{}
	}
	return market.Value{Kind: market.KindNumber, Text: v.Text}
}

// andValues reports whether all values are true for an if.
func andValues(values []market.Value) bool {
	for _, v := range values {
		if !isTruthy(v) {
			return false
		}
	}
	return true
}

// orValues reports whether a value is true for an if.
func orValues(values []market.Value) bool {
	for _, v := range values {
		if isTruthy(v) {
			return true
		}
	}
	return false
}

// firstEqualsAny reports whether the first value equals one of the others.
func firstEqualsAny(values []market.Value) bool {
	for _, other := range values[1:] {
		if hasSameText(values[0], other) {
			return true
		}
	}
	return false
}

// hasSameText reports whether two values have the same text, so that 2 equals "2". An absent
// value equals no other value.
func hasSameText(a, b market.Value) bool {
	return a.Kind != market.KindAbsent && b.Kind != market.KindAbsent && string(a.Text) == string(b.Text)
}

// checkNumberOfCharacters returns an error unless the first argument of first or last is a constant
// number of characters, at least 1.
func checkNumberOfCharacters(arguments []valueExpression) error {
	if c, ok := arguments[0].(constantValue); ok && c.Kind == market.KindInteger {
		if n, ok := format.ParseDigits(c.Text); ok && n > 0 {
			return nil
		}
	}
	return errors.New("needs the number of characters, at least 1, and then the value: .note | first 10")
}

// checkMapArguments returns an error unless all arguments of map but the last one are constants.
// The last one is the value to replace.
func checkMapArguments(arguments []valueExpression) error {
	for _, e := range arguments[:len(arguments)-1] {
		if _, ok := e.(constantValue); !ok {
			return errors.New(`needs pairs in quotes, and the value last: .tcpa_consent | map "true" "Y" "false" "N"`)
		}
	}
	return nil
}

// dateParts translates an operator's date form, such as YYYY-MM-DD, to a layout of package time.
var dateParts = strings.NewReplacer("YYYY", "2006", "YY", "06", "MM", "01", "DD", "02", "hh", "15", "mm", "04", "ss", "05")

// prepareDateLayout replaces the date form, the first argument of date, by a layout of package
// time. It rejects other letters in the form, because package time could interpret them.
func prepareDateLayout(arguments []valueExpression) error {
	c, ok := arguments[0].(constantValue)
	layout := dateParts.Replace(string(c.Text))
	rest := strings.NewReplacer("YYYY", "", "YY", "", "MM", "", "DD", "", "hh", "", "mm", "", "ss", "").Replace(string(c.Text))
	if !ok || c.Kind != market.KindString || layout == rest || strings.Trim(rest, "-/.: TZ") != "" || len(c.Text) > 40 {
		return errors.New(`needs a date form of YYYY YY MM DD hh mm ss with - / . : T Z and spaces between, such as "MM/DD/YYYY"`)
	}
	arguments[0] = constantValue{Kind: market.KindString, Text: []byte(layout)}
	return nil
}

// formatDate returns the date or time of the second argument in the layout of the first. It
// returns an absent value if the second argument is not a time.
func formatDate(_ *bodyWriter, arguments []market.Value) market.Value {
	at, ok := parseTime(arguments[1])
	if !ok {
		return market.Value{}
	}
	return market.TextValue(at.AppendFormat(nil, string(arguments[0].Text)))
}

// toEpoch returns a date or time as the number that count computes from it, such as Unix seconds.
// It returns an absent value if v is not a time.
func (w *bodyWriter) toEpoch(v market.Value, count func(time.Time) int64) market.Value {
	at, ok := parseTime(v)
	if !ok {
		return market.Value{}
	}
	start := len(w.scratch)
	w.scratch = fmt.Append(w.scratch, count(at))
	return market.Value{Kind: market.KindInteger, Text: w.scratch[start:len(w.scratch):len(w.scratch)]}
}

// parseTime parses the text of v as a date or an RFC 3339 time, and returns it in UTC.
func parseTime(v market.Value) (at time.Time, ok bool) {
	for _, layout := range [...]string{time.DateOnly, time.RFC3339} {
		if at, err := time.Parse(layout, string(v.Text)); err == nil {
			return at.UTC(), true
		}
	}
	return time.Time{}, false
}
