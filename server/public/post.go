package public

import (
	"github.com/valyala/fasthttp"

	"pingpost/engine"
	"pingpost/engine/event"
	"pingpost/engine/market"
	"pingpost/engine/market/escape"
	"pingpost/server/httperror"
	"pingpost/server/metrics"
	"pingpost/server/request"
	"pingpost/server/wire"
)

// handlePost answers POST /v1/post: a seller sends the lead of an earlier ping, and the
// exchange sells it to the buyer of the bid.
func (s *Server) handlePost(ctx *fasthttp.RequestCtx, id market.RequestID, r *scratch, readErr httperror.Error) {
	received := s.clock.Now()
	seller, ok := s.authenticateSupplierToken(ctx, id, r.engine, event.ScopePost, errBuyersToken)
	if !ok {
		return
	}
	if !s.applyLimitsAndParseBody(ctx, id, r, readErr, &s.postLimits, seller, received) {
		return
	}
	r.setAnswerTestHeaderIfTest(ctx, seller)
	r.parseLeadAndFillPostRequest(seller, id, received)
	r.post.Faults = append(r.post.Faults, request.QueryParameterNameErrors(ctx)...)
	r.post.Timings = r.timings.EnterEngine(s.clock.Now())
	answer, err := r.engine.SellAtBid(&r.post)
	r.timings.LeaveEngine(s.clock.Now())
	if err != nil {
		httperror.WriteEngineErrorOrUnavailable(ctx, id, err)
		return
	}
	recordSaleInTrace(&r.timings, &answer, r.test || seller.Test)
	r.out = appendPostAnswer(r.out[:0], &answer)
	sendAnswer(ctx, fasthttp.StatusCreated, answer.Request, answer.Replayed, r.out)
	s.opt.Meter.CountPhases(metrics.RoutePost, &r.timings, s.clock.Now())
}

func (r *scratch) parseLeadAndFillPostRequest(seller *market.Supplier, id market.RequestID, receivedNanos int64) {
	r.lead.parseAndFlatten(&r.object)
	r.post = engine.SupplierPostRequest{
		Supplier: seller, Lead: r.lead.members, Faults: r.lead.faults, Body: r.body, Key: r.key, BadKey: r.badKey,
		Test: r.test, BadTest: r.badTest, Request: id, Received: receivedNanos,
	}
	r.post.Auction, _ = r.object.Lookup("auction_id")
	r.post.Token, _ = r.object.Lookup("bid_token")
	r.post.LeadUUID, _ = r.lead.lead.Lookup("lead_uuid")
}

// appendPostAnswer appends the JSON answer to a sold post. Its lead_id is the id that the buyer
// gave the lead, or null.
func appendPostAnswer(body []byte, a *engine.SupplierPostAnswer) []byte {
	body = escape.AppendJSONString(append(body, `{"auction_id":`...), []byte(a.SellerAuction))
	if a.BuyerLead == "" {
		body = append(body, `,"lead_id":null`...)
	} else {
		body = escape.AppendJSONString(append(body, `,"lead_id":`...), []byte(a.BuyerLead))
	}
	body = a.Lead.AppendAsText(append(body, `,"id":"`...))
	body = escape.AppendJSONString(append(body, `","status":"ACCEPTED","buyer_id":`...), []byte(a.Buyer))
	body = wire.AppendPriceMembers(append(body, `,"price":{`...), a.Payout, a.Currency)
	return append(body, "}}"...)
}
