package engine

import (
	"pingpost/engine/event"
	"pingpost/engine/market"
	"pingpost/engine/route"
	"pingpost/engine/state"
)

// IngestRequest is a lead as it arrived. What it refers to must stay as it is
// until Ingest returns.
type IngestRequest struct {
	Supplier *market.Supplier // whose credential came with it
	Members  []market.Member  // of the body
	Body     []byte           // its very bytes, for the idempotency key's sake
	Key      []byte           // Idempotency-Key; empty: none
	BadKey   bool             // one came that is none
	Request  market.RequestID
	Received int64 // Unix nanoseconds
}

// ingest is the workspace of one call: kept in a pool, so that a lead in the
// ordinary way allocates next to nothing. It belongs to one goroutine.
type ingest struct {
	engine *Engine
	req    *IngestRequest
	plan   *plan
	open   *open
	id     market.LeadID
	now    int64 // of the decision

	lead       market.Lead
	faults     []market.FieldError
	candidates route.Candidates
	auction    auction // of a ping_post campaign
	bought     bought
	promise    promise
	picked     pick
	hold       state.Hold
	posting    state.Hold // the claims that outlive the commit, while a post is open
	fact       event.LeadDecided
	contact    event.Contact
	body       []byte
	dupKeys    []market.DupKey
	probes     []uint64
	members    []int32 // seats of the set that takes turns
	weights    []int32
	listed     func(*market.List) bool // in.onList, made once
	back       []event.Charge          // what the refused intent holds, while the next buyer is sought
	random     [10]byte
	answer     Answer // while it is noted
}

// Ingest takes a lead: checks it, finds a buyer and delivers it. It returns
// once the decision is durable, at the latest at the ceiling. Errors are a
// *Refusal, ErrUnavailable, or the log's failure; none of them leaves a lead.
func (e *Engine) Ingest(req *IngestRequest) (Answer, error) {
	if err := e.admit(); err != nil {
		return Answer{}, err
	}
	p := e.plan.Load()
	if p == nil {
		return Answer{}, ErrUnavailable
	}
	in := e.rooms.Get().(*ingest)
	in.begin(e, req, p)
	answer, err := in.run()
	in.end()
	e.rooms.Put(in)
	return answer, err
}

func (in *ingest) begin(e *Engine, req *IngestRequest, p *plan) {
	in.engine, in.req, in.plan, in.open = e, req, p, nil
	in.now = req.Received
	in.fact.Reset()
	in.candidates.Forget()
	in.auction.reset()
	in.promise.reset()
	in.bought = bought{}
	in.faults, in.back = in.faults[:0], nil
	if in.listed == nil {
		in.listed = in.onList
	}
}

func (in *ingest) end() {
	in.engine.state.Release(&in.hold)
	in.engine.state.Release(&in.posting)
	in.req, in.plan, in.open = nil, nil, nil
	clear(in.fact.Fields)
	clear(in.contact.Fields)
	clear(in.fact.Auction.Bids)
	in.promise.reset()
	in.auction.reset()
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
	in.id = market.LeadID(e.newID(in.now, &in.random))
	in.describe()
	if in.promise.bid != nil {
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
	in.fact.Keep = in.now + int64(e.opt.Keep)
	in.recordFields()
}

// inbound applies what the campaign takes at all.
func (in *ingest) inbound() (market.Reason, error) {
	campaign := in.open.Campaign
	for i := range campaign.Filters {
		if !campaign.Filters[i].Pass(&in.lead) {
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
	if err := in.commit(); err != nil {
		return Answer{}, err
	}
	return in.answered(Answer{Reason: reason}), nil
}

// commit logs the fact; every reservation goes with it.
func (in *ingest) commit() error { return in.engine.commit(&in.fact, &in.hold) }

// answered completes an answer and notes it.
func (in *ingest) answered(answer Answer) Answer {
	answer.Lead, answer.Request = in.id, in.req.Request
	answer.Campaign = string(in.open.Campaign.ID)
	in.answer = answer
	in.engine.opt.Note.Decided(in.open.Campaign, in.req.Supplier, &in.answer)
	return answer
}
