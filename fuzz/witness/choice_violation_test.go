package witness

import (
	"fmt"
	"testing"

	"pingpost/engine/market"
)

// choiceEvidence is auctionEvidence with availability requests. The supplier chose the more
// expensive buyer for one lead and the cheaper one for another.
func choiceEvidence() *forgedEvidence {
	f := auctionEvidence()
	for _, name := range []string{"dear", "cheap", "idle"} {
		f.addEvent("auction_held", fmt.Sprintf(`"request":"req_ask_%s","campaign":1,"name":%[1]q,"bids":[%s,%s]`, name, bidOfBlue, bidOfRed))
		f.asked(name, bidsByBuyer{"blue": 8 * unit, "red": 4 * unit})
	}
	f.addEvent("auction_held", `"request":"req_ask_nobody","campaign":1,"name":"nobody","reason":"no_bid"`)
	f.asked("nobody", bidsByBuyer{})
	f.choice("dear", "four", "blue", 10*unit)
	f.choice("cheap", "five", "red", 5*unit)
	f.buyerStats["blue"], f.buyerStats["red"] = revenue(20*unit), revenue(10*unit)
	f.accounts["blue"], f.accounts["red"] = buyerAccount{}, buyerAccount{}
	return f
}

func (f *forgedEvidence) asked(name string, offers bidsByBuyer) {
	t := &answeredRequest{clientRequest: &clientRequest{path: pathAvailability, key: "ask-" + name, campaign: "cmp"}, offers: offers}
	t.RequestID = "req_ask_" + name
	f.availabilities = append(f.availabilities, t)
}

// choice adds a delivered lead for a chosen buyer.
func (f *forgedEvidence) choice(name, lead, buyer string, price market.Money) *answeredRequest {
	ref := map[string]int{"blue": 1, "red": 2}[buyer]
	sale := fmt.Sprintf(`{"buyer":%d,"price":%v,"payout":%v,"currency":"USD","ping":%q}`, ref, price, payout(price), name)
	f.decided(lead, `"sale":`+sale+`,"post":"http://b/v1/post"`)
	f.settled(lead, "delivered", sale, "")
	t := f.addAnswer(lead, "ACCEPTED", buyer, payout(price), "")
	t.chosenBuyer, t.chosenPayout = buyer, payout(price)
	f.holds(buyer, lead)
	return t
}

func TestAuditDetectsFalseChoices(t *testing.T) {
	expectDetected(t, choiceEvidence, []forgery{
		{"offers that are lost", "ask-gone was answered, but its auction is not in the log", func(f *forgedEvidence) { f.asked("gone", bidsByBuyer{"blue": 8 * unit}) }},
		{"offer without a bid", "answered with the buyers", func(f *forgedEvidence) { f.availabilities[0].offers["green"] = unit }},
		{"bid missing in the answer", "answered with the buyers", func(f *forgedEvidence) { delete(f.availabilities[2].offers, "red") }},
		{"another payout offered", "answered with the buyers", func(f *forgedEvidence) { f.availabilities[0].offers["blue"]++ }},
		{"another campaign's offers", "answered with the buyers", func(f *forgedEvidence) { f.availabilities[0].campaign = "other" }},
		{"another buyer than was chosen", "chose buyer red at 8", func(f *forgedEvidence) { f.answers[2].chosenBuyer = "red" }},
		{"another price than was offered", "chose buyer blue at 7", func(f *forgedEvidence) { f.answers[2].chosenPayout = 7 * unit }},
		{"availability request without a supplier", "no supplier requested it", func(f *forgedEvidence) {
			f.addEvent("auction_held", `"request":"req_ask_x","campaign":1,"name":"x","bids":[`+bidOfBlue+`]`)
		}},
		{"a choice at the other's price", "is sold at 5, but 10 was promised", func(f *forgedEvidence) { f.choice("idle", "six", "blue", 5*unit) }},
		{"an offer taken up twice", "sells two leads, four and six", func(f *forgedEvidence) { f.choice("dear", "six", "blue", 10*unit) }},
		{"bid of an unknown auction", "which does not exist", func(f *forgedEvidence) { f.choice("x", "six", "blue", 10*unit) }},
	})
}
