package report

import (
	"time"

	"pingpost/engine/event"
	"pingpost/engine/market"
)

// canary is contact data, which must never be in the file.
const canary = "Quetzalcott"

var usd = market.Currency{'U', 'S', 'D'}

func leadID(n int) (id market.LeadID) {
	return market.ComposeID(start.UnixMilli(), [10]byte{byte(n >> 8), byte(n)})
}

func auctionID(n int) (id market.AuctionID) {
	return market.ComposeID(start.UnixMilli(), [10]byte{9, byte(n >> 8), byte(n)})
}

func text(name, value string) event.LeadField {
	return event.LeadField{Name: name, Kind: market.KindString, Text: []byte(value)}
}

func sale(buyer market.PermanentNumber, price market.Money) event.Sale {
	return event.Sale{Buyer: buyer, Price: price, Payout: price * 4 / 5, Currency: usd}
}

// logTrade logs each kind of event at least once: sales, an auction, a test lead and a return.
func logTrade(l *testLog) {
	l.log(0, &event.ExchangeFounded{})
	// A lead sold to buyer a, which has no endpoint.
	l.log(time.Minute, &event.LeadDecided{
		Lead: leadID(1), Campaign: 1, Supplier: 1, Sale: sale(1, 12_050_001), Webhook: market.WebhookPosted,
		Fields: []event.LeadField{text("state", "CA"), text("source", "facebook")}, Sealed: []byte(canary),
	})
	l.log(time.Minute, &event.WebhookAttemptedOrDecided{Lead: leadID(1), Type: market.WebhookPosted, Supplier: 1, Attempt: 1, Outcome: event.WebhookDelivered, At: 5, Status: 200})
	// An unsold lead.
	l.log(2*time.Minute, &event.LeadDecided{
		Lead: leadID(2), Campaign: 1, Supplier: 1, Reason: market.ReasonCapsFull,
		Fields: []event.LeadField{text("state", "NV"), text("source", "mail "+canary+"@example.com")},
	})
	// An auction whose winner refuses the lead in the second attempt; the next buyer accepts it.
	intent := sale(2, 9_000_000)
	l.log(20*time.Minute, &event.LeadDecided{
		Lead: leadID(3), Campaign: 2, Supplier: 2, Sale: intent, Post: event.PostIntent{URL: "https://b.example", Auction: auctionID(1)},
		Fields: []event.LeadField{text("state", "CA"), text("source", "facebook")},
		Auction: event.AuctionOfIngestedLead{ID: auctionID(1), Bids: []event.Bid{
			{FilterSet: 0, Buyer: 2, Outcome: market.OutcomePostPending, Elapsed: 20e6, Amount: 9_000_000, Currency: usd, Status: 200, Reason: canary},
			{FilterSet: 1, Buyer: 3, Outcome: market.OutcomeLost, Elapsed: 40e6, Amount: 8_000_000, Currency: usd, Status: 200, Token: canary},
			{FilterSet: 2, Buyer: 4, Outcome: market.OutcomeTimeout, Elapsed: 2e9, Fault: market.FaultTimeout},
			{FilterSet: 3, Buyer: 1, Outcome: market.OutcomeBelowFloor, Elapsed: 10e6, Amount: 1_000_000, Currency: usd, Status: 200},
		}},
	})
	l.log(20*time.Minute, &event.PostAttemptFailed{Lead: leadID(3), Attempt: 1, Fault: market.FaultTimeout})
	l.log(31*time.Minute, &event.PostSettled{
		Lead: leadID(3), Campaign: 2, Supplier: 2, Settlement: event.SettledRefused, Sale: intent, Code: canary, Status: 422, Attempts: 2,
		Elapsed: 30e6, Next: sale(3, 8_000_000), Post: event.PostIntent{URL: "https://c.example"}, Sealed: []byte(canary),
	})
	l.log(46*time.Minute, &event.PostSettled{
		Lead: leadID(3), Campaign: 2, Supplier: 2, Settlement: event.SettledDelivered, Sale: sale(3, 8_000_000), BuyerLead: canary,
		Status: 201, Attempts: 1, Elapsed: 50e6,
	})
	// A ping and the lead sold for its bid. Only the ping has the state and the source.
	l.log(50*time.Minute, &event.PingAuctionCompleted{
		Auction: auctionID(2), Campaign: 2, Supplier: 2, Fields: []event.LeadField{text("state", "TX"), text("source", "search")},
		Bids: []event.Bid{{Buyer: 2, Outcome: market.OutcomeWon, Elapsed: 20e6, Amount: 5_000_000, Currency: usd, Status: 200}}, SellerAuction: canary,
	})
	l.log(50*time.Minute, &event.PingAuctionCompleted{Auction: auctionID(3), Campaign: 2, Supplier: 2, Reason: market.ReasonCapsFull})
	l.log(51*time.Minute, &event.LeadDecided{
		Lead: leadID(4), Campaign: 2, Supplier: 2, Sale: sale(2, 5_000_000), Post: event.PostIntent{URL: "https://b.example", Auction: auctionID(2)}, SellerAuction: canary,
	})
	l.log(51*time.Minute, &event.PostSettled{Lead: leadID(4), Campaign: 2, Supplier: 2, Settlement: event.SettledDelivered, Sale: sale(2, 5_000_000), Status: 201, Attempts: 1, Elapsed: 70e6})
	// A delivered test lead.
	testSale := sale(1, 99_000_000)
	testSale.Test = true
	l.log(52*time.Minute, &event.LeadDecided{Lead: leadID(5), Campaign: 1, Supplier: 1, Sale: testSale, Post: event.PostIntent{URL: "https://a.example"}})
	l.log(52*time.Minute, &event.PostSettled{Lead: leadID(5), Campaign: 1, Supplier: 1, Settlement: event.SettledDelivered, Sale: testSale, Status: 201, Attempts: 1})
	// The first lead is returned, the third is reported as sold, the second is erased.
	l.log(100*time.Minute, &event.LeadStatusChangesDecided{Buyer: 1, Changes: []event.DecidedLeadStatusChange{{
		Lead: leadID(1), Supplier: 1, Result: event.ChangeDone, From: market.StatusAccepted, To: market.StatusReturned, Reason: canary, Webhook: market.WebhookReturned,
		Return: event.MoneyAndCapsReversedByReturn{Campaign: 1, Credit: 12_050_001, Reverse: 9_640_000, Currency: usd, Month: 1},
	}}})
	l.log(101*time.Minute, &event.LeadStatusChangesDecided{Buyer: 3, Note: canary, Changes: []event.DecidedLeadStatusChange{
		{Lead: leadID(3), Supplier: 2, Result: event.ChangeDone, From: market.StatusAccepted, To: market.StatusSold},
		{Lead: leadID(9), Result: event.ChangeUnknown},
	}})
	l.log(102*time.Minute, &event.PersonalDataOfLeadsErased{Leads: []market.LeadID{leadID(2)}, Slots: []uint64{1}})
	l.log(103*time.Minute, &event.BuyerFundsAdjusted{Buyer: 1, Amount: 5, Note: canary})
}
