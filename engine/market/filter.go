package market

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"

	"pingpost/engine/market/format"
)

// Filter is a compiled condition on one field of a lead. All parts of it must hold. An absent
// field fails every filter except one that requires absence. It fails even a filter that only
// excludes values, because an unknown value is not accepted.
//
// Numbers are compared by value, so that 2 equals 2.0; all other values are compared by their
// text. Numbers are compared as 64-bit floats, exact to 15 digits.
type Filter struct {
	slot     LeadFieldIndex
	absent   bool
	in       *filterValueSet // nil: any
	notIn    *filterValueSet // nil: none
	bounded  bool
	min, max float64 // both inclusive, infinite where not given
}

// FilterSpec is a filter as the operator has configured it. NewFilter compiles it.
type FilterSpec struct {
	Field     string // after mapping
	In, NotIn []string
	Min, Max  *string // decimal digits
	Absent    bool
}

// NewFilter compiles a filter for leads that the mapping m fills. It returns an error if the
// mapping has no such field, or if the conditions are missing, contradict each other or do not
// suit the field's type.
func NewFilter(spec FilterSpec, m *FieldMapping) (Filter, error) {
	slot, ok := m.SlotByNameForBuyers(spec.Field)
	if !ok {
		return Filter{}, fmt.Errorf("filter on %q: the campaign has no such field; use its name after mapping", spec.Field)
	}
	f, err := spec.compileWithoutTypeCheck(slot)
	if err == nil {
		err = spec.checkConditionsSuitType(m.FieldTypeOf(slot))
	}
	if err != nil {
		return Filter{}, fmt.Errorf("filter on %q: %w", spec.Field, err)
	}
	return f, nil
}

// compileWithoutTypeCheck returns the filter on slot. It rejects a bound that is not a number,
// conditions that contradict each other, and a filter without a condition.
func (spec FilterSpec) compileWithoutTypeCheck(slot LeadFieldIndex) (Filter, error) {
	f := Filter{
		slot:    slot,
		absent:  spec.Absent,
		in:      newFilterValueSet(spec.In),
		notIn:   newFilterValueSet(spec.NotIn),
		bounded: spec.Min != nil || spec.Max != nil,
		min:     math.Inf(-1),
		max:     math.Inf(1),
	}
	if !parseBoundIfGiven(spec.Min, &f.min) {
		return Filter{}, errors.New("min is not a number")
	}
	if !parseBoundIfGiven(spec.Max, &f.max) {
		return Filter{}, errors.New("max is not a number")
	}
	conditions := f.bounded || f.in != nil || f.notIn != nil
	switch {
	case f.min > f.max:
		return Filter{}, errors.New("min is greater than max, so no lead could pass")
	case f.absent && conditions:
		return Filter{}, errors.New("absent cannot be combined with other conditions: an absent field has no value to compare")
	case !f.absent && !conditions:
		return Filter{}, errors.New("no condition: give in, not_in, min, max or absent: true")
	}
	return f, nil
}

// checkConditionsSuitType returns an error if a condition of spec does not suit the field's type,
// such as min for text, or a listed word for numbers.
func (spec FilterSpec) checkConditionsSuitType(fieldType FieldType) error {
	if !fieldType.isNumeric() && (spec.Min != nil || spec.Max != nil) {
		return fmt.Errorf("min and max are for numbers, but the field's type is %s: use in or not_in", fieldType)
	}
	for _, entry := range slices.Concat(spec.In, spec.NotIn) {
		if _, ok := parseNumber(entry); fieldType.isNumeric() && !ok {
			return fmt.Errorf("in and not_in contain %q, which is not a number, but the field's type is %s: give numbers", entry, fieldType)
		}
		if fieldType == TypeBoolean && entry != "true" && entry != "false" {
			return fmt.Errorf("in and not_in contain %q, but the field's type is boolean: use true or false", entry)
		}
	}
	return nil
}

// FieldSlot returns the index of the field that the filter tests.
func (f *Filter) FieldSlot() LeadFieldIndex { return f.slot }

// Accepts reports whether the lead passes the filter.
func (f *Filter) Accepts(l *Lead) bool {
	v := &l.Values[f.slot]
	if v.Kind == KindAbsent || f.absent {
		return f.absent && v.Kind == KindAbsent
	}
	if f.bounded && !(v.isNumber() && f.min <= v.Num && v.Num <= f.max) {
		return false
	}
	return (f.in == nil || f.in.contains(v)) && (f.notIn == nil || !f.notIn.contains(v))
}

// FilterOperator names the kind of a filter's condition.
type FilterOperator string

// The operators of filter conditions. A condition with both bounds is "between".
const (
	FilterAbsent  FilterOperator = "absent"
	FilterMin     FilterOperator = ">="
	FilterMax     FilterOperator = "<="
	FilterBetween FilterOperator = "between"
	FilterIn      FilterOperator = "in"
	FilterNotIn   FilterOperator = "not in"
)

// FilterCondition is one condition of a filter: an operator and the configured values. Values are
// sorted, numbers by their value.
type FilterCondition struct {
	Operator FilterOperator
	Values   []string
}

// FirstUnmetCondition returns the first condition of the filter that the lead does not meet, in the
// order of Accepts. unmet is false if the lead passes the filter.
func (f *Filter) FirstUnmetCondition(l *Lead) (condition FilterCondition, unmet bool) {
	v := &l.Values[f.slot]
	absent := v.Kind == KindAbsent
	switch {
	case f.Accepts(l):
		return FilterCondition{}, false
	case f.absent:
		return FilterCondition{Operator: FilterAbsent}, true
	case f.bounded && (absent || !v.isNumber() || f.min > v.Num || v.Num > f.max):
		return f.boundsCondition(), true
	case f.in != nil && (absent || !f.in.contains(v)):
		return FilterCondition{FilterIn, f.in.sortedEntries()}, true
	}
	return FilterCondition{FilterNotIn, f.notIn.sortedEntries()}, true
}

// Conditions returns all conditions of the filter, in the order of Accepts.
func (f *Filter) Conditions() (all []FilterCondition) {
	if f.absent {
		return []FilterCondition{{Operator: FilterAbsent}}
	}
	if f.bounded {
		all = append(all, f.boundsCondition())
	}
	if f.in != nil {
		all = append(all, FilterCondition{FilterIn, f.in.sortedEntries()})
	}
	if f.notIn != nil {
		all = append(all, FilterCondition{FilterNotIn, f.notIn.sortedEntries()})
	}
	return all
}

func (f *Filter) boundsCondition() FilterCondition {
	low, high := strconv.FormatFloat(f.min, 'f', -1, 64), strconv.FormatFloat(f.max, 'f', -1, 64)
	switch {
	case math.IsInf(f.max, 0):
		return FilterCondition{FilterMin, []string{low}}
	case math.IsInf(f.min, 0):
		return FilterCondition{FilterMax, []string{high}}
	}
	return FilterCondition{FilterBetween, []string{low, high}}
}

// sortedEntries returns the configured values: numbers by value, then texts.
func (s *filterValueSet) sortedEntries() []string {
	return slices.SortedFunc(maps.Keys(s.texts), func(a, b string) int {
		x, isNumberX := parseNumber(a)
		y, isNumberY := parseNumber(b)
		if isNumberX && isNumberY {
			return cmp.Or(cmp.Compare(x, y), cmp.Compare(a, b))
		}
		return cmp.Compare(a, b)
	})
}

func (v *FieldValue) isNumber() bool { return v.Kind == KindInteger || v.Kind == KindNumber }

// filterValueSet is a configured list of accepted or excluded values. A numeric value of a lead is
// looked up among the entries that are numbers, any other value among the texts.
type filterValueSet struct {
	texts   map[string]struct{}
	numbers map[float64]struct{}
}

// newFilterValueSet returns the set of the configured values, or nil for an empty list.
func newFilterValueSet(entries []string) *filterValueSet {
	if len(entries) == 0 {
		return nil
	}
	s := &filterValueSet{texts: make(map[string]struct{}, len(entries)), numbers: map[float64]struct{}{}}
	for _, entry := range entries {
		s.texts[entry] = struct{}{}
		if n, ok := parseNumber(entry); ok {
			s.numbers[n] = struct{}{}
		}
	}
	return s
}

// contains reports whether the list has the value v of a lead.
func (s *filterValueSet) contains(v *FieldValue) (ok bool) {
	if v.isNumber() {
		_, ok = s.numbers[v.Num]
	} else {
		_, ok = s.texts[string(v.Text)]
	}
	return ok
}

// parseBoundIfGiven stores the number digits in bound. It leaves bound unchanged if digits is nil.
// ok is false if digits is not a number.
func parseBoundIfGiven(digits *string, bound *float64) (ok bool) {
	if digits == nil {
		return true
	}
	*bound, ok = parseNumber(*digits)
	return ok
}

// parseNumber parses a JSON number. ok is false for forms that only strconv accepts, such as
// 0x10, 1_000 or Inf, because no lead can have them.
func parseNumber(digits string) (n float64, ok bool) {
	if _, ok = format.ParseDecimal([]byte(digits)); !ok {
		return 0, false
	}
	n, err := strconv.ParseFloat(digits, 64)
	return n, err == nil
}

// ConditionsMetByLead is the set of conditions that a lead has met when the exchange makes a bid for
// it. The bid lists them in its member buyer_filters_passed.
type ConditionsMetByLead uint8

// Every bid has met the vertical, because it selects the campaign. The others apply if
// the campaign, the buyer or its filter set has them: a list of states, and filters on
// consent or on the score.
const (
	PassedState ConditionsMetByLead = 1 << iota
	PassedVertical
	PassedTCPA
	PassedScore
)

var passedNames = [...]string{"state", "vertical", "tcpa", "score_threshold"}

// AppendJSON appends the names of the conditions as a JSON array of strings.
func (p ConditionsMetByLead) AppendJSON(dst []byte) []byte {
	dst = append(dst, '[')
	first := true
	for i, name := range passedNames {
		if p>>i&1 == 0 {
			continue
		}
		if !first {
			dst = append(dst, ',')
		}
		first = false
		dst = append(append(append(dst, '"'), name...), '"')
	}
	return append(dst, ']')
}

// ConditionsEachSaleMeets returns the conditions that a lead has met if it can be sold to the buyer of this
// filter set. filterSetIndex is an index of c.FilterSets.
func (c *Campaign) ConditionsEachSaleMeets(filterSetIndex int) ConditionsMetByLead {
	met := PassedVertical
	if c.FilterSets[filterSetIndex].States != AllStates {
		met |= PassedState
	}
	return met | conditionsCheckedBy(c.Filters) | conditionsCheckedBy(c.FilterSets[filterSetIndex].Filters)
}

// conditionsCheckedBy returns the conditions (state, consent, score) that a lead has met if it passed these filters.
func conditionsCheckedBy(filters []Filter) (met ConditionsMetByLead) {
	for i := range filters {
		switch filters[i].slot {
		case SlotState:
			met |= PassedState
		case SlotTCPAConsent:
			met |= PassedTCPA
		case SlotQualityScore:
			met |= PassedScore
		}
	}
	return met
}
