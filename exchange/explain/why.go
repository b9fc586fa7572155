package explain

import (
	"fmt"
	"net/http"
	"strings"

	"pingpost/engine/market"
)

// whyLead returns the sentences that say why the lead was sold or unsold. It adds the
// answer to the call if that differs from the current state.
func whyLead(doc *Explanation) string { return testNote(doc) + whySold(doc) }

func whySold(doc *Explanation) string {
	switch doc.Status {
	case market.StatusUnmatched.String():
		return whyUnsold(doc) + whyAnswered(doc)
	case market.StatusOpen.String():
		return fmt.Sprintf("The delivery to %s, for %s, is in progress.%s", doc.Buyer, doc.Price, earlierRefusals(doc.Posts))
	}
	return whyDelivered(doc) + earlierRefusals(doc.Posts) + whyAnswered(doc) + whyAfterSale(doc)
}

func whyUnsold(doc *Explanation) string {
	switch {
	case doc.Delivery == market.DeliveryReleased.String():
		return "An operator released the delivery: the buyer does not have the lead."
	case doc.Delivery == market.DeliveryFailed.String() && doc.soldAtPing():
		post := &doc.Posts[len(doc.Posts)-1]
		return fmt.Sprintf("%s, whose bid the lead claimed, did not accept it (%s). A claimed bid has no other buyer.", post.Buyer, post.refusal())
	case doc.Delivery == market.DeliveryFailed.String():
		post := &doc.Posts[len(doc.Posts)-1]
		return fmt.Sprintf("%s The last buyer, %s, did not accept it: %s.", whyReason(doc), post.Buyer, post.refusal())
	}
	return whyReason(doc)
}

// soldAtPing reports whether the lead claimed the bid of an earlier ping, so that no other
// buyer could get it.
func (x *Explanation) soldAtPing() bool { return x.LeadID != "" && x.AuctionID != "" && x.BidsDue == 0 }

func whyDelivered(doc *Explanation) string {
	switch doc.Delivery {
	case market.DeliveryNone.String():
		return fmt.Sprintf("Sold to %s for %s. The buyer has no endpoint, so the sale is only recorded.", doc.Buyer, doc.Price)
	case market.DeliveryPending.String():
		return fmt.Sprintf("%s is the buyer, for %s, but has not acknowledged the lead yet; the attempts continue.", doc.Buyer, doc.Price)
	case market.DeliveryUnknown.String():
		return fmt.Sprintf("%s is the buyer, for %s, but no attempt got a clear answer, so the buyer may have the lead. Ask the buyer, then confirm, release or resend the delivery.", doc.Buyer, doc.Price)
	case market.DeliveryConfirmed.String():
		return fmt.Sprintf("Sold to %s for %s. An operator confirmed that the buyer has the lead.", doc.Buyer, doc.Price)
	}
	return fmt.Sprintf("Sold to %s for %s. The buyer acknowledged the lead.", doc.Buyer, doc.Price)
}

// earlierRefusals names the buyers before the current one, with the reasons why they did
// not accept the lead.
func earlierRefusals(posts []Post) (text string) {
	for i := range posts {
		if last := len(posts[i].Settlements) - 1; last >= 0 && posts[i].Settlements[last].Next != "" {
			text += fmt.Sprintf(" Before that, %s did not accept it: %s.", posts[i].Buyer, posts[i].refusal())
		}
	}
	return text
}

// refusal returns the reason why the post's buyer does not have the lead: the buyer's
// answer, or the fault.
func (p *Post) refusal() string {
	if len(p.Settlements) == 0 {
		return "the buyer was not reached"
	}
	switch last := &p.Settlements[len(p.Settlements)-1]; {
	case last.Status != 0 && last.Code != "":
		return fmt.Sprintf("HTTP %d %s", last.Status, last.Code)
	case last.Status != 0:
		return fmt.Sprintf("HTTP %d", last.Status)
	case last.Fault != "":
		return last.Fault.Description()
	}
	return "the buyer was not reached"
}

// whyAnswered returns a sentence on the answer to the call, if that differs from the
// current state of the lead.
func whyAnswered(doc *Explanation) string {
	switch {
	case doc.Answer == nil:
		return ""
	case doc.Answer.Status >= http.StatusInternalServerError:
		return fmt.Sprintf(" The buyer had not acknowledged the lead when the answer was due, so the seller got %d %s while the delivery continued. "+
			"If the seller repeats the request with the same idempotency key, it gets the result.", doc.Answer.Status, doc.Answer.Result)
	case doc.Answer.Result == market.StatusAccepted.String() && doc.Status == market.StatusUnmatched.String():
		return " The supplier had already received ACCEPTED."
	}
	return ""
}

// whyAuction returns the sentences that say how a ping was answered, and which leads
// claimed its offers.
func whyAuction(doc *Explanation) string { return testNote(doc) + whyBid(doc) }

func whyBid(doc *Explanation) string {
	switch {
	case doc.Status == statusNoBid:
		return whyReason(doc)
	case doc.Kind == kindAvailability:
		return whyOffers(doc)
	}
	best := &doc.Offers[0]
	why := fmt.Sprintf("%s made the highest of %s, %s. The seller's offer was %s.", best.Buyer, countValidBids(doc), best.Price, best.Payout)
	if len(best.Claims) == 0 {
		why += " No lead claimed it."
	}
	for i := range best.Claims {
		why += fmt.Sprintf(" %s claimed it: %s.", best.Claims[i].Lead, best.Claims[i].Summary())
	}
	for i := range doc.Rejected {
		why += fmt.Sprintf(" %s claimed it and was rejected: %s.", doc.Rejected[i].Lead, doc.Rejected[i].Reason)
	}
	return why
}

// whyOffers is whyAuction for a supplier that asked for all offers and may choose.
func whyOffers(doc *Explanation) string {
	why := fmt.Sprintf("The supplier could choose from %s.", countValidBids(doc))
	claimed := false
	for i := range doc.Offers {
		for j := range doc.Offers[i].Claims {
			claimed = true
			why += fmt.Sprintf(" %s claimed the bid of %s: %s.", doc.Offers[i].Claims[j].Lead, doc.Offers[i].Buyer, doc.Offers[i].Claims[j].Summary())
		}
	}
	if !claimed {
		why += " No lead claimed a bid."
	}
	return why
}

// countValidBids returns the number of valid bids, in words.
func countValidBids(doc *Explanation) string {
	n := 0
	for i := range doc.Candidates {
		switch c := &doc.Candidates[i]; c.Outcome {
		case market.OutcomeWon.String(), market.OutcomeLost.String():
			n++
		}
	}
	if n == 1 {
		return "1 valid bid"
	}
	return fmt.Sprint(n, " valid bids")
}

// Summary returns the state of the lead that claimed an offer, in words.
func (c *Claim) Summary() string {
	words := []string{c.Status}
	for _, word := range []string{c.Delivery, c.Reason} {
		if word != "" && word != market.DeliveryNone.String() {
			words = append(words, word)
		}
	}
	return strings.Join(words, ", ")
}
