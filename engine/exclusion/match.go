package exclusion

import (
	"fmt"
	"strings"

	"pingpost/engine/market"
)

// describeWrongState compares the lead's state with those of the filter set, which are the states that both
// the buyer and its entry in the campaign accept.
func (d *Decision) describeWrongState(set *market.FilterSet) *Rule {
	var actual *string
	if state := d.Lead.USState(); state != market.NoState {
		actual = actually(state.String())
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

// filteredRule returns the first filter of the filter set that the lead fails. In a test the buyer
// may be filtered because it has no test endpoint.
func (d *Decision) filteredRule(filterSetIndex int, set *market.FilterSet) *Rule {
	if rule := d.firstFailingFilter(set.Filters); rule != nil && rule.Basis == "" {
		return rule
	}
	if d.HasNoTestURL != nil && d.HasNoTestURL(filterSetIndex) {
		return newRule(KindTestEndpoint, "test lead", "a test endpoint of the buyer", nil, "")
	}
	return d.firstFailingFilter(set.Filters)
}

// firstFailingFilter returns the rule of the first filter that the lead fails. If the contact data
// is missing, a filter on it seems to fail; a failing filter on another field comes first, and the
// actual value of the contact field is unknown.
func (d *Decision) firstFailingFilter(filters []market.Filter) (rule *Rule) {
	for i := range filters {
		f := &filters[i]
		personal := d.Campaign.Mapping.IsPersonalData(f.FieldSlot())
		condition, unmet := f.FirstUnmetCondition(d.Lead)
		if d.NoContact && personal {
			if rule == nil {
				rule = d.filterRule(f.FieldSlot(), market.FilterCondition{Operator: "a condition on personal data"}, Unknown)
			}
			continue
		}
		if unmet {
			return d.filterRule(f.FieldSlot(), condition, "")
		}
	}
	return rule
}

// filterRule returns the rule of a filter's condition. Personal data is masked, also if another
// field contains it.
func (d *Decision) filterRule(slot market.LeadFieldIndex, condition market.FilterCondition, basis Basis) *Rule {
	value, masked := &d.Lead.Values[slot], d.Campaign.Mapping.IsPersonalData(slot)
	var actual *string
	if value.Kind != market.KindAbsent {
		masked = masked || d.Person != nil && d.Person.ContactFoundIn(value.Text)
		actual = actually(shorten(string(value.Text)))
		if masked {
			actual = actually(Masked)
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
	list := listValues(condition.Values)
	if masked {
		list = fmt.Sprintf("%d configured values", len(condition.Values))
	}
	switch condition.Operator {
	case market.FilterAbsent:
		return "no value"
	case market.FilterBetween:
		return fmt.Sprintf("between %s and %s", condition.Values[0], condition.Values[1])
	case market.FilterIn:
		return "one of " + list
	case market.FilterNotIn:
		return "none of " + list
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

// suppressionRule names the first list that has the lead. With only one list no lookup is needed.
func (d *Decision) suppressionRule(lists []*market.SuppressionList) *Rule {
	for _, list := range lists {
		listed, basis := len(lists) == 1, Basis("")
		if !listed && d.IsListed != nil && !d.NoContact {
			listed, basis = d.IsListed(list)
		}
		if listed {
			rule := newRule(KindSuppression, list.Field.String(), "not on suppression list "+string(list.ID), actually(Masked), basis)
			rule.Text = fmt.Sprintf("%s: is on suppression list %s", list.Field, list.ID)
			if basis == Reconstructed {
				rule.Text += " (reconstructed: by the list's present content)"
			}
			rule.Field, rule.List = list.Field.String(), string(list.ID)
			return rule
		}
	}
	if len(lists) == 0 {
		return nil
	}
	names := make([]string, 0, len(lists))
	for _, list := range lists {
		names = append(names, string(list.ID))
	}
	rule := newRule(KindSuppression, "suppression lists", "not on "+listValues(names), nil, Unknown)
	rule.Text = "suppression lists: the person is on one of " + listValues(names) + ", but it is unknown on which"
	return rule
}

// duplicateRule names the earlier lead with equal values. buyer is nil for the campaign's own rule.
func (d *Decision) duplicateRule(buyer *market.Buyer) *Rule {
	var earlier market.LeadID
	var basis Basis
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
	owner := "the campaign"
	if buyer != nil {
		owner = "buyer " + string(buyer.ID)
	}
	wanted := fmt.Sprintf("no lead of %s with the same %s within %s", owner, joined, formatDuration(d.Campaign.Duplicates.Window))
	if earlier.IsZero() {
		return newRule(KindDuplicate, "duplicate", wanted, nil, Unknown)
	}
	at := formatTime(arrivalOf(earlier))
	rule := newRule(KindDuplicate, "duplicate", wanted, actually(fmt.Sprintf("%s of %s", earlier, at)), basis)
	rule.Lead, rule.At = earlier.String(), at
	rule.Text = fmt.Sprintf("duplicate: %s already has %s of %s with the same %s, within %s", owner, earlier, at, joined, formatDuration(d.Campaign.Duplicates.Window))
	if basis == Reconstructed {
		rule.Text += " (reconstructed)"
	}
	return rule
}

// arrivalOf returns the time in a lead's id, in Unix nanoseconds.
func arrivalOf(id market.LeadID) int64 {
	var milliseconds int64
	for _, b := range id[:6] {
		milliseconds = milliseconds<<8 | int64(b)
	}
	return milliseconds * 1_000_000
}
