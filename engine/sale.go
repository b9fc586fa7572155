package engine

import (
	"pingpost/engine/auction"
	"pingpost/engine/event"
	"pingpost/engine/market"
	"pingpost/engine/redaction"
	"pingpost/engine/selection"
	"pingpost/engine/state"
)

// chosenBuyer is the campaign's entry for the buyer that gets a lead, with the buyer's price and
// the supplier's payout.
type chosenBuyer struct {
	filterSet int // its index in the campaign
	price     market.Money
	payout    market.Money
}

// leadSaleWorkspace is the memory of one request while it chooses the lead's buyer. It has the
// remaining candidates, the chosen buyer with the reservations for the sale, and the event that records
// the sale.
type leadSaleWorkspace struct {
	ingestOrPostInput

	id             market.LeadID
	candidates     selection.Candidates
	auction        auction.Auction // of a ping_post campaign
	choice         chosenBuyer
	bid            auctionIDAndBuyerBidToken // of the choice
	body           []byte                    // of the post to the choice
	refusedCharges []event.CapCharge         // of the refused post, while the next buyer is chosen

	// The contact part of the event: its plaintext and its key.
	contact event.LeadPersonalData
	plain   []byte // encoded contact
	keySlot uint64 // of key
	key     [32]byte
	person  redaction.ContactMatcher

	// Memory for lists. The first four are the event's between lendMemoryToEvent and
	// takeBackMemoryFromEvent.
	fields        []event.LeadField
	steps         []event.FilterSetsWithOutcome
	bids          []event.Bid
	sealed        []byte
	duplicateKeys []market.DuplicateKey
	turnMembers   []int32 // filter sets that share a turn
	turnWeights   []int32
	random        [10]byte
}

func (in *leadSaleWorkspace) chosenFilterSet() *market.FilterSet {
	return &in.live.Campaign.FilterSets[in.choice.filterSet]
}

// newAcceptedAnswer returns the supplier's answer ACCEPTED for a lead that is sold to the chosen
// buyer.
func (in *leadSaleWorkspace) newAcceptedAnswer() IngestAnswer {
	return in.addLeadRequestAndCampaignIDs(IngestAnswer{
		Accepted: true, Buyer: string(in.chosenFilterSet().Buyer.ID),
		Payout: in.choice.payout, Currency: in.live.Campaign.Currency,
	})
}

// chooseAndReserveBuyer chooses a buyer and reserves everything that a sale to it needs. It returns
// ReasonNone, or the reason why the lead stays unsold. A lead stays unsold only because of applied
// events, or because the answer is due. If another request's reservation is in the way,
// chooseAndReserveBuyer waits until it ends and checks everything again.
func (in *leadSaleWorkspace) chooseAndReserveBuyer() (market.UnsoldReason, error) {
	if in.live.Campaign.Method == market.PingPost {
		return in.runAuctionAndReserveSale()
	}
	for {
		in.candidates.ResetToAll(in.live.CompiledFilterSets)
		in.live.ExcludeUnmatched(in.req.Supplier.ID, &in.lead, &in.candidates)
		in.live.ExcludeSuppressed(&in.candidates, in.inList)
		cachedUnavailableFilterSets(in.live, in.engine.state, in.now).ExcludeFrom(&in.candidates)
		reason, wait, err := in.reserveFirstCandidateWithCapacity()
		if wait == nil || err != nil {
			return reason, err
		}
		if err := in.waitAndUpdateNow(wait); err != nil {
			return timeoutReasonOrError(err)
		}
	}
}

// chooseAndReserveRemainingBuyer chooses a buyer among the remaining candidates, in the order of the
// campaign's method, after an auction or a buyer's refusal. If another request's reservation is in the
// way, it waits for that request and tries again. It returns ReasonNone, or the reason why no candidate
// gets the lead. The caps that the refused post used count as free, because the event with the next
// buyer gives them back.
func (in *leadSaleWorkspace) chooseAndReserveRemainingBuyer() (market.UnsoldReason, error) {
	for {
		cachedUnavailableFilterSets(in.live, in.engine.state, in.now).ExcludeFromExceptCaps(&in.candidates)
		reason, wait, err := in.reserveFirstCandidateWithCapacity()
		if wait == nil || err != nil {
			return reason, err
		}
		if err := in.waitAndUpdateNow(wait); err != nil {
			return timeoutReasonOrError(err)
		}
	}
}

// reserveFirstCandidateWithCapacity reserves a sale to the first candidate with capacity, in the
// order of the campaign's method, and returns ReasonNone. It excludes the candidates before that
// one. If no candidate has capacity, it returns the reason why the lead is unsold. If another
// request's reservation is in the way, it returns a channel that closes when that reservation
// changes; the caller then tries again. The error is ErrUnavailable.
func (in *leadSaleWorkspace) reserveFirstCandidateWithCapacity() (unsold market.UnsoldReason, otherReservationChanged <-chan struct{}, err error) {
	for in.candidates.Eligible.NextFrom(0) >= 0 {
		next := in.chooseFilterSetAndReserveTurn()
		if next < 0 {
			return in.auction.UnsoldReasonOfLatestStage(), nil, nil
		}
		outcome, wait, err := in.chooseAndReserveCandidate(next)
		if wait == nil && err == nil && outcome == market.OutcomeWon && in.encodePostBody() {
			return market.ReasonNone, nil, nil
		}
		in.engine.state.ReleaseCapsFundsAndTurn(&in.reserved)
		switch {
		case wait != nil || err != nil:
			return market.ReasonNone, wait, err
		case outcome == market.OutcomeWon:
			outcome = market.OutcomeError // the adapter cannot encode this lead
		}
		in.candidates.Exclude(next, outcome)
	}
	if in.auction.IsPrepared() {
		return in.auction.UnsoldReasonOfLatestStage(), nil, nil
	}
	return in.candidates.UnsoldReasonOfLatestStage(), nil, nil
}

// chooseFilterSetAndReserveTurn returns the filter set that the campaign's method tries next: the first by
// priority, the best bidder, or the next in a rotation by weights. In a rotation it also reserves
// the turn. It returns -1 if all bids have expired.
func (in *leadSaleWorkspace) chooseFilterSetAndReserveTurn() (filterSetIndexOrMinusOne int) {
	switch in.live.Campaign.Method {
	case market.Waterfall:
		return in.candidates.Eligible.NextFrom(0)
	case market.PingPost:
		return in.auction.NextBestRemainingFilterSet(in.now)
	}
	members := in.live.FirstEligibleOfEachBuyer(&in.candidates)
	in.turnMembers, in.turnWeights = in.turnMembers[:0], in.turnWeights[:0]
	for i := members.NextFrom(0); i >= 0; i = members.NextFrom(i + 1) {
		in.turnMembers = append(in.turnMembers, int32(i))
		in.turnWeights = append(in.turnWeights, in.live.Weights[i])
	}
	turn, member := in.live.reserveRotationTurnUnlessTest(in.engine.state, &in.reserved, in.live.RotationID(members), in.turnWeights)
	in.record.Sale.Turn = turn
	return int(in.turnMembers[member])
}

// chooseAndReserveCandidate sets in.choice to the buyer of a filter set, at its fixed price or its bid,
// and reserves a sale to it. The outcome is OutcomeWon after success. A channel means that
// another request's reservation is in the way; it closes when that reservation changes.
func (in *leadSaleWorkspace) chooseAndReserveCandidate(filterSetIndex int) (outcome market.BuyerOutcome, otherReservationChanged <-chan struct{}, err error) {
	campaign := in.live.Campaign
	current, _ := in.live.PriceAndCapsAt(filterSetIndex, in.now)
	price := current.Price
	if in.auction.IsPrepared() {
		bid := in.auction.Bid(filterSetIndex)
		price, in.bid = bid.Amount, auctionIDAndBuyerBidToken{auction: in.auction.ID, token: bid.Token}
	}
	payout, ok := campaign.Payout.AmountAtPrice(price)
	if !ok || price < campaign.Floor { // the cached availability may be of a time with another price
		return market.OutcomeBelowFloor, nil, nil
	}
	in.choice = chosenBuyer{filterSet: filterSetIndex, price: price, payout: payout}
	return in.reserveChosenSale()
}

// reserveChosenSale reserves the duplicate claim, the caps and the funds for a sale to the chosen
// buyer. It returns OutcomeWon, or the outcome of the part that failed; the caller then releases
// the parts that were reserved. A channel means that another request's reservation is in the way;
// it closes when that reservation changes. The error is ErrUnavailable.
func (in *leadSaleWorkspace) reserveChosenSale() (outcome market.BuyerOutcome, otherReservationChanged <-chan struct{}, err error) {
	e, campaign, price := in.engine, in.live.Campaign, in.choice.price
	buyer := in.chosenFilterSet().Buyer
	if rule := &campaign.Duplicates; rule.PerBuyer && rule.Window > 0 {
		e.state.ReleaseDuplicateKeyClaims(&in.reserved)
		result, wait, err := in.tryClaimDuplicateValues(campaign.DuplicateScope(buyer.Ref))
		if result != state.Reserved || err != nil {
			return market.OutcomeDuplicate, wait, err
		}
	}
	current, _ := in.live.PriceAndCapsAt(in.choice.filterSet, in.now)
	if current.NoCapacity {
		return market.OutcomeCapped, nil, nil
	}
	if result, wait := e.state.ReserveAllCaps(&in.reserved, current.Caps, price, in.refusedCharges, in.now); result != state.Reserved {
		return market.OutcomeCapped, wait, nil
	}
	if result, wait := e.state.ReserveFunds(&in.reserved, buyer, price); result != state.Reserved {
		return market.OutcomeNoFunds, wait, nil
	}
	return market.OutcomeWon, nil, nil
}

// fillSaleFromChoice writes the sale to the chosen buyer into an event: price, payout and the caps
// that the sale uses.
func (in *leadSaleWorkspace) fillSaleFromChoice(sale *event.Sale) {
	sale.Buyer, sale.FilterSet = in.chosenFilterSet().Buyer.Ref, uint32(in.choice.filterSet)
	sale.Price, sale.Payout, sale.Currency = in.choice.price, in.choice.payout, in.live.Campaign.Currency
	sale.Test = in.live.Test
	sale.Charges = append(sale.Charges[:0], in.reserved.CapChargesForEvent()...)
	if in.live.Campaign.Method == market.Waterfall {
		sale.Turn = event.RotationTurn{}
	}
}

// writeLeadAndCampaignIntoEvent writes the part of the lead's event that is known before a buyer is
// chosen: ids, campaign, supplier and the lead's fields.
func (in *leadSaleWorkspace) writeLeadAndCampaignIntoEvent() {
	e, campaign := in.engine, in.live.Campaign
	in.record.Lead, in.record.Request = in.id, in.req.Request
	in.record.Campaign, in.record.Supplier = campaign.Ref, in.req.Supplier.Ref
	in.record.Catalog = in.plan.catalog.Version
	in.record.Keep = in.now + int64(max(e.opt.Keep, campaign.Returns.Window))
	in.record.Sale.Test = in.live.Test
	in.recordPlainAndContactFields()
	in.timings.TraceOrNil().SetLead(in.id, campaign)
}

// checkRulesAndClaimDuplicates returns the reason for which the campaign rejects the lead, or
// ReasonNone. It applies the filters and suppression lists. It also claims the lead's values
// against duplicates, unless the rule counts duplicates for each buyer.
func (in *leadSaleWorkspace) checkRulesAndClaimDuplicates() (market.UnsoldReason, error) {
	campaign := in.live.Campaign
	for i := range campaign.Filters {
		if !campaign.Filters[i].Accepts(&in.lead) {
			return market.ReasonFiltered, nil
		}
	}
	for _, list := range campaign.Suppression {
		if in.isSuppressedBy(list) {
			return market.ReasonSuppressed, nil
		}
	}
	rule := &campaign.Duplicates
	if rule.Window == 0 || rule.PerBuyer {
		return market.ReasonNone, nil
	}
	return in.claimDuplicateValuesOrWait(campaign.DuplicateScope(0))
}

// queueUnsoldDecision adds the event of a lead without a buyer to the log's queue, and returns the
// supplier's answer. It does not wait for the log.
func (in *leadSaleWorkspace) queueUnsoldDecision(reason market.UnsoldReason) (IngestAnswer, error) {
	in.record.Reason = reason
	in.record.Decided = in.now
	in.recordOutcomesAndBids()
	in.encryptContactAndBuyerPostIntoEvent(nil)
	if err := in.queueDecision(); err != nil {
		return IngestAnswer{}, err
	}
	return in.addLeadRequestAndCampaignIDs(IngestAnswer{Reason: reason}), nil
}

// addLeadRequestAndCampaignIDs returns the answer with the ids of lead, request and campaign. It also stores
// campaign and supplier in the PendingLeadDecision, which reports them to the observer.
func (in *leadSaleWorkspace) addLeadRequestAndCampaignIDs(answer IngestAnswer) IngestAnswer {
	in.campaign, in.supplier = in.live.Campaign, in.req.Supplier
	answer.Lead, answer.Request = in.id, in.req.Request
	answer.Campaign, answer.Test = string(in.live.Campaign.ID), in.live.Test
	return answer
}

// commitDecisionAndWait commits the lead's event and waits until it is applied. It releases the
// reservations even after an error. It adds the time to the request's timings.
func (in *leadSaleWorkspace) commitDecisionAndWait() error {
	clock := in.engine.opt.Clock
	began := clock.Now()
	err := in.engine.commit(&in.record, &in.reserved)
	in.timings.AddCommitTime(began, clock.Now())
	return err
}
