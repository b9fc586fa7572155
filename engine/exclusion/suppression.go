package exclusion

import (
	"fmt"

	"pingpost/engine/market"
)

// suppressionRule returns the rule of the first list that has the lead. With only one list no lookup is
// needed. If the list is unknown, the rule lists the candidates. Without a list it returns nil.
func (d *DecisionInputs) suppressionRule(lists []*market.SuppressionListDefinition) *UnmetRule {
	switch len(lists) {
	case 0:
		return nil
	case 1:
		return newListRule(lists[0], "")
	}
	if rule := d.ruleOfFirstListWithLead(lists); rule != nil {
		return rule
	}
	names := make([]string, 0, len(lists))
	for _, list := range lists {
		names = append(names, string(list.ID))
	}
	rule := newRule(KindSuppression, "suppression lists", "not on "+joinFirstValues(names), nil, Unknown)
	rule.Text = "suppression lists: the person is on one of " + joinFirstValues(names) + ", but it is unknown on which"
	return rule
}

// ruleOfFirstListWithLead looks the lead up in the lists. It returns nil if no list has it, or if the
// contact data is missing.
func (d *DecisionInputs) ruleOfFirstListWithLead(lists []*market.SuppressionListDefinition) *UnmetRule {
	if d.IsListed == nil || d.NoContact {
		return nil
	}
	for _, list := range lists {
		if listed, basis := d.IsListed(list); listed {
			return newListRule(list, basis)
		}
	}
	return nil
}

// newListRule returns the rule of a list that has the lead.
func newListRule(list *market.SuppressionListDefinition, basis ActualValueBasis) *UnmetRule {
	rule := newRule(KindSuppression, list.Field.String(), "not on suppression list "+string(list.ID), pointerTo(Masked), basis)
	rule.Text = fmt.Sprintf("%s: is on suppression list %s", list.Field, list.ID)
	if basis == Reconstructed {
		rule.Text += " (reconstructed: by the list's present content)"
	}
	rule.Field, rule.List = list.Field.String(), string(list.ID)
	return rule
}
