package engine

import (
	"errors"

	"pingpost/engine/event"
	"pingpost/engine/market"
)

// redeem claims the auction and all that a sale at its bid takes. A code says
// that the bid cannot be taken up, which is in no log; a reason, that this lead
// is not wanted. errCeiling says that only reservations of others are in the way.
// Without any of them the lead can be sold.
func (in *ingest) redeem() (code RefusalCode, reason market.Reason, err error) {
	if in.promise.gone {
		code, err = in.longOver()
		return code, market.ReasonNone, err
	}
	if code, err = in.claimAuction(); err != nil || code != "" {
		return code, market.ReasonNone, err
	}
	if in.promise.post != nil {
		in.id = market.LeadID(in.engine.newID(in.now, &in.random))
		in.describe()
		in.fact.SellerAuction = string(in.promise.post.Auction.Text)
		in.fact.Fields = append(in.fact.Fields, event.Field{Name: event.FieldSellerLeadID, Kind: market.KindString, Text: in.promise.seller})
	}
	if reason, err = in.welcome(); err != nil || reason != market.ReasonNone {
		return "", reason, err
	}
	return in.takeRoom()
}

// longOver is what is said of an auction that is past the log's history: that it
// was sold, where it was, and else that its window is over. Whether the token was
// its own cannot be known any more.
func (in *ingest) longOver() (RefusalCode, error) {
	if lead := in.promise.soldTo; !lead.IsZero() {
		if sold, err := in.waitForSale(lead); sold || err != nil {
			return AlreadySold, err
		}
	}
	return BidExpired, nil
}

// claimAuction claims the auction. A sale of it that is under way is waited for:
// the buyer may refuse that lead, and then the bid is free again.
func (in *ingest) claimAuction() (RefusalCode, error) {
	e, p := in.engine, &in.promise
	for {
		row, found, wait := e.state.ClaimAuction(&in.hold, p.auction.name, in.now)
		switch {
		case !found:
			return BidExpired, nil
		case wait != nil:
			if err := in.wait(wait); err != nil {
				return "", err
			}
		case !row.IsSold():
			return in.stillOffered(), nil
		default:
			sold, err := in.waitForSale(row.Lead)
			if sold || err != nil {
				return AlreadySold, err
			}
		}
	}
}

// waitForSale waits until the lead that has used the auction up is answered for;
// sold: it is, and stands.
func (in *ingest) waitForSale(lead market.LeadID) (sold bool, err error) {
	answered := in.engine.couriers.answered(lead)
	if answered == nil {
		row, known := in.engine.state.Lead(lead)
		return !known || row.Delivery != market.DeliveryFailed && row.Delivery != market.DeliveryReleased, nil
	}
	select {
	case <-answered:
		return true, nil // it is tried on without end in sight
	default:
	}
	err = in.wait(answered)
	if errors.Is(err, errCeiling) {
		return true, nil // by a fact: its intent
	}
	return false, err
}

// stillOffered looks whether the bid can be honoured now, and finds its seat: its
// window is open, and campaign and buyer are there and take leads, for the same
// money.
func (in *ingest) stillOffered() RefusalCode {
	bid := in.promise.bid
	if in.now >= bid.ValidUntil || in.open == nil || in.paused() {
		return BidExpired
	}
	campaign := in.open.Campaign
	if campaign.Currency != bid.Currency || !campaign.AcceptsSupplier(in.req.Supplier.ID) {
		return BidExpired
	}
	paused, _ := in.engine.state.Paused(event.NameBuyer, bid.Buyer)
	if paused || in.engine.state.UnknownDeliveries(bid.Buyer, in.open.test) >= maxUnknown {
		return BidExpired
	}
	seat := in.open.seatOf(bid.Buyer)
	if seat < 0 {
		return BidExpired
	}
	in.picked = pick{seat: seat, price: bid.Amount, payout: bid.Payout}
	in.bought = bought{auction: in.promise.auction.id, token: bid.Token}
	return ""
}

// welcome applies what the campaign takes at all, and what the buyer does, now
// that there is a person to be known by.
func (in *ingest) welcome() (market.Reason, error) {
	reason, err := in.inbound()
	switch {
	case reason == market.ReasonTimeout:
		return market.ReasonNone, errCeiling
	case reason != market.ReasonNone || err != nil:
		return reason, err
	}
	seat := in.seat()
	for i := range seat.Filters {
		if !seat.Filters[i].Passes(&in.lead) {
			return market.ReasonFiltered, nil
		}
	}
	for _, list := range seat.Buyer.Suppression {
		if in.onList(list) {
			return market.ReasonSuppressed, nil
		}
	}
	return market.ReasonNone, nil
}

// takeRoom reserves the caps and the money. Where facts leave no room for it the
// bid is as good as expired: a ping holds nothing. And it may have come to its
// end while others were waited for.
func (in *ingest) takeRoom() (code RefusalCode, reason market.Reason, err error) {
	for {
		if in.now >= in.promise.bid.ValidUntil {
			return BidExpired, market.ReasonNone, nil
		}
		outcome, wait := in.take()
		if wait == nil {
			switch outcome {
			case market.OutcomeWon:
				return "", market.ReasonNone, nil
			case market.OutcomeDuplicate:
				return "", market.ReasonDuplicate, nil
			case market.OutcomeError:
				in.engine.state.ReleaseSale(&in.hold)
				return "", market.ReasonPostRejected, nil
			}
			in.engine.state.ReleaseSale(&in.hold)
			return BidExpired, market.ReasonNone, nil
		}
		in.engine.state.ReleaseSale(&in.hold)
		if err := in.wait(wait); err != nil {
			return "", market.ReasonNone, err
		}
	}
}

// sellPromised gives the lead to the buyer that bid for it, at that price.
func (in *ingest) sellPromised() (Answer, error) {
	in.candidates.Begin(in.open.FilterSets)
	in.fact.Sale.Ping = in.promise.auction.name
	return in.giveAway()
}
