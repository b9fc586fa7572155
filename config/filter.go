package config

import (
	"errors"

	"pingpost/engine/market"
)

// Filter is one condition on one field, by its name after mapping.
type Filter struct {
	Field  string  `json:"field"`
	In     []Word  `json:"in,omitempty"`
	NotIn  []Word  `json:"not_in,omitempty"`
	Min    *Number `json:"min,omitempty"`
	Max    *Number `json:"max,omitempty"`
	Absent bool    `json:"absent,omitempty"`
}

func (f *Filter) spec() market.FilterSpec {
	return market.FilterSpec{
		Field: f.Field, In: texts(f.In), NotIn: texts(f.NotIn),
		Min: f.Min.text(), Max: f.Max.text(), Absent: f.Absent,
	}
}

// filters compiles conditions for the leads of one mapping, which is nil where
// it has mistakes of its own.
func (c *compiler) filters(at place, filters []Filter, mapping *market.Mapping) []market.Filter {
	if mapping == nil {
		c.plainFilters(at, filters)
		return nil
	}
	var out []market.Filter
	for i := range filters {
		if filter, err := c.filter(at.at(i), &filters[i], mapping); err == nil {
			out = append(out, filter)
		}
	}
	return out
}

var errReported = errors.New("reported already")

func (c *compiler) filter(at place, f *Filter, mapping *market.Mapping) (market.Filter, error) {
	if f.Field == "" {
		c.fail(at.key("field"), "is missing; name the field that the filter looks at")
		return market.Filter{}, errReported
	}
	if _, known := mapping.SlotOf(f.Field); !known {
		c.failQuoting(at.key("field"), "no field of the campaign is called "+quote(f.Field)+"; use the name after mapping, or add the field")
		return market.Filter{}, errReported
	}
	filter, err := market.NewFilter(f.spec(), mapping)
	if err != nil {
		c.failQuoting(at, cause(err))
	}
	return filter, err
}

// cause is what is wrong with a filter, without the name of its field.
func cause(err error) string {
	if inner := errors.Unwrap(err); inner != nil {
		return inner.Error()
	}
	return err.Error()
}

// plainFilters judges conditions without a mapping: a buyer's own, whose fields
// are known only where the buyer sits in a campaign.
// It returns the indexes of those it reported.
func (c *compiler) plainFilters(at place, filters []Filter) (reported []int) {
	for i := range filters {
		f := &filters[i]
		before := len(c.problems)
		c.plainFilter(at.at(i), f)
		if len(c.problems) > before {
			reported = append(reported, i)
		}
	}
	return reported
}

func (c *compiler) plainFilter(at place, f *Filter) {
	if f.Field == "" {
		c.fail(at.key("field"), "is missing; name the field that the filter looks at")
		return
	}
	spec := f.spec()
	spec.Field = "source" // text, in every mapping
	if spec.Min != nil || spec.Max != nil {
		spec.Field, spec.In, spec.NotIn = "ai_quality_score", nil, nil // a number, in every mapping
	}
	if _, err := market.NewFilter(spec, noFields); err != nil {
		c.failQuoting(at, cause(err))
	}
}

// noFields is the mapping of a campaign without fields of its own.
var noFields = func() *market.Mapping {
	mapping, mistakes := market.NewMapping(market.MappingSpec{})
	if len(mistakes) > 0 {
		panic("BUG: the empty mapping has mistakes")
	}
	return mapping
}()
