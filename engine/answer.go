package engine

import (
	"errors"
	"fmt"

	"pingpost/api/errcode"
	"pingpost/engine/event"
	"pingpost/engine/market"
	"pingpost/engine/state"
)

// IngestAnswer is the exchange's answer to a supplier that sent a lead by an ingest: the lead is
// accepted for a buyer, or unsold for a reason. The delivery of an accepted lead may continue.
type IngestAnswer struct {
	Lead     market.LeadID
	Request  market.RequestID // of the first call with this key
	Accepted bool
	Reason   market.UnsoldReason // if it is not accepted
	Buyer    string
	Campaign string
	Payout   market.Money
	Currency market.Currency
	Test     bool // of a test lead
	Replayed bool

	// Unsettled says that the buyer has not confirmed an accepted lead yet: it is no sale before
	// Observer.SaleSettled.
	Unsettled bool
}

// rebuildIngestAnswer returns the answer that the lead's supplier received, for a repeat of the
// request. It reads only the state, so a repeat after a restart gets an equal answer. The
// function panics if the lead has no answer yet.
func (e *Engine) rebuildIngestAnswer(lead *state.Lead) IngestAnswer {
	answer := IngestAnswer{
		Lead: lead.ID, Request: lead.Request, Replayed: true,
		Campaign: e.state.NameOf(event.ObjectCampaign, lead.Campaign), Test: lead.IsTest(),
	}
	switch lead.Answer {
	case state.AnswerAccepted:
		answer.Accepted = true
		answer.Buyer = e.state.NameOf(event.ObjectBuyer, lead.Buyer)
		answer.Payout, answer.Currency = lead.Payout, lead.Currency
	case state.AnswerUnmatched:
		answer.Reason = lead.Reason
	default:
		panic("BUG: a repeat read a lead without an answer")
	}
	return answer
}

// Refusal is the error for a request that the engine rejects.
//
// Most refusals log no event and leave the idempotency key unused. A refusal whose Request is set
// is based on a committed event. A repeat with the same idempotency key then gets the same
// refusal. BuyerUnavailable and BuyerTimeout are temporary: the lead is recorded, and a repeat gets
// the present result of its delivery.
type Refusal struct {
	Code     RefusalCode
	Fields   []market.FieldError // of an invalid payload
	Reason   market.UnsoldReason // of post_rejected
	Request  market.RequestID    // of the first call with this key; zero: no event, or the delivery is open
	Replayed bool

	Objection market.StatusReportRejection // of invalid_transition

	// DeliveryStopped, of buyer_unavailable and buyer_timeout: the exchange makes no further
	// attempt, and an operator decides about the delivery.
	DeliveryStopped bool

	// Of rate_limited: the seller's limit on open auctions, and the time in Unix
	// nanoseconds at which all auctions that are open now have ended.
	Limit int
	Reset int64
}

// RefusalCode is the code of a Refusal. Its text is the error code of the public API.
type RefusalCode string

const (
	InvalidPayload RefusalCode = errcode.InvalidPayload
	KeyReused      RefusalCode = errcode.IdempotencyKeyReused
	Forbidden      RefusalCode = errcode.Forbidden

	AuctionExists    RefusalCode = errcode.AuctionExists    // the seller has used this auction id
	RateLimited      RefusalCode = errcode.RateLimited      // too many auctions at once
	InvalidBidToken  RefusalCode = errcode.InvalidBidToken  // not a token of this auction
	AlreadySold      RefusalCode = errcode.AlreadySold      // the auction has sold its lead
	BidExpired       RefusalCode = errcode.BidExpired       // the bid is no longer available
	PostRejected     RefusalCode = errcode.PostRejected     // campaign or buyer refuses the lead
	BuyerUnavailable RefusalCode = errcode.BuyerUnavailable // not delivered yet; attempts continue, or an operator decides
	BuyerTimeout     RefusalCode = errcode.BuyerTimeout     // no answer yet; attempts continue, or an operator decides

	NotFound          RefusalCode = errcode.NotFound          // no lead with this id belongs to the caller
	InvalidTransition RefusalCode = errcode.InvalidTransition // the lead's status does not allow the change
)

func (r *Refusal) Error() string { return string(r.Code) }

// errStopped is the ErrUnavailable of an engine that stops. It is ErrNotLeader too, because an engine of
// a cluster stops when its node loses the leadership. Another node may accept the request.
var errStopped error = stoppedError{}

type stoppedError struct{}

func (stoppedError) Error() string { return ErrUnavailable.Error() }

func (stoppedError) Is(target error) bool { return target == ErrUnavailable || target == ErrNotLeader }

// ErrNextLeaderAnswers is the ErrNotLeader of a request that has committed an event under its idempotency
// key. The next leader answers the same request with the result of that event.
var ErrNextLeaderAnswers = fmt.Errorf("%w, which has its result", ErrNotLeader)

// errorAfterEvent translates an error of a request that has committed an event. Without an idempotency key no
// other node may decide about the request again, so the error is not ErrNotLeader.
func errorAfterEvent(err error, key []byte) error {
	switch {
	case !IsEndOfLeadership(err):
		return err
	case len(key) == 0:
		return ErrUnavailable
	}
	return ErrNextLeaderAnswers
}

// ErrUnavailable is returned if the exchange cannot serve a request now. It is starting or
// stopping, it is at a limit, a log read failed, or another request's result did not come in time.
// The caller can safely send the request again.
var ErrUnavailable = errors.New("the exchange cannot serve this request now, because it starts, stops, is at a limit or failed to read its log; send it again")
