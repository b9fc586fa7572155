package buyer

import (
	"pingpost/engine/market"
	"pingpost/engine/market/format"
)

// readBid reads a whole answer to a ping: a bid, a no-bid, or neither. Every
// member of the contract is held to its type, and the rest is passed over.
//
// A no-bid need not echo the auction, since nothing is bought by it; but one
// that names another auction is an answer to something else.
func (a *answer) readBid(r *market.PingResult, auction []byte) {
	echo, echoes := a.whole.Lookup("auction_id")
	if echoes && (echo.Kind != market.JSONString || string(echo.Text) != string(auction)) {
		malformed(r, "auction_id")
		return
	}
	bid, ok := a.whole.Lookup("bid")
	switch {
	case ok && bid.Kind == market.JSONNull:
		r.Outcome = market.OutcomeNoBid
		_, r.Reason = a.refusal()
	case !ok || !a.whole.Sub(bid, &a.data):
		malformed(r, "bid")
	case !echoes:
		malformed(r, "auction_id")
	default:
		a.readTerms(r)
	}
}

// readTerms reads the members of the bid. The bid is in the result only where
// all of them are right.
func (a *answer) readTerms(r *market.PingResult) {
	var bid market.Bid
	m, _ := a.data.Lookup("amount")
	amount, err := market.ParseBidAmount(m.Text)
	if m.Kind != market.JSONNumber || err != nil {
		malformed(r, "bid.amount")
		return
	}
	bid.Amount = amount
	if m, ok := a.data.Lookup("currency"); ok && m.Kind != market.JSONNull {
		bid.Currency, ok = market.ParseCurrency(string(m.Text))
		if !ok || m.Kind != market.JSONString {
			malformed(r, "bid.currency")
			return
		}
	}
	if m, ok := a.data.Lookup("valid_until"); ok && m.Kind != market.JSONNull {
		bid.ValidUntil, ok = format.ParseTimestamp(m.Text)
		if !ok || m.Kind != market.JSONString {
			malformed(r, "bid.valid_until")
			return
		}
	}
	m, _ = a.data.Lookup("bid_token")
	if m.Kind != market.JSONString || len(m.Text) == 0 || len(m.Text) > market.MaxBidToken || !isVisible(m.Text) {
		malformed(r, "bid.bid_token")
		return
	}
	bid.Token = string(m.Text)
	r.Bid = bid
}

// malformed ends the reading at the member at fault.
func malformed(r *market.PingResult, path string) {
	r.Outcome, r.Fault, r.Reason = market.OutcomeInvalid, market.FaultMalformed, path
}

// isVisible tells whether the text is ASCII that can be seen.
func isVisible(text []byte) bool {
	for _, c := range text {
		if c <= ' ' || c > '~' {
			return false
		}
	}
	return true
}
