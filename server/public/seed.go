package public

import (
	"strconv"
	"time"

	"github.com/valyala/fasthttp"

	"pingpost/api/errcode"
	"pingpost/engine/market"
	"pingpost/engine/market/escape"
	"pingpost/internal/fakedata"
	"pingpost/server/httperror"
	"pingpost/server/request"
)

var (
	errBuyersSeed     = httperror.New(403, errcode.Forbidden, "The token belongs to a buyer, and leads are made for suppliers. Use a supplier's token.")
	errSeedCampaign   = httperror.New(403, errcode.Forbidden, "This supplier may not send leads into this campaign. Name one of its own, or none.")
	errTooManyAnswers = httperror.New(429, errcode.RateLimited, "Too many answers of this path are still being sent. Read them, and send this request again after the time in Retry-After.").WithRetryAfter(time.Second)
	errTooManyRuns    = httperror.New(429, errcode.RateLimited, "Too many seed requests with a campaign are running. Send this request again after the time in Retry-After.").WithRetryAfter(time.Second)
)

// handleMadeUpLeadsRequest answers POST /v1/dev/seed in a sandbox with made-up leads for a supplier's tests.
// Any token of a supplier suffices. Equal requests give equal leads. If the request names a
// campaign, seedRequestRun also ingests the leads there, and the answer has the results.
func (s *Server) handleMadeUpLeadsRequest(ctx *fasthttp.RequestCtx, id market.RequestID, r *scratch, readErr httperror.Error) {
	received := s.clock.Now()
	supplier, ok := s.authenticateSupplierToken(ctx, id, r.engine, 0, errBuyersSeed)
	if !ok || !s.applyLimitsAndParseBody(ctx, id, r, readErr, &s.seedLimits, supplier, received) {
		return
	}
	order, faults := readMadeUpLeadsRequest(&r.object)
	if faults = append(faults, request.QueryParameterNameErrors(ctx)...); len(faults) > 0 {
		httperror.Write(ctx, id, httperror.InvalidPayload, faults...)
		return
	}
	if !s.seeds.acquireSlot(supplier.Ref) {
		httperror.Write(ctx, id, errTooManyAnswers)
		return
	}
	answer := &answerBodyHoldingSlot{release: func() { s.seeds.releaseSlot(supplier.Ref) }}
	sent := false
	defer func() {
		if !sent {
			answer.release()
		}
	}()
	leads := fakedata.MakeLeads(order.LeadSeriesOptions)
	var results []madeUpLeadResult
	if order.campaign != "" {
		run := &seedRequestRun{server: s, engine: r.engine, supplier: supplier, order: &order, leads: leads, until: received + int64(runTime)}
		if !run.ingestLeadsInParallel(ctx, id) {
			return
		}
		results = run.results
	}
	body := encodeSeedAnswer(&order, leads, results)
	answer.Reset(body)
	sendAnswer(ctx, fasthttp.StatusCreated, id, false, nil)
	ctx.SetBodyStream(answer, len(body))
	sent = true
}

// seededLead is the number of bytes that suffices for most made-up leads with their results.
const seededLead = 1536

// encodeSeedAnswer returns the JSON answer to a seed request: its parameters, the leads and, if
// it names a campaign, the result of each lead.
func encodeSeedAnswer(order *madeUpLeadsRequest, leads []fakedata.Lead, results []madeUpLeadResult) []byte {
	body := make([]byte, 0, len(leads)*seededLead)
	body = strconv.AppendInt(append(body, `{"count":`...), int64(order.Count), 10)
	body = escape.AppendJSONString(append(body, `,"vertical":`...), []byte(order.Vertical))
	body = append(append(body, `,"state":"`...), order.State.String()...)
	body = strconv.AppendInt(append(body, `","seed":`...), order.Seed, 10)
	body = append(body, `,"leads":[`...)
	for i := range leads {
		if i > 0 {
			body = append(body, ',')
		}
		body = leads[i].AppendPing(append(body, `{"ping":`...))
		body = leads[i].AppendLead(append(body, `,"lead":`...))
		body = append(body, '}')
	}
	body = append(body, ']')
	if order.campaign == "" {
		return append(body, '}')
	}
	body = escape.AppendJSONString(append(body, `,"campaign_id":`...), []byte(order.campaign))
	body = append(body, `,"results":[`...)
	for i := range results {
		if i > 0 {
			body = append(body, ',')
		}
		body = results[i].appendJSON(body)
	}
	return append(body, "]}"...)
}
