package engine

import (
	"pingpost/engine/exclusion"
	"pingpost/engine/market"
)

// DryRunDecision is the decision that a test lead would get.
type DryRunDecision struct {
	Campaign   *market.Campaign
	Reason     market.UnsoldReason      // why the lead would be unsold; none if a buyer would get it or a ping
	Rule       *exclusion.UnmetRule     // of the campaign itself; nil if the campaign accepts the lead
	Buyer      market.BuyerID           // that would get the lead; empty in a ping_post campaign
	FilterSets []DryRunFilterSetOutcome // by index; empty if the campaign itself rejects the lead
}

// DryRunFilterSetOutcome is the decision about one filter set.
type DryRunFilterSetOutcome struct {
	Buyer     market.BuyerID
	ID        string // of the filter set; empty if it has none
	Outcome   market.BuyerOutcome
	WouldPing bool                 // the buyer would get a ping, and its bid would decide
	Rule      *exclusion.UnmetRule // nil if no rule excludes the buyer
}

// DryRunTestLead decides about a lead as if it were a test lead, and records and sends nothing: no
// event, no ping, no post, no reservation that outlives the call. It runs the code of Ingest up to
// the point at which that would ping or commit. The errors are those of Ingest.
//
// The decision is that of a test lead, so caps, funds, duplicates and ping rates do not count, and
// a buyer needs a test endpoint. Rejected: a decision as for a production lead. It would need the
// reservations of other requests, and differ from the test lead that follows it.
func (e *Engine) DryRunTestLead(req *IngestRequest) (*DryRunDecision, error) {
	if err := e.rejectIfStoppedOrAtLimit(); err != nil {
		return nil, err
	}
	p := e.plan.Load()
	if p == nil {
		return nil, ErrUnavailable
	}
	in := e.workspaces.Get().(*ingestOrPostWorkspace)
	d := e.decisions.Get().(*PendingLeadDecision)
	testLead := *req
	testLead.Test, testLead.Key = true, nil
	returned := false
	defer func() {
		if !returned {
			in.releaseReservationsAfterPanic()
		}
	}()
	in.resetForRequest(e, &testLead, p, d)
	result, err := in.runDryRun()
	in.releaseClaimsAndWipe()
	returned = true
	e.workspaces.Put(in)
	e.decisions.Put(d)
	return result, err
}

// runDryRun executes the steps of runIngest and chooseBuyerAndSell that neither send nor record.
func (in *ingestOrPostWorkspace) runDryRun() (*DryRunDecision, error) {
	if err := in.parseIngestRequest(); err != nil {
		return nil, err
	}
	in.id = market.LeadID(in.engine.newULID(in.now, &in.random))
	in.writeLeadAndCampaignIntoEvent()
	result := &DryRunDecision{Campaign: in.live.Campaign}
	reason, err := in.checkRulesAndClaimDuplicates()
	if err != nil {
		return nil, err
	}
	facts := in.newDryRunDecisionInputs()
	if reason != market.ReasonNone {
		result.Reason, result.Rule = reason, facts.UnmetCampaignRule(reason)
		return result, nil
	}
	pinged := in.live.Campaign.Method == market.PingPost
	if pinged {
		reason = in.excludeAsAuctionWouldWithoutPings()
	} else if reason, err = in.chooseAndReserveBuyer(); err != nil {
		return nil, err
	}
	result.Reason = reason
	facts.WasOffered = func(i int) bool {
		return pinged && in.candidates.Eligible.Has(i) || !pinged && reason == market.ReasonNone && i == in.choice.filterSet
	}
	for i := range in.live.Campaign.FilterSets {
		set := DryRunFilterSetOutcome{Buyer: in.live.Campaign.FilterSets[i].Buyer.ID, ID: in.live.Campaign.FilterSets[i].ID, Outcome: in.candidates.OutcomeOf(i)}
		set.WouldPing = pinged && in.candidates.Eligible.Has(i)
		if !pinged && reason == market.ReasonNone && i == in.choice.filterSet {
			set.Outcome, result.Buyer = market.OutcomeWon, set.Buyer
		}
		set.Rule = facts.UnmetRuleFor(i, set.Outcome, nil)
		result.FilterSets = append(result.FilterSets, set)
	}
	return result, nil
}

// excludeAsAuctionWouldWithoutPings excludes the filter sets that runAuctionAndReserveSale would not
// ping. It returns ReasonNone if a buyer remains.
func (in *leadSaleWorkspace) excludeAsAuctionWouldWithoutPings() market.UnsoldReason {
	a, e := &in.auction, in.engine
	a.PrepareAuction(&in.live.CampaignFilterSetsWithPingLimiters, e.state, market.AuctionID(in.id), in.now, in.answerDueNanos()-int64(in.live.Campaign.PostReserve), in.answerDueNanos())
	a.Lead, a.Candidates, a.Request, a.Hops = &in.lead, &in.candidates, in.req.Request, 1
	e.excludeBeforePings(a, in.live, in.req.Supplier, in.inList)
	e.auctions.ExcludeAsRunWouldWithoutPings(a)
	if in.candidates.Eligible.NextFrom(0) >= 0 {
		return market.ReasonNone
	}
	return a.UnsoldReasonOfLatestStage()
}

// newDryRunDecisionInputs returns the present values that the rules of a test lead compare.
func (in *leadSaleWorkspace) newDryRunDecisionInputs() *exclusion.DecisionInputs {
	s := in.engine.state
	return &exclusion.DecisionInputs{
		Campaign: in.live.Campaign, Supplier: in.req.Supplier.ID, Lead: &in.lead, Person: &in.person, Instants: []int64{in.now},
		IsListed: func(list *market.SuppressionListDefinition) (bool, exclusion.ActualValueBasis) {
			return in.isSuppressedBy(list), ""
		},
		Unconfirmed: func(buyer *market.Buyer) (int, exclusion.ActualValueBasis) {
			return s.CountUnknownDeliveries(buyer.Ref, in.live.Test), ""
		},
		HasNoTestURL: func(i int) bool { return in.live.excluded != nil && in.live.excluded.Has(i) },
	}
}

// FindOnSuppressionList reports whether the present content of a list has the lead. loaded is false
// if the list has no content or is not configured any more.
func (e *Engine) FindOnSuppressionList(list *market.SuppressionListDefinition, lead *market.Lead) (listed, loaded bool) {
	p := e.plan.Load()
	if p == nil || p.tables[list.Ref] == nil {
		return false, false
	}
	for _, probe := range list.AppendLeadFingerprints(lead, &e.opt.Secret, nil) {
		if p.tables[list.Ref].Has(probe) {
			return true, true
		}
	}
	return false, true
}

// FindEarlierDuplicateLead returns an accepted lead that the state still has under one of the lead's values, by
// the campaign's rule against duplicates. buyer is zero for a rule of the whole campaign.
func (e *Engine) FindEarlierDuplicateLead(c *market.Campaign, buyer market.PermanentNumber, lead *market.Lead, nowNanos int64) (earlier market.LeadID, found bool, err error) {
	for _, key := range c.Duplicates.AppendDuplicateKeys(lead, c.DuplicateScope(buyer), &e.opt.Secret, nil) {
		if earlier, found, err = e.state.FindLeadByDuplicateKey(key, nowNanos); found || err != nil {
			return earlier, found, e.reportIfColdRowUnreadable(err)
		}
	}
	return market.LeadID{}, false, nil
}
