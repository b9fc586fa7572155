package explain

import (
	"pingpost/engine/event"
	"pingpost/engine/market"
)

// listOffersToSupplier returns the offers that the supplier got in the answer to its ping. A seller gets
// the best bid only. A supplier that may choose gets every valid bid. engine.SupplierPingAnswer follows
// the same rule.
func (e *Explainer) listOffersToSupplier(auction *event.PingAuctionCompleted) (offers []OfferToSupplier) {
	for i := range auction.Bids {
		bid := &auction.Bids[i]
		if bid.Token == "" || !auction.Token.IsZero() && bid.Outcome != market.OutcomeWon {
			continue
		}
		offers = append(offers, OfferToSupplier{
			Buyer: e.State.NameOf(event.ObjectBuyer, bid.Buyer), Until: NanosAsRFC3339(bid.ValidUntil),
			Price: newAmount(bid.Amount, bid.Currency), Payout: newAmount(bid.Payout, bid.Currency),
		})
	}
	return offers
}

// leadPostedForOffer is a lead that claimed an offer of an auction.
type leadPostedForOffer struct {
	decided *logEntry
	doc     *Explanation
}

// maxClaims limits the leads of one auction in an explanation. Buyers may refuse many
// claims, and each refusal allows another one.
const maxClaims = 16

// findLeadsPostedForOffersOf returns the leads that were posted for the offers of an auction: the first
// maxClaims within searchLimits.after of it, and in addition the lead that is sold or being posted,
// if the state still has the auction's row.
// truncated reports that the search ended early because it had read as much as searchLimits allow.
func (e *Explainer) findLeadsPostedForOffersOf(auctionEntry *logEntry) (claims []leadPostedForOffer, truncated bool, err error) {
	auctionEvent := auctionEntry.mustBePingAuction()
	if auctionEvent.Name == [16]byte{} || auctionEvent.Reason != market.ReasonNone {
		return nil, false, nil
	}
	var decided []*logEntry
	truncated, err = e.scanEntriesContaining(auctionEvent.Name[:], []byte(auctionEvent.SellerAuction), auctionEntry.at, auctionEntry.at+int64(e.limits.after), func(after *logEntry) bool {
		lead, ok := after.event.(*event.LeadDecided)
		if ok && lead.Supplier == auctionEvent.Supplier && e.claimedAuctionName(lead) == auctionEvent.Name {
			decided = append(decided, after)
		}
		return len(decided) < maxClaims
	})
	if err != nil {
		return nil, false, err
	}
	if row, ok := e.State.FindAuction(auctionEvent.Name, auctionEvent.Began); ok && row.IsSoldOrBeingPosted() && !containsLead(decided, row.Lead) {
		last, err := e.findDecisionEntry(row.Lead)
		if err != nil && !isNotInLogError(err) {
			return nil, false, err
		}
		if err == nil {
			decided = append(decided, last)
		}
	}
	for _, one := range decided {
		doc, err := e.explainLeadOmittingItsPing(one)
		if err != nil {
			return nil, false, err
		}
		claims = append(claims, leadPostedForOffer{one, doc})
	}
	return claims, truncated, nil
}

// containsLead reports whether one of the entries decided the lead.
func containsLead(entries []*logEntry, lead market.LeadID) bool {
	for _, one := range entries {
		if one.mustBeLeadDecided().Lead == lead {
			return true
		}
	}
	return false
}

// addClaimsAndSaleToAuction lists each claiming lead under the offer that it claimed, or as rejected if it got
// no buyer. If a lead's sale is complete or in delivery, the auction's explanation gets its buyer,
// price, payout and margin.
func (e *Explainer) addClaimsAndSaleToAuction(doc *Explanation, auction *event.PingAuctionCompleted, claims []leadPostedForOffer) {
	for _, one := range claims {
		lead, buyer := one.doc, e.State.NameOf(event.ObjectBuyer, one.decided.mustBeLeadDecided().Sale.Buyer)
		if buyer == "" {
			doc.Rejected = append(doc.Rejected, OfferClaim{Lead: lead.ID, Status: lead.Status, Reason: lead.Reason})
			continue
		}
		for i := range doc.Offers {
			if offer := &doc.Offers[i]; offer.Buyer == buyer {
				offer.Claims = append(offer.Claims, OfferClaim{Lead: lead.ID, Status: lead.Status, Delivery: lead.Delivery, Reason: lead.Reason})
			}
		}
		switch {
		case lead.Status == market.StatusUnmatched.String():
			continue
		case lead.Delivery == market.DeliveryPending.String(), lead.Delivery == market.DeliveryUnknown.String():
			doc.Status = statusTaken
		default:
			doc.Status = statusSold
		}
		doc.Buyer, doc.Price, doc.Payout, doc.Margin = lead.Buyer, lead.Price, lead.Payout, lead.Margin
	}
	switch {
	case doc.Status != statusBid:
	case auction.SellerAuction == "":
		doc.Notes = append(doc.Notes, noteChoiceNotListed)
	default:
		doc.Notes = append(doc.Notes, notePostNotListed)
	}
	doc.Why = summarizeAuction(doc)
}

// Notes on a ping without a sale.
const (
	noteChoiceNotListed = "This list omits leads that chose an offer and were rejected before a sale (bid used or expired, duplicate). " +
		"Search for them by lead id or request id."
	notePostNotListed = "The log does not record a post that was rejected before a decision (bid used or expired, invalid payload)."
)
