package exclusion

import (
	"pingpost/engine/event"
	"pingpost/engine/market"
	"pingpost/engine/redaction"
)

// DecisionInputs holds the values on which one decision about a lead was based. Functions that are nil
// give unknown values; a nil HasNoTestURL means false.
type DecisionInputs struct {
	Campaign *market.Campaign
	Supplier market.SupplierID // of the lead; empty: unknown
	Lead     *market.Lead
	Person   *redaction.ContactMatcher // finds the lead's contact data in values; may be nil
	// NoContact is set if the lead's contact data is missing: a ping has none, and an erased or
	// unreadable lead has none any more.
	NoContact bool
	// ContactLost is set in addition if the lead had contact data that can no longer be read.
	ContactLost bool
	Instants    []int64 // at which availability was checked, the decisive one first; Unix nanoseconds
	Auction     bool    // bids decided, even if the campaign now has another method

	// CapUsages and Funds have one value for each check of the caps and the money, the decisive one
	// first. nil is unknown.
	CapUsages    func(*market.Cap) []*CapUsage
	Funds        func(*market.Buyer) []*Funds
	IsListed     func(*market.SuppressionListDefinition) (listed bool, basis ActualValueBasis)
	Unconfirmed  func(*market.Buyer) (deliveries int, basis ActualValueBasis)
	PingShare    func(*market.Buyer) (pingsPerTenAuctions uint64, basis ActualValueBasis)
	DuplicateOf  func(*market.Buyer) (earlier market.LeadID, basis ActualValueBasis) // zero: unknown; a nil buyer means the campaign's own rule
	HasNoTestURL func(filterSetIndex int) bool                                       // a test lead cannot go to the buyer
	WasOffered   func(filterSetIndex int) bool                                       // the buyer got a ping or the lead by this filter set
	BestBid      market.Money                                                        // of the auction; zero: none or not comparable
}

// CapUsage is the use of a cap in the window of a decision. Times are in Unix nanoseconds.
type CapUsage struct {
	Used        int64
	From, Until int64
}

// Funds is the money of a buyer at a decision.
type Funds struct{ Balance, Held market.Money }

// UnmetRuleFor returns the rule that gave a filter set its outcome, or nil if the outcome has no rule: the
// buyer won, or was not needed. bid is the buyer's answer to its ping, or nil.
func (d *DecisionInputs) UnmetRuleFor(filterSetIndex int, outcome market.BuyerOutcome, bid *event.Bid) *UnmetRule {
	if filterSetIndex < 0 || filterSetIndex >= len(d.Campaign.FilterSets) {
		return nil
	}
	set := &d.Campaign.FilterSets[filterSetIndex]
	switch outcome {
	case market.OutcomeOtherSet:
		return d.describeOtherFilterSetOfBuyer(filterSetIndex, set)
	case market.OutcomeWrongState:
		return d.describeUSStateMismatch(set)
	case market.OutcomeFiltered:
		return d.describeFailedFilterOrTestEndpoint(filterSetIndex, set)
	case market.OutcomeSuppressed:
		return d.suppressionRule(set.Buyer.Suppression)
	case market.OutcomeDuplicate:
		return d.duplicateRule(set.Buyer)
	case market.OutcomeClosed:
		return d.describeClosedSchedule(set)
	case market.OutcomeCapped:
		return d.describeExceededCap(set, bid)
	case market.OutcomeNoFunds:
		return d.describeLackOfFunds(set, bid)
	case market.OutcomePaused:
		return d.describePausedBuyer()
	case market.OutcomeUnhealthy:
		return d.describeUnhealthyBuyer(set.Buyer)
	case market.OutcomeBelowFloor:
		return d.describePriceBelowFloorOrPayout(set, bid)
	}
	return d.describePingOrBidFailure(set, outcome, bid)
}

// UnmetCampaignRule returns the campaign's own rule that rejected the lead before any buyer was
// considered, or nil.
func (d *DecisionInputs) UnmetCampaignRule(reason market.UnsoldReason) *UnmetRule {
	switch reason {
	case market.ReasonFiltered:
		return d.describeFirstFailingFilter(d.Campaign.Filters)
	case market.ReasonSuppressed:
		return d.suppressionRule(d.Campaign.Suppression)
	case market.ReasonDuplicate:
		return d.duplicateRule(nil)
	case market.ReasonNoStateMatch:
		return newRule(KindState, "state", "a US state", nil, "")
	}
	return nil
}
