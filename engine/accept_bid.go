package engine

import (
	"errors"

	"pingpost/engine/event"
	"pingpost/engine/exclusion"
	"pingpost/engine/market"
)

// prepareSaleAtAcceptedBid claims the auction of the bid that the supplier accepts, and reserves caps
// and funds for the sale. If all three results are zero, the lead can be sold at the bid.
//
//   - refusalCode: the bid is not available. prepareSaleAtAcceptedBid logs no event for it.
//   - rejectReason: the campaign or the buyer rejects this lead.
//   - err: errDeadline if the answer fell due while other requests held the auction, a duplicate's
//     values or the capacity. ErrUnavailable if the engine stops.
func (in *leadSaleWorkspace) prepareSaleAtAcceptedBid() (refusalCode RefusalCode, rejectReason market.UnsoldReason, err error) {
	if in.accepted.forgotten {
		refusalCode, err = in.refusalForAuctionGoneFromLog()
		return refusalCode, market.ReasonNone, err
	}
	if refusalCode, err = in.claimAuctionAndChooseBidder(); err != nil || refusalCode != "" {
		return refusalCode, market.ReasonNone, err
	}
	if in.accepted.post != nil {
		in.id = market.LeadID(in.engine.newULID(in.now, &in.random))
		in.writeLeadAndCampaignIntoEvent()
		in.record.SellerAuction = string(in.accepted.post.Auction.Text)
		in.record.Fields = append(in.record.Fields, event.LeadField{Name: event.FieldSellerLeadID, Kind: market.KindString, Text: in.accepted.sellerLeadID})
	}
	if rejectReason, err = in.checkRulesOfCampaignAndBuyer(); err != nil || rejectReason != market.ReasonNone {
		return "", rejectReason, err
	}
	return in.reserveCapacityAndEncodePost()
}

// refusalForAuctionGoneFromLog returns the refusal for a bid whose auction the log's history no
// longer has. It is AlreadySold if the auction's sale is still valid, and otherwise BidExpired.
// The bid token was lost with the auction's record, so it cannot be checked.
func (in *leadSaleWorkspace) refusalForAuctionGoneFromLog() (refusal RefusalCode, err error) {
	if lead := in.accepted.soldLead; !lead.IsZero() {
		if sold, err := in.waitForSupplierAnswerOfSoldLead(lead); sold || err != nil {
			return AlreadySold, err
		}
	}
	return BidExpired, nil
}

// claimAuctionAndChooseBidder claims the auction of the accepted bid, so that no other request can sell
// a lead at it. It returns "" if the bid is available, and then in.choice is the bid's buyer.
// Otherwise it returns BidExpired or AlreadySold. While another sale of the auction is in
// progress, claimAuctionAndChooseBidder waits, because a refusal by that sale's buyer makes the auction
// available again.
func (in *leadSaleWorkspace) claimAuctionAndChooseBidder() (refusal RefusalCode, err error) {
	e, p := in.engine, &in.accepted
	for {
		row, found, wait := e.state.ClaimAuctionForSale(&in.reserved, p.auction.Name, in.now)
		switch {
		case !found:
			return BidExpired, nil
		case wait != nil:
			if err := in.waitAndUpdateNow(wait); err != nil {
				return "", err
			}
		case !row.IsSoldOrBeingPosted():
			return in.chooseBidderOrBidExpired(), nil
		default:
			sold, err := in.waitForSupplierAnswerOfSoldLead(row.Lead)
			if sold || err != nil {
				return AlreadySold, err
			}
		}
	}
}

// waitForSupplierAnswerOfSoldLead waits until soldLead, which was sold from the auction, has its answer.
// saleStillValid reports that the sale is still valid; at the deadline it counts as valid, because its
// intent is committed. saleStillValid is false if the delivery failed. It is also false after a wait:
// the caller must then look at the auction again.
func (in *leadSaleWorkspace) waitForSupplierAnswerOfSoldLead(soldLead market.LeadID) (saleStillValid bool, err error) {
	d := in.engine.deliveries.FindRunning(soldLead)
	if d == nil {
		row, known, err := in.engine.findLead(soldLead)
		return !known || row.Delivery != market.DeliveryFailed && row.Delivery != market.DeliveryReleased, err
	}
	select {
	case <-d.SupplierAnswerCommitted():
		return true, nil // the attempts continue after the answer
	default:
	}
	err = in.waitAndUpdateNow(d.SupplierAnswerCommitted())
	if errors.Is(err, errDeadline) {
		return true, nil // the committed intent proves it
	}
	return false, err
}

// chooseBidderOrBidExpired sets in.choice to the buyer of the accepted bid and returns "". It
// returns BidExpired if the bid has expired or its currency is not the campaign's. BidExpired
// also means that campaign or buyer was removed or paused, that the campaign no longer accepts the
// supplier, or that too many of the buyer's deliveries are unconfirmed.
func (in *leadSaleWorkspace) chooseBidderOrBidExpired() RefusalCode {
	bid := in.accepted.bid
	if in.now >= bid.ValidUntil || in.live == nil || in.isCampaignPaused() {
		return BidExpired
	}
	campaign := in.live.Campaign
	if campaign.Currency != bid.Currency || !campaign.AcceptsSupplier(in.req.Supplier.ID) {
		return BidExpired
	}
	paused, _ := in.engine.state.PauseStatus(event.ObjectBuyer, bid.Buyer)
	if paused || in.engine.state.CountUnknownDeliveries(bid.Buyer, in.live.Test) >= exclusion.MaxUnconfirmedDeliveries {
		return BidExpired
	}
	filterSet := in.live.filterSetOfBid(bid)
	if filterSet < 0 {
		return BidExpired
	}
	in.choice = chosenBuyer{filterSet: filterSet, price: bid.Amount, payout: bid.Payout}
	in.bid = auctionIDAndBuyerBidToken{auction: in.accepted.auction.ID, token: bid.Token}
	return ""
}

// checkRulesOfCampaignAndBuyer returns the reason for which the campaign or the chosen buyer rejects the
// lead, or ReasonNone. It applies the campaign's filters, suppression lists and duplicate rule,
// and then the buyer's suppliers, filters and suppression lists. A rejection by the buyer becomes the buyer's
// outcome. The auction could check only the fields of the ping, which has no contact data. The
// error is errDeadline if a possible duplicate was still undecided at the deadline.
func (in *leadSaleWorkspace) checkRulesOfCampaignAndBuyer() (market.UnsoldReason, error) {
	reason, err := in.checkRulesAndClaimDuplicates()
	switch {
	case reason == market.ReasonTimeout:
		return market.ReasonNone, errDeadline
	case reason != market.ReasonNone || err != nil:
		return reason, err
	}
	chosen := in.chosenFilterSet()
	if !chosen.AcceptsSupplier(in.req.Supplier.ID) {
		in.excludeBidBuyer(market.OutcomeFiltered)
		return market.ReasonFiltered, nil
	}
	for i := range chosen.Filters {
		if !chosen.Filters[i].Accepts(&in.lead) {
			in.excludeBidBuyer(market.OutcomeFiltered)
			return market.ReasonFiltered, nil
		}
	}
	for _, list := range chosen.Buyer.Suppression {
		if in.isSuppressedBy(list) {
			in.excludeBidBuyer(market.OutcomeSuppressed)
			return market.ReasonSuppressed, nil
		}
	}
	return market.ReasonNone, nil
}

// excludeBidBuyer gives the buyer of the accepted bid an outcome. The lead's event then records that
// this buyer, and not the campaign, rejected the lead.
func (in *leadSaleWorkspace) excludeBidBuyer(outcome market.BuyerOutcome) {
	in.candidates.ResetToAll(in.live.CompiledFilterSets)
	in.candidates.Exclude(in.choice.filterSet, outcome)
}

// reserveCapacityAndEncodePost reserves caps and funds for the sale at the accepted bid, and
// encodes the post. It returns BidExpired if the capacity is used up, because a bid reserves none,
// or if the bid expires while reserveCapacityAndEncodePost waits for other requests. A reason means
// that the lead is a duplicate or that the buyer's adapter cannot encode it.
func (in *leadSaleWorkspace) reserveCapacityAndEncodePost() (refusalCode RefusalCode, rejectReason market.UnsoldReason, err error) {
	for {
		if in.now >= in.accepted.bid.ValidUntil {
			return BidExpired, market.ReasonNone, nil
		}
		outcome, wait, err := in.reserveChosenSale()
		if wait == nil && err == nil && outcome == market.OutcomeWon && in.encodePostBody() {
			return "", market.ReasonNone, nil
		}
		in.engine.state.ReleaseCapsFundsAndTurn(&in.reserved)
		switch {
		case err != nil:
			return "", market.ReasonNone, err
		case wait != nil:
		case outcome == market.OutcomeWon:
			return "", market.ReasonPostRejected, nil // the adapter cannot encode this lead
		case outcome == market.OutcomeDuplicate:
			in.excludeBidBuyer(market.OutcomeDuplicate)
			return "", market.ReasonDuplicate, nil
		default:
			return BidExpired, market.ReasonNone, nil
		}
		if err := in.waitAndUpdateNow(wait); err != nil {
			return "", market.ReasonNone, err
		}
	}
}

// sellAtAcceptedBid sells the lead to the buyer of the accepted bid, at the bid's price.
// prepareSaleAtAcceptedBid has reserved everything that the sale needs.
func (in *ingestOrPostWorkspace) sellAtAcceptedBid() (IngestAnswer, error) {
	in.candidates.ResetToAll(in.live.CompiledFilterSets)
	in.record.Sale.Ping = in.accepted.auction.Name
	return in.sellToChosenBuyer()
}
