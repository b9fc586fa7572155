package engine

import (
	"errors"
	"fmt"

	"pingpost/engine/event"
	"pingpost/engine/market"
	"pingpost/engine/state"
)

// repeatPost returns the answer of the key's first post. While that post's delivery is in
// progress, repeatPost waits for it.
func (in *ingest) repeatPost(first market.LeadID) (SaleAnswer, error) {
	c := in.engine.deliveries.find(first)
	if c != nil {
		if err := in.wait(c.ended); err != nil && !errors.Is(err, errDeadline) {
			return SaleAnswer{}, err
		}
	}
	answer, err := in.saleAnswer(first, c != nil && c.buyerSilent.Load())
	var refusal *Refusal
	if errors.As(err, &refusal) && !refusal.Request.IsZero() {
		refusal.Replayed = true
	}
	answer.Replayed = err == nil
	return answer, err
}

// saleAnswer returns a post's answer from the state of its lead. It reads only applied
// events, so the first answer and all repeats are equal. buyerSilent distinguishes the two
// answers for a delivery that is still open.
func (in *ingest) saleAnswer(id market.LeadID, buyerSilent bool) (SaleAnswer, error) {
	e := in.engine
	lead, ok := e.state.Lead(id)
	if !ok {
		return SaleAnswer{}, ErrUnavailable
	}
	switch lead.Delivery {
	case market.DeliveryNone:
		if lead.Answer == state.AnswerUnmatched {
			return SaleAnswer{}, &Refusal{Code: PostRejected, Reason: lead.Reason, Request: lead.Request}
		}
	case market.DeliveryFailed, market.DeliveryReleased:
		return SaleAnswer{}, &Refusal{Code: PostRejected, Reason: lead.Reason, Request: lead.Request}
	case market.DeliveryPending, market.DeliveryUnknown:
		if buyerSilent {
			return SaleAnswer{}, &Refusal{Code: BuyerTimeout}
		}
		return SaleAnswer{}, &Refusal{Code: BuyerUnavailable}
	}
	buyerLead, err := in.buyerLeadID(&lead)
	if err != nil {
		return SaleAnswer{}, err
	}
	return SaleAnswer{
		SellerAuction: string(in.accepted.post.Auction.Text), BuyerLead: buyerLead, Lead: lead.ID, Request: lead.Request,
		Buyer: e.state.NameOf(event.ObjectBuyer, lead.Buyer), Payout: lead.Payout, Currency: lead.Currency,
	}, nil
}

// buyerLeadID returns the buyer's own id of a lead. It comes from this call's delivery, or
// from the log, because the state does not keep it.
func (in *ingest) buyerLeadID(lead *state.Lead) (string, error) {
	if lead.Settled == 0 {
		return "", nil // the buyer has no endpoint
	}
	if in.accepted.delivered {
		return in.accepted.buyerLeadID, nil
	}
	record, err := in.engine.log.read(lead.Settled, in.deadline())
	if err != nil {
		return "", err
	}
	settled, ok := record.(*event.PostSettled)
	if !ok || settled.Lead != lead.ID {
		panic(fmt.Sprintf("BUG: log record %d is not the outcome of lead %s", lead.Settled, lead.ID))
	}
	return settled.BuyerLead, nil
}
