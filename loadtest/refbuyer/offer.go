package refbuyer

import (
	"encoding/json"
	"time"

	"pingpost/engine/market"
)

// offer is an answer to a ping: a bid, or the reason why there is none.
type offer struct {
	auction  []byte
	terms    // of a bid
	noBid    string
	detail   string
	passed   filters
	currency string
}

// filters are what a ping has passed.
type filters struct{ state, tcpa bool }

// weigh makes an offer of a ping. Nothing but the seed, the key and the ping
// decides it.
func (b *Buyer) weigh(q *request, key []byte) offer {
	o := offer{auction: q.auction, currency: b.options.Currency}
	o.passed = filters{state: b.options.States.Has(q.state), tcpa: q.consent}
	o.amount = b.priceOf(q.state, key)
	switch {
	case !o.passed.state:
		o.noBid, o.detail = "no_state_match", "this buyer does not buy in this state"
	case o.amount == 0:
		o.noBid, o.detail = "no_bid", "this buyer was told to bid nothing here"
	case b.chance.happens(b.options.NoBidRate, drawNoBid, key, 0):
		o.noBid, o.detail = "no_bid", "this buyer was told to pass at times"
	}
	return o
}

// priceOf is what a lead is worth to the buyer.
func (b *Buyer) priceOf(state market.State, key []byte) market.Money {
	return b.options.Bid.At(state, b.chance.draw(drawAmount, key, 0))
}

// append writes the answer.
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

// appendTime writes the time to the millisecond, as a token has it.
func appendTime(dst []byte, at time.Time) []byte {
	return at.AppendFormat(dst, "2006-01-02T15:04:05.000Z")
}

// appendText writes a JSON string.
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
