package exclusion

import (
	"fmt"
	"slices"
	"strings"

	"pingpost/engine/market"
)

// describeUSStateMismatch compares the lead's state with those of the filter set, which are the states
// that both the buyer and its entry in the campaign accept.
func (d *DecisionInputs) describeUSStateMismatch(set *market.FilterSet) *UnmetRule {
	var actual *string
	if state := d.Lead.USState(); state != market.NoState {
		actual = pointerTo(state.String())
	}
	rule := newRule(KindState, "state", DescribeStates(set.States), actual, "")
	rule.Field = "state"
	return rule
}

// DescribeStates returns the states that a filter set accepts, in words.
func DescribeStates(states market.USStateSet) string {
	if states == market.AllStates {
		return "any state"
	}
	var codes []string
	for state := market.USState(1); state.String() != ""; state++ {
		if states.Has(state) {
			codes = append(codes, state.String())
		}
	}
	if len(codes) == 0 {
		return "a state of both the buyer and its entry in the campaign (they have none in common)"
	}
	return "one of " + strings.Join(codes, ", ")
}

// DescribeCondition returns a filter's condition in words, such as ">= 1" or "one of gold, silver".
func DescribeCondition(condition market.FilterCondition) string {
	return describeCondition(condition, false)
}

// describeFailedFilterOrTestEndpoint returns the first filter of the filter set that the lead fails, or
// the suppliers of the filter set. In a test the buyer may be filtered because it has no test endpoint.
func (d *DecisionInputs) describeFailedFilterOrTestEndpoint(filterSetIndex int, set *market.FilterSet) *UnmetRule {
	if rule := d.describeFirstFailingFilter(set.Filters); rule != nil && rule.Basis == "" {
		return rule
	}
	if d.Supplier != "" && !set.AcceptsSupplier(d.Supplier) {
		return d.supplierRule(set)
	}
	if d.HasNoTestURL != nil && d.HasNoTestURL(filterSetIndex) {
		return newRule(KindTestEndpoint, "test lead", "a test endpoint of the buyer", nil, "")
	}
	return d.describeFirstFailingFilter(set.Filters)
}

// supplierRule returns the filter on the supplier that excluded the filter set.
func (d *DecisionInputs) supplierRule(set *market.FilterSet) *UnmetRule {
	condition := market.FilterCondition{Operator: market.FilterNotIn}
	suppliers := set.NotSuppliers
	if _, excluded := suppliers[d.Supplier]; !excluded {
		condition.Operator, suppliers = market.FilterIn, set.Suppliers
	}
	for id := range suppliers {
		condition.Values = append(condition.Values, string(id))
	}
	slices.Sort(condition.Values)
	rule := newRule(KindFilter, "supplier", DescribeCondition(condition), pointerTo(string(d.Supplier)), "")
	rule.Field, rule.Operator = "supplier", string(condition.Operator)
	return rule
}

// describeFirstFailingFilter returns the rule of the first filter that the lead fails. A filter on a value that
// may be missing only now seems to fail. So a failing filter on another field comes first, and the
// rule of the missing value has the basis Unknown.
func (d *DecisionInputs) describeFirstFailingFilter(filters []market.Filter) (rule *UnmetRule) {
	for i := range filters {
		f := &filters[i]
		if wanted := d.describeConditionIfUnreadable(f.FieldSlot()); wanted != "" {
			if rule == nil {
				rule = d.filterRule(f.FieldSlot(), market.FilterCondition{Operator: wanted}, Unknown)
			}
			continue
		}
		if condition, unmet := f.FirstUnmetCondition(d.Lead); unmet {
			return d.filterRule(f.FieldSlot(), condition, "")
		}
	}
	return rule
}

// describeConditionIfUnreadable returns a description of the condition on a field that the lead may have had,
// although its value is missing now, or "". The log keeps a text together with the contact data if
// it contains some, so every missing text may have been erased with it. A ping has no such text.
func (d *DecisionInputs) describeConditionIfUnreadable(slot market.LeadFieldIndex) market.FilterOperator {
	switch {
	case !d.NoContact:
		return ""
	case d.Campaign.Mapping.IsPersonalData(slot):
		return "a condition on personal data"
	case d.ContactLost && d.Lead.Values[slot].Kind == market.KindAbsent && d.Campaign.Mapping.FieldTypeOf(slot).IsText():
		return "a condition on a text that may have contained personal data"
	}
	return ""
}

// filterRule returns the rule of a filter's condition. Personal data is masked, also if another
// field contains it.
func (d *DecisionInputs) filterRule(slot market.LeadFieldIndex, condition market.FilterCondition, basis ActualValueBasis) *UnmetRule {
	value, masked := &d.Lead.Values[slot], d.Campaign.Mapping.IsPersonalData(slot)
	var actual *string
	if value.Kind != market.KindAbsent {
		masked = masked || d.Person != nil && d.Person.ContactFoundIn(value.Text)
		actual = pointerTo(shorten(string(value.Text)))
		if masked {
			actual = pointerTo(Masked)
		}
	}
	name := d.Campaign.Mapping.FieldNameForBuyers(slot)
	rule := newRule(KindFilter, name, describeCondition(condition, masked), actual, basis)
	rule.Field, rule.Operator = name, string(condition.Operator)
	return rule
}

// describeCondition returns a condition in words, such as ">= 1" or "one of gold, silver". With
// masked, a list is replaced by its length, because the lead's value may be in it.
func describeCondition(condition market.FilterCondition, masked bool) string {
	list := joinFirstValues(condition.Values)
	if masked {
		list = fmt.Sprintf("%d configured values", len(condition.Values))
	}
	switch condition.Operator {
	case market.FilterAbsent:
		return "no value"
	case market.FilterBetween, market.FilterAgeBetween:
		return fmt.Sprintf("%s %s and %s", condition.Operator, condition.Values[0], condition.Values[1])
	case market.FilterIn:
		return "one of " + list
	case market.FilterNotIn:
		return "none of " + list
	case market.FilterPrefix:
		return "a text that begins with one of " + list
	case market.FilterNotPrefix:
		return "a text that begins with none of " + list
	case market.FilterMatches:
		return "a text that matches " + condition.Values[0]
	}
	return strings.TrimSpace(string(condition.Operator) + " " + strings.Join(condition.Values, ""))
}

// maxValueBytes limits the lead's value in a rule.
const maxValueBytes = 200

func shorten(value string) string {
	if len(value) <= maxValueBytes {
		return value
	}
	return strings.ToValidUTF8(value[:maxValueBytes], "") + "…"
}

// describeOtherFilterSetOfBuyer returns the rule that a buyer gets a lead by one filter set only, or nil if the
// buyer was not offered the lead by another one.
func (d *DecisionInputs) describeOtherFilterSetOfBuyer(filterSetIndex int, set *market.FilterSet) *UnmetRule {
	for i := range d.Campaign.FilterSets {
		other := &d.Campaign.FilterSets[i]
		if i != filterSetIndex && other.Buyer.ID == set.Buyer.ID && d.WasOffered != nil && d.WasOffered(i) {
			return newRule(KindFilterSet, "filter sets of the buyer", "one offer of a lead to a buyer", pointerTo("an offer by the filter set "+other.Name()), "")
		}
	}
	return nil
}
