package engine

import (
	"pingpost/engine/event"
	"pingpost/engine/market"
	"pingpost/engine/market/escape"
	"pingpost/engine/state"
)

// bidReference identifies the bid at which a lead is sold.
type bidReference struct {
	auction market.AuctionID // the exchange's id; zero: no auction was held
	token   string           // the buyer's
}

// deliver posts the lead to the chosen buyer and, after a refusal, to the next one, until
// the deadline. The intent is durable before anything is sent. At the deadline the
// supplier gets its answer, and the attempts continue in the background.
func (in *ingest) deliver() (Answer, error) {
	e := in.engine
	in.recordEndpoint(&in.record.Post)
	in.candidates.Exclude(in.choice.filterSet, market.OutcomePostPending)
	in.recordTrail()
	in.seal(in.body)
	in.reserved.TransferDuplicateKeys(&in.deliveryClaims)
	c, err := e.deliveries.add(e, in.id)
	if err != nil {
		return Answer{}, err
	}
	in.delivery = c
	c.attemptTrace.trace = in.timings.trace()
	in.selectWebhook()
	if err := in.commit(); err != nil {
		return in.failDelivery(c, err)
	}
	c.retryUnsent = in.accepted.post != nil
	for {
		c.load(e.state.OpenPost(in.id))
		var answer Answer
		var err error
		more := false
		switch in.runDelivery(c) {
		case deliveryAccepted:
			answer, err = in.commitDelivered(c)
		case deliveryRefused:
			answer, more, err = in.continueAfterRefusal(c)
		case deliveryUnknown:
			answer, err = in.answerOpenDelivery(c, event.SettledUnknown)
		default:
			return in.continueInBackground(c)
		}
		if err != nil {
			return in.failDelivery(c, err)
		}
		if !more {
			in.closeDelivery(c)
			return answer, nil
		}
	}
}

// runDelivery makes attempts until the outcome is certain or the answer is due.
func (in *ingest) runDelivery(c *delivery) deliveryOutcome {
	clock := in.engine.opt.Clock
	began := clock.Now()
	outcome := c.runUntil(in.deadline())
	in.timings.addBuyers(clock.Now() - began)
	return outcome
}

// commitOutcome commits the outcome of the delivery.
func (in *ingest) commitOutcome(c *delivery, outcome *event.PostSettled, reserved *state.Reservation) error {
	clock := in.engine.opt.Clock
	began := clock.Now()
	err := c.commitOutcome(outcome, reserved)
	in.timings.addLog(clock, began)
	return err
}

// recordEndpoint writes the chosen buyer's endpoint into an intent.
func (in *ingest) recordEndpoint(post *event.PostIntent) {
	buyer := in.filterSet().Buyer
	*post = event.NewPostIntent(buyer.Post, int64(buyer.PostTimeout))
	post.Auction = in.bid.auction
}

// encodePost writes the body of the post to the chosen buyer. It returns false if the
// buyer's adapter cannot encode the lead. Without an auction, the lead's id takes the place
// of the auction's id, and there is no token.
func (in *ingest) encodePost() bool {
	to, campaign := in.filterSet().Buyer.Post, in.live.Campaign
	if to == nil {
		return true
	}
	if to.Adapter != nil {
		body, ok := to.Adapter.AppendPost(in.body[:0], campaign.Mapping, &in.lead, market.PostMetadata{
			Auction: in.bid.auction, Lead: in.id, Token: in.bid.token,
			Vertical: campaign.Vertical, SubVertical: campaign.SubVertical,
			Price: in.choice.price, Currency: campaign.Currency,
		})
		in.body = body
		return ok
	}
	body := append(in.body[:0], `{"auction_id":"`...)
	if in.bid.auction.IsZero() {
		body = append(in.id.AppendTo(body), '"')
	} else {
		body = append(in.bid.auction.AppendTo(body), `","bid_token":`...)
		body = escape.AppendJSONString(body, []byte(in.bid.token))
	}
	body = append(body, `,"lead":`...)
	body = campaign.Mapping.AppendPostLead(body, &in.lead, in.id)
	in.body = append(body, '}')
	return true
}

// commitDelivered commits that the buyer has the lead.
func (in *ingest) commitDelivered(c *delivery) (Answer, error) {
	if err := in.commitOutcome(c, c.settlement(event.SettledDelivered), nil); err != nil {
		return Answer{}, err
	}
	in.accepted.delivered, in.accepted.buyerLeadID = true, c.lastResult.BuyerLeadID
	return in.acceptedAnswer(), nil
}

// continueAfterRefusal commits a refusal together with the intent for the next buyer; more
// reports that there is one. If the delivery was in doubt, a refusal ends the delivery: the
// lead never leaves that buyer.
func (in *ingest) continueAfterRefusal(c *delivery) (answer Answer, more bool, err error) {
	e := in.engine
	in.candidates.ChangeOutcome(in.choice.filterSet, market.OutcomePostPending, market.OutcomePostRejected)
	outcome := c.settlement(event.SettledRefused)
	reason := market.ReasonPostRejected
	if in.now = max(in.now, e.opt.Clock.Now()); in.now < in.deadline() && !c.inDoubt && !c.promised {
		if in.live.Campaign.Duplicates.PerBuyer {
			e.state.ReleaseDuplicateKeys(&in.deliveryClaims) // the buyer certainly does not have the lead, and another lead may wait for that
		}
		in.refusedCharges = c.post.Sale.Charges
		if reason, err = in.chooseNextBuyer(); err != nil {
			return Answer{}, false, err
		}
	}
	if reason != market.ReasonNone {
		outcome.Reason = reason.FurthestOf(market.ReasonPostRejected)
		outcome.Trail = appendTrail(outcome.Trail, in)
		if err := in.commitOutcome(c, outcome, &in.reserved); err != nil {
			return Answer{}, false, err
		}
		return in.completeAnswer(Answer{Reason: outcome.Reason}), false, nil
	}
	more = in.recordNextBuyer(outcome)
	if err := in.commitOutcome(c, outcome, &in.reserved); err != nil {
		return Answer{}, false, err
	}
	if !more {
		answer = in.acceptedAnswer()
	}
	return answer, more, nil
}

// recordNextBuyer writes the sale to the next buyer into the refusal's event. It reports
// whether that buyer gets a post.
func (in *ingest) recordNextBuyer(refusal *event.PostSettled) (posted bool) {
	refusal.Next.Duplicates = append(refusal.Next.Duplicates, in.record.Sale.Duplicates...)
	refusal.Next.Turn = in.record.Sale.Turn
	in.recordSale(&refusal.Next)
	outcome := market.OutcomeWon
	if in.filterSet().Buyer.Post != nil {
		in.recordEndpoint(&refusal.Post)
		outcome, posted = market.OutcomePostPending, true
		in.contact.Fields = in.contact.Fields[:0] // the first intent has them
		refusal.Slot, refusal.Sealed = in.keySlot, in.sealBody(nil, in.body)
	}
	in.candidates.Exclude(in.choice.filterSet, outcome)
	refusal.Trail = appendTrail(refusal.Trail, in)
	if in.live.Campaign.Duplicates.PerBuyer {
		in.reserved.TransferDuplicateKeys(&in.deliveryClaims)
	}
	return posted
}

// answerOpenDelivery commits that the supplier gets ACCEPTED before the delivery has ended.
func (in *ingest) answerOpenDelivery(c *delivery, how event.PostSettlement) (Answer, error) {
	in.accepted.buyerSilent = c.buyerSilent.Load()
	clock := in.engine.opt.Clock
	began := clock.Now()
	err := c.settle(how)
	in.timings.addLog(clock, began)
	if err != nil {
		return Answer{}, err
	}
	return in.acceptedAnswer(), nil
}

// continueInBackground answers at the deadline. The delivery continues on its own
// goroutine.
func (in *ingest) continueInBackground(c *delivery) (Answer, error) {
	answer, err := in.answerOpenDelivery(c, event.SettledPending)
	if err != nil {
		return in.failDelivery(c, err)
	}
	in.delivery = nil
	c.attemptTrace.detach(in.engine.opt.Clock.Now())
	close(c.supplierAnswered)
	in.engine.runInBackground(c)
	return answer, nil
}

// closeDelivery ends a delivery whose outcome is committed.
func (in *ingest) closeDelivery(c *delivery) {
	in.delivery = nil
	in.engine.deliveries.remove(c)
	close(c.supplierAnswered)
}

// failDelivery ends a delivery whose events the log no longer accepts.
func (in *ingest) failDelivery(c *delivery, err error) (Answer, error) {
	in.closeDelivery(c)
	return Answer{}, err
}

// settle commits an outcome that needs nothing but its kind.
func (c *delivery) settle(how event.PostSettlement) error {
	err := c.commitOutcome(c.settlement(how), nil)
	if err == nil && how == event.SettledUnknown && !c.post.Sale.Test {
		c.engine.opt.Observer.DeliveryUnknown(c.lead, c.buyerID())
	}
	return err
}

// settlement returns the event of an outcome, with the result of the last attempt. An
// attempt that is still in progress counts as a timeout.
func (c *delivery) settlement(how event.PostSettlement) *event.PostSettled {
	last := c.lastResult
	if c.inProgress {
		last = market.PostResult{Fault: market.FaultTimeout}
	}
	outcome := &event.PostSettled{
		Lead: c.lead, Decided: c.post.Decided, Settlement: how, Attempts: c.attempts, Fault: last.Fault,
		BuyerLead: last.BuyerLeadID, Code: last.Code, Status: uint32(max(0, last.Status)), Elapsed: int64(last.Elapsed),
	}
	outcome.Sale.CopyFrom(&c.post.Sale)
	if lead, ok := c.engine.state.Lead(c.lead); ok {
		outcome.Campaign, outcome.Supplier = lead.Campaign, lead.Supplier
		c.supplierAccepted = lead.Answer == state.AnswerAccepted
	}
	return outcome
}
