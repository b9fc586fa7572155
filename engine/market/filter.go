package market

import (
	"math"
	"regexp"
	"slices"
	"strconv"

	"pingpost/engine/market/format"
	"pingpost/engine/market/valuelist"
)

// Filter is a compiled condition on one field of a lead. All parts of it must hold. An absent
// field fails every filter except one that requires absence. It fails even a filter that only
// excludes values, because an unknown value is not accepted.
//
// Numbers and dates are compared by value, so that 2 equals 2.0; all other values are compared by
// their text. Numbers are compared as 64-bit floats, exact to 15 digits.
type Filter struct {
	slot             LeadFieldIndex
	absent           bool
	bounded          bool // min and max apply
	dates            bool // min and max are dates, as format.ParseDate returns them
	aged             bool // minAge and maxAge apply
	min, max         float64
	minAge, maxAge   float64         // full years since the field's date; infinite where not given, like min and max
	in               *valuelist.List // nil: any. Both listed and near
	notIn            *valuelist.List // nil: excludes no value
	prefix           *valuelist.List // nil: any
	notPrefix        *valuelist.List // nil: excludes no value
	pattern          *regexp.Regexp  // nil: any
	matches          string          // pattern as configured
	listed, near     *valuelist.List // the two sources of in; nil: any
	nearDistanceText string          // such as "25 miles of 75201"
}

// FieldSlot returns the index of the field that the filter tests.
func (f *Filter) FieldSlot() LeadFieldIndex { return f.slot }

// Accepts reports whether the lead passes the filter.
func (f *Filter) Accepts(l *Lead) bool {
	v := &l.Values[f.slot]
	if v.Kind == KindAbsent || f.absent {
		return f.absent && v.Kind == KindAbsent
	}
	return (!f.bounded || f.isInBounds(v)) &&
		(!f.aged || f.isInAgeBounds(l, v)) &&
		(f.in == nil || v.isListedIn(f.in)) &&
		(f.notIn == nil || !v.isListedIn(f.notIn)) &&
		(f.prefix == nil || v.isListedIn(f.prefix)) &&
		(f.notPrefix == nil || !v.isListedIn(f.notPrefix)) &&
		(f.pattern == nil || matchesPattern(f.pattern, v.Text))
}

func (f *Filter) isInBounds(v *FieldValue) bool {
	n, ok := v.number(f.dates)
	return ok && f.min <= n && n <= f.max
}

func (f *Filter) isInAgeBounds(l *Lead, v *FieldValue) bool {
	age, ok := v.ageSince(l.dayOfDecision())
	return ok && f.minAge <= age && age <= f.maxAge
}

func (v *FieldValue) isNumber() bool { return v.Kind == KindInteger || v.Kind == KindNumber }

// number returns the value's number for comparison, or with asDate that of its date. ok is false if the
// value is no number or no date.
func (v *FieldValue) number(asDate bool) (n float64, ok bool) {
	if !asDate {
		return v.Num, v.isNumber()
	}
	date, ok := format.ParseDate(v.Text)
	return float64(date), ok
}

func (v *FieldValue) isListedIn(list *valuelist.List) bool {
	if v.isNumber() {
		return list.HasNumber(v.Num)
	}
	return list.HasText(v.Text)
}

// FilterOperator names the kind of a filter's condition.
type FilterOperator string

// The operators of filter conditions. A condition with both bounds is "between".
const (
	FilterAbsent     FilterOperator = "absent"
	FilterMin        FilterOperator = ">="
	FilterMax        FilterOperator = "<="
	FilterBetween    FilterOperator = "between"
	FilterMinAge     FilterOperator = "age >="
	FilterMaxAge     FilterOperator = "age <="
	FilterAgeBetween FilterOperator = "age between"
	FilterIn         FilterOperator = "in"
	FilterNear       FilterOperator = "within"
	FilterNotIn      FilterOperator = "not in"
	FilterPrefix     FilterOperator = "begins with"
	FilterNotPrefix  FilterOperator = "does not begin with"
	FilterMatches    FilterOperator = "matches"
)

// FilterCondition is one condition of a filter: an operator and the configured values. Values are
// sorted, numbers by their value.
type FilterCondition struct {
	Operator FilterOperator
	Values   []string
}

// FirstUnmetCondition returns the first condition of the filter that the lead does not meet, in the
// order of Conditions. unmet is false if the lead passes the filter.
func (f *Filter) FirstUnmetCondition(l *Lead) (condition FilterCondition, unmet bool) {
	for _, part := range f.parts() {
		if !part.Accepts(l) {
			return part.condition(), true
		}
	}
	return FilterCondition{}, false
}

// parts returns a filter for each condition of f, in the order of Conditions.
func (f *Filter) parts() (all []Filter) {
	if f.absent {
		return []Filter{*f}
	}
	if f.bounded {
		all = append(all, Filter{bounded: true, dates: f.dates, min: f.min, max: f.max})
	}
	if f.aged {
		all = append(all, Filter{aged: true, minAge: f.minAge, maxAge: f.maxAge})
	}
	if f.listed != nil {
		all = append(all, Filter{in: f.listed, listed: f.listed})
	}
	if f.near != nil {
		all = append(all, Filter{in: f.near, near: f.near, nearDistanceText: f.nearDistanceText})
	}
	if f.notIn != nil {
		all = append(all, Filter{notIn: f.notIn})
	}
	if f.prefix != nil {
		all = append(all, Filter{prefix: f.prefix})
	}
	if f.notPrefix != nil {
		all = append(all, Filter{notPrefix: f.notPrefix})
	}
	if f.pattern != nil {
		all = append(all, Filter{pattern: f.pattern, matches: f.matches})
	}
	for i := range all {
		all[i].slot = f.slot
	}
	return all
}

// Conditions returns all conditions of the filter.
func (f *Filter) Conditions() (all []FilterCondition) {
	for _, part := range f.parts() {
		all = append(all, part.condition())
	}
	return all
}

// condition returns the condition of a filter that has only one.
func (f *Filter) condition() FilterCondition {
	switch {
	case f.absent:
		return FilterCondition{Operator: FilterAbsent}
	case f.bounded:
		return boundsCondition(f.min, f.max, f.formatBound, FilterMin, FilterMax, FilterBetween)
	case f.aged:
		return boundsCondition(f.minAge, f.maxAge, formatNumber, FilterMinAge, FilterMaxAge, FilterAgeBetween)
	case f.near != nil:
		return FilterCondition{FilterNear, []string{f.nearDistanceText}}
	case f.listed != nil:
		return FilterCondition{FilterIn, f.listed.EntriesByValue()}
	case f.notIn != nil:
		return FilterCondition{FilterNotIn, f.notIn.EntriesByValue()}
	case f.prefix != nil:
		return FilterCondition{FilterPrefix, f.prefix.Entries()}
	case f.notPrefix != nil:
		return FilterCondition{FilterNotPrefix, f.notPrefix.Entries()}
	}
	return FilterCondition{FilterMatches, []string{f.matches}}
}

// boundsCondition returns the condition of two bounds, which format writes. An infinite one was not given.
func boundsCondition(low, high float64, format func(float64) string, atLeast, atMost, between FilterOperator) FilterCondition {
	switch {
	case math.IsInf(high, 0):
		return FilterCondition{atLeast, []string{format(low)}}
	case math.IsInf(low, 0):
		return FilterCondition{atMost, []string{format(high)}}
	}
	return FilterCondition{between, []string{format(low), format(high)}}
}

// formatBound writes min or max as the operator has configured it.
func (f *Filter) formatBound(n float64) string {
	if f.dates {
		return format.Date(int(n))
	}
	return formatNumber(n)
}

func formatNumber(n float64) string { return strconv.FormatFloat(n, 'f', -1, 64) }

// maxMatchedText is the longest text in bytes that a filter's pattern can match. Suppliers choose the texts, and each
// byte costs time for each pattern of a campaign.
const maxMatchedText = 256

func matchesPattern(pattern *regexp.Regexp, text []byte) bool {
	return len(text) <= maxMatchedText && pattern.Match(text)
}

// mayMatchUnlistedZIPs reports whether a filter has a pattern that may match a ZIP+4 code that is not listed itself, but
// is covered by a listed code of five digits. rule is nil if the field's type is unknown.
func mayMatchUnlistedZIPs(filters []Filter, listed []string, rule *fieldRule) bool {
	return (rule == nil || rule.fieldType == TypeZIP) &&
		slices.ContainsFunc(filters, func(f Filter) bool { return f.pattern != nil }) &&
		slices.ContainsFunc(listed, func(text string) bool { return len(text) == 5 })
}
