package public

import (
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/valyala/fasthttp"

	"pingpost/engine"
	"pingpost/engine/market"
	"pingpost/engine/market/escape"
	"pingpost/internal/fakedata"
	"pingpost/internal/strictjson"
	"pingpost/server/httperror"
	"pingpost/server/wire"
)

// The limits of runs: the time after which a run starts no lead, its concurrent leads, and
// concurrent runs.
const (
	runTime       = 20 * time.Second
	workersPerRun = 32
	maxRuns       = 4
)

// seedRequestRun is one run: it ingests the leads of a seed request into a campaign. Three limits
// bound it, because a sandbox may share its process with production exchanges. Leads that did not
// start are answered as unavailable.
//
// Each lead has an idempotency key that is derived from the request. So a repeated request gets
// the same answers, and continues with the leads that did not start.
type seedRequestRun struct {
	server   *Server
	engine   *engine.Engine
	supplier *market.Supplier
	order    *madeUpLeadsRequest
	leads    []fakedata.Lead
	results  []madeUpLeadResult
	until    int64 // Unix nanoseconds; no lead starts later

	next       atomic.Int64 // index of the next lead to start
	mu         sync.Mutex
	panicValue any // value of a panic in a worker
}

// madeUpLeadResult is the result of selling one made-up lead: the engine's answer or its error.
type madeUpLeadResult struct {
	answer engine.IngestAnswer
	err    error
}

// ingestLeadsInParallel ingests the made-up leads into the campaign, several at a time. If too many runs are
// in progress, or the first lead is rejected for a reason that concerns all of them, it answers
// the whole request with an error and returns false.
func (run *seedRequestRun) ingestLeadsInParallel(ctx *fasthttp.RequestCtx, id market.RequestID) (ok bool) {
	s := run.server
	if s.runs.Add(1) > maxRuns {
		s.runs.Add(-1)
		httperror.Write(ctx, id, errTooManyRuns)
		return false
	}
	defer s.runs.Add(-1)
	run.results = make([]madeUpLeadResult, len(run.leads))
	for i := range run.results {
		run.results[i].err = engine.ErrUnavailable
	}
	run.next.Store(1)
	run.ingestLead(0, new(strictjson.Object))
	if run.sendErrorIfForAllLeads(ctx, id, run.results[0].err) {
		return false
	}
	var sellers sync.WaitGroup
	for range workersPerRun {
		sellers.Go(run.runIngestWorker)
	}
	sellers.Wait()
	if run.panicValue != nil {
		panic(run.panicValue)
	}
	return true
}

// sendErrorIfForAllLeads answers with an error, and returns true, if err concerns all leads of the
// request: the campaign is unknown, the supplier may not use it, or the exchange accepts no leads.
func (run *seedRequestRun) sendErrorIfForAllLeads(ctx *fasthttp.RequestCtx, id market.RequestID, err error) (sent bool) {
	var refusal *engine.Refusal
	switch {
	case err == nil:
		return false
	case !errors.As(err, &refusal):
		httperror.WriteEngineErrorOrUnavailable(ctx, id, err)
		return true
	case refusal.Code == engine.Forbidden:
		httperror.Write(ctx, id, errSeedCampaign)
		return true
	}
	for _, field := range refusal.Fields {
		if field.Field == "flo_campaign_id" {
			field.Field = "campaign_id"
			httperror.Write(ctx, id, httperror.InvalidPayload, field)
			return true
		}
	}
	return false
}

// runIngestWorker ingests the next leads, one after the other, until all have started, the time is
// over or the server shuts down. It runs in several goroutines. It stores a panic for the
// request's goroutine, which answers it.
func (run *seedRequestRun) runIngestWorker() {
	defer func() {
		if cause := recover(); cause != nil {
			run.mu.Lock()
			run.panicValue = cause
			run.mu.Unlock()
		}
	}()
	var object strictjson.Object
	for run.server.clock.Now() < run.until && !run.server.draining.Load() {
		i := int(run.next.Add(1) - 1)
		if i >= len(run.leads) {
			return
		}
		run.ingestLead(i, &object)
	}
}

// ingestLead sends the lead with the index leadIndex to the engine, as if the supplier had ingested it.
// object is memory for parsing that the caller reuses.
func (run *seedRequestRun) ingestLead(leadIndex int, object *strictjson.Object) {
	s, order := run.server, run.order
	body := run.leads[leadIndex].AppendIngest(make([]byte, 0, seededLead), order.campaign, string(run.supplier.ID))
	if err := object.Parse(body); err != nil {
		panic("BUG: a made-up lead is not a valid JSON object: " + err.Error())
	}
	result := &run.results[leadIndex]
	result.answer, result.err = run.engine.Ingest(&engine.IngestRequest{
		Supplier: run.supplier, Members: object.Members(), Body: body, Key: order.leadIdempotencyKey(leadIndex),
		Request: s.newRequestID(), Received: s.clock.Now(),
	})
}

// leadIdempotencyKey returns the key under which the lead with the index leadIndex is ingested. It
// contains spaces, so that it differs from every key in a header. It does not depend on the count,
// so that a longer request continues a shorter one.
func (o *madeUpLeadsRequest) leadIdempotencyKey(leadIndex int) []byte {
	return fmt.Appendf(nil, "seed %s %s %d %d %s", o.campaign, o.State, o.Seed, leadIndex, o.Vertical)
}

// appendJSON appends the result as JSON, in the form of the answer to an ingest.
func (r *madeUpLeadResult) appendJSON(body []byte) []byte {
	if r.err != nil {
		return r.appendErrorJSON(body)
	}
	a := &r.answer
	body = a.Lead.AppendAsText(append(body, `{"id":"`...))
	if !a.Accepted {
		body = append(append(body, `","status":"UNMATCHED","buyer_id":null,"reason":"`...), a.Reason.String()...)
		return append(body, `"}`...)
	}
	body = escape.AppendJSONString(append(body, `","status":"ACCEPTED","buyer_id":`...), []byte(a.Buyer))
	body = wire.AppendPriceMembers(append(body, `,"price":{`...), a.Payout, a.Currency)
	return append(body, "}}"...)
}

func (r *madeUpLeadResult) appendErrorJSON(body []byte) []byte {
	var refusal *engine.Refusal
	if !errors.As(r.err, &refusal) {
		return append(append(append(body, `{"error":"`...), httperror.Unavailable.Code...), `"}`...)
	}
	body = escape.AppendJSONString(append(body, `{"error":`...), []byte(refusal.Code))
	if len(refusal.Fields) > 0 {
		body = httperror.AppendFieldErrorsAndBracket(append(body, `,"field_errors":[`...), refusal.Fields)
	}
	return append(body, '}')
}
