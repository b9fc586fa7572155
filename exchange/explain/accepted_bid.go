package explain

import (
	"slices"

	"pingpost/engine/event"
	"pingpost/engine/exclusion"
	"pingpost/engine/market"
)

// outcomesOfBidBuyer has the outcome of a bid's buyer that rejects the lead for the reason.
var outcomesOfBidBuyer = map[market.UnsoldReason]market.BuyerOutcome{
	market.ReasonFiltered: market.OutcomeFiltered, market.ReasonSuppressed: market.OutcomeSuppressed, market.ReasonDuplicate: market.OutcomeDuplicate,
}

// leadClaimedEarlierBid reports whether a lead with recorded outcomes accepted the bid of an earlier ping,
// so that no other buyer was considered. A lead of an auction campaign without an auction of its own
// did so.
func leadClaimedEarlierBid(decided *event.LeadDecided, config *campaignConfigOfVersion) bool {
	return decided.Sale.Ping != [16]byte{} || decided.SellerAuction != "" || config.method == market.PingPost.String() && decided.Auction.ID.IsZero()
}

// rejectedLeadMayHaveClaimedBid reports whether a lead without recorded outcomes accepted the bid of an
// earlier ping, or may have done so. The event of a rejected lead names the auction of a post, but not
// the ping of an ingest.
func rejectedLeadMayHaveClaimedBid(decided *event.LeadDecided, config *campaignConfigOfVersion) bool {
	_, rejectable := outcomesOfBidBuyer[decided.Reason]
	return rejectable && len(decided.Trail) == 0 && (decided.SellerAuction != "" || config.compiled != nil && config.compiled.Method == market.PingPost)
}

// addRuleThatRejectedBidClaim adds the rule that rejected a lead without recorded outcomes, which accepts the
// bid of an earlier ping. The rule of the bid's buyer becomes a candidate. If the log does not say
// whose rule it was, a note says so.
func (r *ruleFinder) addRuleThatRejectedBidClaim(decision *logEntry) {
	filterSet := -1
	if held, bid := r.explainer.findClaimedBid(decision); bid != nil {
		filterSet = indexOfFilterSet(r.decision.Campaign, bid)
		r.decision.Lead.SetDecisionTime(held.Began, r.decision.Campaign.Zone)
	}
	rule, owner := r.decision.UnmetRuleOfAcceptedBid(r.lead.Reason, filterSet)
	switch {
	case owner == exclusion.OwnerCampaign:
		r.doc.Rule = rule
	case owner == exclusion.OwnerBuyer && filterSet >= 0:
		r.doc.Candidates = append(r.doc.Candidates, FilterSetCandidate{
			Buyer: string(r.decision.Campaign.FilterSets[filterSet].Buyer.ID), Set: r.decision.Campaign.FilterSets[filterSet].ID, Seat: uint32(filterSet),
			Outcome: outcomesOfBidBuyer[r.lead.Reason].String(), Rule: rule,
		})
	default:
		r.doc.bidRejectedByUnknownRule = true
		if rule != nil {
			r.doc.Notes = append(r.doc.Notes, "The log does not name the rule that rejected the lead. "+rule.Text+".")
		}
	}
}

// indexOfFilterSet returns the index of the filter set that made the bid, or -1.
func indexOfFilterSet(campaign *market.Campaign, bid *event.Bid) int {
	return slices.IndexFunc(campaign.FilterSets, func(set market.FilterSet) bool { return set.Buyer.Ref == bid.Buyer && set.ID == bid.Set })
}

// findClaimedBid returns the auction that a post names, and its winning bid, which the post accepts. bid is
// nil if the lead names no auction or the log no longer has it.
func (e *Explainer) findClaimedBid(decision *logEntry) (held *event.PingAuctionCompleted, bid *event.Bid) {
	decided := decision.mustBeLeadDecided()
	if decided.SellerAuction == "" {
		return nil, nil
	}
	name := e.claimedAuctionName(decided)
	isNamed := func(entry *logEntry) bool {
		held, ok := entry.event.(*event.PingAuctionCompleted)
		return ok && held.Name == name && held.Began <= decided.Decided
	}
	var found *logEntry
	if row, ok := e.State.FindAuction(name, decided.Decided); ok {
		if entry, err := e.readEntry(row.Seq); err == nil && isNamed(entry) {
			found = entry
		}
	}
	if found == nil {
		_, err := e.scanEntriesContaining(name[:], nil, decision.at-int64(e.limits.after), decision.at, func(entry *logEntry) bool {
			if isNamed(entry) {
				found = entry
			}
			return true
		})
		if err != nil || found == nil {
			return nil, nil
		}
	}
	held = found.mustBePingAuction()
	for i := range held.Bids {
		if held.Bids[i].Outcome == market.OutcomeWon {
			return held, &held.Bids[i]
		}
	}
	return held, nil
}
