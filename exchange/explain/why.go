package explain

import (
	"fmt"
	"net/http"
	"strings"

	"pingpost/engine/market"
)

// summarizeLead returns the sentences that explain why a lead was sold or unsold. If the seller
// got another answer than the lead's current state, they mention that answer.
func summarizeLead(doc *Explanation) string { return describeIfTest(doc) + summarizeLeadCourse(doc) }

func summarizeLeadCourse(doc *Explanation) string {
	switch doc.Status {
	case market.StatusUnmatched.String():
		return summarizeUnsold(doc) + describeAnswerSentBeforeOutcome(doc)
	case market.StatusOpen.String():
		return fmt.Sprintf("The delivery to %s, for %s, is in progress.%s", doc.Buyer, doc.Price, describeEarlierUnacceptedPosts(doc.Posts))
	}
	return summarizeSale(doc) + describeEarlierUnacceptedPosts(doc.Posts) + describeAnswerSentBeforeOutcome(doc) + describeLastEffectiveReport(doc)
}

func summarizeUnsold(doc *Explanation) string {
	switch {
	case doc.Delivery == market.DeliveryReleased.String():
		post := &doc.Posts[len(doc.Posts)-1]
		return fmt.Sprintf("An operator released the delivery to %s%s, and so decided that the buyer does not have the lead.", post.Buyer, post.describeAttemptsBeforeUnconfirmed())
	case doc.Delivery == market.DeliveryFailed.String() && doc.claimedEarlierBid():
		post := &doc.Posts[len(doc.Posts)-1]
		return fmt.Sprintf("%s, whose bid the lead claimed, did not accept it (%s). A claimed bid has no other buyer.", post.Buyer, post.describeWhyNotAccepted())
	case doc.Delivery == market.DeliveryFailed.String():
		post := &doc.Posts[len(doc.Posts)-1]
		return fmt.Sprintf("%s The last buyer, %s, did not accept it: %s.", describeUnsoldReason(doc), post.Buyer, post.describeWhyNotAccepted())
	}
	return describeUnsoldReason(doc)
}

// claimedEarlierBid reports whether the lead claimed the bid of an earlier ping. Only the buyer
// of that bid could then get the lead.
func (x *Explanation) claimedEarlierBid() bool {
	return x.LeadID != "" && x.AuctionID != "" && x.BidsDue == 0
}

func summarizeSale(doc *Explanation) string {
	switch doc.Delivery {
	case market.DeliveryNone.String():
		return fmt.Sprintf("Sold to %s for %s. The buyer has no endpoint, so the sale is only recorded.", doc.Buyer, doc.Price)
	case market.DeliveryPending.String():
		return fmt.Sprintf("%s is the buyer, for %s, but has not acknowledged the lead yet; the attempts continue.", doc.Buyer, doc.Price)
	case market.DeliveryUnknown.String():
		return fmt.Sprintf("%s is the buyer, for %s, but %s. Ask the buyer, then confirm, release or resend the delivery.", doc.Buyer, doc.Price, doc.Posts[len(doc.Posts)-1].describeDoubt())
	case market.DeliveryConfirmed.String():
		return fmt.Sprintf("Sold to %s for %s. An operator confirmed that the buyer has the lead.", doc.Buyer, doc.Price)
	}
	return fmt.Sprintf("Sold to %s for %s. The buyer acknowledged the lead.%s", doc.Buyer, doc.Price, doc.Posts[len(doc.Posts)-1].describeAcceptanceWithRejectionBody())
}

// describeEarlierUnacceptedPosts names the buyers to which the lead was posted before the current one.
// For each it says why that buyer did not accept the lead.
func describeEarlierUnacceptedPosts(posts []DeliveryToBuyer) (text string) {
	for i := range posts {
		if last := len(posts[i].Settlements) - 1; last >= 0 && posts[i].Settlements[last].Next != "" {
			text += fmt.Sprintf(" Before that, %s did not accept it: %s.", posts[i].Buyer, posts[i].describeWhyNotAccepted())
		}
	}
	return text
}

// describeAnswerSentBeforeOutcome returns a sentence on the answer that the seller got, if it differs
// from the lead's current state, or "".
func describeAnswerSentBeforeOutcome(doc *Explanation) string {
	switch {
	case doc.Answer == nil:
		return ""
	case doc.Answer.Status >= http.StatusInternalServerError && doc.stoppedAtAnswer:
		return fmt.Sprintf(" The attempts had ended without a clear answer, so the seller got %d %s. "+
			"If the seller repeats the request with the same idempotency key, it gets the result.", doc.Answer.Status, doc.Answer.Result)
	case doc.Answer.Status >= http.StatusInternalServerError:
		return fmt.Sprintf(" The buyer had not acknowledged the lead when the answer was due, so the seller got %d %s while the delivery continued. "+
			"If the seller repeats the request with the same idempotency key, it gets the result.", doc.Answer.Status, doc.Answer.Result)
	case doc.Answer.Result == market.StatusAccepted.String() && doc.Status == market.StatusUnmatched.String():
		return " The supplier had already received ACCEPTED."
	}
	return ""
}

// summarizeAuction returns the sentences that explain how a ping was answered, and which leads
// claimed the offers in the answer.
func summarizeAuction(doc *Explanation) string { return describeIfTest(doc) + summarizePing(doc) }

func summarizePing(doc *Explanation) string {
	switch {
	case doc.Status == statusNoBid:
		return describeUnsoldReason(doc)
	case doc.Kind == kindAvailability:
		return summarizeOffers(doc)
	}
	best := &doc.Offers[0]
	why := fmt.Sprintf("%s made the highest of %s, %s. The seller's offer was %s.", best.Buyer, describeValidBidCount(doc), best.Price, best.Payout)
	if len(best.Claims) == 0 {
		why += " No lead claimed it."
	}
	for i := range best.Claims {
		why += fmt.Sprintf(" %s claimed it: %s.", best.Claims[i].Lead, best.Claims[i].DescribeLeadState())
	}
	for i := range doc.Rejected {
		why += fmt.Sprintf(" %s claimed it and was rejected: %s.", doc.Rejected[i].Lead, strings.ReplaceAll(doc.Rejected[i].Reason, "_", " "))
	}
	return why
}

// summarizeOffers explains an auction whose supplier asked for all offers and could choose one
// of them.
func summarizeOffers(doc *Explanation) string {
	why := fmt.Sprintf("The supplier could choose from %s.", describeValidBidCount(doc))
	claimed := false
	for i := range doc.Offers {
		for j := range doc.Offers[i].Claims {
			claimed = true
			why += fmt.Sprintf(" %s claimed the bid of %s: %s.", doc.Offers[i].Claims[j].Lead, doc.Offers[i].Buyer, doc.Offers[i].Claims[j].DescribeLeadState())
		}
	}
	if !claimed {
		why += " No lead claimed a bid."
	}
	return why
}

// describeValidBidCount returns the number of valid bids in an auction in words, such as "2
// valid bids".
func describeValidBidCount(doc *Explanation) string {
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

// DescribeLeadState returns the state of the lead that claimed an offer: its status, its delivery if it
// has one, and the reason in words.
func (c *OfferClaim) DescribeLeadState() string {
	words := []string{c.Status}
	for _, word := range []string{c.Delivery, c.Reason} {
		if word != "" && word != market.DeliveryNone.String() {
			words = append(words, strings.ReplaceAll(word, "_", " "))
		}
	}
	return strings.Join(words, ", ")
}
