package buyer

import (
	"pingpost/engine/market"
	"pingpost/engine/market/format"
)

// readPingAnswer reads a buyer's complete answer to the ping of an auction. It sets result to a bid,
// a no-bid, or an invalid answer. Members of the contract must have their types; it ignores
// other members.
//
// A no-bid need not repeat the auction's id, because it sells no lead. An answer with the id of
// another auction is invalid, because it belongs to another ping.
func (a *parsedJSONAnswer) readPingAnswer(result *market.BuyerPingResult, expectedAuctionID []byte) {
	echo, echoes := a.body.Lookup("auction_id")
	if echoes && (echo.Kind != market.JSONString || string(echo.Text) != string(expectedAuctionID)) {
		markPingAnswerInvalid(result, "auction_id")
		return
	}
	bid, ok := a.body.Lookup("bid")
	switch {
	case ok && bid.Kind == market.JSONNull:
		result.Outcome = market.OutcomeNoBid
		result.Reason = a.rejection().code
	case !ok || !a.body.ParseMember(bid, &a.nested):
		markPingAnswerInvalid(result, "bid")
	case !echoes:
		markPingAnswerInvalid(result, "auction_id")
	default:
		a.readBidOrMarkInvalid(result)
	}
}

// readBidOrMarkInvalid reads amount, currency, expiry and token of a bid into result. If one of them is
// invalid, result gets no bid and names the invalid member.
func (a *parsedJSONAnswer) readBidOrMarkInvalid(result *market.BuyerPingResult) {
	var bid market.Bid
	m, _ := a.nested.Lookup("amount")
	amount, err := market.ParseBidAmount(m.Text)
	if m.Kind != market.JSONNumber || err != nil {
		markPingAnswerInvalid(result, "bid.amount")
		return
	}
	bid.Amount = amount
	if m, ok := a.nested.Lookup("currency"); ok && m.Kind != market.JSONNull {
		bid.Currency, ok = market.ParseCurrency(string(m.Text))
		if !ok || m.Kind != market.JSONString {
			markPingAnswerInvalid(result, "bid.currency")
			return
		}
	}
	if m, ok := a.nested.Lookup("valid_until"); ok && m.Kind != market.JSONNull {
		bid.ValidUntil, ok = format.ParseTimestampClamped(m.Text)
		if !ok || m.Kind != market.JSONString {
			markPingAnswerInvalid(result, "bid.valid_until")
			return
		}
	}
	m, _ = a.nested.Lookup("bid_token")
	if m.Kind != market.JSONString || len(m.Text) == 0 || len(m.Text) > market.MaxBidToken || !isVisibleASCII(m.Text) {
		markPingAnswerInvalid(result, "bid.bid_token")
		return
	}
	bid.Token = string(m.Text)
	result.Bid = bid
}

// markPingAnswerInvalid marks a ping's result as an invalid answer. invalidMemberPath is the name of
// the invalid member, such as "bid.amount".
func markPingAnswerInvalid(result *market.BuyerPingResult, invalidMemberPath string) {
	result.Outcome, result.Fault, result.Reason = market.OutcomeInvalid, market.FaultMalformed, invalidMemberPath
}

// isVisibleASCII reports whether a text has only visible ASCII characters, without spaces.
func isVisibleASCII(text []byte) bool {
	for _, c := range text {
		if c <= ' ' || c > '~' {
			return false
		}
	}
	return true
}
