package exclusion

import (
	"fmt"
	"slices"

	"pingpost/engine/market"
)

// RuleOwner says whose rule rejected a lead that accepted a bid.
type RuleOwner uint8

// The owners of a rule.
const (
	OwnerUnknown  RuleOwner = iota // the campaign or the bid's buyer
	OwnerCampaign                  // the campaign itself
	OwnerBuyer                     // the bid's buyer
)

// UnmetRuleOfAcceptedBid returns the rule that rejected a lead that accepted a bid of an earlier ping. The
// engine checks the campaign's own rules and then those of the bid's buyer, so UnmetRuleOfAcceptedBid uses
// the same order. filterSetIndex is the buyer's filter set; -1 means that the buyer is unknown.
//
// rule is nil if the reason has no rule. If owner is OwnerUnknown, the basis of rule is Unknown.
func (d *DecisionInputs) UnmetRuleOfAcceptedBid(reason market.UnsoldReason, filterSetIndex int) (rule *UnmetRule, owner RuleOwner) {
	var set *market.FilterSet
	if filterSetIndex >= 0 && filterSetIndex < len(d.Campaign.FilterSets) {
		set = &d.Campaign.FilterSets[filterSetIndex]
	}
	switch reason {
	case market.ReasonFiltered:
		return d.filterRuleOfBid(filterSetIndex, set)
	case market.ReasonSuppressed:
		return d.suppressionRuleOfCampaignOrBidder(set)
	case market.ReasonDuplicate:
		return d.duplicateRuleOfBid(set)
	}
	return d.UnmetCampaignRule(reason), OwnerCampaign
}

// describeBuyerOfBid names the buyer of the bid in a text. set is nil if the buyer is unknown.
func describeBuyerOfBid(set *market.FilterSet) string {
	if set == nil {
		return "the buyer whose bid the lead accepted"
	}
	return "buyer " + string(set.Buyer.ID)
}

// filterRuleOfBid returns the failing filter and its owner. A filter on a value that can no longer be
// read counts only if no other filter can have rejected the lead. If the filter cannot be determined,
// the rule names only its possible owners and has the basis Unknown.
func (d *DecisionInputs) filterRuleOfBid(filterSetIndex int, set *market.FilterSet) (*UnmetRule, RuleOwner) {
	own := d.describeFirstFailingFilter(d.Campaign.Filters)
	if own != nil && own.Basis != Unknown {
		return own, OwnerCampaign
	}
	if set != nil {
		switch rule := d.describeFailedFilterOrTestEndpoint(filterSetIndex, set); {
		case rule == nil && own != nil:
			return own, OwnerCampaign
		case rule != nil && (own == nil || rule.Basis != Unknown):
			return rule, OwnerBuyer
		}
	}
	owner, whose := OwnerUnknown, "the campaign or of "+describeBuyerOfBid(set)
	if own == nil {
		owner, whose = OwnerBuyer, describeBuyerOfBid(set)
	}
	return newRule(KindFilter, "filters", "the filters of "+whose, nil, Unknown), owner
}

// suppressionRuleOfCampaignOrBidder returns the rule of the first list of the campaign and the buyer
// that has the lead. It looks the lead up, unless the buyer is known and there is only one list. If it
// finds no list, the rule says that the list is unknown. The rule is nil if a known buyer and the
// campaign have no list.
func (d *DecisionInputs) suppressionRuleOfCampaignOrBidder(set *market.FilterSet) (*UnmetRule, RuleOwner) {
	own := d.Campaign.Suppression
	if set == nil {
		if rule := d.ruleOfFirstListWithLead(own); rule != nil {
			return rule, OwnerCampaign
		}
		if len(own) == 0 {
			return describeUnidentifiedSuppressionList(describeBuyerOfBid(nil)), OwnerBuyer
		}
		return describeUnidentifiedSuppressionList("the campaign or of " + describeBuyerOfBid(nil)), OwnerUnknown
	}
	var others []*market.SuppressionListDefinition
	for _, list := range set.Buyer.Suppression {
		if !hasListWithID(own, list.ID) {
			others = append(others, list)
		}
	}
	rule := d.suppressionRule(slices.Concat(own, others))
	switch {
	case rule == nil:
		return nil, OwnerUnknown
	case len(others) == 0 || hasListWithID(own, market.ListID(rule.List)):
		return rule, OwnerCampaign
	case len(own) == 0 || rule.List != "":
		return rule, OwnerBuyer
	}
	return rule, OwnerUnknown
}

func hasListWithID(lists []*market.SuppressionListDefinition, id market.ListID) bool {
	return slices.ContainsFunc(lists, func(list *market.SuppressionListDefinition) bool { return list.ID == id })
}

// describeUnidentifiedSuppressionList returns the Rule that excluded a lead which is on a suppression
// list of one of the owners, if it is unknown on which list. owners is a text for the message.
func describeUnidentifiedSuppressionList(owners string) *UnmetRule {
	rule := newRule(KindSuppression, "suppression lists", "not on a list of "+owners, nil, Unknown)
	rule.Text = fmt.Sprintf("suppression lists: the person is on a list of %s, but it is unknown on which", owners)
	return rule
}

// duplicateRuleOfBid returns the campaign's rule against duplicates, or the buyer's if the campaign
// counts duplicates for each buyer.
func (d *DecisionInputs) duplicateRuleOfBid(set *market.FilterSet) (*UnmetRule, RuleOwner) {
	switch {
	case !d.Campaign.Duplicates.PerBuyer:
		return d.duplicateRule(nil), OwnerCampaign
	case set != nil:
		return d.duplicateRule(set.Buyer), OwnerBuyer
	}
	return d.duplicateRuleOf(describeBuyerOfBid(nil), nil), OwnerBuyer
}
