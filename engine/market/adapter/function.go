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
// false. Most functions return an absent value for an argument that they cannot convert. The
// function default can then replace it.
type templateFunction struct {
	minArguments, maxArguments int

	// prepareArguments checks the constant arguments when the template is compiled, and
	// may rewrite them; nil: no check.
	prepareArguments  func(arguments []valueExpression) error
	comparesConstants bool // Check uses the constant arguments as samples of the fields
	apply             func(w *bodyWriter, arguments []market.FieldValue) market.FieldValue
}

// functions are all functions that templates can call, by name. The value before a | is the last
// argument.
var functions = map[string]*templateFunction{
	"upper":  newTransformFunction(market.TransformUpper),
	"lower":  newTransformFunction(market.TransformLower),
	"title":  newTransformFunction(market.TransformTitle),
	"trim":   newTransformFunction(market.TransformTrim),
	"digits": newTransformFunction(market.TransformDigits),
	"sha256": newTransformFunction(market.TransformSHA256),

	"default":  {minArguments: 2, maxArguments: 2, apply: func(_ *bodyWriter, a []market.FieldValue) market.FieldValue { return firstPresentValue(a[1], a[0]) }},
	"first":    {minArguments: 2, maxArguments: 2, prepareArguments: checkCharacterCountArgument, apply: func(_ *bodyWriter, a []market.FieldValue) market.FieldValue { return firstOrLastCharacters(a, true) }},
	"last":     {minArguments: 2, maxArguments: 2, prepareArguments: checkCharacterCountArgument, apply: func(_ *bodyWriter, a []market.FieldValue) market.FieldValue { return firstOrLastCharacters(a, false) }},
	"map":      {minArguments: 3, maxArguments: 64, prepareArguments: checkMapPairsAreConstant, comparesConstants: true, apply: func(_ *bodyWriter, a []market.FieldValue) market.FieldValue { return replaceByPairsOrDefault(a) }},
	"national": {minArguments: 1, maxArguments: 1, apply: func(_ *bodyWriter, a []market.FieldValue) market.FieldValue { return cutNorthAmericanCountryCode(a[0]) }},
	"number":   {minArguments: 1, maxArguments: 1, apply: func(_ *bodyWriter, a []market.FieldValue) market.FieldValue { return parseNumberValue(a[0]) }},
	"text": {minArguments: 1, maxArguments: 1, apply: func(_ *bodyWriter, a []market.FieldValue) market.FieldValue {
		return market.TextValueOrAbsent(a[0].Text)
	}},

	"date": {minArguments: 2, maxArguments: 2, prepareArguments: replaceDateFormByGoLayout, apply: formatDateOrTime},
	"epoch": {minArguments: 1, maxArguments: 1, apply: func(w *bodyWriter, a []market.FieldValue) market.FieldValue {
		return w.timeToNumber(a[0], time.Time.Unix)
	}},
	"epoch_ms": {minArguments: 1, maxArguments: 1, apply: func(w *bodyWriter, a []market.FieldValue) market.FieldValue {
		return w.timeToNumber(a[0], time.Time.UnixMilli)
	}},

	"known": {minArguments: 1, maxArguments: 1, apply: func(_ *bodyWriter, a []market.FieldValue) market.FieldValue {
		return market.BoolValue(a[0].Kind != market.KindAbsent)
	}},
	"not": {minArguments: 1, maxArguments: 1, apply: func(_ *bodyWriter, a []market.FieldValue) market.FieldValue {
		return market.BoolValue(!isPresentAndNotFalse(a[0]))
	}},
	"and": {minArguments: 2, maxArguments: 64, apply: func(_ *bodyWriter, a []market.FieldValue) market.FieldValue {
		return market.BoolValue(areAllPresentAndNotFalse(a))
	}},
	"or": {minArguments: 2, maxArguments: 64, apply: func(_ *bodyWriter, a []market.FieldValue) market.FieldValue {
		return market.BoolValue(isAnyPresentAndNotFalse(a))
	}},
	"eq": {minArguments: 2, maxArguments: 64, comparesConstants: true, apply: func(_ *bodyWriter, a []market.FieldValue) market.FieldValue {
		return market.BoolValue(isFirstEqualToAnyOther(a))
	}},
	"ne": {minArguments: 2, maxArguments: 2, comparesConstants: true, apply: func(_ *bodyWriter, a []market.FieldValue) market.FieldValue {
		return market.BoolValue(!hasSameText(a[0], a[1]))
	}},
}

// newTransformFunction returns a template function that applies the field transform t to its
// argument.
func newTransformFunction(t market.FieldTransform) *templateFunction {
	return &templateFunction{minArguments: 1, maxArguments: 1, apply: func(w *bodyWriter, a []market.FieldValue) market.FieldValue {
		if a[0].Kind == market.KindAbsent {
			return market.FieldValue{}
		}
		text, grown, ok := t.ApplyToText(a[0].Text, w.scratch)
		w.scratch = grown
		if !ok {
			return market.FieldValue{}
		}
		return market.TextValueOrAbsent(text)
	}}
}

// firstPresentValue returns value, or fallback if value is absent.
func firstPresentValue(value, fallback market.FieldValue) market.FieldValue {
	if value.Kind == market.KindAbsent {
		return fallback
	}
	return value
}

// firstOrLastCharacters returns the first or the last characters of a text, as fromStart says. The
// countAndText are the number of characters and the text.
func firstOrLastCharacters(countAndText []market.FieldValue, fromStart bool) market.FieldValue {
	count, _ := format.ParseDigits(countAndText[0].Text)
	runes := []rune(string(countAndText[1].Text))
	if count >= len(runes) {
		return market.TextValueOrAbsent(countAndText[1].Text)
	}
	if fromStart {
		return market.TextValueOrAbsent([]byte(string(runes[:count])))
	}
	return market.TextValueOrAbsent([]byte(string(runes[len(runes)-count:])))
}

// replaceByPairsOrDefault replaces a value, its last argument. The arguments before it are pairs of a value
// and its replacement. A single argument after the pairs replaces every other present value;
// without it such a value becomes absent.
func replaceByPairsOrDefault(pairsAndValue []market.FieldValue) market.FieldValue {
	pairs, v := pairsAndValue[:len(pairsAndValue)-1], pairsAndValue[len(pairsAndValue)-1]
	if v.Kind == market.KindAbsent {
		return market.FieldValue{}
	}
	for ; len(pairs) > 1; pairs = pairs[2:] {
		if hasSameText(pairs[0], v) {
			return pairs[1]
		}
	}
	if len(pairs) == 1 {
		return pairs[0]
	}
	return market.FieldValue{}
}

// cutNorthAmericanCountryCode returns the ten national digits of a phone number that begins with +1. It
// returns other values unchanged.
func cutNorthAmericanCountryCode(v market.FieldValue) market.FieldValue {
	digits, ok := strings.CutPrefix(string(v.Text), "+1")
	if !ok || len(digits) != format.NationalDigits {
		return v
	}
	return market.TextValueOrAbsent([]byte(digits))
}

// parseNumberValue returns the text of v as a number, or an absent value if the text is not a
// number.
func parseNumberValue(v market.FieldValue) market.FieldValue {
	if _, code := format.ParseNumber(v.Text); code != "" {
		return market.FieldValue{}
	}
	return market.FieldValue{Kind: market.KindNumber, Text: v.Text}
}

// areAllPresentAndNotFalse reports whether {{if}} in an adapter's template would count every value as true.
func areAllPresentAndNotFalse(values []market.FieldValue) bool {
	for _, v := range values {
		if !isPresentAndNotFalse(v) {
			return false
		}
	}
	return true
}

// isAnyPresentAndNotFalse reports whether {{if}} would count at least one value as true.
func isAnyPresentAndNotFalse(values []market.FieldValue) bool {
	for _, v := range values {
		if isPresentAndNotFalse(v) {
			return true
		}
	}
	return false
}

// isFirstEqualToAnyOther reports whether the first value equals one of the others.
func isFirstEqualToAnyOther(values []market.FieldValue) bool {
	for _, other := range values[1:] {
		if hasSameText(values[0], other) {
			return true
		}
	}
	return false
}

// hasSameText reports whether two values have the same text, so that 2 equals "2". An absent
// value equals no other value.
func hasSameText(a, b market.FieldValue) bool {
	return a.Kind != market.KindAbsent && b.Kind != market.KindAbsent && string(a.Text) == string(b.Text)
}

// checkCharacterCountArgument returns an error unless the first argument of first or last is a constant
// number of characters, at least 1.
func checkCharacterCountArgument(arguments []valueExpression) error {
	if c, ok := arguments[0].(constantExpression); ok && c.Kind == market.KindInteger {
		if n, ok := format.ParseDigits(c.Text); ok && n > 0 {
			return nil
		}
	}
	return errors.New("needs a whole number of characters, at least 1 and without quotes, as its first argument: .note | first 10")
}

// checkMapPairsAreConstant returns an error unless all arguments of map but the last one are constants.
// The last one is the value to replace.
func checkMapPairsAreConstant(arguments []valueExpression) error {
	for _, e := range arguments[:len(arguments)-1] {
		if _, ok := e.(constantExpression); !ok {
			return errors.New(`needs pairs in quotes, and the value last: .tcpa_consent | map "true" "Y" "false" "N"`)
		}
	}
	return nil
}

// dateParts translates an operator's date form, such as YYYY-MM-DD, to a layout of package time.
var dateParts = strings.NewReplacer("YYYY", "2006", "YY", "06", "MM", "01", "DD", "02", "hh", "15", "mm", "04", "ss", "05")

// replaceDateFormByGoLayout replaces the date form, the first argument of date, by a layout of package
// time. It rejects other letters in the form, because package time could interpret them.
func replaceDateFormByGoLayout(arguments []valueExpression) error {
	c, ok := arguments[0].(constantExpression)
	layout := dateParts.Replace(string(c.Text))
	rest := strings.NewReplacer("YYYY", "", "YY", "", "MM", "", "DD", "", "hh", "", "mm", "", "ss", "").Replace(string(c.Text))
	if !ok || c.Kind != market.KindString || layout == rest || strings.Trim(rest, "-/.: TZ") != "" || len(c.Text) > 40 {
		return errors.New(`needs a date form of YYYY YY MM DD hh mm ss with - / . : T Z and spaces between, such as "MM/DD/YYYY"`)
	}
	arguments[0] = constantExpression{Kind: market.KindString, Text: []byte(layout)}
	return nil
}

// formatDateOrTime returns the date or time of the second argument in the layout of the first. It
// returns an absent value if the second argument is not a time.
func formatDateOrTime(_ *bodyWriter, layoutAndTime []market.FieldValue) market.FieldValue {
	at, ok := parseDateOrTime(layoutAndTime[1])
	if !ok {
		return market.FieldValue{}
	}
	return market.TextValueOrAbsent(at.AppendFormat(nil, string(layoutAndTime[0].Text)))
}

// timeToNumber returns a date or time as the number that numberOfTime computes from it, such as
// Unix seconds. It returns an absent value if v is not a time.
func (w *bodyWriter) timeToNumber(v market.FieldValue, numberOfTime func(time.Time) int64) market.FieldValue {
	at, ok := parseDateOrTime(v)
	if !ok {
		return market.FieldValue{}
	}
	start := len(w.scratch)
	w.scratch = fmt.Append(w.scratch, numberOfTime(at))
	return market.FieldValue{Kind: market.KindInteger, Text: w.scratch[start:len(w.scratch):len(w.scratch)]}
}

// parseDateOrTime parses the text of v as a date or an RFC 3339 time, and returns it in UTC.
func parseDateOrTime(v market.FieldValue) (utcTime time.Time, ok bool) {
	for _, layout := range [...]string{time.DateOnly, time.RFC3339} {
		if at, err := time.Parse(layout, string(v.Text)); err == nil {
			return at.UTC(), true
		}
	}
	return time.Time{}, false
}
