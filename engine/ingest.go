package engine

import (
	"pingpost/engine/auction"
	"pingpost/engine/event"
	"pingpost/engine/market"
	"pingpost/engine/selection"
	"pingpost/engine/state"
)

// IngestRequest is a lead as it arrived. The engine reads its memory until Ingest or
// Decide returns.
type IngestRequest struct {
	Supplier *market.Supplier    // the owner of the credential
	Members  []market.Member     // of the body
	Body     []byte              // the body's bytes, for the idempotency key's fingerprint
	Key      []byte              // Idempotency-Key; empty: none
	BadKey   bool                // the Idempotency-Key header is malformed
	Test     bool                // the request asks for a test lead
	BadTest  bool                // the X-Pingpost-Test header is malformed
	Faults   []market.FieldError // of the request outside its body; reported with the body's
	Request  market.RequestID
	Received int64    // Unix nanoseconds
	Timings  *Timings // accumulates the time that the call waits; nil: not measured
}

// ingest is the workspace of one ingest or post. A pool keeps it, so that an ordinary
// lead allocates almost no memory. It belongs to one goroutine.
type ingest struct {
	call
	*Decision // the result in progress

	// The request.
	req    *IngestRequest
	plan   *plan
	test   bool // the lead is a test lead
	live   *liveCampaign
	lead   market.Lead
	faults []market.FieldError
	inList func(*market.SuppressionList) bool // isListed, bound once

	// The sale.
	id             market.LeadID
	candidates     selection.Candidates
	auction        auction.Auction // of a ping_post campaign
	accepted       acceptedBid
	choice         choice
	bid            bidReference      // of the choice
	refusedCharges []event.CapCharge // of the refused post, while the next buyer is chosen

	// The delivery.
	delivery       *delivery         // runs the post, while this call waits for it
	deliveryClaims state.Reservation // claims that outlive the commit while a post is open
	body           []byte            // of the post

	// The contact part of the event: what is encrypted, and with which key.
	contact event.ContactPart
	plain   []byte // encoded contact
	keySlot uint64 // of key
	key     [32]byte
	person  Person

	// Memory for lists. The first four are the event's between lendLists and takeBackLists.
	fields        []event.Field
	steps         []event.OutcomeFilterSets
	bids          []event.Bid
	sealed        []byte
	duplicateKeys []market.DuplicateKey
	listProbes    []uint64
	turnMembers   []int32 // filter sets that share a turn
	turnWeights   []int32
	random        [10]byte
}

// Ingest validates a lead, sells it and delivers it. It returns when the decision is
// durable, at the latest at the deadline. Errors are a *Refusal, ErrUnavailable, or the
// log's failure; after an error there is no lead.
func (e *Engine) Ingest(req *IngestRequest) (Answer, error) {
	decision, err := e.Decide(req)
	if err != nil {
		return Answer{}, err
	}
	return decision.Wait()
}

// Decide is Ingest up to the moment at which the engine no longer reads the request. The
// caller may then reuse the request's memory, and calls Decision.Wait for the answer.
//
// For a recorded or unsold lead that moment is before the log's write. A lead with a post
// needs its request until its answer is due, because after a refusal the engine encodes
// the next buyer's body. Decide then returns a Decision whose Wait does not block.
// Rejected: a copy of the request, which would cost each post an allocation to save
// memory that few posts need.
//
// Errors are those of Ingest.
func (e *Engine) Decide(req *IngestRequest) (*Decision, error) {
	if err := e.admit(); err != nil {
		return nil, err
	}
	p := e.plan.Load()
	if p == nil {
		return nil, ErrUnavailable
	}
	in := e.workspaces.Get().(*ingest)
	d := e.decisions.Get().(*Decision)
	returned := false
	defer func() {
		if !returned {
			in.releaseAfterPanic()
		}
	}()
	in.begin(e, req, p, d)
	answer, err := in.run()
	d.answer = answer
	in.end()
	returned = true
	e.workspaces.Put(in)
	if err != nil {
		e.decisions.Put(d)
		return nil, err
	}
	return d, nil
}

func (in *ingest) begin(e *Engine, req *IngestRequest, p *plan, d *Decision) {
	in.call = call{engine: e, now: req.Received, received: req.Received, timings: req.Timings}
	in.req, in.plan, in.live = req, p, nil
	in.test = req.Test || req.Supplier.Test
	in.Decision, d.queued = d, false
	in.record.ResetKeepingCapacity()
	in.lendLists()
	in.candidates.ClearOutcomes()
	in.auction.ResetKeepingCapacity()
	in.accepted.reset()
	in.bid = bidReference{}
	in.faults, in.refusedCharges, in.delivery = in.faults[:0], nil, nil
	if in.inList == nil {
		in.inList = in.isListed
	}
}

func (in *ingest) end() {
	in.timings.trace().setPingOutcomes(&in.auction)
	if !in.queued {
		in.takeBackLists()
		in.engine.state.ReleaseAll(&in.reserved)
	}
	in.engine.state.ReleaseAll(&in.deliveryClaims)
	in.Decision, in.req, in.plan, in.live, in.timings = nil, nil, nil, nil, nil
	clear(in.contact.Fields)
	clear(in.plain)
	clear(in.key[:])
	in.accepted.reset()
	in.auction.ResetKeepingCapacity()
}

// releaseAfterPanic releases the reservations of a call that has panicked, unless the
// committer owns them, because the process continues. An open intent is left to the next
// start: its buyer may have the lead, so the duplicate claims stay until then. The
// workspace does not return to the pool.
func (in *ingest) releaseAfterPanic() {
	open := in.delivery != nil && in.delivery.post != nil
	if in.delivery != nil {
		in.closeDelivery(in.delivery)
	}
	if !in.queued {
		in.engine.state.ReleaseAll(&in.reserved)
	}
	if !open {
		in.engine.state.ReleaseAll(&in.deliveryClaims)
	}
}

// run executes the steps of an ingest in their order.
func (in *ingest) run() (Answer, error) {
	e := in.engine
	if len(in.req.Key) > 0 {
		answer, found, err := in.repeatIngest()
		if found || err != nil {
			return answer, err
		}
	}
	if err := in.check(); err != nil {
		return Answer{}, err
	}
	if err := in.takeLeadKey(); err != nil {
		return Answer{}, err
	}
	in.id = market.LeadID(e.newID(in.now, &in.random))
	in.beginRecord()
	if in.accepted.bid != nil || in.accepted.forgotten {
		return in.sellToChosenBuyer()
	}
	reason, err := in.checkCampaign()
	if err != nil {
		return Answer{}, err
	}
	if reason != market.ReasonNone {
		return in.recordUnsold(reason)
	}
	return in.distribute()
}

// beginRecord fills in the part of the event that does not depend on the sale.
func (in *ingest) beginRecord() {
	e, campaign := in.engine, in.live.Campaign
	in.record.Lead, in.record.Request = in.id, in.req.Request
	in.record.Campaign, in.record.Supplier = campaign.Ref, in.req.Supplier.Ref
	in.record.Catalog = in.plan.catalog.Version
	in.record.Keep = in.now + int64(max(e.opt.Keep, campaign.Returns.Window))
	in.record.Sale.Test = in.live.Test
	in.recordFields()
	in.timings.trace().setLead(in.id, campaign)
}

// checkCampaign applies the campaign's filters and suppression lists, and claims the
// lead's values against duplicates in the whole campaign.
func (in *ingest) checkCampaign() (market.Reason, error) {
	campaign := in.live.Campaign
	for i := range campaign.Filters {
		if !campaign.Filters[i].Accepts(&in.lead) {
			return market.ReasonFiltered, nil
		}
	}
	for _, list := range campaign.Suppression {
		if in.isListed(list) {
			return market.ReasonSuppressed, nil
		}
	}
	rule := &campaign.Duplicates
	if rule.Window == 0 || rule.PerBuyer {
		return market.ReasonNone, nil
	}
	return in.claimDuplicates(uint64(campaign.Ref) << 32)
}

// isListed reports whether a suppression list has one of the lead's values.
func (in *ingest) isListed(list *market.SuppressionList) bool {
	table := in.plan.tables[list.Ref]
	if table == nil {
		return false
	}
	in.listProbes = list.AppendLeadFingerprints(&in.lead, &in.engine.opt.Secret, in.listProbes[:0])
	for _, probe := range in.listProbes {
		if table.Has(probe) {
			return true
		}
	}
	return false
}

// recordUnsold starts the commit of a lead that no buyer gets.
func (in *ingest) recordUnsold(reason market.Reason) (Answer, error) {
	in.record.Reason = reason
	in.record.Decided = in.now
	in.recordTrail()
	in.seal(nil)
	if err := in.startCommit(); err != nil {
		return Answer{}, err
	}
	return in.completeAnswer(Answer{Reason: reason}), nil
}

// commit makes the event durable and applies it. The reservations are released with it.
func (in *ingest) commit() error {
	clock := in.engine.opt.Clock
	began := clock.Now()
	err := in.engine.commit(&in.record, &in.reserved)
	in.timings.addLog(clock, began)
	return err
}

// completeAnswer adds the identifiers to an answer, and gives the Decision the values for the observer.
func (in *ingest) completeAnswer(answer Answer) Answer {
	in.campaign, in.supplier = in.live.Campaign, in.req.Supplier
	answer.Lead, answer.Request = in.id, in.req.Request
	answer.Campaign, answer.Test = string(in.live.Campaign.ID), in.live.Test
	return answer
}
