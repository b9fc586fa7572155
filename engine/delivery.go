package engine

import (
	"errors"
	"fmt"

	"pingpost/engine/delivery"
	"pingpost/engine/event"
	"pingpost/engine/market"
	"pingpost/engine/market/escape"
	"pingpost/engine/state"
)

// auctionIDAndBuyerBidToken identifies the bid at which a lead is sold, so that the post can name it to the
// buyer.
type auctionIDAndBuyerBidToken struct {
	auction market.AuctionID // the exchange's id; zero: no auction was held
	token   string           // the buyer's
}

// deliverAndAnswer posts the lead to the chosen buyer and, after a refusal, to the next one,
// until the answer is due. Before each post it commits the intent (the record that the post will
// be sent), because a crash must not lose a sent lead. When the answer is due, the supplier gets
// it, and the attempts continue in the background.
func (in *ingestOrPostWorkspace) deliverAndAnswer() (IngestAnswer, error) {
	e := in.engine
	in.fillIntentWithBuyerEndpoint(&in.record.Post)
	in.candidates.Exclude(in.choice.filterSet, market.OutcomePostPending)
	in.recordOutcomesAndBids()
	in.encryptContactAndBuyerPostIntoEvent(in.body)
	in.reserved.TransferDuplicateKeyClaims(&in.deliveryClaims)
	d, err := e.registerDelivery(in.id)
	if err != nil {
		return IngestAnswer{}, err
	}
	in.delivery = d
	d.Trace = in.timings.TraceOrNil().TracePosts()
	in.setDecisionWebhookAndCachePayload()
	if err := in.commitDecisionAndWait(); err != nil {
		in.endDeliveryAndWakeWaiters(d)
		return IngestAnswer{}, err
	}
	d.RetryUnsent = in.accepted.post != nil
	for {
		d.SetIntentAndDecryptBody(e.state.UnfinishedPost(in.id))
		var answer IngestAnswer
		var err error
		more := false
		switch how := in.runDeliveryUntilDeadline(d); how {
		case event.SettledDelivered:
			answer, err = in.commitDelivered(d)
		case event.SettledRefused:
			answer, more, err = in.commitRefusalAndChooseNext(d)
		case event.SettledPending:
			return in.answerAndContinueInBackground(d)
		default:
			answer, err = in.commitAcceptedBeforeConfirmation(d, how)
		}
		if err != nil {
			return in.endDeliveryAfterError(d, err)
		}
		if !more {
			in.endDeliveryAndWakeWaiters(d)
			return answer, nil
		}
	}
}

// runDeliveryUntilDeadline makes attempts to post the lead until the supplier's answer is due at the
// latest, and returns the result of Delivery.RunAttemptsUntil. It adds the time to the request's
// timings.
func (in *ingestOrPostWorkspace) runDeliveryUntilDeadline(d *delivery.Delivery) event.PostSettlement {
	clock := in.engine.opt.Clock
	began := clock.Now()
	how := d.RunAttemptsUntil(in.answerDueNanos())
	in.timings.AddTimeWaitedForBuyers(clock.Now() - began)
	return how
}

// commitSettlementWithTiming commits a settlement, which is the outcome of the delivery, and
// releases the reservations. It adds the time to the request's timings.
func (in *ingestOrPostWorkspace) commitSettlementWithTiming(d *delivery.Delivery, settlement *event.PostSettled, reserved *state.RequestReservations) error {
	clock := in.engine.opt.Clock
	began := clock.Now()
	err := d.CommitSettlement(settlement, reserved)
	in.timings.AddCommitTime(began, clock.Now())
	return err
}

// fillIntentWithBuyerEndpoint writes the chosen buyer's endpoint and the bid's auction into an intent
// (the record that a post will be sent). All attempts use this endpoint, even if the
// configuration changes.
func (in *leadSaleWorkspace) fillIntentWithBuyerEndpoint(intent *event.PostIntent) {
	buyer := in.chosenFilterSet().Buyer
	*intent = event.NewPostIntent(buyer.Post, int64(buyer.PostTimeout))
	intent.Auction = in.bid.auction
}

// encodePostBody encodes the body of the post to the chosen buyer. It returns false if the buyer's
// adapter cannot encode the lead. For a buyer without an endpoint it encodes no body and returns true.
// If no auction was held, the body has no bid token, and the lead's id is sent as the auction id.
func (in *leadSaleWorkspace) encodePostBody() (encodable bool) {
	to, campaign := in.chosenFilterSet().Buyer.Post, in.live.Campaign
	if to == nil {
		return true
	}
	if to.Adapter != nil {
		body, ok := to.Adapter.AppendPost(in.body[:0], campaign.Mapping, &in.lead, market.BuyerPostMetadata{
			Auction: in.bid.auction, Lead: in.id, Token: in.bid.token,
			Vertical: campaign.Vertical, SubVertical: campaign.SubVertical,
			Price: in.choice.price, Currency: campaign.Currency,
		})
		in.body = body
		return ok
	}
	body := append(in.body[:0], `{"auction_id":"`...)
	if in.bid.auction.IsZero() {
		body = append(in.id.AppendAsText(body), '"')
	} else {
		body = append(in.bid.auction.AppendAsText(body), `","bid_token":`...)
		body = escape.AppendJSONString(body, []byte(in.bid.token))
	}
	body = append(body, `,"lead":`...)
	body = campaign.Mapping.AppendLeadOfBuyerPost(body, &in.lead, in.id)
	in.body = append(body, '}')
	return true
}

// commitDelivered commits that the chosen buyer has the lead, and returns the supplier's answer.
func (in *ingestOrPostWorkspace) commitDelivered(d *delivery.Delivery) (IngestAnswer, error) {
	if err := in.commitSettlementWithTiming(d, d.NewSettlement(event.SettledDelivered), nil); err != nil {
		return IngestAnswer{}, err
	}
	in.delivered, in.buyerLeadID = true, d.BuyerLeadID()
	return in.newAcceptedAnswer(), nil
}

// commitRefusalAndChooseNext chooses the next buyer after a refusal. One event records the refusal
// together with the sale to that buyer. mustPostNext reports that the next buyer must get a post;
// otherwise answer is final. A lead that the refusing buyer may have, or that was promised to it,
// goes to no other buyer.
func (in *ingestOrPostWorkspace) commitRefusalAndChooseNext(d *delivery.Delivery) (answer IngestAnswer, mustPostNext bool, err error) {
	e := in.engine
	in.candidates.ChangeOutcome(in.choice.filterSet, market.OutcomePostPending, market.OutcomePostRejected)
	in.live.ExcludeOthersOfBuyer(in.choice.filterSet, &in.candidates)
	refusal := d.NewSettlement(event.SettledRefused)
	reason := market.ReasonPostRejected
	if in.now = max(in.now, e.opt.Clock.Now()); in.now < in.answerDueNanos() && d.MayGoToNextBuyer() {
		if in.live.Campaign.Duplicates.PerBuyer {
			e.state.ReleaseDuplicateKeyClaims(&in.deliveryClaims) // the buyer certainly does not have the lead, and another lead may wait for that
		}
		in.refusedCharges = d.CapCharges()
		reason, err = in.chooseAndReserveRemainingBuyer()
		if errors.Is(err, errColdRowUnreadable) { // the refusal still counts, or a restart would post the lead to this buyer again
			reason, err = market.ReasonPostRejected, nil
		}
		if err != nil {
			return IngestAnswer{}, false, err
		}
	}
	if reason != market.ReasonNone {
		refusal.Reason = reason.LaterStageReason(market.ReasonPostRejected)
		refusal.Trail = in.appendCandidateOutcomes(refusal.Trail)
		if err := in.commitSettlementWithTiming(d, refusal, &in.reserved); err != nil {
			return IngestAnswer{}, false, err
		}
		return in.addLeadRequestAndCampaignIDs(IngestAnswer{Reason: refusal.Reason}), false, nil
	}
	mustPostNext = in.addNextSaleToRefusal(refusal)
	if err := in.commitSettlementWithTiming(d, refusal, &in.reserved); err != nil {
		return IngestAnswer{}, false, err
	}
	if !mustPostNext {
		answer = in.newAcceptedAnswer()
	}
	return answer, mustPostNext, nil
}

// addNextSaleToRefusal writes the sale to the next buyer into the event of the refusal. needsPost
// reports whether that buyer has an endpoint and gets a post; otherwise the lead is only recorded.
func (in *ingestOrPostWorkspace) addNextSaleToRefusal(refusal *event.PostSettled) (needsPost bool) {
	refusal.Next.Duplicates = append(refusal.Next.Duplicates, in.record.Sale.Duplicates...)
	refusal.Next.Turn = in.record.Sale.Turn
	in.fillSaleFromChoice(&refusal.Next)
	outcome := market.OutcomeWon
	if in.chosenFilterSet().Buyer.Post != nil {
		in.fillIntentWithBuyerEndpoint(&refusal.Post)
		outcome, needsPost = market.OutcomePostPending, true
		in.contact.Fields = in.contact.Fields[:0] // the first intent has them
		refusal.Slot, refusal.Sealed = in.keySlot, in.appendEncryptedPostBody(nil, in.body)
	}
	in.candidates.Exclude(in.choice.filterSet, outcome)
	refusal.Trail = in.appendCandidateOutcomes(refusal.Trail)
	if in.live.Campaign.Duplicates.PerBuyer {
		in.reserved.TransferDuplicateKeyClaims(&in.deliveryClaims)
	}
	return needsPost
}

// commitAcceptedBeforeConfirmation commits that the supplier gets ACCEPTED although the buyer has not
// confirmed the lead, and returns that answer. settlement says why: attempts remain
// (SettledPending), or the delivery is unconfirmed (SettledUnknown).
func (in *ingestOrPostWorkspace) commitAcceptedBeforeConfirmation(d *delivery.Delivery, settlement event.PostSettlement) (IngestAnswer, error) {
	in.buyerSilent = d.IsAttemptInProgressOrTimedOut()
	clock := in.engine.opt.Clock
	began := clock.Now()
	err := d.BuildAndCommitSettlement(settlement)
	in.timings.AddCommitTime(began, clock.Now())
	if err != nil {
		return IngestAnswer{}, err
	}
	answer := in.newAcceptedAnswer()
	answer.Unsettled = true
	return answer, nil
}

// answerAndContinueInBackground returns the supplier's answer when it is due while attempts remain. The
// delivery continues on its own goroutine.
func (in *ingestOrPostWorkspace) answerAndContinueInBackground(d *delivery.Delivery) (IngestAnswer, error) {
	answer, err := in.commitAcceptedBeforeConfirmation(d, event.SettledPending)
	if err != nil {
		return in.endDeliveryAfterError(d, err)
	}
	in.delivery = nil
	d.ContinueInBackground()
	return answer, nil
}

// endDeliveryAndWakeWaiters ends the delivery that this request runs. Requests that wait for it continue.
func (in *ingestOrPostWorkspace) endDeliveryAndWakeWaiters(d *delivery.Delivery) {
	in.delivery = nil
	d.UnregisterAndWakeWaiters()
}

// endDeliveryAfterError ends a delivery whose intent is durable, after a later event could not be
// committed. The next start of the process, or the next leader, continues it.
func (in *ingestOrPostWorkspace) endDeliveryAfterError(d *delivery.Delivery, err error) (IngestAnswer, error) {
	in.endDeliveryAndWakeWaiters(d)
	return IngestAnswer{}, errorAfterEvent(err, in.req.Key)
}

// newDeliveries returns the set of running deliveries. It gives them the engine's clock, buyers,
// observer and log.
func (e *Engine) newDeliveries() *delivery.RunningDeliveries {
	return delivery.NewRunningDeliveries(delivery.Options{
		State: e.state, Clock: e.opt.Clock, Buyers: e.opt.Buyers, Observer: e.opt.Observer, Stop: e.stop,
		NewRequestID:      func(now int64) market.RequestID { return market.RequestID(e.newULID(now, new([10]byte))) },
		Commit:            e.commitRetryingFullQueue,
		OpenContact:       e.decryptOpenPostContact,
		ReadContactFields: e.readContactFieldsOrNil,
		SelectWebhook:     e.setSettlementWebhookAndCachePayload,
	})
}

// registerDelivery registers a delivery for a lead, so that other requests can find it and wait. It
// sends no post. The error is ErrConflict if the lead has a delivery in progress, and
// ErrUnavailable if the engine stops.
func (e *Engine) registerDelivery(lead market.LeadID) (*delivery.Delivery, error) {
	d, err := e.deliveries.Register(lead)
	switch {
	case errors.Is(err, delivery.ErrInProgress):
		return nil, fmt.Errorf("%w: the delivery of lead %s is still in progress", ErrConflict, lead)
	case err != nil:
		return nil, e.unavailableBeforeEvent()
	}
	return d, nil
}

// ResumeErasuresAndDeliveries continues the deliveries that were open when the previous process
// ended; see delivery.RunningDeliveries.ContinueOpenPosts. It first erases the encryption keys of
// erased leads again, because a crash may have interrupted their erasure.
func (e *Engine) ResumeErasuresAndDeliveries() error {
	if err := e.eraseKeysOfErasedLeads(); err != nil {
		return err
	}
	err := e.deliveries.ContinueOpenPosts()
	if errors.Is(err, delivery.ErrClosed) {
		return ErrUnavailable
	}
	return err
}

// RunningDeliveries returns the number of running deliveries, for metrics and limits.
func (e *Engine) RunningDeliveries() int64 { return e.deliveries.Count() }

// WaitUntilDeliveryEnds waits until a lead's delivery has ended, at most until deadlineNanos (in Unix
// nanoseconds), and reports whether it has. A lead without a running delivery needs no wait.
func (e *Engine) WaitUntilDeliveryEnds(lead market.LeadID, deadlineNanos int64) (ended bool) {
	d := e.deliveries.FindRunning(lead)
	return d == nil || e.waitForEndUntil(d.Ended(), deadlineNanos) == nil
}
