package server

import (
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/valyala/fasthttp"

	"pingpost/engine"
	"pingpost/engine/market"
	"pingpost/server/seed"
	"pingpost/server/strictjson"
)

// A run is one request's leads on their way through a campaign. It is bounded in
// three ways, since a sandbox may share its process with an exchange in earnest:
// so many leads of a run are under way at once, so many runs, and none begins a
// lead after its time. What was not begun is answered as unavailable.
//
// Each lead has an idempotency key that follows from the request. So the same
// request again hears the same answers, and goes on with what was not begun.
const (
	seedTime     = 20 * time.Second
	seedersOfRun = 32
	mostRuns     = 4
)

type seedRun struct {
	server   *Server
	supplier *market.Supplier
	order    *seedOrder
	leads    []seed.Lead
	results  []seedResult
	until    int64 // Unix nanoseconds; no lead is begun after

	next   atomic.Int64 // lead that nobody has begun
	mu     sync.Mutex
	broken any // what a seller panicked with
}

// seedResult is what became of a lead.
type seedResult struct {
	answer engine.Answer
	err    error
}

// sell sends the leads through the campaign. False: the whole request was refused
// instead, for what its first lead was refused for that has to do with no lead.
func (run *seedRun) sell(ctx *fasthttp.RequestCtx, id market.RequestID) bool {
	s := run.server
	if s.runs.Add(1) > mostRuns {
		s.runs.Add(-1)
		fail(ctx, id, faultRuns)
		return false
	}
	defer s.runs.Add(-1)
	run.results = make([]seedResult, len(run.leads))
	for i := range run.results {
		run.results[i].err = engine.ErrUnavailable
	}
	run.next.Store(1)
	run.sellOne(0, new(strictjson.Object))
	if run.refused(ctx, id, run.results[0].err) {
		return false
	}
	var sellers sync.WaitGroup
	for range seedersOfRun {
		sellers.Go(run.sellMany)
	}
	sellers.Wait()
	if run.broken != nil {
		panic(run.broken)
	}
	return true
}

// refused answers the request where its campaign takes no leads of this supplier,
// or the exchange takes none.
func (run *seedRun) refused(ctx *fasthttp.RequestCtx, id market.RequestID, err error) bool {
	var refusal *engine.Refusal
	switch {
	case err == nil:
		return false
	case !errors.As(err, &refusal):
		failWith(ctx, id, err)
		return true
	case refusal.Code == engine.Forbidden:
		fail(ctx, id, faultSeedCampaign)
		return true
	}
	for _, field := range refusal.Fields {
		if field.Field == "flo_campaign_id" {
			field.Field = "campaign_id"
			fail(ctx, id, faultPayload, field)
			return true
		}
	}
	return false
}

// sellMany sells leads that nobody has begun, one after another. A panic in it is
// handed to the request's own goroutine, which answers for it.
func (run *seedRun) sellMany() {
	defer func() {
		if cause := recover(); cause != nil {
			run.mu.Lock()
			run.broken = cause
			run.mu.Unlock()
		}
	}()
	var object strictjson.Object
	for run.server.clock.Now() < run.until && !run.server.draining.Load() {
		i := int(run.next.Add(1) - 1)
		if i >= len(run.leads) {
			return
		}
		run.sellOne(i, &object)
	}
}

// sellOne sells a lead as an ingest of the supplier's would.
func (run *seedRun) sellOne(i int, object *strictjson.Object) {
	s, order := run.server, run.order
	body := run.leads[i].AppendIngest(make([]byte, 0, seededLead), order.campaign, string(run.supplier.ID))
	if err := object.Parse(body); err != nil {
		panic("BUG: a lead was made that is no JSON object: " + err.Error())
	}
	result := &run.results[i]
	result.answer, result.err = s.engine.Ingest(&engine.IngestRequest{
		Supplier: run.supplier, Members: object.Members(), Body: body, Key: order.key(i),
		Request: s.engine.NewRequestID(), Received: s.clock.Now(),
	})
}

// key is the idempotency key of a lead. It has spaces, which no key that comes in
// a header has. The count is not in it: a longer run goes on where a shorter one
// ended.
func (o *seedOrder) key(i int) []byte {
	return fmt.Appendf(nil, "seed %s %s %d %d %s", o.campaign, o.State, o.Seed, i, o.Vertical)
}

// appendTo writes a result: an ingest's data, or its error.
func (r *seedResult) appendTo(body []byte) []byte {
	if r.err != nil {
		return r.appendError(body)
	}
	a := &r.answer
	body = a.Lead.AppendTo(append(body, `{"id":"`...))
	if !a.Accepted {
		body = append(append(body, `","status":"UNMATCHED","buyer_id":null,"reason":"`...), a.Reason.String()...)
		return append(body, `"}`...)
	}
	body = market.AppendJSONString(append(body, `","status":"ACCEPTED","buyer_id":`...), []byte(a.Buyer))
	body = appendPrice(append(body, `,"price":{`...), a.Payout, a.Currency)
	return append(body, "}}"...)
}

func (r *seedResult) appendError(body []byte) []byte {
	var refusal *engine.Refusal
	if !errors.As(r.err, &refusal) {
		return append(append(append(body, `{"error":"`...), faultUnavailable.code...), `"}`...)
	}
	body = market.AppendJSONString(append(body, `{"error":`...), []byte(refusal.Code))
	if len(refusal.Fields) > 0 {
		body = appendFields(append(body, `,"field_errors":[`...), refusal.Fields)
	}
	return append(body, '}')
}
