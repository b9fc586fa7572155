package explain

import (
	"fmt"
	"net/http"
	"strings"

	"pingpost/engine/market"
)

// whyLead answers why the lead was sold, or was not, and what its caller was told
// where the lead stands otherwise now, or stood otherwise then.
func whyLead(doc *Explanation) string { return testNote(doc) + whySold(doc) }

func whySold(doc *Explanation) string {
	switch doc.Status {
	case market.StatusUnmatched.String():
		return whyUnsold(doc) + whyAnswered(doc)
	case market.StatusOpen.String():
		return fmt.Sprintf("It is being posted to %s, for %s.%s", doc.Buyer, doc.Price, earlierRefusals(doc.Posts))
	}
	return whyDelivered(doc) + earlierRefusals(doc.Posts) + whyAnswered(doc) + whyAfterSale(doc)
}

func whyUnsold(doc *Explanation) string {
	switch {
	case doc.Delivery == market.DeliveryReleased.String():
		return "An operator took it back: the buyer has not got it."
	case doc.Delivery == market.DeliveryFailed.String() && doc.soldAtPing():
		post := &doc.Posts[len(doc.Posts)-1]
		return fmt.Sprintf("%s, whose bid it was to be sold at, did not take it (%s), and it goes to nobody else.", post.Buyer, post.refusal())
	case doc.Delivery == market.DeliveryFailed.String():
		post := &doc.Posts[len(doc.Posts)-1]
		return fmt.Sprintf("%s The last, %s, did not take it: %s.", whyReason(doc), post.Buyer, post.refusal())
	}
	return whyReason(doc)
}

// promised tells that the lead was for the buyer of an earlier ping's bid and for
// nobody else.
func (x *Explanation) soldAtPing() bool { return x.LeadID != "" && x.AuctionID != "" && x.BidsDue == 0 }

func whyDelivered(doc *Explanation) string {
	switch doc.Delivery {
	case market.DeliveryNone.String():
		return fmt.Sprintf("Sold to %s for %s. The sale is recorded; the buyer has no endpoint.", doc.Buyer, doc.Price)
	case market.DeliveryPending.String():
		return fmt.Sprintf("It is %s's, for %s, but not acknowledged yet; the post is tried on.", doc.Buyer, doc.Price)
	case market.DeliveryUnknown.String():
		return fmt.Sprintf("It is %s's, for %s, but no try could tell whether the buyer has it; an operator may resend, confirm or release it.", doc.Buyer, doc.Price)
	case market.DeliveryConfirmed.String():
		return fmt.Sprintf("Sold to %s for %s; an operator found that it has the lead.", doc.Buyer, doc.Price)
	}
	return fmt.Sprintf("Sold to %s for %s, which has acknowledged it.", doc.Buyer, doc.Price)
}

// passedOn are the buyers that did not take it before the one that it came to.
func earlierRefusals(posts []Post) (text string) {
	for i := range posts {
		if last := len(posts[i].Settlements) - 1; last >= 0 && posts[i].Settlements[last].Next != "" {
			text += fmt.Sprintf(" Before that %s did not take it: %s.", posts[i].Buyer, posts[i].refusal())
		}
	}
	return text
}

// refusal is why the post's buyer has not got the lead: its own word, or why it was
// not reached.
func (p *Post) refusal() string {
	if len(p.Settlements) == 0 {
		return "it was not reached"
	}
	switch last := &p.Settlements[len(p.Settlements)-1]; {
	case last.Status != 0 && last.Code != "":
		return fmt.Sprintf("HTTP %d %s", last.Status, last.Code)
	case last.Status != 0:
		return fmt.Sprintf("HTTP %d", last.Status)
	case last.Fault != "":
		return last.Fault.Description()
	}
	return "it was not reached"
}

func whyAnswered(doc *Explanation) string {
	switch {
	case doc.Answer == nil:
		return ""
	case doc.Answer.Status >= http.StatusInternalServerError:
		return fmt.Sprintf(" When the answer was due the buyer had not acknowledged it: the seller was answered %d %s, and the delivery went on. "+
			"The same request, sent again under the same key, hears what has become of it.", doc.Answer.Status, doc.Answer.Result)
	case doc.Answer.Result == market.StatusAccepted.String() && doc.Status == market.StatusUnmatched.String():
		return " The supplier had been told ACCEPTED."
	}
	return ""
}

// whyAuction answers what a ping was answered, and what came of that.
func whyAuction(doc *Explanation) string { return testNote(doc) + whyBid(doc) }

func whyBid(doc *Explanation) string {
	switch {
	case doc.Status == statusNoBid:
		return whyReason(doc)
	case doc.Kind == kindAvailability:
		return whyOffers(doc)
	}
	best := &doc.Offers[0]
	why := fmt.Sprintf("%s bid the most, %s, of %s; the seller was offered %s.", best.Buyer, best.Price, countValidBids(doc), best.Payout)
	if len(best.Claims) == 0 {
		why += " No lead took it up."
	}
	for i := range best.Claims {
		why += fmt.Sprintf(" %s took it up: %s.", best.Claims[i].Lead, best.Claims[i].Summary())
	}
	for i := range doc.Rejected {
		why += fmt.Sprintf(" %s came for it and was turned away: %s.", doc.Rejected[i].Lead, doc.Rejected[i].Reason)
	}
	return why
}

// whyOffers is whyAuction for who asked who would buy, and may choose.
func whyOffers(doc *Explanation) string {
	why := fmt.Sprintf("The supplier could choose among %s.", countValidBids(doc))
	taken := false
	for i := range doc.Offers {
		for j := range doc.Offers[i].Claims {
			taken = true
			why += fmt.Sprintf(" %s took up that of %s: %s.", doc.Offers[i].Claims[j].Lead, doc.Offers[i].Buyer, doc.Offers[i].Claims[j].Summary())
		}
	}
	if !taken {
		why += " No lead took one up."
	}
	return why
}

// standing counts the bids that stand.
func countValidBids(doc *Explanation) string {
	n := 0
	for i := range doc.Candidates {
		switch c := &doc.Candidates[i]; c.Outcome {
		case market.OutcomeWon.String(), market.OutcomeLost.String():
			n++
		}
	}
	if n == 1 {
		return "1 bid that stands"
	}
	return fmt.Sprint(n, " bids that stand")
}

// Stands is how a lead stands that took an offer up, in words.
func (c *Claim) Summary() string {
	words := []string{c.Status}
	for _, word := range []string{c.Delivery, c.Reason} {
		if word != "" && word != market.DeliveryNone.String() {
			words = append(words, word)
		}
	}
	return strings.Join(words, ", ")
}
