package engine

import (
	"errors"

	"pingpost/engine/delivery"
	"pingpost/engine/market"
	"pingpost/engine/state"
	"pingpost/engine/timing"
)

// IngestRequest is a lead as its supplier sent it. The engine reads the memory of its fields until
// Ingest or DecideAndDeliver returns.
type IngestRequest struct {
	Supplier *market.Supplier    // the owner of the credential
	Members  []market.JSONMember // of the body
	Body     []byte              // the body's bytes, for the idempotency key's fingerprint
	Key      []byte              // Idempotency-Key; empty: none
	BadKey   bool                // the Idempotency-Key header is malformed
	Test     bool                // the request asks for a test lead
	BadTest  bool                // the X-Pingpost-Test header is malformed
	Faults   []market.FieldError // of the request outside its body; reported with the body's
	Request  market.RequestID
	Received int64           // Unix nanoseconds
	Timings  *timing.Timings // accumulates the time that the call waits; nil: not measured
}

// ingestOrPostWorkspace is the workspace of one request that brings a lead: an ingest or a post. A pool keeps
// the workspaces, so that an ordinary lead allocates almost no memory. A workspace belongs to one
// goroutine at a time.
//
// It has three layers, and the methods of each use only the layers below. ingestOrPostInput validates
// the input. leadSaleWorkspace finds the buyer, and reserves and records the sale.
// ingestOrPostWorkspace delivers the lead and answers.
type ingestOrPostWorkspace struct {
	leadSaleWorkspace

	delivery       *delivery.Delivery        // runs the post, while this call waits for it
	deliveryClaims state.RequestReservations // claims that outlive the commit while a post is open
	buyerSilent    bool                      // when the answer was due, an attempt was in progress or the last one had timed out
	delivered      bool                      // this call delivered the lead
	buyerLeadID    string                    // if delivered: the buyer's own id of the lead
}

// Ingest validates a lead, sells it and delivers it. It decides by the deadline (Options.Ceiling
// after the request arrived) and returns when the decision is durable. An unsold lead is no error.
// Errors are a *Refusal, ErrUnavailable, ErrBusy, or the log's failure. After ErrNotLeader the lead does
// not exist. After another error of the log it may exist.
func (e *Engine) Ingest(req *IngestRequest) (IngestAnswer, error) {
	decision, err := e.DecideAndDeliver(req)
	if err != nil {
		return IngestAnswer{}, err
	}
	return decision.WaitUntilCommitted()
}

// DecideAndDeliver does the same as Ingest, but returns as soon as the engine no longer reads the request.
// The caller may then reuse the request's memory, and calls PendingLeadDecision.Wait for the answer.
//
// For a lead without a post (it is unsold, or only recorded for its buyer), DecideAndDeliver returns
// before the log's write. A lead with a post needs its request until its answer is due, because after a
// refusal the engine encodes the next buyer's body. Wait then does not block. Rejected: a copy of the
// request, which would cost each post an allocation to save memory that few posts need.
//
// The errors are those of Ingest.
func (e *Engine) DecideAndDeliver(req *IngestRequest) (*PendingLeadDecision, error) {
	if err := e.rejectIfStoppedOrAtLimit(); err != nil {
		return nil, err
	}
	p := e.plan.Load()
	if p == nil {
		return nil, ErrUnavailable
	}
	in := e.workspaces.Get().(*ingestOrPostWorkspace)
	d := e.decisions.Get().(*PendingLeadDecision)
	returned := false
	defer func() {
		if !returned {
			in.releaseReservationsAfterPanic()
		}
	}()
	in.resetForRequest(e, req, p, d)
	answer, err := in.runIngest()
	d.answer = answer
	in.releaseClaimsAndWipe()
	returned = true
	e.workspaces.Put(in)
	if err != nil {
		e.decisions.Put(d)
		return nil, err
	}
	return d, nil
}

func (in *ingestOrPostWorkspace) resetForRequest(e *Engine, req *IngestRequest, plan *compiledCatalog, d *PendingLeadDecision) {
	in.commonRequestFields = commonRequestFields{engine: e, now: req.Received, received: req.Received, timings: req.Timings}
	in.req, in.plan, in.live = req, plan, nil
	in.test = req.Test || req.Supplier.Test
	in.PendingLeadDecision, d.queued = d, false
	in.record.ResetKeepingCapacity()
	in.lendMemoryToEvent()
	in.candidates.ClearOutcomes()
	in.auction.ResetKeepingMemory()
	in.accepted.resetKeepingMemory()
	in.bid = auctionIDAndBuyerBidToken{}
	in.buyerSilent, in.delivered, in.buyerLeadID = false, false, ""
	in.faults, in.refusedCharges, in.delivery = in.faults[:0], nil, nil
	if in.inList == nil {
		in.inList = in.isSuppressedBy
	}
}

func (in *ingestOrPostWorkspace) releaseClaimsAndWipe() {
	in.timings.TraceOrNil().SetPingOutcomes(&in.auction)
	if !in.queued {
		in.takeBackMemoryFromEvent()
		in.engine.state.ReleaseAll(&in.reserved)
	}
	in.engine.state.ReleaseAll(&in.deliveryClaims)
	in.PendingLeadDecision, in.req, in.plan, in.live, in.timings = nil, nil, nil, nil, nil
	clear(in.contact.Fields)
	clear(in.plain)
	clear(in.key[:])
	in.accepted.resetKeepingMemory()
	in.auction.ResetKeepingMemory()
}

// releaseReservationsAfterPanic releases the reservations of a request that has panicked, because the process
// continues. Reservations that the log's committer owns are left to it. If a post may have been
// sent, the duplicate claims stay until the next start, which continues that delivery. The
// workspace does not return to the pool.
func (in *ingestOrPostWorkspace) releaseReservationsAfterPanic() {
	open := in.delivery != nil && in.delivery.HasIntent()
	if in.delivery != nil {
		in.endDeliveryAndWakeWaiters(in.delivery)
	}
	if !in.queued {
		in.engine.state.ReleaseAll(&in.reserved)
	}
	if !open {
		in.engine.state.ReleaseAll(&in.deliveryClaims)
	}
}

// runIngest executes the steps of an ingest in their order: idempotency, validation, encryption
// key, campaign rules, sale.
func (in *ingestOrPostWorkspace) runIngest() (IngestAnswer, error) {
	e := in.engine
	if len(in.req.Key) > 0 {
		answer, found, err := in.answerRepeatedIngestOrClaimKey()
		if found || err != nil {
			return answer, err
		}
	}
	if err := in.parseIngestRequest(); err != nil {
		return IngestAnswer{}, err
	}
	if err := in.takeEncryptionKey(); err != nil {
		return IngestAnswer{}, err
	}
	in.id = market.LeadID(e.newULID(in.now, &in.random))
	in.writeLeadAndCampaignIntoEvent()
	if in.accepted.bid != nil || in.accepted.forgotten {
		return in.sellToBuyerNamedBySupplier()
	}
	reason, err := in.checkRulesAndClaimDuplicates()
	if err != nil {
		return IngestAnswer{}, err
	}
	if reason != market.ReasonNone {
		return in.queueUnsoldDecision(reason)
	}
	return in.chooseBuyerAndSell()
}

// chooseBuyerAndSell chooses a buyer by the campaign's method and sells the lead. If no buyer can
// take it, the lead is committed as unsold.
func (in *ingestOrPostWorkspace) chooseBuyerAndSell() (IngestAnswer, error) {
	reason, err := in.chooseAndReserveBuyer()
	if err != nil {
		return IngestAnswer{}, err
	}
	if reason != market.ReasonNone {
		return in.queueUnsoldDecision(reason)
	}
	return in.sellToChosenBuyer()
}

// sellToChosenBuyer sells the lead to the chosen buyer, for which everything is reserved. A buyer with
// an endpoint gets a post; for the others the event alone records the sale.
func (in *ingestOrPostWorkspace) sellToChosenBuyer() (IngestAnswer, error) {
	in.record.Decided = in.now
	in.fillSaleFromChoice(&in.record.Sale)
	if in.chosenFilterSet().Buyer.Post != nil {
		return in.deliverAndAnswer()
	}
	in.candidates.Exclude(in.choice.filterSet, market.OutcomeWon)
	in.recordOutcomesAndBids()
	in.encryptContactAndBuyerPostIntoEvent(nil)
	if err := in.queueDecision(); err != nil {
		return IngestAnswer{}, err
	}
	return in.newAcceptedAnswer(), nil
}

// sellToBuyerNamedBySupplier sells the lead to the buyer that the supplier named in the request, at the bid
// of that buyer. If the bid was used or has expired, the lead is committed as unsold with
// ReasonBidExpired.
func (in *ingestOrPostWorkspace) sellToBuyerNamedBySupplier() (IngestAnswer, error) {
	code, reason, err := in.prepareSaleAtAcceptedBid()
	if errors.Is(err, errDeadline) {
		reason, err = market.ReasonTimeout, nil
	}
	switch {
	case err != nil:
		return IngestAnswer{}, err
	case code != "":
		reason = market.ReasonBidExpired
	}
	if reason != market.ReasonNone {
		return in.queueUnsoldDecision(reason)
	}
	return in.sellAtAcceptedBid()
}
