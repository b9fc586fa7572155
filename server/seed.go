package server

import (
	"strconv"

	"github.com/valyala/fasthttp"

	"pingpost/api/errcode"
	"pingpost/engine/market"
	"pingpost/server/seed"
)

var (
	faultBuyersSeed   = fault{403, errcode.Forbidden, "The token is a buyer's, and leads are made for suppliers. Use a token of a supplier."}
	faultSeedCampaign = fault{403, errcode.Forbidden, "This supplier may not send leads into this campaign. Name one of its own, or none."}
	faultAnswers      = fault{429, errcode.RateLimited, "Too many answers of this path are on their way. Read them, and send this one again after the time in Retry-After."}
	faultRuns         = fault{429, errcode.RateLimited, "Too many runs through campaigns are under way here. Send this one again after the time in Retry-After."}
)

// seed makes up leads for a supplier of a sandbox: POST /v1/dev/seed. Any token
// of a supplier opens it, whatever its scopes. The answer depends on the body
// alone, and where it names a campaign on what became of the leads there: see
// seedRun.
func (s *Server) seed(ctx *fasthttp.RequestCtx, id market.RequestID, r *room, read fault) {
	received := s.clock.Now()
	supplier, ok := s.seederOf(ctx, id)
	if !ok || !s.admit(ctx, id, r, read, &s.seedLimits, supplier, received) {
		return
	}
	order, faults := readSeedOrder(&r.object)
	if len(faults) > 0 {
		fail(ctx, id, faultPayload, faults...)
		return
	}
	if !s.seeds.enter(supplier.Ref) {
		fail(ctx, id, faultAnswers)
		return
	}
	answer := &countedAnswer{left: func() { s.seeds.leave(supplier.Ref) }}
	sent := false
	defer func() {
		if !sent {
			answer.left()
		}
	}()
	leads := seed.Make(order.Request)
	var results []seedResult
	if order.campaign != "" {
		run := &seedRun{server: s, supplier: supplier, order: &order, leads: leads, until: received + int64(seedTime)}
		if !run.sell(ctx, id) {
			return
		}
		results = run.results
	}
	body := appendSeed(&order, leads, results)
	answer.Reset(body)
	answerWith(ctx, fasthttp.StatusCreated, id, false, nil)
	ctx.SetBodyStream(answer, len(body))
	sent = true
}

// seederOf finds the supplier who asks. Not ok: it was answered why there is none.
func (s *Server) seederOf(ctx *fasthttp.RequestCtx, id market.RequestID) (*market.Supplier, bool) {
	return s.supplierBy(ctx, id, 0, faultBuyersSeed)
}

// seededLead is room for what is told of one lead, mostly.
const seededLead = 1536

// appendSeed writes the answer: what was asked for, the leads, and what became of
// each where they went through a campaign.
func appendSeed(order *seedOrder, leads []seed.Lead, results []seedResult) []byte {
	body := make([]byte, 0, len(leads)*seededLead)
	body = strconv.AppendInt(append(body, `{"count":`...), int64(order.Count), 10)
	body = market.AppendJSONString(append(body, `,"vertical":`...), []byte(order.Vertical))
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
	body = market.AppendJSONString(append(body, `,"campaign_id":`...), []byte(order.campaign))
	body = append(body, `,"results":[`...)
	for i := range results {
		if i > 0 {
			body = append(body, ',')
		}
		body = results[i].appendTo(body)
	}
	return append(body, "]}"...)
}
