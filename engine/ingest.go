package engine

import (
	"pingpost/engine/event"
	"pingpost/engine/market"
	"pingpost/engine/selection"
	"pingpost/engine/state"
)

// IngestRequest is a lead as it arrived. What it refers to must stay as it is
// until Ingest returns.
type IngestRequest struct {
	Supplier *market.Supplier    // whose credential came with it
	Members  []market.Member     // of the body
	Body     []byte              // its very bytes, for the idempotency key's sake
	Key      []byte              // Idempotency-Key; empty: none
	BadKey   bool                // one came that is none
	Test     bool                // it says that it is a test lead
	BadTest  bool                // what it says of that is neither yes nor no
	Faults   []market.FieldError // in the request beside its body; reported with the body's
	Request  market.RequestID
	Received int64  // Unix nanoseconds
	Spent    *Spent // is added to until the call returns; nil: nobody asks
}

// ingest is the workspace of one call: kept in a pool, so that a lead in the
// ordinary way allocates next to nothing. It belongs to one goroutine.
type ingest struct {
	*Decision // what is being decided
	engine    *Engine
	req       *IngestRequest
	plan      *plan
	test      bool // it is a test lead
	open      *open
	id        market.LeadID
	now       int64 // of the decision

	lead       market.Lead
	faults     []market.FieldError
	candidates selection.Candidates
	auction    auction // of a ping_post campaign
	bought     bought
	promise    promise
	picked     pick
	courier    *courier          // at work for the lead, as long as this call runs it
	posting    state.Reservation // the claims that outlive the commit, while a post is open
	fields     []event.Field     // memory for the fact's lists, between two facts
	steps      []event.Step
	bids       []event.Bid
	sealed     []byte
	contact    event.Contact
	plain      []byte // contact, before it is sealed
	slot       uint64 // of key
	key        [32]byte
	person     Person
	body       []byte
	dupKeys    []market.DupKey
	probes     []uint64
	members    []int32 // seats of the set that takes turns
	weights    []int32
	listed     func(*market.List) bool // in.onList, made once
	back       []event.Charge          // what the refused intent holds, while the next buyer is sought
	random     [10]byte
}

// Ingest takes a lead: checks it, finds a buyer and delivers it. It returns
// once the decision is durable, at the latest at the ceiling. Errors are a
// *Refusal, ErrUnavailable, or the log's failure; none of them leaves a lead.
func (e *Engine) Ingest(req *IngestRequest) (Answer, error) {
	decision, err := e.Decide(req)
	if err != nil {
		return Answer{}, err
	}
	return decision.Wait()
}

// Decide is Ingest up to where a lead that is recorded, or not sold, waits for
// the log and for nothing else. The request is the caller's again; errors are
// those of Ingest.
func (e *Engine) Decide(req *IngestRequest) (*Decision, error) {
	if err := e.admit(); err != nil {
		return nil, err
	}
	p := e.plan.Load()
	if p == nil {
		return nil, ErrUnavailable
	}
	in := e.rooms.Get().(*ingest)
	d := e.decisions.Get().(*Decision)
	over := false
	defer func() {
		if !over {
			in.collapse()
		}
	}()
	in.begin(e, req, p, d)
	answer, err := in.run()
	d.answer = answer
	in.end()
	over = true
	e.rooms.Put(in)
	if err != nil {
		e.decisions.Put(d)
		return nil, err
	}
	return d, nil
}

func (in *ingest) begin(e *Engine, req *IngestRequest, p *plan, d *Decision) {
	in.engine, in.req, in.plan, in.open = e, req, p, nil
	in.test = req.Test || req.Supplier.Test
	in.Decision, d.queued = d, false
	in.now = req.Received
	in.fact.Reset()
	in.lendLists()
	in.candidates.ClearOutcomes()
	in.auction.reset()
	in.promise.reset()
	in.bought = bought{}
	in.faults, in.back, in.courier = in.faults[:0], nil, nil
	if in.listed == nil {
		in.listed = in.onList
	}
}

func (in *ingest) end() {
	in.auction.outcomes()
	if !in.queued {
		in.takeLists()
		in.engine.state.Release(&in.hold)
	}
	in.engine.state.Release(&in.posting)
	in.Decision, in.req, in.plan, in.open = nil, nil, nil, nil
	clear(in.contact.Fields)
	clear(in.plain)
	clear(in.key[:])
	in.promise.reset()
	in.auction.reset()
}

// collapse ends what a call that has panicked holds, unless the committer has it:
// the process goes on, and nobody else would. An intent that it leaves open is for
// the next start. Its buyer may have the lead, so the values of its duplicates stay
// claimed until then. The workspace is used no more.
func (in *ingest) collapse() {
	open := in.courier != nil && in.courier.post != nil
	if in.courier != nil {
		in.dismiss(in.courier)
	}
	if !in.queued {
		in.engine.state.Release(&in.hold)
	}
	if !open {
		in.engine.state.Release(&in.posting)
	}
}

func (in *ingest) run() (Answer, error) {
	e := in.engine
	if len(in.req.Key) > 0 {
		answer, found, err := in.claimKey()
		if found || err != nil {
			return answer, err
		}
	}
	if err := in.check(); err != nil {
		return Answer{}, err
	}
	if err := in.takeKey(); err != nil {
		return Answer{}, err
	}
	in.id = market.LeadID(e.newID(in.now, &in.random))
	in.describe()
	if in.promise.bid != nil || in.promise.gone {
		return in.takeUp()
	}
	reason, err := in.inbound()
	if err != nil {
		return Answer{}, err
	}
	if reason != market.ReasonNone {
		return in.unmatched(reason)
	}
	return in.distribute()
}

// describe begins the fact.
func (in *ingest) describe() {
	e, campaign := in.engine, in.open.Campaign
	in.fact.Lead, in.fact.Request = in.id, in.req.Request
	in.fact.Campaign, in.fact.Supplier = campaign.Ref, in.req.Supplier.Ref
	in.fact.Catalog = in.plan.catalog.Version
	in.fact.Keep = in.now + int64(max(e.opt.Keep, campaign.Returns.Window))
	in.fact.Sale.Test = in.open.test
	in.recordFields()
	in.req.Spent.trace().about(in.id, campaign)
}

// inbound applies what the campaign takes at all.
func (in *ingest) inbound() (market.Reason, error) {
	campaign := in.open.Campaign
	for i := range campaign.Filters {
		if !campaign.Filters[i].Passes(&in.lead) {
			return market.ReasonFiltered, nil
		}
	}
	for _, list := range campaign.Suppression {
		if in.onList(list) {
			return market.ReasonSuppressed, nil
		}
	}
	rule := &campaign.Duplicates
	if rule.Window == 0 || rule.PerBuyer {
		return market.ReasonNone, nil
	}
	return in.claimDups(uint64(campaign.Ref) << 32)
}

func (in *ingest) onList(list *market.List) bool {
	table := in.plan.tables[list.Ref]
	if table == nil {
		return false
	}
	in.probes = list.Probes(&in.lead, &in.engine.opt.Secret, in.probes[:0])
	for _, probe := range in.probes {
		if table.Has(probe) {
			return true
		}
	}
	return false
}

// unmatched logs a lead that was not sold.
func (in *ingest) unmatched(reason market.Reason) (Answer, error) {
	in.fact.Reason = reason
	in.fact.Decided = in.now
	in.trail()
	in.seal(nil)
	if err := in.queue(); err != nil {
		return Answer{}, err
	}
	return in.answered(Answer{Reason: reason}), nil
}

// commit logs the fact; every reservation goes with it.
func (in *ingest) commit() error {
	clock := in.engine.opt.Clock
	began := clock.Now()
	err := in.engine.commit(&in.fact, &in.hold)
	in.req.Spent.addLog(clock, began)
	return err
}

// answered completes an answer.
func (in *ingest) answered(answer Answer) Answer {
	in.campaign, in.supplier = in.open.Campaign, in.req.Supplier
	answer.Lead, answer.Request = in.id, in.req.Request
	answer.Campaign, answer.Test = string(in.open.Campaign.ID), in.open.test
	return answer
}
