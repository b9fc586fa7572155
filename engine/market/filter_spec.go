package market

import (
	"errors"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"

	"pingpost/engine/market/format"
	"pingpost/engine/market/valuelist"
	"pingpost/engine/market/zipcode"
)

// FilterSpec is a filter as the operator has configured it. NewFilter compiles it.
type FilterSpec struct {
	Field             string // after mapping
	In, NotIn         []string
	Prefix, NotPrefix []string
	Near              *NearSpec
	Matches           string  // RE2 that the whole text must match
	Min, Max          *string // decimal digits
	From, Until       string  // YYYY-MM-DD; both inclusive; empty: no bound
	MinAge, MaxAge    *int    // full years since a date, on the day of the decision
	Absent            bool
}

// NearSpec is a configured distance from a ZIP code: in miles or in kilometers.
type NearSpec struct {
	ZIP       string
	Miles, Km *string // decimal digits
}

const (
	maxNearKilometers = 805 // 500 miles
	maxAge            = 150 // years
)

// NewFilter compiles a filter for leads that the mapping m fills. It returns an error if the
// mapping has no such field, if the conditions are missing or do not suit the field's type, or if bounds
// are in the wrong order. FindContradictoryField finds other contradictions.
func NewFilter(spec FilterSpec, m *FieldMapping) (Filter, error) {
	slot, ok := m.SlotByNameForBuyers(spec.Field)
	if !ok {
		return Filter{}, fmt.Errorf("filter on %q: the campaign has no such field; use its name after mapping", spec.Field)
	}
	r := &m.rules[slot]
	spec.In, spec.NotIn = r.canonicalizeEntries(spec.In), r.canonicalizeEntries(spec.NotIn)
	f, err := spec.compileWithoutTypeCheck(slot, r.kindOfLists())
	if err == nil {
		err = spec.checkConditionsSuitType(r)
	}
	if err != nil {
		return Filter{}, fmt.Errorf("filter on %q: %w", spec.Field, err)
	}
	return f, nil
}

// CheckWithoutField checks the conditions that do not depend on the field's type. It returns an error if
// they are missing or malformed. noValuePasses reports that they exclude each other.
func (spec FilterSpec) CheckWithoutField() (noValuePasses bool, err error) {
	f, err := spec.compileWithoutTypeCheck(0, valuelist.Values)
	return err == nil && conditionsExcludeEachOther([]Filter{f}, nil), err
}

// kindOfLists returns the kind of the lists in filters on the field.
func (r *fieldRule) kindOfLists() valuelist.Kind {
	switch {
	case r.fieldType.isNumeric():
		return valuelist.Values
	case r.fieldType == TypeZIP && len(r.transformsAfter) == 0:
		return valuelist.ZIPs
	}
	return valuelist.Texts
}

// canonicalizeEntries returns the listed values in the spelling of the lead's values, for a state or an enum.
func (r *fieldRule) canonicalizeEntries(entries []string) (canonical []string) {
	if r.fieldType != TypeState && r.fieldType != TypeEnum || len(r.transformsAfter) > 0 {
		return entries
	}
	for _, entry := range entries {
		text, _, _ := r.canonicalizeByType([]byte(entry), nil)
		canonical = append(canonical, string(text))
	}
	return canonical
}

// compileWithoutTypeCheck returns the filter on slot. It rejects malformed conditions, bounds in the wrong
// order, and a filter without a condition. kindOfLists is the kind of the lists in and not_in.
func (spec FilterSpec) compileWithoutTypeCheck(slot LeadFieldIndex, kindOfLists valuelist.Kind) (Filter, error) {
	if spec.Near != nil {
		kindOfLists = valuelist.ZIPs
	}
	f := Filter{
		slot:   slot,
		absent: spec.Absent,
		min:    math.Inf(-1), max: math.Inf(1), minAge: math.Inf(-1), maxAge: math.Inf(1),
		listed: valuelist.NewOrNil(kindOfLists, spec.In), notIn: valuelist.NewOrNil(kindOfLists, spec.NotIn),
		prefix: valuelist.NewOrNil(valuelist.Prefixes, spec.Prefix), notPrefix: valuelist.NewOrNil(valuelist.Prefixes, spec.NotPrefix),
		matches: spec.Matches,
	}
	f.in = f.listed
	if slices.Contains(spec.Prefix, "") || slices.Contains(spec.NotPrefix, "") {
		return Filter{}, errors.New("prefix and not_prefix contain an empty text, with which every text begins; remove it")
	}
	for _, compile := range [...]func(*Filter) error{spec.compileBounds, spec.compileDates, spec.compileAges, spec.compileNear} {
		if err := compile(&f); err != nil {
			return Filter{}, err
		}
	}
	if spec.Matches != "" {
		var err error
		if f.pattern, err = compileWholeTextPattern(spec.Matches); err != nil {
			return Filter{}, fmt.Errorf("matches: %w", err)
		}
	}
	hasConditions := len(f.parts()) > 0
	switch {
	case f.absent && spec.hasOtherConditions():
		return Filter{}, errors.New("absent cannot be combined with other conditions: an absent field has no value to compare")
	case !hasConditions:
		return Filter{}, errors.New("no condition: give in, not_in, prefix, not_prefix, near, matches, min, max, from, until, min_age, max_age or absent: true")
	}
	return f, nil
}

// hasOtherConditions reports whether the filter has another condition than absence.
func (spec FilterSpec) hasOtherConditions() bool {
	return len(spec.In)+len(spec.NotIn)+len(spec.Prefix)+len(spec.NotPrefix) > 0 || spec.Near != nil || spec.Matches != "" ||
		spec.Min != nil || spec.Max != nil || spec.From != "" || spec.Until != "" || spec.MinAge != nil || spec.MaxAge != nil
}

func (spec FilterSpec) compileBounds(f *Filter) error {
	f.bounded = spec.Min != nil || spec.Max != nil
	if !parseBoundIfGiven(spec.Min, &f.min) {
		return errors.New("min is not a number")
	}
	if !parseBoundIfGiven(spec.Max, &f.max) {
		return errors.New("max is not a number")
	}
	if f.min > f.max {
		return errors.New("min is greater than max, so no lead could pass")
	}
	return nil
}

// parseBoundIfGiven stores the number digits in bound. It leaves bound unchanged if digits is nil.
// ok is false if digits is not a number.
func parseBoundIfGiven(digits *string, bound *float64) (ok bool) {
	if digits == nil {
		return true
	}
	*bound, ok = valuelist.ParseNumber(*digits)
	return ok
}

// compileDates compiles from and until to bounds. A field has dates or numbers, so they share them.
func (spec FilterSpec) compileDates(f *Filter) error {
	if spec.From == "" && spec.Until == "" {
		return nil
	}
	if f.bounded {
		return errors.New("min and max are for numbers, from and until are for dates; use two of them")
	}
	f.bounded, f.dates = true, true
	for _, bound := range [...]struct {
		key, text string
		into      *float64
	}{{"from", spec.From, &f.min}, {"until", spec.Until, &f.max}} {
		if bound.text == "" {
			continue
		}
		date, ok := format.ParseDate([]byte(bound.text))
		if !ok {
			return fmt.Errorf("%s is not a date that exists; use the form YYYY-MM-DD", bound.key)
		}
		*bound.into = float64(date)
	}
	if f.min > f.max {
		return errors.New("from is later than until, so no lead could pass")
	}
	return nil
}

func (spec FilterSpec) compileAges(f *Filter) error {
	for _, bound := range [...]struct {
		key  string
		age  *int
		into *float64
	}{{"min_age", spec.MinAge, &f.minAge}, {"max_age", spec.MaxAge, &f.maxAge}} {
		if bound.age == nil {
			continue
		}
		if *bound.age < 0 || *bound.age > maxAge {
			return fmt.Errorf("%s is not an age; give 0 to %d years", bound.key, maxAge)
		}
		f.aged, *bound.into = true, float64(*bound.age)
	}
	if f.minAge > f.maxAge {
		return errors.New("min_age is greater than max_age, so no lead could pass")
	}
	return nil
}

// compileNear compiles near to the list of the ZIP codes within the distance.
func (spec FilterSpec) compileNear(f *Filter) error {
	near := spec.Near
	if near == nil {
		return nil
	}
	digits, unit, kilometersPerUnit := near.Miles, "miles", zipcode.KilometersPerMile
	if near.Miles == nil {
		digits, unit, kilometersPerUnit = near.Km, "km", 1
	}
	if digits == nil || near.Miles != nil && near.Km != nil {
		return errors.New("near needs a distance: give either miles or km")
	}
	distance, ok := valuelist.ParseNumber(*digits)
	if !ok || distance <= 0 || distance*kilometersPerUnit > maxNearKilometers {
		return errors.New("near has a distance that is no number above 0 and up to 500 miles or 805 km; give a shorter one, or use states or prefix")
	}
	zips, known := zipcode.FindWithin(near.ZIP, distance*kilometersPerUnit)
	if !known {
		return fmt.Errorf("near: the location of the ZIP code %q is unknown; give a ZIP code of five digits with an area, not one of post boxes", near.ZIP)
	}
	f.near = valuelist.NewOrNil(valuelist.ZIPs, zips)
	f.in = f.in.Intersect(f.near)
	f.nearDistanceText = *digits + " " + unit + " of " + near.ZIP
	return nil
}

// compileWholeTextPattern compiles a regular expression that the whole text must match.
func compileWholeTextPattern(pattern string) (*regexp.Regexp, error) {
	if len(pattern) > maxPattern {
		return nil, fmt.Errorf("a pattern has at most %d bytes", maxPattern)
	}
	// Compiled alone first, so that no bracket of the pattern closes ours.
	if _, err := regexp.Compile(pattern); err != nil {
		return nil, fmt.Errorf("the pattern is not an RE2 regular expression: %w", err)
	}
	return regexp.MustCompile(`\A(?:` + pattern + `)\z`), nil
}

// checkConditionsSuitType returns an error if a condition of spec does not suit the field's type,
// such as min for text, or a listed word for numbers.
func (spec FilterSpec) checkConditionsSuitType(r *fieldRule) error {
	t := r.fieldType
	hasPrefixes := len(spec.Prefix)+len(spec.NotPrefix) > 0
	usesDates := spec.From != "" || spec.Until != "" || spec.MinAge != nil || spec.MaxAge != nil
	switch {
	case t == TypeDate && (spec.Min != nil || spec.Max != nil):
		return errors.New("min and max are for numbers, but the field's type is date: use from and until, or min_age and max_age")
	case !t.isNumeric() && (spec.Min != nil || spec.Max != nil):
		return fmt.Errorf("min and max are for numbers, but the field's type is %s: use in or not_in", t)
	case usesDates && t != TypeDate:
		return fmt.Errorf("from, until, min_age and max_age are for dates, but the field's type is %s: set the field's type to date, or use other conditions", t)
	case spec.Near != nil && t != TypeZIP:
		return fmt.Errorf("near is for ZIP codes, but the field's type is %s: set the field's type to zip, or use other conditions", t)
	case (hasPrefixes || spec.Matches != "") && !t.IsText():
		return fmt.Errorf("prefix, not_prefix and matches are for text, but the field's type is %s: use in, not_in, min or max", t)
	case (usesDates || spec.Near != nil) && len(r.transformsAfter) > 0:
		return fmt.Errorf("the field's transform %s hides the value from near, from, until, min_age and max_age: remove it, or use other conditions", r.transformsAfter[0])
	}
	for _, entry := range slices.Concat(spec.In, spec.NotIn) {
		if _, ok := valuelist.ParseNumber(entry); t.isNumeric() && !ok {
			return fmt.Errorf("in and not_in contain %q, which is not a number, but the field's type is %s: give numbers", entry, t)
		}
		if t == TypeBoolean && entry != "true" && entry != "false" {
			return fmt.Errorf("in and not_in contain %q, but the field's type is boolean: use true or false", entry)
		}
	}
	for _, entry := range slices.Concat(spec.Prefix, spec.NotPrefix) {
		if _, isNumber := format.ParseDigits([]byte(entry)); t == TypeZIP && len(r.transformsAfter) == 0 && (len(entry) > 5 || !isNumber) {
			return fmt.Errorf("prefix and not_prefix contain %q, but the field's type is zip: give one to five digits", entry)
		}
	}
	return nil
}

// FindImpossibleValue returns the first value of in and not_in that no lead has in a field of type state, enum, date or
// zip, such as the state "texas". It ignores a field whose transforms change the value.
func (spec FilterSpec) FindImpossibleValue(m *FieldMapping) (value string, found bool) {
	slot, known := m.SlotByNameForBuyers(spec.Field)
	if !known || !slices.Contains([]FieldType{TypeState, TypeEnum, TypeDate, TypeZIP}, m.rules[slot].fieldType) || len(m.rules[slot].transformsAfter) > 0 {
		return "", false
	}
	for _, entry := range slices.Concat(spec.In, spec.NotIn) {
		if _, _, errorCode := m.rules[slot].parseMember(&JSONMember{Kind: JSONString, Text: []byte(entry)}, nil); errorCode != "" {
			return entry, true
		}
	}
	return "", false
}

// FindContradictoryField returns the name for buyers of the first field on which the filters exclude each
// other, so that no lead passes all of them. found is false if there is no such field.
func (m *FieldMapping) FindContradictoryField(filters []Filter) (nameForBuyers string, found bool) {
	bySlot := make(map[LeadFieldIndex][]Filter)
	for i := range filters {
		bySlot[filters[i].slot] = append(bySlot[filters[i].slot], filters[i])
	}
	for slot := range m.rules {
		if same := bySlot[LeadFieldIndex(slot)]; len(same) > 0 && conditionsExcludeEachOther(same, &m.rules[slot]) {
			return m.rules[slot].buyerName, true
		}
	}
	return "", false
}

// conditionsExcludeEachOther reports whether filters on one field exclude each other, so that no value passes. It
// tries the listed values, and compares bounds with bounds, ages with ages, and prefixes with prefixes. It does not
// find other contradictions. r is nil if the field's type is unknown.
func conditionsExcludeEachOther(filters []Filter, r *fieldRule) bool {
	all, absent, present := combineFilters(filters)
	switch {
	case absent && present, all.min > all.max, all.minAge > all.maxAge:
		return true
	case absent:
		return false
	}
	if all.prefix != nil && !slices.ContainsFunc(all.prefix.Entries(), func(prefix string) bool {
		return !slices.ContainsFunc(filters, func(f Filter) bool { return f.notPrefix != nil && f.notPrefix.HasText([]byte(prefix)) })
	}) {
		return true
	}
	isNumeric := all.bounded && !all.dates
	var values []string
	if r != nil {
		isNumeric, values = r.fieldType.isNumeric(), r.listPossibleValues()
	}
	switch {
	case all.in != nil && isNumeric: // 1 and 1.0 are one number
		for _, n := range all.in.Numbers() {
			values = append(values, strconv.FormatFloat(n, 'f', -1, 64))
		}
	case all.in != nil && mayMatchUnlistedZIPs(filters, all.in.Entries(), r):
		return false
	case all.in != nil:
		values = all.in.Entries()
	}
	if len(values) == 0 {
		return all.in != nil
	}
	lead := Lead{Values: make([]FieldValue, filters[0].slot+1)}
	return !slices.ContainsFunc(values, func(value string) bool {
		v := FieldValue{Kind: KindString, Text: []byte(value)}
		if n, ok := valuelist.ParseNumber(value); isNumeric && ok {
			v = FieldValue{Kind: KindNumber, Num: n}
		}
		lead.Values[filters[0].slot] = v
		return !slices.ContainsFunc(filters, func(f Filter) bool {
			f.aged = false // an age depends on the day
			return !f.Accepts(&lead)
		})
	})
}

// listPossibleValues returns all values that the field can have, or nil if they are too many to list.
func (r *fieldRule) listPossibleValues() (values []string) {
	switch {
	case len(r.transformsAfter) > 0:
	case r.fieldType == TypeBoolean:
		return []string{"false", "true"}
	case r.fieldType == TypeState:
		return AllStates.Codes()
	}
	return nil
}

// combineFilters returns one filter with the bounds and accepted values of all filters, which are on one
// field. absent and present report whether a filter requires the field to be absent, or to have a value.
func combineFilters(filters []Filter) (all Filter, absent, present bool) {
	all = Filter{min: math.Inf(-1), max: math.Inf(1), minAge: math.Inf(-1), maxAge: math.Inf(1)}
	for i := range filters {
		f := &filters[i]
		if f.absent {
			absent = true
			continue
		}
		present = true
		if f.bounded {
			all.bounded, all.dates = true, f.dates
			all.min, all.max = max(all.min, f.min), min(all.max, f.max)
		}
		if f.aged {
			all.aged = true
			all.minAge, all.maxAge = max(all.minAge, f.minAge), min(all.maxAge, f.maxAge)
		}
		if f.in != nil {
			all.in = all.in.Intersect(f.in)
		}
		if f.prefix != nil {
			all.prefix = all.prefix.Intersect(f.prefix)
		}
	}
	return all, absent, present
}
