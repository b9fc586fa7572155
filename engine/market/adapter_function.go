package market

import (
	"errors"
	"fmt"
	"strings"
	"time"
)

// function is what a template may call. It sees values and gives one: a text, a
// number, true or false, or nothing where it cannot make sense of what it got,
// so that default can stand in.
type function struct {
	least, most int // arguments
	// prepare judges the constant arguments when the template is compiled, and
	// may rewrite them; nil: nothing is asked of them.
	prepare  func(arguments []expression) error
	compares bool // constants among the arguments are what others may be
	apply    func(w *writing, arguments []Value) Value
}

// functions are all there are. The value that a pipe brings is the last
// argument.
var functions = map[string]*function{
	"upper":  transforming(TransformUpper),
	"lower":  transforming(TransformLower),
	"title":  transforming(TransformTitle),
	"trim":   transforming(TransformTrim),
	"digits": transforming(TransformDigits),
	"sha256": transforming(TransformSHA256),

	"default":  {least: 2, most: 2, apply: func(_ *writing, a []Value) Value { return firstKnown(a[1], a[0]) }},
	"first":    {least: 2, most: 2, prepare: wantsCount, apply: func(_ *writing, a []Value) Value { return cut(a, true) }},
	"last":     {least: 2, most: 2, prepare: wantsCount, apply: func(_ *writing, a []Value) Value { return cut(a, false) }},
	"map":      {least: 3, most: 64, prepare: wantsConstants, compares: true, apply: func(_ *writing, a []Value) Value { return mapped(a) }},
	"national": {least: 1, most: 1, apply: func(_ *writing, a []Value) Value { return national(a[0]) }},
	"number":   {least: 1, most: 1, apply: func(_ *writing, a []Value) Value { return numeric(a[0]) }},
	"text":     {least: 1, most: 1, apply: func(_ *writing, a []Value) Value { return textual(a[0].Text) }},

	"date":     {least: 2, most: 2, prepare: wantsDateForm, apply: formatted},
	"epoch":    {least: 1, most: 1, apply: func(w *writing, a []Value) Value { return w.epoch(a[0], time.Time.Unix) }},
	"epoch_ms": {least: 1, most: 1, apply: func(w *writing, a []Value) Value { return w.epoch(a[0], time.Time.UnixMilli) }},

	"known": {least: 1, most: 1, apply: func(_ *writing, a []Value) Value { return truth(a[0].Kind != KindAbsent) }},
	"not":   {least: 1, most: 1, apply: func(_ *writing, a []Value) Value { return truth(!holds(a[0])) }},
	"and":   {least: 2, most: 64, apply: func(_ *writing, a []Value) Value { return truth(all(a)) }},
	"or":    {least: 2, most: 64, apply: func(_ *writing, a []Value) Value { return truth(anyHolds(a)) }},
	"eq":    {least: 2, most: 64, compares: true, apply: func(_ *writing, a []Value) Value { return truth(amongFirst(a)) }},
	"ne":    {least: 2, most: 2, compares: true, apply: func(_ *writing, a []Value) Value { return truth(!same(a[0], a[1])) }},
}

// transforming is a field's transform, as a function.
func transforming(t Transform) *function {
	return &function{least: 1, most: 1, apply: func(w *writing, a []Value) Value {
		if a[0].Kind == KindAbsent {
			return Value{}
		}
		text, grown, ok := t.apply(a[0].Text, w.scratch)
		w.scratch = grown
		if !ok {
			return Value{}
		}
		return textual(text)
	}}
}

func firstKnown(v, other Value) Value {
	if v.Kind == KindAbsent {
		return other
	}
	return v
}

// cut keeps so many characters of one end.
func cut(a []Value, front bool) Value {
	count, _ := smallNumber(a[0].Text)
	runes := []rune(string(a[1].Text))
	if count >= len(runes) {
		return textual(a[1].Text)
	}
	if front {
		return textual([]byte(string(runes[:count])))
	}
	return textual([]byte(string(runes[len(runes)-count:])))
}

// mapped changes the last argument by the pairs before it; one without a
// partner, before the last, is for everything else that is known.
func mapped(a []Value) Value {
	pairs, v := a[:len(a)-1], a[len(a)-1]
	if v.Kind == KindAbsent {
		return Value{}
	}
	for ; len(pairs) > 1; pairs = pairs[2:] {
		if same(pairs[0], v) {
			return pairs[1]
		}
	}
	if len(pairs) == 1 {
		return pairs[0]
	}
	return Value{}
}

// national is a US number's ten digits; what is none stays as it is.
func national(v Value) Value {
	digits, ok := strings.CutPrefix(string(v.Text), "+1")
	if !ok || len(digits) != nanpDigits {
		return v
	}
	return textual([]byte(digits))
}

// numeric is a number out of a text that is one.
func numeric(v Value) Value {
	if _, code := readNumber(v.Text); code != "" {
		return Value{}
	}
	return Value{Kind: KindNumber, Text: v.Text}
}

func truth(is bool) Value {
	if is {
		return Value{Kind: KindBoolean, Text: textTrue}
	}
	return Value{Kind: KindBoolean, Text: textFalse}
}

func all(a []Value) bool {
	for _, v := range a {
		if !holds(v) {
			return false
		}
	}
	return true
}

func anyHolds(a []Value) bool {
	for _, v := range a {
		if holds(v) {
			return true
		}
	}
	return false
}

// amongFirst tells whether the first is the same as one of the others.
func amongFirst(a []Value) bool {
	for _, other := range a[1:] {
		if same(a[0], other) {
			return true
		}
	}
	return false
}

// same compares by what is written, so that 2 and "2" are the same. Nothing is
// the same as what is absent.
func same(a, b Value) bool {
	return a.Kind != KindAbsent && b.Kind != KindAbsent && string(a.Text) == string(b.Text)
}

func wantsCount(a []expression) error {
	if c, ok := a[0].(constant); ok && c.Kind == KindInteger {
		if n, ok := smallNumber(c.Text); ok && n > 0 {
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
	if !ok || c.Kind != KindString || layout == rest || strings.Trim(rest, "-/.: TZ") != "" || len(c.Text) > 40 {
		return errors.New(`wants a form of YYYY YY MM DD hh mm ss with - / . : T Z and spaces between, such as "MM/DD/YYYY"`)
	}
	a[0] = constant{Kind: KindString, Text: []byte(layout)}
	return nil
}

func formatted(_ *writing, a []Value) Value {
	at, ok := moment(a[1])
	if !ok {
		return Value{}
	}
	return textual(at.AppendFormat(nil, string(a[0].Text)))
}

func (w *writing) epoch(v Value, of func(time.Time) int64) Value {
	at, ok := moment(v)
	if !ok {
		return Value{}
	}
	start := len(w.scratch)
	w.scratch = fmt.Append(w.scratch, of(at))
	return Value{Kind: KindInteger, Text: w.scratch[start:len(w.scratch):len(w.scratch)]}
}

// moment reads a day, or a time as RFC 3339 has it, in UTC.
func moment(v Value) (at time.Time, ok bool) {
	for _, layout := range [...]string{time.DateOnly, time.RFC3339} {
		if at, err := time.Parse(layout, string(v.Text)); err == nil {
			return at.UTC(), true
		}
	}
	return time.Time{}, false
}
