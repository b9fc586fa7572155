package engine

import (
	"fmt"
	"slices"

	"pingpost/api/errcode"
	"pingpost/engine/event"
	"pingpost/engine/keyedmutex"
	"pingpost/engine/market"
	"pingpost/engine/state"
	"pingpost/engine/timing"
)

// ReceivedStatusReport is a buyer's report on one lead, as it arrived. A member that is missing in the
// request is the zero JSONMember.
type ReceivedStatusReport struct {
	Lead      market.JSONMember // lead_id, in a request with many reports
	Status    market.JSONMember
	Reason    market.JSONMember
	Occurred  market.JSONMember // occurred_at
	NotObject bool              // the report is not a JSON object
}

// StatusReportRequest is a buyer's request that reports the status of one or many leads, for example
// contacted or returned. The engine reads the memory of its fields until the call returns.
type StatusReportRequest struct {
	Buyer    *market.Buyer // the owner of the token
	Lead     market.LeadID // from the path of a request with a single report
	Reports  []ReceivedStatusReport
	Faults   []market.FieldError // outside the reports, or why the list of reports is unreadable
	Body     []byte              // the body's bytes, for the idempotency key's fingerprint
	Key      []byte              // Idempotency-Key; empty: none
	BadKey   bool                // the Idempotency-Key header is malformed
	Request  market.RequestID
	Received int64           // Unix nanoseconds
	Timings  *timing.Timings // accumulates the time that the call waits; nil: not measured
}

// MaxStatusReports limits the reports in one request to ProcessStatusReports.
const MaxStatusReports = 1000

// statusRequestInProgress has the state of one status request until its answer: the locks, the
// reservations, the parsed reports and the event. It belongs to one goroutine and is not pooled.
//
// Invariant: changes of a lead's status are decided one after another. So a request locks the
// lead before it reads the lead's state, and unlocks it after the event is applied. If the
// campaign limits the returns of a month, the request locks that month too, after all leads. Of
// two concurrent returns, only the first one then gives the money back, and the second one sees
// its result.
type statusRequestInProgress struct {
	commonRequestFields
	req       *StatusReportRequest
	plan      *compiledCatalog
	endpoint  byte
	reserved  state.RequestReservations
	committed bool                         // the committer owns the reservations
	leads     []market.LeadID              // locked
	months    []campaignBuyerMonth         // locked
	returns   map[campaignBuyerMonth]int64 // returns that this request adds
	reports   []parsedBuyerReport
	record    event.LeadStatusChangesDecided
}

// ProcessSingleStatusReport processes a buyer's report on one lead: POST /v1/leads/{id}/status. It returns
// when the change is durable. Errors are a *Refusal, ErrUnavailable, or the log's failure. A
// refusal (not_found, invalid_payload, invalid_transition, idempotency_key_reused) logs no event
// and leaves the idempotency key unused.
func (e *Engine) ProcessSingleStatusReport(req *StatusReportRequest) (StatusReportAnswer, error) {
	r, err := e.newStatusRequestIfEngineAvailable(req, endpointStatus)
	if err != nil {
		return StatusReportAnswer{}, err
	}
	defer r.unlockAndReleaseReservations()
	if answer, found, err := r.answerRepeatedStatusOrClaimKey(); found || err != nil {
		return answer, err
	}
	lead, ok, err := r.findLeadOfBuyer(req.Lead)
	if err != nil {
		return StatusReportAnswer{}, err
	}
	if !ok {
		return StatusReportAnswer{}, &Refusal{Code: NotFound}
	}
	single := r.parseStatusReasonAndTime(&req.Reports[0])
	single.lead = req.Lead
	r.rejectUnlistedReturnReason(&single, &lead)
	if fields := slices.Concat(r.idempotencyKeyFaults(), req.Faults, fieldErrorsOf(single.objections, single.reasons)); len(fields) > 0 {
		return StatusReportAnswer{}, &Refusal{Code: InvalidPayload, Fields: fields}
	}
	r.reports = append(r.reports, single)
	if err := r.lockAndDecideReports(); err != nil {
		return StatusReportAnswer{}, err
	}
	if err := refusalIfRejected(&r.record.Changes[0]); err != nil {
		return StatusReportAnswer{}, err
	}
	return r.commitReports()
}

// ProcessStatusReports processes a buyer's reports on many leads: POST /v1/leads/status. Each report
// has its own result, and a rejected report does not affect the others. The event has all
// results, even if every report is rejected. An error concerns the whole request: a *Refusal,
// ErrUnavailable, or the log's failure.
func (e *Engine) ProcessStatusReports(req *StatusReportRequest) (StatusReportAnswer, error) {
	r, err := e.newStatusRequestIfEngineAvailable(req, endpointStatuses)
	if err != nil {
		return StatusReportAnswer{}, err
	}
	defer r.unlockAndReleaseReservations()
	if answer, found, err := r.answerRepeatedStatusOrClaimKey(); found || err != nil {
		return answer, err
	}
	fields := append(r.idempotencyKeyFaults(), req.Faults...)
	if n := len(req.Reports); len(req.Faults) == 0 && (n == 0 || n > MaxStatusReports) {
		fields = append(fields, market.FieldError{Field: "changes", Code: errcode.FieldOutOfRange, Expected: fmt.Sprintf("1 to %d reports", MaxStatusReports)})
	}
	if len(fields) > 0 {
		return StatusReportAnswer{}, &Refusal{Code: InvalidPayload, Fields: fields}
	}
	if err := r.parseReports(); err != nil {
		return StatusReportAnswer{}, err
	}
	if err := r.lockAndDecideReports(); err != nil {
		return StatusReportAnswer{}, err
	}
	return r.commitReports()
}

func (e *Engine) newStatusRequestIfEngineAvailable(req *StatusReportRequest, idempotencyEndpointNumber byte) (*statusRequestInProgress, error) {
	if err := e.rejectIfStoppedOrAtLimit(); err != nil {
		return nil, err
	}
	p := e.plan.Load()
	if p == nil {
		return nil, ErrUnavailable
	}
	return &statusRequestInProgress{
		commonRequestFields: commonRequestFields{engine: e, now: req.Received, received: req.Received, timings: req.Timings},
		req:                 req, plan: p, endpoint: idempotencyEndpointNumber,
	}, nil
}

func (r *statusRequestInProgress) unlockAndReleaseReservations() {
	r.engine.changing.UnlockAndEmpty(&r.leads)
	r.engine.returning.UnlockAndEmpty(&r.months)
	if !r.committed {
		r.engine.state.ReleaseAll(&r.reserved)
	}
}

// answerRepeatedStatusOrClaimKey returns the answer of the first status request with this
// idempotency key, if there was one. Otherwise isRepeat is false, and the key is claimed for this
// request.
func (r *statusRequestInProgress) answerRepeatedStatusOrClaimKey() (answer StatusReportAnswer, isRepeat bool, err error) {
	if len(r.req.Key) == 0 || r.req.BadKey {
		return answer, false, nil
	}
	e, content := r.engine, r.req.Body
	if r.endpoint == endpointStatus {
		content = append(r.req.Lead[:], content...)
	}
	var use event.RequestIdempotencyKey
	use.Key, use.Fingerprint, _ = e.hashIdempotencyKey(nil, r.endpoint, r.req.Buyer.Ref, r.req.Key, content, false)
	first, err := r.claimKeyOrFindEarlierUse(&r.reserved, &use)
	if err != nil {
		return answer, false, err
	}
	if first.IsUsed() {
		answer, err = r.answerOfFirstRequest(first.Seq)
		return answer, true, err
	}
	use.ExpiresAt = r.now + int64(e.opt.Idempotency)
	r.record.Idempotency = use
	return answer, false, nil
}

// findLeadOfBuyer returns the lead with this id. isBuyersLead is true if the request's buyer bought
// it, or its delivery to that buyer is in progress or has failed after the supplier's answer. The error is
// ErrUnavailable.
func (r *statusRequestInProgress) findLeadOfBuyer(id market.LeadID) (lead state.Lead, isBuyersLead bool, err error) {
	lead, ok, err := r.engine.findLead(id)
	return lead, ok && lead.Buyer != 0 && lead.Buyer == r.req.Buyer.Ref, err
}

// lockAndDecideReports locks the reported leads, and the months whose returns are limited. Then it
// decides each report and adds the change to the event. unlockAndReleaseReservations unlocks them.
func (r *statusRequestInProgress) lockAndDecideReports() error {
	for i := range r.reports {
		if rep := &r.reports[i]; len(rep.objections) == 0 && !rep.lead.IsZero() {
			r.leads = append(r.leads, rep.lead)
		}
	}
	if err := waitAndLockSorted(r, &r.engine.changing, &r.leads, compareLeadIDs); err != nil {
		return err
	}
	for i := range r.reports {
		m, limited, err := r.returnMonthToLock(&r.reports[i])
		if err != nil {
			return err
		}
		if limited {
			r.months = append(r.months, m)
		}
	}
	if err := waitAndLockSorted(r, &r.engine.returning, &r.months, compareMonths); err != nil {
		return err
	}
	r.record.Request, r.record.Buyer = r.req.Request, r.req.Buyer.Ref
	r.record.Changes = make([]event.DecidedLeadStatusChange, 0, len(r.reports))
	for i := range r.reports {
		change, err := r.decideReportOnLockedLead(&r.reports[i])
		if err != nil {
			return err
		}
		r.record.Changes = append(r.record.Changes, change)
		if reasons := r.reports[i].reasons; reasons != "" {
			r.record.Allowed = append(r.record.Allowed, reasons)
		}
	}
	return nil
}

// waitAndLockSorted locks the keys in sorted order, each once, and waits for keys that other requests
// have locked. The order is the same for all requests, so there is no deadlock. After an error,
// keys has only the locked ones, which the caller unlocks.
func waitAndLockSorted[K comparable](request *statusRequestInProgress, locks *keyedmutex.Mutex[K], keys *[]K, compareKeys func(a, b K) int) error {
	slices.SortFunc(*keys, compareKeys)
	all := slices.Compact(*keys)
	*keys = all[:0]
	for _, key := range all {
		for wait := locks.TryLock(key); wait != nil; wait = locks.TryLock(key) {
			if err := request.waitOrUnavailable(wait); err != nil {
				return err
			}
		}
		*keys = append(*keys, key)
	}
	return nil
}

// commitReports commits the event with all changes of the request, waits until it is applied, and
// returns the answer.
func (r *statusRequestInProgress) commitReports() (StatusReportAnswer, error) {
	r.record.At, r.committed = r.now, true
	clock := r.engine.opt.Clock
	began := clock.Now()
	err := r.engine.commit(&r.record, &r.reserved)
	r.timings.AddCommitTime(began, clock.Now())
	if err != nil {
		return StatusReportAnswer{}, err
	}
	return newStatusReportAnswer(&r.record, r.req), nil
}
