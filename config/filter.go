package config

import (
	"errors"
	"slices"

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
	} else if _, found := mapping.FindContradictoryField([]market.Filter{filter}); found {
		c.reportNeverWorksOrWarnIfAccepted(at, textContradictoryFilter)
	}
	if value, found := f.FilterSpec().FindImpossibleValue(mapping); found {
		c.addWarning(at, "lists "+quoteShortened(value)+", which is not a possible value of this field; correct it, or remove it")
	}
	return filter, err
}

const textContradictoryFilter = "has conditions that exclude each other, so no lead could pass; remove one, or change its values"

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
// missing, malformed or contradictory.
func (c *compiler) checkFilterIndependentOfMapping(at syntax.KeyPath, f *schema.Filter) {
	if f.Field == "" {
		c.reportMistake(at.Key("field"), "is missing; give the name of the field to filter on")
		return
	}
	noValuePasses, err := f.FilterSpec().CheckWithoutField()
	switch {
	case err != nil:
		c.reportMistakeHidingEnvironmentValue(at, err.Error())
	case noValuePasses:
		c.reportNeverWorksOrWarnIfAccepted(at, textContradictoryFilter)
	}
}

// warnFiltersExcludeEachOther warns about a field on which the campaign's filters alone, or together with
// those of an entry and its buyer, accept no value. A single contradictory filter is a mistake of its own.
// set is nil for the campaign alone.
func (c *compiler) warnFiltersExcludeEachOther(at syntax.KeyPath, campaign *market.Campaign, set *market.FilterSet) {
	if campaign.Mapping == nil {
		return
	}
	field, found := campaign.Mapping.FindContradictoryField(campaign.Filters)
	switch {
	case set == nil && found:
		c.addWarning(at, "exclude each other on the field "+quoteShortened(field)+", so each lead stays unsold; remove one, or change its values")
	case set == nil || found:
	default:
		filters := slices.Concat(campaign.Filters, set.Filters)
		if set.States != market.AllStates {
			states, err := market.NewFilter(market.FilterSpec{Field: "state", In: set.States.Codes()}, campaign.Mapping)
			if err == nil {
				filters = append(filters, states)
			}
		}
		if field, found = campaign.Mapping.FindContradictoryField(filters); found {
			c.addWarning(at, "never buys here: the conditions of the campaign, the buyer and this entry exclude each other on the field "+quoteShortened(field)+"; change one of them, or remove the entry")
		}
	}
}
