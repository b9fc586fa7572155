package engine

import (
	"fmt"
	"slices"

	"pingpost/api/errcode"
	"pingpost/engine/event"
	"pingpost/engine/market"
	"pingpost/engine/state"
)

// StatusReport is a buyer's word on one lead, as it arrived: the zero Member is
// one that is not there.
type StatusReport struct {
	Lead     market.Member // lead_id; of one among many
	Status   market.Member
	Reason   market.Member
	Occurred market.Member // occurred_at
	NoObject bool          // among many: it has no members at all
}

// StatusRequest is a report of what became of a lead after its sale, or of many.
// What it refers to must stay as it is until the call returns.
type StatusRequest struct {
	Buyer    *market.Buyer // whose token came with it
	Lead     market.LeadID // of a single report, from its path
	Reports  []StatusReport
	Faults   []market.FieldError // in the request beside its reports; of many: why they could not be read
	Body     []byte              // its very bytes, for the idempotency key's sake
	Key      []byte              // Idempotency-Key; empty: none
	BadKey   bool                // one came that is none
	Request  market.RequestID
	Received int64  // Unix nanoseconds
	Spent    *Spent // is added to until the call returns; nil: nobody asks
}

// MostReports is how many leads one request may report on.
const MostReports = 1000

// reporting is the work on one request. It belongs to one goroutine.
//
// What must always hold: a lead's status moves by facts that were decided one
// after the other, so the lead is taken (exclusive) from before it is looked at
// until the fact is applied; and where a campaign limits how much of a month may
// come back, that month is taken as well, after all leads. So of two returns at
// the same instant one gives the money back, and the other sees that it did.
type reporting struct {
	engine   *Engine
	req      *StatusRequest
	plan     *plan
	endpoint byte
	now      int64 // of the decision
	hold     state.Reservation
	handed   bool // the committer has the hold
	leads    []market.LeadID
	months   []month
	coming   map[month]int64 // returns that this request adds
	reports  []report
	fact     event.StatusChanged
}

// ReportStatus takes a buyer's report on one lead: POST /v1/leads/{id}/status. It
// returns once the change is durable. Errors are a *Refusal (not_found,
// invalid_payload, invalid_transition, idempotency_key_reused), which leaves no
// fact and uses up no key, ErrUnavailable, or the log's failure.
func (e *Engine) ReportStatus(req *StatusRequest) (StatusAnswer, error) {
	r, err := e.beginReport(req, endpointStatus)
	if err != nil {
		return StatusAnswer{}, err
	}
	defer r.end()
	if answer, found, err := r.claimKey(); found || err != nil {
		return answer, err
	}
	lead, ok := r.own(req.Lead)
	if !ok {
		return StatusAnswer{}, &Refusal{Code: NotFound}
	}
	single := r.read(&req.Reports[0])
	single.lead = req.Lead
	r.checkReason(&single, &lead)
	if fields := slices.Concat(r.keyFaults(), req.Faults, faultsOf(single.objections, single.reasons)); len(fields) > 0 {
		return StatusAnswer{}, &Refusal{Code: InvalidPayload, Fields: fields}
	}
	r.reports = append(r.reports, single)
	if err := r.decideAll(); err != nil {
		return StatusAnswer{}, err
	}
	if err := refusalOf(&r.fact.Changes[0]); err != nil {
		return StatusAnswer{}, err
	}
	return r.commit()
}

// ReportStatuses takes a buyer's reports on many leads: POST /v1/leads/status.
// Each comes to its own result; the fact has all of them, also where none was
// taken. Errors are those of ReportStatus that concern the request as a whole.
func (e *Engine) ReportStatuses(req *StatusRequest) (StatusAnswer, error) {
	r, err := e.beginReport(req, endpointStatuses)
	if err != nil {
		return StatusAnswer{}, err
	}
	defer r.end()
	if answer, found, err := r.claimKey(); found || err != nil {
		return answer, err
	}
	fields := append(r.keyFaults(), req.Faults...)
	if n := len(req.Reports); len(req.Faults) == 0 && (n == 0 || n > MostReports) {
		fields = append(fields, market.FieldError{Field: "changes", Code: errcode.FieldOutOfRange, Expected: fmt.Sprintf("1 to %d reports", MostReports)})
	}
	if len(fields) > 0 {
		return StatusAnswer{}, &Refusal{Code: InvalidPayload, Fields: fields}
	}
	r.readAll()
	if err := r.decideAll(); err != nil {
		return StatusAnswer{}, err
	}
	return r.commit()
}

func (e *Engine) beginReport(req *StatusRequest, endpoint byte) (*reporting, error) {
	if err := e.admit(); err != nil {
		return nil, err
	}
	p := e.plan.Load()
	if p == nil {
		return nil, ErrUnavailable
	}
	return &reporting{engine: e, req: req, plan: p, endpoint: endpoint, now: req.Received}, nil
}

func (r *reporting) end() {
	r.engine.changing.drop(&r.leads)
	r.engine.returning.drop(&r.months)
	if !r.handed {
		r.engine.state.Release(&r.hold)
	}
}

// claimKey looks the idempotency key up. Where it was used it returns the first
// answer, waiting for one that is under way; where it is new it is claimed.
func (r *reporting) claimKey() (answer StatusAnswer, found bool, err error) {
	if len(r.req.Key) == 0 || r.req.BadKey {
		return answer, false, nil
	}
	e, said := r.engine, r.req.Body
	if r.endpoint == endpointStatus {
		said = append(r.req.Lead[:], said...)
	}
	var use event.Idempotency
	use.Key, use.Print, _ = e.hashKey(nil, r.endpoint, r.req.Buyer.Ref, r.req.Key, said, false)
	for {
		keyed := e.state.ClaimKey(&r.hold, use.Key, use.Print, r.now)
		switch {
		case keyed.Wait != nil:
			if err := r.wait(keyed.Wait); err != nil {
				return answer, false, err
			}
		case !keyed.IsUsed():
			use.Until = r.now + int64(e.opt.Idempotency)
			r.fact.Idempotency = use
			return answer, false, nil
		case !keyed.SameBody:
			return answer, true, &Refusal{Code: KeyReused}
		default:
			answer, err = r.repeat(keyed.Seq)
			return answer, true, err
		}
	}
}

// own is a lead that the buyer bought, or is being sent.
func (r *reporting) own(id market.LeadID) (state.Lead, bool) {
	lead, ok := r.engine.state.Lead(id)
	return lead, ok && lead.Buyer != 0 && lead.Buyer == r.req.Buyer.Ref
}

// decideAll takes the leads and, where their returns are limited, the months, and
// decides each report into the fact.
func (r *reporting) decideAll() error {
	for i := range r.reports {
		if rep := &r.reports[i]; len(rep.objections) == 0 && !rep.lead.IsZero() {
			r.leads = append(r.leads, rep.lead)
		}
	}
	if err := takeAll(r, &r.engine.changing, &r.leads, compareLeads); err != nil {
		return err
	}
	for i := range r.reports {
		if m, limited := r.limitedMonth(&r.reports[i]); limited {
			r.months = append(r.months, m)
		}
	}
	if err := takeAll(r, &r.engine.returning, &r.months, compareMonths); err != nil {
		return err
	}
	r.fact.Request, r.fact.Buyer = r.req.Request, r.req.Buyer.Ref
	r.fact.Changes = make([]event.Change, 0, len(r.reports))
	for i := range r.reports {
		change, err := r.decide(&r.reports[i])
		if err != nil {
			return err
		}
		r.fact.Changes = append(r.fact.Changes, change)
		if reasons := r.reports[i].reasons; reasons != "" {
			r.fact.Allowed = append(r.fact.Allowed, reasons)
		}
	}
	return nil
}

// takeAll takes keys in their order, each once. What it could not take is not
// among them any more.
func takeAll[K comparable](r *reporting, from *exclusive[K], keys *[]K, order func(a, b K) int) error {
	slices.SortFunc(*keys, order)
	wanted := slices.Compact(*keys)
	*keys = wanted[:0]
	for _, key := range wanted {
		for wait := from.take(key); wait != nil; wait = from.take(key) {
			if err := r.wait(wait); err != nil {
				return err
			}
		}
		*keys = append(*keys, key)
	}
	return nil
}

// wait waits for another request, and sets the time anew. The error is
// ErrUnavailable: where that one's leads stand is not known in time.
func (r *reporting) wait(ended <-chan struct{}) error {
	if r.engine.await(ended, r.ceiling()) != nil {
		return ErrUnavailable
	}
	r.now = max(r.now, r.engine.opt.Clock.Now())
	return nil
}

// ceiling is when the answer is due.
func (r *reporting) ceiling() int64 { return r.req.Received + int64(r.engine.opt.Ceiling) }

// commit makes the fact durable, and answers by it.
func (r *reporting) commit() (StatusAnswer, error) {
	r.fact.At, r.handed = r.now, true
	clock := r.engine.opt.Clock
	began := clock.Now()
	err := r.engine.commit(&r.fact, &r.hold)
	r.req.Spent.addLog(clock, began)
	if err != nil {
		return StatusAnswer{}, err
	}
	return statusAnswer(&r.fact, r.req), nil
}
