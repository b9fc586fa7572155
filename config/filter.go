package config

import (
	"errors"

	"pingpost/config/schema"
	"pingpost/config/syntax"
	"pingpost/engine/market"
)

// compileFilters compiles a list of filters, for leads with the fields of this mapping.
// Without a mapping, because its own fields have mistakes, it only reports mistakes and
// returns nil.
func (c *compiler) compileFilters(at syntax.KeyPath, filters []schema.Filter, mapping *market.FieldMapping) []market.Filter {
	if mapping == nil {
		c.checkBuyerFiltersWithoutMapping(at, filters)
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

func (c *compiler) compileFilter(at syntax.KeyPath, f *schema.Filter, mapping *market.FieldMapping) (market.Filter, error) {
	if f.Field == "" {
		c.reportMistake(at.Key("field"), "is missing; give the name of the field to filter on")
		return market.Filter{}, errReported
	}
	if _, known := mapping.SlotByNameForBuyers(f.Field); !known {
		c.reportMistakeQuotingValue(at.Key("field"), "the campaign has no field "+quoteShortened(f.Field)+"; use the name after mapping, or add the field")
		return market.Filter{}, errReported
	}
	filter, err := market.NewFilter(f.FilterSpec(), mapping)
	if err != nil {
		c.reportMistakeQuotingValue(at, textWithoutFieldName(err))
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

// checkBuyerFiltersWithoutMapping reports those mistakes in a buyer's filters that show
// without a campaign. The filters' fields are known only in each campaign. It returns the
// indexes of the filters with a reported mistake.
func (c *compiler) checkBuyerFiltersWithoutMapping(at syntax.KeyPath, filters []schema.Filter) (reportedIndexes []int) {
	for i := range filters {
		f := &filters[i]
		before := len(c.problems)
		c.checkFilterWithoutMapping(at.Index(i), f)
		if len(c.problems) > before {
			reportedIndexes = append(reportedIndexes, i)
		}
	}
	return reportedIndexes
}

func (c *compiler) checkFilterWithoutMapping(at syntax.KeyPath, f *schema.Filter) {
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
		c.reportMistakeQuotingValue(at, textWithoutFieldName(err))
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
