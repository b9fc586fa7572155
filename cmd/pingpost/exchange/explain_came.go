package exchange

import (
	"fmt"
	"net/http"
	"strings"

	"pingpost/engine/market"
)

// whyLead answers why the lead was sold, or was not, and what its caller was told
// where the lead stands otherwise now, or stood otherwise then.
func whyLead(told *Explanation) string { return tested(told) + whySold(told) }

func whySold(told *Explanation) string {
	switch told.Status {
	case market.StatusUnmatched.String():
		return whyUnsold(told) + whatWasTold(told)
	case market.StatusOpen.String():
		return fmt.Sprintf("It is being posted to %s, for %s.%s", told.Buyer, told.Price, passedOn(told.Posts))
	}
	return howDelivered(told) + passedOn(told.Posts) + whatWasTold(told) + sinceThen(told)
}

func whyUnsold(told *Explanation) string {
	switch {
	case told.Delivery == market.DeliveryReleased.String():
		return "An operator took it back: the buyer has not got it."
	case told.Delivery == market.DeliveryFailed.String() && told.promised():
		post := &told.Posts[len(told.Posts)-1]
		return fmt.Sprintf("%s, whose bid it was to be sold at, did not take it (%s), and it goes to nobody else.", post.Buyer, post.refusal())
	case told.Delivery == market.DeliveryFailed.String():
		post := &told.Posts[len(told.Posts)-1]
		return fmt.Sprintf("%s The last, %s, did not take it: %s.", because(told), post.Buyer, post.refusal())
	}
	return because(told)
}

// promised tells that the lead was for the buyer of an earlier ping's bid and for
// nobody else.
func (x *Explanation) promised() bool { return x.LeadID != "" && x.AuctionID != "" && x.BidsDue == 0 }

func howDelivered(told *Explanation) string {
	switch told.Delivery {
	case market.DeliveryNone.String():
		return fmt.Sprintf("Sold to %s for %s. The sale is recorded; the buyer has no endpoint.", told.Buyer, told.Price)
	case market.DeliveryPending.String():
		return fmt.Sprintf("It is %s's, for %s, but not acknowledged yet; the post is tried on.", told.Buyer, told.Price)
	case market.DeliveryUnknown.String():
		return fmt.Sprintf("It is %s's, for %s, but no try could tell whether the buyer has it; an operator may resend, confirm or release it.", told.Buyer, told.Price)
	case market.DeliveryConfirmed.String():
		return fmt.Sprintf("Sold to %s for %s; an operator found that it has the lead.", told.Buyer, told.Price)
	}
	return fmt.Sprintf("Sold to %s for %s, which has acknowledged it.", told.Buyer, told.Price)
}

// passedOn are the buyers that did not take it before the one that it came to.
func passedOn(posts []Post) (text string) {
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
		return last.Fault.Words()
	}
	return "it was not reached"
}

func whatWasTold(told *Explanation) string {
	switch {
	case told.Answer == nil:
		return ""
	case told.Answer.Status >= http.StatusInternalServerError:
		return fmt.Sprintf(" When the answer was due the buyer had not acknowledged it: the seller was answered %d %s, and the delivery went on. "+
			"The same request, sent again under the same key, hears what has become of it.", told.Answer.Status, told.Answer.Says)
	case told.Answer.Says == market.StatusAccepted.String() && told.Status == market.StatusUnmatched.String():
		return " The supplier had been told ACCEPTED."
	}
	return ""
}

// whyAuction answers what a ping was answered, and what came of that.
func whyAuction(told *Explanation) string { return tested(told) + whyBid(told) }

func whyBid(told *Explanation) string {
	switch {
	case told.Status == statusNoBid:
		return because(told)
	case told.Kind == kindAvailability:
		return whyOffers(told)
	}
	best := &told.Offers[0]
	why := fmt.Sprintf("%s bid the most, %s, of %s; the seller was offered %s.", best.Buyer, best.Price, standing(told), best.Payout)
	if len(best.Taken) == 0 {
		why += " No lead took it up."
	}
	for i := range best.Taken {
		why += fmt.Sprintf(" %s took it up: %s.", best.Taken[i].Lead, best.Taken[i].Stands())
	}
	for i := range told.Turned {
		why += fmt.Sprintf(" %s came for it and was turned away: %s.", told.Turned[i].Lead, told.Turned[i].Reason)
	}
	return why
}

// whyOffers is whyAuction for who asked who would buy, and may choose.
func whyOffers(told *Explanation) string {
	why := fmt.Sprintf("The supplier could choose among %s.", standing(told))
	taken := false
	for i := range told.Offers {
		for j := range told.Offers[i].Taken {
			taken = true
			why += fmt.Sprintf(" %s took up that of %s: %s.", told.Offers[i].Taken[j].Lead, told.Offers[i].Buyer, told.Offers[i].Taken[j].Stands())
		}
	}
	if !taken {
		why += " No lead took one up."
	}
	return why
}

// standing counts the bids that stand.
func standing(told *Explanation) string {
	n := 0
	for i := range told.Candidates {
		switch c := &told.Candidates[i]; c.Outcome {
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
func (t *Taken) Stands() string {
	words := []string{t.Status}
	for _, word := range []string{t.Delivery, t.Reason} {
		if word != "" && word != market.DeliveryNone.String() {
			words = append(words, word)
		}
	}
	return strings.Join(words, ", ")
}
