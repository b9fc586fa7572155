package refbuyer

import (
	"encoding/json"
	"time"

	"pingpost/engine/market"
)

// offer is the answer to a ping: a bid, or the reason for no bid.
type offer struct {
	auction  []byte
	terms    // of a bid
	noBid    string
	detail   string
	passed   filters
	currency string
}

// filters are the filters that a ping passed.
type filters struct{ state, tcpa bool }

// makeOffer decides on a ping. The offer only depends on the seed, the key and the ping.
func (b *Buyer) makeOffer(q *request, key []byte) offer {
	o := offer{auction: q.auction, currency: b.options.Currency}
	o.passed = filters{state: b.options.States.Has(q.state), tcpa: q.consent}
	o.amount = b.priceOf(q.state, key)
	switch {
	case !o.passed.state:
		o.noBid, o.detail = "no_state_match", "this buyer does not buy in this state"
	case o.amount == 0:
		o.noBid, o.detail = "no_bid", "the configured bid for this state is 0"
	case b.chance.happens(b.options.NoBidRate, drawNoBid, key, 0):
		o.noBid, o.detail = "no_bid", "random no-bid by the configured no-bid rate"
	}
	return o
}

// priceOf returns the price of a lead.
func (b *Buyer) priceOf(state market.USState, key []byte) market.Money {
	return b.options.Bid.At(state, b.chance.draw(drawAmount, key, 0))
}

// append appends the answer.
func (o *offer) append(dst []byte, c chance) []byte {
	dst = append(dst, `{"auction_id":`...)
	dst = appendText(dst, o.auction)
	if o.noBid != "" {
		dst = append(dst, `,"bid":null`...)
	} else {
		dst = append(dst, `,"bid":`...)
		dst = o.appendBid(dst, c)
	}
	dst = append(dst, `,"buyer_filters_passed":["vertical"`...)
	if o.passed.state {
		dst = append(dst, `,"state"`...)
	}
	if o.passed.tcpa {
		dst = append(dst, `,"tcpa"`...)
	}
	dst = append(dst, ']')
	if o.noBid != "" {
		dst = append(dst, `,"reject_reason":"`...)
		dst = append(dst, o.noBid...)
		dst = append(dst, `","reject_detail":"`...)
		dst = append(dst, o.detail...)
		dst = append(dst, '"')
	}
	return append(dst, '}')
}

func (o *offer) appendBid(dst []byte, c chance) []byte {
	dst = append(dst, `{"amount":`...)
	dst = o.amount.AppendJSON(dst)
	dst = append(dst, `,"currency":"`...)
	dst = append(dst, o.currency...)
	dst = append(dst, `","bid_token":"`...)
	dst = c.appendToken(dst, o.auction, o.terms)
	dst = append(dst, `","valid_until":"`...)
	dst = appendTime(dst, o.validUntil())
	return append(dst, `"}`...)
}

// appendTime appends the time in milliseconds, the precision of a token.
func appendTime(dst []byte, at time.Time) []byte {
	return at.AppendFormat(dst, "2006-01-02T15:04:05.000Z")
}

// appendText appends a JSON string.
func appendText(dst, text []byte) []byte {
	for _, c := range text {
		if c < ' ' || c > '~' || c == '"' || c == '\\' {
			quoted, err := json.Marshal(string(text))
			if err != nil {
				panic("BUG: a text that is no JSON: " + err.Error())
			}
			return append(dst, quoted...)
		}
	}
	dst = append(dst, '"')
	dst = append(dst, text...)
	return append(dst, '"')
}
