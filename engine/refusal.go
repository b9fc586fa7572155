package engine

import (
	"errors"

	"pingpost/api/errcode"
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

	Objection market.ReportRejection // of invalid_transition: what is in the way

	// Of rate_limited: the seller's limit on open auctions, and the time in Unix
	// nanoseconds at which all auctions that are open now have ended.
	Limit int
	Reset int64
}

// RefusalCode is the error's code on the wire.
type RefusalCode string

const (
	InvalidPayload RefusalCode = errcode.InvalidPayload
	KeyReused      RefusalCode = errcode.IdempotencyKeyReused
	Forbidden      RefusalCode = errcode.Forbidden

	AuctionExists    RefusalCode = errcode.AuctionExists    // the seller has used this auction id
	RateLimited      RefusalCode = errcode.RateLimited      // too many auctions at once
	InvalidBidToken  RefusalCode = errcode.InvalidBidToken  // not one of this auction and this seller
	AlreadySold      RefusalCode = errcode.AlreadySold      // the auction's bid has been taken up
	BidExpired       RefusalCode = errcode.BidExpired       // nobody stands by the bid any more
	PostRejected     RefusalCode = errcode.PostRejected     // the lead is one that the buyer does not get, or does not take
	BuyerUnavailable RefusalCode = errcode.BuyerUnavailable // not delivered yet; the tries go on
	BuyerTimeout     RefusalCode = errcode.BuyerTimeout     // not answered yet; the tries go on

	NotFound          RefusalCode = errcode.NotFound          // there is no such lead, or none of the caller's
	InvalidTransition RefusalCode = errcode.InvalidTransition // from where the lead stands one does not come there
)

func (r *Refusal) Error() string { return string(r.Code) }

// ErrUnavailable is returned while the exchange takes no requests: it starts,
// stops, is out of room, or its log has failed. Sending the request again later
// is safe.
var ErrUnavailable = errors.New("the exchange takes no requests right now")
