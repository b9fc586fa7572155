package config

import (
	"errors"

	"pingpost/config/schema"
	"pingpost/config/syntax"
	"pingpost/engine/market"
)

// compileFilters compiles a list of filters, for leads with the fields of a campaign's mapping. It
// reports and omits filters with mistakes. The mapping is nil if the campaign's fields have
// mistakes. compileFilters then only reports the filters' own mistakes, and returns nil.
func (c *compiler) compileFilters(at syntax.KeyPath, filters []schema.Filter, mapping *market.FieldMapping) []market.Filter {
	if mapping == nil {
		c.checkFiltersIndependentOfMapping(at, filters)
		return nil
	}
	var out []market.Filter
	for i := range filters {
		if filter, err := c.compileFilter(at.Index(i), &filters[i], mapping); err == nil {
			out = append(out, filter)
		}
	}
	return out
}

var errReported = errors.New("reported already")

func (c *compiler) compileFilter(at syntax.KeyPath, f *schema.Filter, mapping *market.FieldMapping) (filter market.Filter, reportedErr error) {
	if f.Field == "" {
		c.reportMistake(at.Key("field"), "is missing; give the name of the field to filter on")
		return market.Filter{}, errReported
	}
	if _, known := mapping.SlotByNameForBuyers(f.Field); !known {
		c.reportMistakeHidingEnvironmentValue(at.Key("field"), "the campaign has no field "+quoteShortened(f.Field)+"; use the name after mapping, or add the field")
		return market.Filter{}, errReported
	}
	filter, err := market.NewFilter(f.FilterSpec(), mapping)
	if err != nil {
		c.reportMistakeHidingEnvironmentValue(at, textWithoutFieldName(err))
	}
	return filter, err
}

// textWithoutFieldName returns the text of a filter's mistake without the field name, which the
// message would otherwise repeat.
func textWithoutFieldName(err error) string {
	if inner := errors.Unwrap(err); inner != nil {
		return inner.Error()
	}
	return err.Error()
}

// checkFiltersIndependentOfMapping reports the mistakes in filters that it can find without a
// campaign's field mapping. The mapping defines which fields the leads have, and their types. It is
// missing for the filters of a buyer, which buys in several campaigns, and for the filters of a
// campaign whose fields have mistakes. The function returns the indexes of the filters with a
// reported mistake.
func (c *compiler) checkFiltersIndependentOfMapping(at syntax.KeyPath, filters []schema.Filter) (indexesWithMistakes []int) {
	for i := range filters {
		f := &filters[i]
		before := len(c.problems)
		c.checkFilterIndependentOfMapping(at.Index(i), f)
		if len(c.problems) > before {
			indexesWithMistakes = append(indexesWithMistakes, i)
		}
	}
	return indexesWithMistakes
}

// checkFilterIndependentOfMapping reports a filter without a field name, or with conditions that are
// missing, malformed or contradictory. It tests the conditions on a field that every campaign has.
func (c *compiler) checkFilterIndependentOfMapping(at syntax.KeyPath, f *schema.Filter) {
	if f.Field == "" {
		c.reportMistake(at.Key("field"), "is missing; give the name of the field to filter on")
		return
	}
	spec := f.FilterSpec()
	spec.Field = "source" // text, in every mapping
	if spec.Min != nil || spec.Max != nil {
		spec.Field, spec.In, spec.NotIn = "ai_quality_score", nil, nil // a number, in every mapping
	}
	if _, err := market.NewFilter(spec, noFields); err != nil {
		c.reportMistakeHidingEnvironmentValue(at, textWithoutFieldName(err))
	}
}

// noFields is the mapping of a campaign without fields of its own.
var noFields = func() *market.FieldMapping {
	mapping, mistakes := market.NewFieldMapping(market.FieldMappingSpec{})
	if len(mistakes) > 0 {
		panic("BUG: the empty mapping has mistakes")
	}
	return mapping
}()
