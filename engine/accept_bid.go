package engine

import (
	"errors"

	"pingpost/engine/event"
	"pingpost/engine/market"
)

// reserveAcceptedBid claims the auction and reserves everything that a sale at its bid
// needs. A code means that the bid is not available; then nothing is logged. A reason means
// that campaign or buyer does not accept this lead. errDeadline means that only
// reservations of other requests are in the way. If all three are zero, the lead can be
// sold.
func (in *leadSale) reserveAcceptedBid() (code RefusalCode, reason market.Reason, err error) {
	if in.accepted.forgotten {
		code, err = in.refusalOfForgottenAuction()
		return code, market.ReasonNone, err
	}
	if code, err = in.claimAcceptedAuction(); err != nil || code != "" {
		return code, market.ReasonNone, err
	}
	if in.accepted.post != nil {
		in.id = market.LeadID(in.engine.newTimeOrderedID(in.now, &in.random))
		in.recordRequest()
		in.record.SellerAuction = string(in.accepted.post.Auction.Text)
		in.record.Fields = append(in.record.Fields, event.Field{Name: event.FieldSellerLeadID, Kind: market.KindString, Text: in.accepted.sellerID})
	}
	if reason, err = in.checkCampaignAndBuyer(); err != nil || reason != market.ReasonNone {
		return "", reason, err
	}
	return in.reserveBidCapacity()
}

// refusalOfForgottenAuction returns the refusal for an auction that the log's history no
// longer has: AlreadySold or BidExpired. The token cannot be checked any more.
func (in *leadSale) refusalOfForgottenAuction() (RefusalCode, error) {
	if lead := in.accepted.soldLead; !lead.IsZero() {
		if sold, err := in.waitForSaleOfAuction(lead); sold || err != nil {
			return AlreadySold, err
		}
	}
	return BidExpired, nil
}

// claimAcceptedAuction claims the auction. It waits for another sale of it that is in progress,
// because that buyer may refuse the lead, and then the bid is available again.
func (in *leadSale) claimAcceptedAuction() (RefusalCode, error) {
	e, p := in.engine, &in.accepted
	for {
		row, found, wait := e.state.ClaimAuctionForSale(&in.reserved, p.auction.Name, in.now)
		switch {
		case !found:
			return BidExpired, nil
		case wait != nil:
			if err := in.waitAndAdvance(wait); err != nil {
				return "", err
			}
		case !row.IsSold():
			return in.chooseBidderIfAvailable(), nil
		default:
			sold, err := in.waitForSaleOfAuction(row.Lead)
			if sold || err != nil {
				return AlreadySold, err
			}
		}
	}
}

// waitForSaleOfAuction waits until the lead that used the auction has its answer. It reports
// whether that sale is still valid.
func (in *leadSale) waitForSaleOfAuction(lead market.LeadID) (sold bool, err error) {
	d := in.engine.deliveries.FindRunning(lead)
	if d == nil {
		row, known := in.engine.state.Lead(lead)
		return !known || row.Delivery != market.DeliveryFailed && row.Delivery != market.DeliveryReleased, nil
	}
	select {
	case <-d.SupplierAnswered():
		return true, nil // the attempts continue after the answer
	default:
	}
	err = in.waitAndAdvance(d.SupplierAnswered())
	if errors.Is(err, errDeadline) {
		return true, nil // the committed intent proves it
	}
	return false, err
}

// chooseBidderIfAvailable checks that the bid is still available, and makes its filter set
// the choice. The bid's window must be open, and campaign and buyer must exist, be active,
// and use the same currency.
func (in *leadSale) chooseBidderIfAvailable() RefusalCode {
	bid := in.accepted.bid
	if in.now >= bid.ValidUntil || in.live == nil || in.isCampaignPaused() {
		return BidExpired
	}
	campaign := in.live.Campaign
	if campaign.Currency != bid.Currency || !campaign.AcceptsSupplier(in.req.Supplier.ID) {
		return BidExpired
	}
	paused, _ := in.engine.state.PauseStatus(event.ObjectBuyer, bid.Buyer)
	if paused || in.engine.state.CountUnknownDeliveries(bid.Buyer, in.live.Test) >= maxUnknown {
		return BidExpired
	}
	filterSet := in.live.filterSetIndexOf(bid.Buyer)
	if filterSet < 0 {
		return BidExpired
	}
	in.choice = chosenBuyer{filterSet: filterSet, price: bid.Amount, payout: bid.Payout}
	in.bid = bidReference{auction: in.accepted.auction.ID, token: bid.Token}
	return ""
}

// checkCampaignAndBuyer applies the filters, suppression lists and duplicate rule of the
// campaign, and then those of the buyer. The auction could not do this, because a ping has
// no contact data.
func (in *leadSale) checkCampaignAndBuyer() (market.Reason, error) {
	reason, err := in.checkCampaignRules()
	switch {
	case reason == market.ReasonTimeout:
		return market.ReasonNone, errDeadline
	case reason != market.ReasonNone || err != nil:
		return reason, err
	}
	chosen := in.chosenFilterSet()
	for i := range chosen.Filters {
		if !chosen.Filters[i].Accepts(&in.lead) {
			return market.ReasonFiltered, nil
		}
	}
	for _, list := range chosen.Buyer.Suppression {
		if in.isSuppressedBy(list) {
			return market.ReasonSuppressed, nil
		}
	}
	return market.ReasonNone, nil
}

// reserveBidCapacity reserves caps and funds for the sale, and encodes the post. A ping
// reserves nothing, so the capacity may be used by now: then the bid counts as expired. The
// bid may also expire while reserveBidCapacity waits for other requests.
func (in *leadSale) reserveBidCapacity() (code RefusalCode, reason market.Reason, err error) {
	for {
		if in.now >= in.accepted.bid.ValidUntil {
			return BidExpired, market.ReasonNone, nil
		}
		outcome, wait := in.reserveChoice()
		if wait == nil && outcome == market.OutcomeWon && in.encodePostBody() {
			return "", market.ReasonNone, nil
		}
		in.engine.state.ReleaseSaleReservation(&in.reserved)
		switch {
		case wait != nil:
		case outcome == market.OutcomeWon:
			return "", market.ReasonPostRejected, nil // the adapter cannot encode this lead
		case outcome == market.OutcomeDuplicate:
			return "", market.ReasonDuplicate, nil
		default:
			return BidExpired, market.ReasonNone, nil
		}
		if err := in.waitAndAdvance(wait); err != nil {
			return "", market.ReasonNone, err
		}
	}
}

// sellAtAcceptedBid sells the lead to the bidder at the bid's price.
func (in *ingest) sellAtAcceptedBid() (Answer, error) {
	in.candidates.ResetToAll(in.live.CompiledFilterSets)
	in.record.Sale.Ping = in.accepted.auction.Name
	return in.commitSale()
}
