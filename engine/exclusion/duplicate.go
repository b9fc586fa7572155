package exclusion

import (
	"fmt"
	"strings"

	"pingpost/engine/market"
)

// duplicateRule names the earlier lead with equal values. buyer is nil for the campaign's own rule.
func (d *DecisionInputs) duplicateRule(buyer *market.Buyer) *UnmetRule {
	if buyer == nil {
		return d.duplicateRuleOf(d.describeDuplicateScope(), nil)
	}
	return d.duplicateRuleOf("buyer "+string(buyer.ID), buyer)
}

// describeDuplicateScope names the campaigns in which a lead of the same person is a duplicate.
func (d *DecisionInputs) describeDuplicateScope() string {
	switch rule := &d.Campaign.Duplicates; {
	case !rule.Shared:
		return "the campaign"
	case rule.Group == "":
		return "the exchange"
	default:
		return "duplicate group " + rule.Group
	}
}

// duplicateRuleOf returns the duplicate rule, with the earlier lead that has equal values, if it is
// known. owner names the rule's owner in the texts; a nil buyer means the campaign's own rule.
func (d *DecisionInputs) duplicateRuleOf(owner string, buyer *market.Buyer) *UnmetRule {
	var earlier market.LeadID
	var basis ActualValueBasis
	if d.DuplicateOf != nil {
		earlier, basis = d.DuplicateOf(buyer)
	}
	fields := []string{}
	if d.Campaign.Duplicates.Phone {
		fields = append(fields, "phone")
	}
	if d.Campaign.Duplicates.Email {
		fields = append(fields, "email")
	}
	joined := strings.Join(fields, " or ")
	if d.Campaign.Duplicates.All {
		joined = strings.Join(fields, " and ")
	}
	wanted := fmt.Sprintf("no lead of %s with the same %s within %s", owner, joined, formatDuration(d.Campaign.Duplicates.Window))
	if earlier.IsZero() {
		return newRule(KindDuplicate, "duplicate", wanted, nil, Unknown)
	}
	at := formatTime(arrivalOf(earlier))
	rule := newRule(KindDuplicate, "duplicate", wanted, pointerTo(fmt.Sprintf("%s of %s", earlier, at)), basis)
	rule.Lead, rule.At = earlier.String(), at
	rule.Text = fmt.Sprintf("duplicate: %s already has %s of %s with the same %s, within %s", owner, earlier, at, joined, formatDuration(d.Campaign.Duplicates.Window))
	if basis == Reconstructed {
		rule.Text += " (reconstructed)"
	}
	return rule
}

// arrivalOf returns the time in a lead's id, in Unix nanoseconds.
func arrivalOf(id market.LeadID) (unixNanos int64) {
	var milliseconds int64
	for _, b := range id[:6] {
		milliseconds = milliseconds<<8 | int64(b)
	}
	return milliseconds * 1_000_000
}
