package exclusion

import (
	"fmt"
	"slices"

	"pingpost/engine/market"
)

// Owner says whose rule rejected a lead that accepted a bid.
type Owner uint8

// The owners of a rule.
const (
	OwnerUnknown  Owner = iota // the campaign or the bid's buyer
	OwnerCampaign              // the campaign itself
	OwnerBuyer                 // the bid's buyer
)

// AcceptedBidRule returns the rule that rejected a lead that accepted a bid of an earlier ping. The
// engine checks the campaign's own rules and then those of the bid's buyer, so AcceptedBidRule uses
// the same order. filterSetIndex is the buyer's filter set; -1 means that the buyer is unknown.
//
// rule is nil if the reason has no rule. If owner is OwnerUnknown, the basis of rule is Unknown.
func (d *DecisionInputs) AcceptedBidRule(reason market.UnsoldReason, filterSetIndex int) (rule *Rule, owner Owner) {
	var set *market.FilterSet
	if filterSetIndex >= 0 && filterSetIndex < len(d.Campaign.FilterSets) {
		set = &d.Campaign.FilterSets[filterSetIndex]
	}
	switch reason {
	case market.ReasonFiltered:
		return d.filteredRuleOfBid(filterSetIndex, set)
	case market.ReasonSuppressed:
		return d.suppressionRuleOfBid(set)
	case market.ReasonDuplicate:
		return d.duplicateRuleOfBid(set)
	}
	return d.CampaignRule(reason), OwnerCampaign
}

// bidBuyer names the buyer of the bid in a text. set is nil if the buyer is unknown.
func bidBuyer(set *market.FilterSet) string {
	if set == nil {
		return "the buyer whose bid the lead accepted"
	}
	return "buyer " + string(set.Buyer.ID)
}

// filteredRuleOfBid returns the failing filter. A filter on a value that can no longer be read counts
// only if no other filter can have rejected the lead.
func (d *DecisionInputs) filteredRuleOfBid(filterSetIndex int, set *market.FilterSet) (*Rule, Owner) {
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
	owner, whose := OwnerUnknown, "the campaign or of "+bidBuyer(set)
	if own == nil {
		owner, whose = OwnerBuyer, bidBuyer(set)
	}
	return newRule(KindFilter, "filters", "the filters of "+whose, nil, Unknown), owner
}

// suppressionRuleOfBid returns the first list of the campaign and the buyer that has the lead. It
// looks the lead up, unless there is only one list.
func (d *DecisionInputs) suppressionRuleOfBid(set *market.FilterSet) (*Rule, Owner) {
	own := d.Campaign.Suppression
	if set == nil {
		if rule := d.ruleOfFirstListWithLead(own); rule != nil {
			return rule, OwnerCampaign
		}
		if len(own) == 0 {
			return describeUnidentifiedSuppressionList(bidBuyer(nil)), OwnerBuyer
		}
		return describeUnidentifiedSuppressionList("the campaign or of " + bidBuyer(nil)), OwnerUnknown
	}
	var others []*market.SuppressionList
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

func hasListWithID(lists []*market.SuppressionList, id market.ListID) bool {
	return slices.ContainsFunc(lists, func(list *market.SuppressionList) bool { return list.ID == id })
}

// describeUnidentifiedSuppressionList returns the Rule that excluded a lead which is on a suppression
// list of one of the owners, if it is unknown on which list. owners is a text for the message.
func describeUnidentifiedSuppressionList(owners string) *Rule {
	rule := newRule(KindSuppression, "suppression lists", "not on a list of "+owners, nil, Unknown)
	rule.Text = fmt.Sprintf("suppression lists: the person is on a list of %s, but it is unknown on which", owners)
	return rule
}

// duplicateRuleOfBid returns the campaign's rule against duplicates, or the buyer's if the campaign
// counts duplicates for each buyer.
func (d *DecisionInputs) duplicateRuleOfBid(set *market.FilterSet) (*Rule, Owner) {
	switch {
	case !d.Campaign.Duplicates.PerBuyer:
		return d.duplicateRule(nil), OwnerCampaign
	case set != nil:
		return d.duplicateRule(set.Buyer), OwnerBuyer
	}
	return d.duplicateRuleOf(bidBuyer(nil), nil), OwnerBuyer
}
