package engine

import (
	"pingpost/engine/event"
	"pingpost/engine/market"
	"pingpost/engine/market/escape"
	"pingpost/engine/state"
)

// deliver posts the lead to the buyer that was chosen, and to the next one
// after a refusal, while the ceiling allows. The intent is durable before
// anything is sent. At the ceiling the answer goes; the attempt goes on.
func (in *ingest) deliver() (Answer, error) {
	e := in.engine
	in.intend(&in.fact.Post)
	in.candidates.Exclude(in.picked.seat, market.OutcomePostPending)
	in.trail()
	in.seal(in.body)
	in.hold.TransferDuplicates(&in.posting)
	c, err := e.couriers.open(e, in.id)
	if err != nil {
		return Answer{}, err
	}
	in.courier = c
	c.traced.of = in.req.Spent.trace()
	in.selectWebhook()
	if err := in.commit(); err != nil {
		return in.abandon(c, err)
	}
	c.patient = in.promise.post != nil
	for {
		c.take(e.state.OpenPost(in.id))
		var answer Answer
		var err error
		more := false
		switch in.await(c) {
		case fateDelivered:
			answer, err = in.delivered(c)
		case fateRefused:
			answer, more, err = in.refused(c)
		case fateUnknown:
			answer, err = in.settleOpen(c, event.SettledUnknown)
		default:
			return in.leave(c)
		}
		if err != nil {
			return in.abandon(c, err)
		}
		if !more {
			in.dismiss(c)
			return answer, nil
		}
	}
}

// await runs the courier until something is known, or the answer is due.
func (in *ingest) await(c *courier) fate {
	clock := in.engine.opt.Clock
	began := clock.Now()
	known := c.until(in.ceiling())
	in.req.Spent.addBuyers(clock, began)
	return known
}

// conclude has the courier log what became of its lead.
func (in *ingest) conclude(c *courier, fact *event.PostSettled, hold *state.Reservation) error {
	clock := in.engine.opt.Clock
	began := clock.Now()
	err := c.conclude(fact, hold)
	in.req.Spent.addLog(clock, began)
	return err
}

// intend writes how the chosen buyer is reached.
func (in *ingest) intend(post *event.Post) {
	buyer := in.seat().Buyer
	*post = event.PostTo(buyer.Post, int64(buyer.PostTimeout))
	post.Auction = in.bought.auction
}

// bought names the bid by which a lead is sold.
type bought struct {
	auction market.AuctionID // ours; zero: there was no auction
	token   string           // the buyer's
}

// writePost writes the body of a post to the seat that was picked; false: its
// adapter can write none. Without an auction the lead's id stands for the
// auction's, and there is no token.
func (in *ingest) writePost() bool {
	to, campaign := in.seat().Buyer.Post, in.open.Campaign
	if to == nil {
		return true
	}
	if to.Adapter != nil {
		body, ok := to.Adapter.AppendPost(in.body[:0], campaign.Mapping, &in.lead, market.PostHeader{
			Auction: in.bought.auction, Lead: in.id, Token: in.bought.token,
			Vertical: campaign.Vertical, SubVertical: campaign.SubVertical,
			Price: in.picked.price, Currency: campaign.Currency,
		})
		in.body = body
		return ok
	}
	body := append(in.body[:0], `{"auction_id":"`...)
	if in.bought.auction.IsZero() {
		body = append(in.id.AppendTo(body), '"')
	} else {
		body = append(in.bought.auction.AppendTo(body), `","bid_token":`...)
		body = escape.AppendJSONString(body, []byte(in.bought.token))
	}
	body = append(body, `,"lead":`...)
	body = campaign.Mapping.AppendPostLead(body, &in.lead, in.id)
	in.body = append(body, '}')
	return true
}

func (in *ingest) delivered(c *courier) (Answer, error) {
	fact := c.settlement(event.SettledDelivered)
	if err := in.conclude(c, fact, nil); err != nil {
		return Answer{}, err
	}
	in.promise.delivered, in.promise.theirs = true, c.last.BuyerLeadID
	return in.sold(), nil
}

// refused goes on to the next candidate, in the same frame; or ends the matter,
// as it must after doubt: a refusal then settles what became of the lead here,
// and the lead still never leaves this buyer.
func (in *ingest) refused(c *courier) (answer Answer, more bool, err error) {
	e := in.engine
	in.candidates.ChangeOutcome(in.picked.seat, market.OutcomePostPending, market.OutcomePostRejected)
	fact := c.settlement(event.SettledRefused)
	reason := market.ReasonPostRejected
	if in.now = max(in.now, e.opt.Clock.Now()); in.now < in.ceiling() && !c.doubtful && !c.promised {
		if in.open.Campaign.Duplicates.PerBuyer {
			e.state.ReleaseDuplicates(&in.posting) // this buyer certainly has it not; another lead may be waiting to know
		}
		in.back = c.post.Sale.Charges
		if reason, err = in.again(); err != nil {
			return Answer{}, false, err
		}
	}
	if reason != market.ReasonNone {
		fact.Reason = reason.Further(market.ReasonPostRejected)
		fact.Trail = appendTrail(fact.Trail, in)
		if err := in.conclude(c, fact, &in.hold); err != nil {
			return Answer{}, false, err
		}
		return in.answered(Answer{Reason: fact.Reason}), false, nil
	}
	fact.Next.Dups = append(fact.Next.Dups, in.fact.Sale.Dups...)
	fact.Next.Turn = in.fact.Sale.Turn
	in.sell(&fact.Next)
	outcome := market.OutcomeWon
	if in.seat().Buyer.Post != nil {
		in.intend(&fact.Post)
		outcome, more = market.OutcomePostPending, true
		in.contact.Fields = in.contact.Fields[:0] // the first intent has them
		fact.Slot, fact.Sealed = in.slot, in.sealBody(nil, in.body)
	}
	in.candidates.Exclude(in.picked.seat, outcome)
	fact.Trail = appendTrail(fact.Trail, in)
	if in.open.Campaign.Duplicates.PerBuyer {
		in.hold.TransferDuplicates(&in.posting)
	}
	if err := in.conclude(c, fact, &in.hold); err != nil {
		return Answer{}, false, err
	}
	if !more {
		answer = in.sold()
	}
	return answer, more, nil
}

// settleOpen tells the supplier ACCEPTED while the delivery is not settled.
func (in *ingest) settleOpen(c *courier, how event.Settlement) (Answer, error) {
	in.promise.hangs = c.hangs.Load()
	clock := in.engine.opt.Clock
	began := clock.Now()
	err := c.settle(how)
	in.req.Spent.addLog(clock, began)
	if err != nil {
		return Answer{}, err
	}
	return in.sold(), nil
}

// leave answers at the ceiling and lets the courier go on alone.
func (in *ingest) leave(c *courier) (Answer, error) {
	answer, err := in.settleOpen(c, event.SettledPending)
	if err != nil {
		return in.abandon(c, err)
	}
	in.courier = nil
	c.traced.leave(in.engine.opt.Clock.Now())
	close(c.answered)
	in.engine.goOn(c)
	return answer, nil
}

// dismiss ends a courier whose lead is settled.
func (in *ingest) dismiss(c *courier) {
	in.courier = nil
	in.engine.couriers.close(c)
	close(c.answered)
}

// abandon ends a courier whose facts can no longer be logged.
func (in *ingest) abandon(c *courier, err error) (Answer, error) {
	in.dismiss(c)
	return Answer{}, err
}

// settle logs what the intent has come to, where that is all there is to say.
func (c *courier) settle(how event.Settlement) error {
	err := c.conclude(c.settlement(how), nil)
	if err == nil && how == event.SettledUnknown && !c.post.Sale.Test {
		c.engine.opt.Note.Unknown(c.lead, c.buyer())
	}
	return err
}

// settlement begins the fact that the intent has come to something. Of a try that
// is under way there is one thing to say: that it has not answered.
func (c *courier) settlement(how event.Settlement) *event.PostSettled {
	last := c.last
	if c.running {
		last = market.PostResult{Fault: market.FaultTimeout}
	}
	fact := &event.PostSettled{
		Lead: c.lead, Decided: c.post.Decided, Settlement: how, Attempts: c.attempts, Fault: last.Fault,
		BuyerLead: last.BuyerLeadID, Code: last.Code, Status: uint32(max(0, last.Status)), Elapsed: int64(last.Elapsed),
	}
	fact.Sale.CopyFrom(&c.post.Sale)
	if lead, ok := c.engine.state.Lead(c.lead); ok {
		fact.Campaign, fact.Supplier = lead.Campaign, lead.Supplier
		c.told = lead.Answer == state.AnswerAccepted
	}
	return fact
}
