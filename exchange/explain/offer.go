package explain

import (
	"pingpost/engine/event"
	"pingpost/engine/market"
)

// offers are what a seller was told: the best bid by its token, or every bid that
// stands to who asked who would buy. It goes by the same rule as the answer to the
// ping (engine.PingAnswer).
func (e *Explainer) offers(held *event.AuctionHeld) (list []Offer) {
	for i := range held.Bids {
		bid := &held.Bids[i]
		if bid.Token == "" || !held.Token.IsZero() && bid.Outcome != market.OutcomeWon {
			continue
		}
		list = append(list, Offer{
			Buyer: e.state.NameOf(event.NameBuyer, bid.Buyer), Until: Instant(bid.ValidUntil),
			Price: amountOf(bid.Amount, bid.Currency), Payout: amountOf(bid.Payout, bid.Currency),
		})
	}
	return list
}

// claimant is a lead that took up an offer of an auction.
type claim struct {
	decided *entry
	doc     *Explanation
}

// maxClaimants bounds how many leads of one auction are told of: each may be refused,
// and another taken.
const maxClaims = 16

// claimants are the leads that were sold, or were to be, at the offers of an auction.
// Whoever bought by it in the end is among them, as far as memory knows: it may
// have come after many that were refused.
func (e *Explainer) claims(found *entry) (list []claim, truncated bool, err error) {
	held := found.held()
	if held.Name == [16]byte{} || held.Reason != market.ReasonNone {
		return nil, false, nil
	}
	var decided []*entry
	truncated, err = e.scan(held.Name[:], []byte(held.SellerAuction), found.at, found.at+int64(e.limits.after), func(after *entry) bool {
		lead, ok := after.event.(*event.LeadDecided)
		if ok && lead.Supplier == held.Supplier && e.claimedAuction(lead) == held.Name {
			decided = append(decided, after)
		}
		return len(decided) < maxClaims
	})
	if err != nil {
		return nil, false, err
	}
	if row, ok := e.state.Auction(held.Name, held.Began); ok && row.IsSold() && !among(decided, row.Lead) {
		last, err := e.decision(row.Lead)
		if err != nil && !isMissing(err) {
			return nil, false, err
		}
		if err == nil {
			decided = append(decided, last)
		}
	}
	for _, one := range decided {
		doc, err := e.explainLead(one)
		if err != nil {
			return nil, false, err
		}
		list = append(list, claim{one, doc})
	}
	return list, truncated, nil
}

func among(decided []*entry, lead market.LeadID) bool {
	for _, one := range decided {
		if one.lead().Lead == lead {
			return true
		}
	}
	return false
}

// take enters into an auction who took up which offer. The money of the one whose
// sale stands, or is under way, is the auction's.
func (e *Explainer) addClaims(doc *Explanation, held *event.AuctionHeld, claims []claim) {
	for _, one := range claims {
		lead, buyer := one.doc, e.state.NameOf(event.NameBuyer, one.decided.lead().Sale.Buyer)
		if buyer == "" {
			doc.Rejected = append(doc.Rejected, Claim{Lead: lead.ID, Status: lead.Status, Reason: lead.Reason})
			continue
		}
		for i := range doc.Offers {
			if offer := &doc.Offers[i]; offer.Buyer == buyer {
				offer.Claims = append(offer.Claims, Claim{Lead: lead.ID, Status: lead.Status, Delivery: lead.Delivery, Reason: lead.Reason})
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
	case held.SellerAuction == "":
		doc.Notes = append(doc.Notes, noteChoiceNotListed)
	default:
		doc.Notes = append(doc.Notes, notePostNotListed)
	}
	doc.Why = whyAuction(doc)
}

// What a ping without a sale does not tell.
const (
	noteChoiceNotListed = "A lead that chose one of these and was turned away before it could be sold (by a used or expired bid, as a duplicate) " +
		"is not listed here: it is found by its own id, or by its request's."
	notePostNotListed = "A post that was refused before anything was decided (by a used or expired bid, for faults in its payload) is not recorded."
)
