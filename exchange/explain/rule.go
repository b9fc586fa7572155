package explain

import (
	"pingpost/engine"
	"pingpost/engine/event"
	"pingpost/engine/exclusion"
	"pingpost/engine/market"
	"pingpost/engine/redaction"
	"pingpost/engine/selection"
)

// addRulesOfLead adds to the explanation of a lead the rule of each candidate that dropped out, or
// the campaign's own rule. It adds none if the configuration of that time is unavailable.
func (e *Explainer) addRulesOfLead(c *leadTimeline, decision *logEntry, config *campaignConfigOfVersion) {
	decided := decision.mustBeLeadDecided()
	if config.compiled == nil {
		c.doc.bidRejectedByUnknownRule = rejectedLeadMayHaveClaimedBid(decided, config)
		return
	}
	r := &ruleFinder{explainer: e, doc: c.doc, outcomes: c.trail, bids: decided.Auction.Bids, lead: decided, batches: []int64{decision.at}}
	if c.trailAt != decision.at {
		r.batches, r.refused = append(r.batches, c.trailAt), c.trailRefused
	}
	r.decision = exclusion.DecisionInputs{
		Campaign: config.compiled, Supplier: e.supplierID(decided.Supplier), Auction: len(decided.Auction.Bids) > 0,
		Instants: []int64{decided.Decided, decided.Auction.Began, c.trailAt},
	}
	if c.sale.Buyer != 0 && c.sale.Ping == [16]byte{} {
		r.decision.BestBid = c.sale.Price
	}
	contact, err := e.Contact(decided)
	r.decision.NoContact, r.decision.ContactLost = err != nil, err != nil
	r.setLeadAndPerson(decided.Fields, contact.Fields, creationNanosOfID(decided.Lead))
	r.addRulesToCandidates(decided.Sale.Test)
	c.doc.addUnacceptedPostRules()
	switch {
	case len(c.trail) > 0:
	case rejectedLeadMayHaveClaimedBid(decided, config):
		r.addRuleThatRejectedBidClaim(decision)
	default:
		c.doc.Rule = r.decision.UnmetCampaignRule(decided.Reason)
	}
}

// addRulesOfAuction adds to the explanation of a ping the rule of each candidate that dropped out. A
// ping has no contact data.
func (e *Explainer) addRulesOfAuction(doc *Explanation, auctionEntry *logEntry, config *campaignConfigOfVersion) {
	if config.compiled == nil {
		return
	}
	held := auctionEntry.mustBePingAuction()
	r := &ruleFinder{explainer: e, doc: doc, outcomes: held.Trail, bids: held.Bids, batches: []int64{auctionEntry.at}}
	r.decision = exclusion.DecisionInputs{
		Campaign: config.compiled, Supplier: e.supplierID(held.Supplier), Auction: true, NoContact: true, Instants: []int64{held.Began},
	}
	r.setLeadAndPerson(held.Fields, nil, held.Began)
	r.addRulesToCandidates(held.Test)
}

func (e *Explainer) supplierID(supplier market.PermanentNumber) market.SupplierID {
	return market.SupplierID(e.State.NameOf(event.ObjectSupplier, supplier))
}

// ruleFinder finds the rules of one decision. Values that the log does not record are read once, at
// the first rule that needs them.
type ruleFinder struct {
	explainer *Explainer
	doc       *Explanation
	decision  exclusion.DecisionInputs
	outcomes  []event.FilterSetsWithOutcome
	bids      []event.Bid
	lead      *event.LeadDecided // nil for a ping
	batches   []int64            // times of the log's batches with the decision and with its last change
	refused   *event.Sale        // that the buyer refused at the last change; nil without a change

	// Read at the first use.
	caps     []map[market.PermanentNumber]exclusion.CapUsage // by batch
	accounts []map[market.PermanentNumber]exclusion.Funds    // by batch
	health   map[market.PermanentNumber]*selection.BuyerPingHealth
	healthOK bool
}

// setLeadAndPerson sets the recorded values of the decision's lead, the time at which filters computed its ages, and
// the terms that apply to it.
func (r *ruleFinder) setLeadAndPerson(plain, contact []event.LeadField, decidedNanos int64) {
	lead, person := new(market.Lead), new(redaction.ContactMatcher)
	mapping := r.decision.Campaign.Mapping
	lead.Reset(mapping.SlotCount())
	lead.SetDecisionTime(decidedNanos, r.decision.Campaign.Zone)
	exclusion.FillLead(lead, mapping, plain)
	exclusion.FillLead(lead, mapping, contact)
	for i := range contact {
		person.Add(contact[i].Name, contact[i].Text)
	}
	r.decision.Lead, r.decision.Person = lead, person
	r.decision.Campaign = r.decision.Campaign.WithTermsOfLead(r.decision.Supplier, lead)
	r.doc.Terms = r.decision.Campaign.AppliedTerms
}

// addRulesToCandidates adds the rule of each candidate. Outcomes come from the log, not from the document,
// because the document may already show the end of the delivery.
func (r *ruleFinder) addRulesToCandidates(test bool) {
	d := &r.decision
	d.IsListed, d.DuplicateOf, d.CapUsages = r.isListed, r.duplicateOf, r.capUsagesAtDecisionAndLastChange
	d.Funds, d.Unconfirmed, d.PingShare = r.funds, r.unknownDeliveryCounter(test), r.pingsPerTenAuctions
	d.HasNoTestURL = func(i int) bool {
		return test && engine.LacksRequiredTestEndpoint(d.Campaign.FilterSets[i].Buyer, d.Campaign.Method)
	}
	outcomes := make(map[uint32]market.BuyerOutcome)
	for i := range r.outcomes {
		for set := r.outcomes[i].FilterSets.NextFrom(0); set >= 0; set = r.outcomes[i].FilterSets.NextFrom(set + 1) {
			outcomes[uint32(set)] = r.outcomes[i].Outcome
		}
	}
	bids := make(map[uint32]*event.Bid, len(r.bids))
	for i := range r.bids {
		bids[r.bids[i].FilterSet] = &r.bids[i]
		if r.bids[i].Outcome == market.OutcomeWon && r.doc.Kind != kindAvailability {
			d.BestBid = r.bids[i].Amount
		}
	}
	d.WasOffered = func(i int) bool {
		switch outcomes[uint32(i)] {
		case market.OutcomeWon, market.OutcomePostPending, market.OutcomePostRejected:
			return true
		}
		return bids[uint32(i)] != nil
	}
	for i := range r.doc.Candidates {
		candidate := &r.doc.Candidates[i]
		bid := bids[candidate.Seat]
		outcome, ok := outcomes[candidate.Seat]
		if !ok && bid != nil {
			outcome = bid.Outcome
		}
		candidate.Rule = d.UnmetRuleFor(int(candidate.Seat), outcome, bid)
		r.doc.campaignClosed = r.doc.campaignClosed || outcome == market.OutcomeClosed && d.IsCampaignClosed()
	}
}

func (r *ruleFinder) isListed(list *market.SuppressionListDefinition) (bool, exclusion.ActualValueBasis) {
	if r.explainer.OnList == nil {
		return false, exclusion.Unknown
	}
	listed, _ := r.explainer.OnList(list, r.decision.Lead)
	return listed, exclusion.Reconstructed
}

// duplicateOf returns the earlier lead from the log, or else from memory. A nil buyer stands for the
// campaign's rule; for it only the log counts. The log has one of them, so if several buyers already
// had the lead, memory must have the others. Without outcomes, only the buyer of an accepted bid was
// considered.
func (r *ruleFinder) duplicateOf(buyer *market.Buyer) (market.LeadID, exclusion.ActualValueBasis) {
	if r.lead == nil {
		return market.LeadID{}, exclusion.Unknown
	}
	if recorded := r.lead.DuplicateOf; !recorded.IsZero() && (buyer == nil || len(r.filterSetsWith(market.OutcomeDuplicate)) <= 1) {
		return recorded, ""
	}
	if r.explainer.EarlierLead == nil || r.decision.NoContact || buyer == nil {
		return market.LeadID{}, exclusion.Unknown
	}
	earlier, found, err := r.explainer.EarlierLead(r.decision.Campaign, buyer.Ref, r.decision.Lead, r.lead.Decided)
	if err != nil || !found || creationNanosOfID(earlier) > r.lead.Decided || earlier == r.lead.Lead {
		return market.LeadID{}, exclusion.Unknown
	}
	return earlier, exclusion.Reconstructed
}

// filterSetsWith returns the filter sets with an outcome.
func (r *ruleFinder) filterSetsWith(outcome market.BuyerOutcome) (sets []*market.FilterSet) {
	for i := range r.outcomes {
		numbers := r.outcomes[i].FilterSets
		if r.outcomes[i].Outcome != outcome {
			continue
		}
		for n := numbers.NextFrom(0); n >= 0 && n < len(r.decision.Campaign.FilterSets); n = numbers.NextFrom(n + 1) {
			sets = append(sets, &r.decision.Campaign.FilterSets[n])
		}
	}
	return sets
}

func (r *ruleFinder) unknownDeliveryCounter(test bool) func(*market.Buyer) (int, exclusion.ActualValueBasis) {
	return func(buyer *market.Buyer) (int, exclusion.ActualValueBasis) {
		return r.explainer.State.CountUnknownDeliveries(buyer.Ref, test), exclusion.Reconstructed
	}
}

func (r *ruleFinder) pingsPerTenAuctions(buyer *market.Buyer) (uint64, exclusion.ActualValueBasis) {
	at := r.decision.Instants[0]
	if r.lead != nil && r.lead.Auction.Began != 0 {
		at = r.lead.Auction.Began
	}
	if r.health == nil {
		r.health, r.healthOK = r.explainer.pingHealthBefore(at)
	}
	if health := r.health[buyer.Ref]; r.healthOK && health != nil {
		return health.PingsPerTenAuctions(at), exclusion.Reconstructed
	}
	return 0, exclusion.Unknown
}

// addUnacceptedPostRules adds a rule to each candidate that did not accept the post.
func (x *Explanation) addUnacceptedPostRules() {
	for i := range x.Candidates {
		candidate := &x.Candidates[i]
		if candidate.Outcome != market.OutcomePostRejected.String() {
			continue
		}
		for j := range x.Posts {
			if post := &x.Posts[j]; post.Buyer == candidate.Buyer {
				candidate.Rule = exclusion.NewUnacceptedPostRule(post.describeWhyNotAccepted())
			}
		}
	}
}

// recomputeRedactedPostRules repeats the codes of the posts in the rules that have them, after a code
// was withheld.
func (x *Explanation) recomputeRedactedPostRules() {
	for i := range x.Candidates {
		if rule := x.Candidates[i].Rule; rule != nil && rule.Kind == exclusion.KindPost {
			x.addUnacceptedPostRules()
			return
		}
	}
}
