package engine

import (
	"errors"

	"pingpost/engine/market"
)

// Refusal is an answer other than what was asked for.
//
// Most are no decision: the request cannot be taken as it is, uses up no
// idempotency key and is in no log. One that has a Request rests on a logged
// fact, and comes back under its key as it was.
type Refusal struct {
	Code     RefusalCode
	Fields   []market.FieldError // of an invalid payload
	Reason   market.Reason       // of post_rejected: what ended the matter
	Request  market.RequestID    // of the call that was answered first; zero: there is no fact
	Replayed bool

	Objection market.Objection // of invalid_transition: what is in the way
}

// RefusalCode is the error's code on the wire.
type RefusalCode string

const (
	InvalidPayload RefusalCode = "invalid_payload"
	KeyReused      RefusalCode = "idempotency_key_reused"
	Forbidden      RefusalCode = "forbidden"

	AuctionExists    RefusalCode = "auction_exists"    // the seller has used this auction id
	RateLimited      RefusalCode = "rate_limited"      // too many auctions at once
	InvalidBidToken  RefusalCode = "invalid_bid_token" // not one of this auction and this seller
	AlreadySold      RefusalCode = "already_sold"      // the auction's bid has been taken up
	BidExpired       RefusalCode = "bid_expired"       // nobody stands by the bid any more
	PostRejected     RefusalCode = "post_rejected"     // the lead is one that the buyer does not get, or does not take
	BuyerUnavailable RefusalCode = "buyer_unavailable" // not delivered yet; the tries go on
	BuyerTimeout     RefusalCode = "buyer_timeout"     // not answered yet; the tries go on

	NotFound          RefusalCode = "not_found"          // there is no such lead, or none of the caller's
	InvalidTransition RefusalCode = "invalid_transition" // from where the lead stands one does not come there
)

func (r *Refusal) Error() string { return string(r.Code) }

// ErrUnavailable is returned while the exchange takes no requests: it starts,
// stops, is out of room, or its log has failed. Sending the request again later
// is safe.
var ErrUnavailable = errors.New("the exchange takes no requests right now")
