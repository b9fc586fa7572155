package testlead

import (
	"fmt"
	"strings"

	"pingpost/engine/exclusion"
	"pingpost/engine/market"
)

// maxContradictions limits the contradictions that an example lists.
const maxContradictions = 20

// findContradictions returns the rules that prevent a lead which any buyer accepts. order lists the
// filter sets. campaignAttempt aims at the campaign alone.
func findContradictions(c *market.Campaign, order []int, campaignAttempt *attempt, seed int64) (texts []string) {
	if texts = conflictsPerField(c, nil, "campaign"); len(texts) > 0 {
		return texts
	}
	switch {
	case len(campaignAttempt.faults) > 0:
		for _, fault := range campaignAttempt.faults {
			texts = append(texts, "campaign: "+describeFault(&fault))
		}
		return truncateContradictions(texts)
	case len(c.FilterSets) == 0:
		return []string{"campaign: it has no buyers"}
	}
	for _, i := range order {
		set := &c.FilterSets[i]
		label := "buyer " + string(set.Buyer.ID)
		conflicts := conflictsPerField(c, set, label)
		if len(conflicts) == 0 {
			conflicts = []string{label + ": " + describeAttemptFailure(c, i, attemptLead(c, set, seed))}
		}
		if texts = append(texts, conflicts...); len(texts) >= maxContradictions {
			break
		}
	}
	return truncateContradictions(texts)
}

func truncateContradictions(texts []string) []string {
	if len(texts) > maxContradictions {
		return texts[:maxContradictions]
	}
	return texts
}

// conflictsPerField returns a text for each field for which no value passes all filters. set is nil
// for the campaign alone.
func conflictsPerField(c *market.Campaign, set *market.FilterSet, label string) (texts []string) {
	filters := filtersOf(c, set)
	if text := describeUSStateConflict(c, set, filters); text != "" {
		texts = append(texts, label+": "+text)
	}
	seen := map[market.LeadFieldIndex]bool{market.SlotState: true}
	for i := range filters {
		slot := filters[i].FieldSlot()
		if seen[slot] {
			continue
		}
		seen[slot] = true
		conditions, wantsAbsence := describeConditionsOnField(c, set, slot)
		if c.Mapping.ExampleValueJSON(slot, filters, timeInZoneOf(c)) != nil || wantsAbsence && len(conditions) == 1 && !c.Mapping.IsRequired(slot) {
			continue
		}
		texts = append(texts, fmt.Sprintf("%s: no value of %s was found that passes all of these: %s", label, c.Mapping.FieldNameForBuyers(slot), strings.Join(conditions, "; ")))
	}
	return texts
}

func describeUSStateConflict(c *market.Campaign, set *market.FilterSet, filters []market.Filter) string {
	for _, state := range usStatesWithExamples() {
		if (set == nil || set.States.Has(state)) && usStateFiltersAccept(c, filters, state) {
			return ""
		}
	}
	conditions, wantsAbsence := describeConditionsOnField(c, set, market.SlotState)
	if wantsAbsence && (set == nil || set.States == market.AllStates) {
		return ""
	}
	if set != nil {
		conditions = append(conditions, "the buyer's states: "+exclusion.DescribeStates(set.States))
	}
	return "no state passes all of these: " + strings.Join(conditions, "; ")
}

// describeConditionsOnField describes the conditions on a field: of the campaign's filters, of the
// filter set's, and of the field's rule. It omits the rule of the state, and of an optional field that
// a single filter wants absent. wantsAbsence reports whether a filter wants the field absent.
func describeConditionsOnField(c *market.Campaign, set *market.FilterSet, slot market.LeadFieldIndex) (texts []string, wantsAbsence bool) {
	add := func(owner string, filters []market.Filter) {
		for i := range filters {
			if filters[i].FieldSlot() != slot {
				continue
			}
			for _, condition := range filters[i].Conditions() {
				wantsAbsence = wantsAbsence || condition.Operator == market.FilterAbsent
				texts = append(texts, owner+" filter: "+exclusion.DescribeCondition(condition))
			}
		}
	}
	add("campaign", c.Filters)
	if set != nil {
		add("buyer", set.Filters)
	}
	if slot != market.SlotState && (len(texts) > 1 || !wantsAbsence || c.Mapping.IsRequired(slot)) {
		rule := "field: " + c.Mapping.DescribeAcceptedValues(slot)
		if c.Mapping.IsRequired(slot) {
			rule += ", required"
		}
		texts = append(texts, rule)
	}
	return texts, wantsAbsence
}

// describeAttemptFailure returns the rule by which an attempt at a filter set failed.
func describeAttemptFailure(c *market.Campaign, filterSetIndex int, a *attempt) string {
	if len(a.faults) > 0 {
		return describeFault(&a.faults[0])
	}
	decision := exclusion.DecisionInputs{Campaign: c, Lead: a.lead}
	for _, outcome := range []market.BuyerOutcome{market.OutcomeFiltered, market.OutcomeWrongState} {
		if rule := decision.UnmetRuleFor(filterSetIndex, outcome, nil); rule != nil {
			return rule.Text
		}
	}
	return "no example was found"
}

func describeFault(fault *market.FieldError) string {
	return fmt.Sprintf("no example of %s was found: it expects %s", fault.Field, fault.Expected)
}
