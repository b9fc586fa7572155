package market

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
)

// Filter is one condition on one field of a lead. All that it names must hold.
// An absent field fails every filter but one that wants it absent, also one
// that merely excludes values: what is not known is not taken.
//
// A value is compared by its kind: numbers by value, so that 2 and 2.0 are one,
// everything else by its text. Numbers are compared as 64-bit floats, exact to
// 15 digits.
type Filter struct {
	slot     Slot
	absent   bool
	in       *valueSet // nil: any
	notIn    *valueSet // nil: none
	bounded  bool
	min, max float64 // both inclusive, infinite where not given
}

// FilterSpec is a filter as it is configured.
type FilterSpec struct {
	Field     string // after mapping
	In, NotIn []string
	Min, Max  *string // decimal digits
	Absent    bool
}

// NewFilter compiles a filter for the leads of one mapping.
func NewFilter(spec FilterSpec, m *Mapping) (Filter, error) {
	slot, ok := m.SlotOf(spec.Field)
	if !ok {
		return Filter{}, fmt.Errorf("filter on %q: the campaign has no such field; use its name after mapping", spec.Field)
	}
	f, err := spec.compile(slot)
	if err == nil {
		err = spec.suits(m.TypeOf(slot))
	}
	if err != nil {
		return Filter{}, fmt.Errorf("filter on %q: %w", spec.Field, err)
	}
	return f, nil
}

func (spec FilterSpec) compile(slot Slot) (Filter, error) {
	f := Filter{
		slot:    slot,
		absent:  spec.Absent,
		in:      newValueSet(spec.In),
		notIn:   newValueSet(spec.NotIn),
		bounded: spec.Min != nil || spec.Max != nil,
		min:     math.Inf(-1),
		max:     math.Inf(1),
	}
	if !boundOf(spec.Min, &f.min) {
		return Filter{}, errors.New("min is not a number")
	}
	if !boundOf(spec.Max, &f.max) {
		return Filter{}, errors.New("max is not a number")
	}
	conditions := f.bounded || f.in != nil || f.notIn != nil
	switch {
	case f.min > f.max:
		return Filter{}, errors.New("min is over max, so no lead could pass")
	case f.absent && conditions:
		return Filter{}, errors.New("absent stands alone: a field that is absent has no value to compare")
	case !f.absent && !conditions:
		return Filter{}, errors.New("it says nothing: give in, not_in, min, max or absent: true")
	}
	return f, nil
}

// suits refuses what no value of the type could ever match.
func (spec FilterSpec) suits(t FieldType) error {
	if !t.numeric() && (spec.Min != nil || spec.Max != nil) {
		return fmt.Errorf("min and max compare numbers, and the field's type is %s", t)
	}
	for _, entry := range slices.Concat(spec.In, spec.NotIn) {
		if _, ok := numberOf(entry); t.numeric() && !ok {
			return fmt.Errorf("%q is listed, and the field's type is %s", entry, t)
		}
		if t == TypeBoolean && entry != "true" && entry != "false" {
			return fmt.Errorf("%q is listed, and the field's type is boolean: use true or false", entry)
		}
	}
	return nil
}

// Slot is the field that the filter looks at.
func (f *Filter) Slot() Slot { return f.slot }

// Pass tells whether the lead's value fulfils the filter.
func (f *Filter) Pass(l *Lead) bool {
	v := &l.Values[f.slot]
	if v.Kind == KindAbsent || f.absent {
		return f.absent && v.Kind == KindAbsent
	}
	if f.bounded && !(v.isNumber() && f.min <= v.Num && v.Num <= f.max) {
		return false
	}
	return (f.in == nil || f.in.has(v)) && (f.notIn == nil || !f.notIn.has(v))
}

func (v *Value) isNumber() bool { return v.Kind == KindInteger || v.Kind == KindNumber }

// valueSet is what a list of texts matches: every entry as a text, and one that
// reads as a number by its value too.
type valueSet struct {
	texts   map[string]struct{}
	numbers map[float64]struct{}
}

// newValueSet is nil for an empty list.
func newValueSet(entries []string) *valueSet {
	if len(entries) == 0 {
		return nil
	}
	s := &valueSet{texts: make(map[string]struct{}, len(entries)), numbers: map[float64]struct{}{}}
	for _, entry := range entries {
		s.texts[entry] = struct{}{}
		if n, ok := numberOf(entry); ok {
			s.numbers[n] = struct{}{}
		}
	}
	return s
}

func (s *valueSet) has(v *Value) (ok bool) {
	if v.isNumber() {
		_, ok = s.numbers[v.Num]
	} else {
		_, ok = s.texts[string(v.Text)]
	}
	return ok
}

// boundOf leaves the bound alone where none is given.
func boundOf(digits *string, bound *float64) (ok bool) {
	if digits == nil {
		return true
	}
	*bound, ok = numberOf(*digits)
	return ok
}

// numberOf reads a JSON number: of what strconv takes beyond that, such as
// 0x10, 1_000 or Inf, nothing can be a lead's number.
func numberOf(digits string) (n float64, ok bool) {
	if _, ok = splitDecimal([]byte(digits)); !ok {
		return 0, false
	}
	n, err := strconv.ParseFloat(digits, 64)
	return n, err == nil
}
