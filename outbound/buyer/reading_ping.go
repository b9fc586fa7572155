package buyer

import (
	"strings"

	"github.com/valyala/fasthttp"

	"pingpost/engine/market"
)

// readBid reads a 2xx to a ping by the dialect's rules.
//
// Where the rules say what yes is, a yes needs a price. Where they do not, a
// price is a yes; but none, and one of zero, which such endpoints write into
// every answer, is a no. An answer that gives a reason and no word of yes or no
// is a no as well: nothing is bought by that.
func (r *reading) readBid(result *market.PingResult, body []byte, auction []byte) {
	f, err := r.read(body)
	if err != nil {
		result.Outcome, result.Fault = market.OutcomeInvalid, market.FaultUnreadable
		return
	}
	decided := r.places[findAccepted] != ""
	verdict := r.accepted(&f)
	switch {
	case verdict == saidNo,
		decided && verdict == saidNothing && f[findAccepted] == "" && f[findReason] != "",
		!decided && isNoPrice(f[findPrice]):
		result.Outcome, result.Reason = market.OutcomeNoBid, f.reason()
		return
	case decided && verdict == saidNothing:
		malformed(result, r.places[findAccepted])
		return
	}
	amount, err := market.ParseBidAmount(plainAmount(f[findPrice]))
	if err != nil {
		malformed(result, r.places[findPrice])
		return
	}
	r.readTerms(result, &f, amount, auction)
}

// isNoPrice reports whether the text is empty or a zero.
func isNoPrice(text string) bool {
	amount, err := market.ParseMoney(plainAmount(text))
	return text == "" || err == nil && amount == 0
}

// hear reads a whole answer to a ping: one that has no body by its status, where
// every endpoint means that it has no bid, one that its status makes an error,
// and all others by their rules.
func (r *reading) hear(result *market.PingResult, body, auction []byte) {
	switch status := result.Status; {
	case status == fasthttp.StatusNoContent:
		result.Outcome = market.OutcomeNoBid
	case status < 200 || status > 299:
		result.Outcome = market.OutcomeError
		if result.Fault == market.FaultNone {
			result.Reason = r.codeOf(body)
		}
	default:
		r.readBid(result, body, auction)
	}
}

// readTerms reads what is beside the price. The bid is in the result only where
// all of it is right.
func (r *reading) readTerms(result *market.PingResult, f *found, amount market.Money, auction []byte) {
	bid := market.Bid{Amount: amount, Token: string(auction)}
	if code := f[findCurrency]; code != "" {
		currency, ok := market.ParseCurrency(strings.ToUpper(code))
		if !ok {
			malformed(result, r.places[findCurrency])
			return
		}
		bid.Currency = currency
	}
	if r.places[findToken] != "" {
		bid.Token = f[findToken]
		if bid.Token == "" || len(bid.Token) > market.MaxBidToken || !isVisible([]byte(bid.Token)) {
			malformed(result, r.places[findToken])
			return
		}
	}
	result.Bid = bid
}

// plainAmount turns the ways in which amounts are written outside of JSON into
// JSON's: 012.50, .5, 12. are 12.50, 0.5, 12. Anything else it leaves to be
// refused.
func plainAmount(text string) []byte {
	whole, fraction, dotted := strings.Cut(text, ".")
	if trimmed := strings.TrimLeft(whole, "0"); trimmed != "" && trimmed[0] >= '1' && trimmed[0] <= '9' {
		whole = trimmed
	} else if trimmed == "" && text != "" && text != "." {
		whole = "0"
	}
	if !dotted || fraction == "" {
		return []byte(whole)
	}
	return []byte(whole + "." + fraction)
}
