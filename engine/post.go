package engine

import (
	"errors"
	"fmt"

	"pingpost/engine/event"
	"pingpost/engine/market"
	"pingpost/engine/pastauction"
	"pingpost/engine/state"
	"pingpost/engine/timing"
)

// SupplierPostRequest is a lead that a seller sends to accept the bid in the answer to its ping. The
// engine reads the memory of its fields until SellAtBid returns.
//
// The caller splits the request's body. auction_id, bid_token and lead.lead_uuid have fields of
// their own (the zero JSONMember if missing). Lead has the other members of the object lead in one
// list: first its own without address and tcpa, then those of address, then those of tcpa. If two
// have the same name, the later one counts. Faults reports lead, lead.address or lead.tcpa if it
// is not an object.
type SupplierPostRequest struct {
	Supplier *market.Supplier  // the owner of the token
	Auction  market.JSONMember // auction_id
	Token    market.JSONMember // bid_token
	LeadUUID market.JSONMember // lead.lead_uuid
	Lead     []market.JSONMember
	Faults   []market.FieldError // by their dotted paths
	Body     []byte              // the body's bytes, for the idempotency key's fingerprint
	Key      []byte              // Idempotency-Key; empty: none
	BadKey   bool                // the Idempotency-Key header is malformed
	Test     bool                // the request asks for a test lead
	BadTest  bool                // the X-Pingpost-Test header is malformed
	Request  market.RequestID
	Received int64           // Unix nanoseconds
	Timings  *timing.Timings // accumulates the time that the call waits; nil: not measured
}

// SupplierPostAnswer is the answer to a supplier's post whose lead the buyer has: it was delivered, or
// recorded for a buyer without an endpoint.
type SupplierPostAnswer struct {
	SellerAuction string // the seller's own auction id
	BuyerLead     string // the buyer's own id of the lead; it may be empty
	Lead          market.LeadID
	Request       market.RequestID // of the first call with this key
	Buyer         string
	Payout        market.Money
	Currency      market.Currency
	Replayed      bool
}

// acceptedBid is the bid that a supplier accepts with a lead. It does so by a post with the bid's
// token, or by an ingest that names the buyer.
//
// Invariants:
//
//   - Price and payout of the sale are those of the bid, even if the configuration has changed
//     since.
//   - The lead goes to that buyer or stays unsold.
//   - An auction sells one lead. So a request claims the auction first, then the values that
//     identify duplicates, then caps, then funds, always in that order.
//   - The sale's event names the auction. An event that reverses the sale makes the auction
//     available again.
type acceptedBid struct {
	post         *SupplierPostRequest         // nil: an ingest
	auction      *pastauction.RecordedAuction // nil: no auction has the name
	bid          *event.Bid                   // nil: the request names no bid of the auction
	forgotten    bool                         // the log's history no longer has the auction, and its window is over
	soldLead     market.LeadID                // if forgotten: the lead that the auction sold, or zero
	sellerLeadID []byte                       // the seller's own id of the lead
	pingLead     market.Lead                  // the fields of the ping
}

// resetKeepingMemory clears the accepted bid for the next request, but keeps the memory for the
// ping's fields.
func (p *acceptedBid) resetKeepingMemory() {
	*p = acceptedBid{pingLead: p.pingLead}
}

// SellAtBid sells a lead to the buyer whose bid was in the answer to the seller's ping. The error is
// nil only if the buyer has the lead. Errors are a *Refusal, ErrUnavailable, ErrBusy, or the log's
// failure.
//
// After the refusals BuyerUnavailable and BuyerTimeout the delivery continues, or an operator decides
// about it (Refusal.DeliveryStopped). If the seller repeats the request with the same idempotency key,
// it gets the present result of the delivery.
func (e *Engine) SellAtBid(req *SupplierPostRequest) (SupplierPostAnswer, error) {
	if err := e.rejectIfStoppedOrAtLimit(); err != nil {
		return SupplierPostAnswer{}, err
	}
	p := e.plan.Load()
	if p == nil {
		return SupplierPostAnswer{}, ErrUnavailable
	}
	in, d := e.workspaces.Get().(*ingestOrPostWorkspace), e.decisions.Get().(*PendingLeadDecision)
	returned := false
	defer func() {
		if !returned {
			in.releaseReservationsAfterPanic()
		}
	}()
	in.resetForRequest(e, &IngestRequest{
		Supplier: req.Supplier, Members: req.Lead, Body: req.Body, Key: req.Key, BadKey: req.BadKey,
		Test: req.Test, BadTest: req.BadTest, Request: req.Request, Received: req.Received, Timings: req.Timings,
	}, p, d)
	in.accepted.post = req
	answer, err := in.runSupplierPost()
	in.releaseClaimsAndWipe()
	returned = true
	e.workspaces.Put(in)
	e.decisions.Put(d)
	return answer, err
}

// runSupplierPost executes the steps of a post in their order: idempotency, auction, validation,
// encryption key, reservation, sale.
func (in *ingestOrPostWorkspace) runSupplierPost() (SupplierPostAnswer, error) {
	if len(in.req.Key) > 0 {
		first, err := in.claimKeyOrFindFirstLead(endpointPost)
		if err != nil {
			return SupplierPostAnswer{}, err
		}
		if !first.IsZero() {
			return in.answerRepeatedSupplierPost(first)
		}
	}
	if err := in.setAuctionAndBidOfPostIfFound(); err != nil {
		return SupplierPostAnswer{}, err
	}
	if err := in.parsePostRequest(); err != nil {
		return SupplierPostAnswer{}, err
	}
	if in.accepted.bid == nil && !in.accepted.forgotten {
		return SupplierPostAnswer{}, &Refusal{Code: InvalidBidToken}
	}
	if err := in.takeEncryptionKey(); err != nil {
		return SupplierPostAnswer{}, err
	}
	code, reason, err := in.prepareSaleAtAcceptedBid()
	switch {
	case errors.Is(err, errDeadline):
		return SupplierPostAnswer{}, ErrUnavailable // only reservations of others are in the way, and a refusal needs an event
	case err != nil:
		return SupplierPostAnswer{}, err
	case code != "":
		return SupplierPostAnswer{}, &Refusal{Code: code}
	case reason != market.ReasonNone:
		in.answer, err = in.queueUnsoldDecision(reason)
	default:
		in.answer, err = in.sellAtAcceptedBid()
	}
	if err == nil {
		began, queued := in.engine.opt.Clock.Now(), in.queued
		err = in.waitAndNotifyObserver()
		if queued {
			in.timings.AddCommitTime(began, in.engine.opt.Clock.Now())
		}
	}
	if err != nil {
		return SupplierPostAnswer{}, err
	}
	return in.newSupplierPostAnswer(in.id, in.buyerSilent)
}

// answerRepeatedSupplierPost returns the answer for firstLead, which an earlier post with the same
// idempotency key sold or tried to sell. While its delivery is in progress, answerRepeatedSupplierPost
// waits, at most until the answer is due.
func (in *ingestOrPostWorkspace) answerRepeatedSupplierPost(firstLead market.LeadID) (SupplierPostAnswer, error) {
	d := in.engine.deliveries.FindRunning(firstLead)
	if d != nil {
		if err := in.waitAndUpdateNow(d.Ended()); err != nil && !errors.Is(err, errDeadline) {
			return SupplierPostAnswer{}, err
		}
	}
	answer, err := in.newSupplierPostAnswer(firstLead, d != nil && d.IsAttemptInProgressOrTimedOut())
	var refusal *Refusal
	if errors.As(err, &refusal) && !refusal.Request.IsZero() {
		refusal.Replayed = true
	}
	answer.Replayed = err == nil
	return answer, err
}

// newSupplierPostAnswer returns the answer to a post from the present state of its lead. It reads only
// applied events, so the first answer and its repeats are equal. For a delivery that is still
// open, noBuyerAnswerInTime selects BuyerTimeout instead of BuyerUnavailable.
func (in *ingestOrPostWorkspace) newSupplierPostAnswer(id market.LeadID, noBuyerAnswerInTime bool) (SupplierPostAnswer, error) {
	e := in.engine
	lead, ok, err := e.findLead(id)
	if err != nil || !ok {
		return SupplierPostAnswer{}, ErrUnavailable
	}
	switch lead.Delivery {
	case market.DeliveryNone:
		if lead.Answer == state.AnswerUnmatched {
			return SupplierPostAnswer{}, &Refusal{Code: PostRejected, Reason: lead.Reason, Request: lead.Request}
		}
	case market.DeliveryFailed, market.DeliveryReleased:
		return SupplierPostAnswer{}, &Refusal{Code: PostRejected, Reason: lead.Reason, Request: lead.Request}
	case market.DeliveryPending, market.DeliveryUnknown:
		refusal := &Refusal{Code: BuyerUnavailable, DeliveryStopped: lead.Delivery == market.DeliveryUnknown}
		if noBuyerAnswerInTime {
			refusal.Code = BuyerTimeout
		}
		return SupplierPostAnswer{}, refusal
	}
	buyerLead, err := in.loadBuyerLeadID(&lead)
	if err != nil {
		return SupplierPostAnswer{}, err
	}
	return SupplierPostAnswer{
		SellerAuction: string(in.accepted.post.Auction.Text), BuyerLead: buyerLead, Lead: lead.ID, Request: lead.Request,
		Buyer: e.state.NameOf(event.ObjectBuyer, lead.Buyer), Payout: lead.Payout, Currency: lead.Currency,
	}, nil
}

// loadBuyerLeadID returns the id that the buyer gave to a lead. If this request delivered the
// lead, the id is in.buyerLeadID. Otherwise it is read from the log, because the state does not
// keep it. It is empty for a buyer without an endpoint.
func (in *ingestOrPostWorkspace) loadBuyerLeadID(lead *state.Lead) (string, error) {
	if lead.Settled == 0 {
		return "", nil // the buyer has no endpoint
	}
	if in.delivered {
		return in.buyerLeadID, nil
	}
	record, err := in.engine.log.readRequiredRecord(lead.Settled, in.answerDueNanos())
	if err != nil {
		return "", err
	}
	settled, ok := record.(*event.PostSettled)
	if !ok || settled.Lead != lead.ID {
		panic(fmt.Sprintf("BUG: log record %d is not the outcome of lead %s", lead.Settled, lead.ID))
	}
	return settled.BuyerLead, nil
}
