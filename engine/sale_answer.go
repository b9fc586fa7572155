package engine

import (
	"errors"
	"fmt"

	"pingpost/engine/event"
	"pingpost/engine/market"
	"pingpost/engine/state"
)

// repeatPost is what a post under a used key hears: the answer of the first one.
// While that one's lead is on its way, this one waits with it.
func (in *ingest) repeatPost(first market.LeadID) (SaleAnswer, error) {
	c := in.engine.couriers.of(first)
	if c != nil {
		if err := in.wait(c.ended); err != nil && !errors.Is(err, errCeiling) {
			return SaleAnswer{}, err
		}
	}
	answer, err := in.became(first, c != nil && c.hangs.Load())
	var refusal *Refusal
	if errors.As(err, &refusal) && !refusal.Request.IsZero() {
		refusal.Replayed = true
	}
	answer.Replayed = err == nil
	return answer, err
}

// became is the answer to a post by what has become of its lead. It is read from
// facts alone, the first time as any later time, so that it is the same then;
// hangs only tells how a delivery that is still open goes.
func (in *ingest) became(id market.LeadID, hangs bool) (SaleAnswer, error) {
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
		if hangs {
			return SaleAnswer{}, &Refusal{Code: BuyerTimeout}
		}
		return SaleAnswer{}, &Refusal{Code: BuyerUnavailable}
	}
	theirs, err := in.buyersID(&lead)
	if err != nil {
		return SaleAnswer{}, err
	}
	return SaleAnswer{
		Theirs: string(in.promise.post.Auction.Text), BuyerLead: theirs, Lead: lead.ID, Request: lead.Request,
		Buyer: e.state.NameOf(event.NameBuyer, lead.Buyer), Payout: lead.Payout, Currency: lead.Currency,
	}, nil
}

// buyersID is the buyer's own id of a lead that it has. Memory does not keep it:
// it is at hand when the buyer has just given it, and in the log ever after.
func (in *ingest) buyersID(lead *state.Lead) (string, error) {
	if lead.Settled == 0 {
		return "", nil // recorded alone
	}
	if in.promise.delivered {
		return in.promise.theirs, nil
	}
	fact, err := in.engine.log.read(lead.Settled, in.ceiling())
	if err != nil {
		return "", err
	}
	settled, ok := fact.(*event.PostSettled)
	if !ok || settled.Lead != lead.ID {
		panic(fmt.Sprintf("BUG: fact %d did not settle lead %s", lead.Settled, lead.ID))
	}
	return settled.BuyerLead, nil
}
