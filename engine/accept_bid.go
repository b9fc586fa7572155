package engine

import (
	"errors"

	"pingpost/api/errcode"
	"pingpost/engine/event"
	"pingpost/engine/market"
)

// acceptBid claims the auction and reserves everything that a sale at its bid needs. A code
// means that the bid is not available; then nothing is logged. A reason means that campaign
// or buyer does not accept this lead. errDeadline means that only reservations of other
// requests are in the way. If all three are zero, the lead can be sold.
func (in *ingest) acceptBid() (code RefusalCode, reason market.Reason, err error) {
	if in.accepted.forgotten {
		code, err = in.refuseOldAuction()
		return code, market.ReasonNone, err
	}
	if code, err = in.claimAuction(); err != nil || code != "" {
		return code, market.ReasonNone, err
	}
	if in.accepted.post != nil {
		in.id = market.LeadID(in.engine.newID(in.now, &in.random))
		in.beginRecord()
		in.record.SellerAuction = string(in.accepted.post.Auction.Text)
		in.record.Fields = append(in.record.Fields, event.Field{Name: event.FieldSellerLeadID, Kind: market.KindString, Text: in.accepted.sellerID})
	}
	if reason, err = in.checkFilters(); err != nil || reason != market.ReasonNone {
		return "", reason, err
	}
	return in.reserveBid()
}

// refuseOldAuction returns the refusal for an auction that the log's history no longer has:
// AlreadySold or BidExpired. The token cannot be checked any more.
func (in *ingest) refuseOldAuction() (RefusalCode, error) {
	if lead := in.accepted.soldLead; !lead.IsZero() {
		if sold, err := in.waitForSale(lead); sold || err != nil {
			return AlreadySold, err
		}
	}
	return BidExpired, nil
}

// claimAuction claims the auction. It waits for another sale of it that is in progress,
// because that buyer may refuse the lead, and then the bid is available again.
func (in *ingest) claimAuction() (RefusalCode, error) {
	e, p := in.engine, &in.accepted
	for {
		row, found, wait := e.state.ClaimAuctionForSale(&in.reserved, p.auction.name, in.now)
		switch {
		case !found:
			return BidExpired, nil
		case wait != nil:
			if err := in.wait(wait); err != nil {
				return "", err
			}
		case !row.IsSold():
			return in.checkOffer(), nil
		default:
			sold, err := in.waitForSale(row.Lead)
			if sold || err != nil {
				return AlreadySold, err
			}
		}
	}
}

// waitForSale waits until the lead that used the auction has its answer. It reports
// whether that sale is still valid.
func (in *ingest) waitForSale(lead market.LeadID) (sold bool, err error) {
	answered := in.engine.deliveries.answeredChannel(lead)
	if answered == nil {
		row, known := in.engine.state.Lead(lead)
		return !known || row.Delivery != market.DeliveryFailed && row.Delivery != market.DeliveryReleased, nil
	}
	select {
	case <-answered:
		return true, nil // the attempts continue after the answer
	default:
	}
	err = in.wait(answered)
	if errors.Is(err, errDeadline) {
		return true, nil // the committed intent proves it
	}
	return false, err
}

// checkOffer checks that the bid is still available, and makes its filter set the choice.
// The bid's window must be open, and campaign and buyer must exist, be active, and use the
// same currency.
func (in *ingest) checkOffer() RefusalCode {
	bid := in.accepted.bid
	if in.now >= bid.ValidUntil || in.live == nil || in.isPaused() {
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
	filterSet := in.live.filterSetOf(bid.Buyer)
	if filterSet < 0 {
		return BidExpired
	}
	in.choice = choice{filterSet: filterSet, price: bid.Amount, payout: bid.Payout}
	in.bid = bidReference{auction: in.accepted.auction.id, token: bid.Token}
	return ""
}

// checkFilters applies the filters, suppression lists and duplicate rule of the campaign,
// and then those of the buyer. The auction could not do this, because a ping has no
// contact data.
func (in *ingest) checkFilters() (market.Reason, error) {
	reason, err := in.checkCampaign()
	switch {
	case reason == market.ReasonTimeout:
		return market.ReasonNone, errDeadline
	case reason != market.ReasonNone || err != nil:
		return reason, err
	}
	chosen := in.filterSet()
	for i := range chosen.Filters {
		if !chosen.Filters[i].Accepts(&in.lead) {
			return market.ReasonFiltered, nil
		}
	}
	for _, list := range chosen.Buyer.Suppression {
		if in.isListed(list) {
			return market.ReasonSuppressed, nil
		}
	}
	return market.ReasonNone, nil
}

// reserveBid reserves caps and funds for the sale, and encodes the post. A ping reserves
// nothing, so the capacity may be used by now: then the bid counts as expired. The bid may
// also expire while reserveBid waits for other requests.
func (in *ingest) reserveBid() (code RefusalCode, reason market.Reason, err error) {
	for {
		if in.now >= in.accepted.bid.ValidUntil {
			return BidExpired, market.ReasonNone, nil
		}
		outcome, wait := in.reserveSale()
		if wait == nil && outcome == market.OutcomeWon && in.encodePost() {
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
		if err := in.wait(wait); err != nil {
			return "", market.ReasonNone, err
		}
	}
}

// sellAtBid sells the lead to the bidder at the bid's price.
func (in *ingest) sellAtBid() (Answer, error) {
	in.candidates.ResetToAll(in.live.CompiledFilterSets)
	in.record.Sale.Ping = in.accepted.auction.name
	return in.commitSale()
}

// findBidChoice finds the bid that an ingest accepts: the bid of the buyer that it names,
// in the auction of the ping that it names. The ping must belong to this supplier and this
// campaign. Otherwise findBidChoice adds a fault for the wrong member.
func (in *ingest) findBidChoice() error {
	ping, buyer := in.findMember(memberPing), in.findMember(memberBuyer)
	switch {
	case ping == nil && buyer == nil:
		return nil
	case ping == nil:
		in.addChoiceFault(memberPing)
	case buyer == nil:
		in.addChoiceFault(memberBuyer)
	case in.live != nil:
		return in.findChosenBid(ping, buyer)
	}
	return nil
}

func (in *ingest) findChosenBid(ping, buyer *market.Member) error {
	e, p := in.engine, &in.accepted
	id, ok := market.ParsePingID(textOf(ping))
	if !ok {
		in.addChoiceFault(memberPing)
		return nil
	}
	row, ok := e.state.FindAuction(e.auctionName(byPingID.forTest(in.test), in.req.Supplier, id[:]), in.now)
	if !ok {
		in.addChoiceFault(memberPing)
		return nil
	}
	if err := in.readAuction(&row); err != nil || p.forgotten {
		return err
	}
	if p.auction.campaign != in.live.Campaign.Ref {
		p.auction = nil
		in.addChoiceFault(memberPing)
		return nil
	}
	if p.bid = p.auction.bidOf(e.state.RefOf(event.ObjectBuyer, textOf(buyer))); p.bid == nil {
		in.addChoiceFault(memberBuyer)
	}
	return nil
}

func (in *ingest) addChoiceFault(member string) {
	in.addFault(member, errcode.FieldUnknown, "a ping of yours and a buyer that it offered, given together")
}

// findMember returns a member of the body, or nil if it is missing, null or empty.
func (in *ingest) findMember(name string) *market.Member {
	for i := range in.req.Members {
		if m := &in.req.Members[i]; string(m.Name) == name && !m.IsMissing() {
			return m
		}
	}
	return nil
}

// textOf returns the text of a JSON string, or "" for other kinds.
func textOf(m *market.Member) string {
	if m.Kind != market.JSONString {
		return ""
	}
	return string(m.Text)
}

// fillLead maps the body. If the lead accepts a bid, missing fields come from the ping.
func (in *ingest) fillLead() {
	mapping := in.live.Campaign.Mapping
	in.lead.Reset(mapping.SlotCount())
	if in.accepted.auction == nil {
		in.faults = mapping.FillFromIngest(&in.lead, in.req.Members, in.faults)
	} else {
		in.fillFromPing(mapping)
		in.faults = mapping.FillFromPost(&in.lead, in.req.Members, &in.accepted.pingLead, in.faults)
		in.checkAgainstPing(mapping.ArrivalName(market.SlotState), mapping.ArrivalName(market.SlotZip))
	}
	in.faults = in.lead.CheckConsent(in.live.Campaign, in.faults, "consent_cert_url")
}

// sellToChosenBuyer sells the lead to the buyer that its supplier chose, at that buyer's
// bid. If the bid was used or has expired, the lead stays unsold.
func (in *ingest) sellToChosenBuyer() (Answer, error) {
	code, reason, err := in.acceptBid()
	if errors.Is(err, errDeadline) {
		reason, err = market.ReasonTimeout, nil
	}
	switch {
	case err != nil:
		return Answer{}, err
	case code != "":
		reason = market.ReasonBidExpired
	}
	if reason != market.ReasonNone {
		return in.recordUnsold(reason)
	}
	return in.sellAtBid()
}
