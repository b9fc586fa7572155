package server

import (
	"github.com/valyala/fasthttp"

	"pingpost/engine"
	"pingpost/engine/event"
	"pingpost/engine/market"
)

// post completes a seller's auction: POST /v1/post.
func (s *Server) post(ctx *fasthttp.RequestCtx, id market.RequestID, r *room, read fault) {
	received := s.clock.Now()
	seller, ok := s.sellerOf(ctx, id, event.ScopePost)
	if !ok {
		return
	}
	r.lap.traced.By(string(seller.ID), len(r.body))
	if !s.admit(ctx, id, r, read, &s.postLimits, seller, received) {
		return
	}
	r.tellTest(ctx, seller)
	r.posted(seller, id, received)
	r.post.Spent = r.lap.enter(s.clock.Now())
	answer, err := s.engine.Post(&r.post)
	r.lap.leave(s.clock.Now())
	s.opt.Meter.postedBySeller(&answer, err, r.test || seller.Test)
	if err != nil {
		failWith(ctx, id, err)
		return
	}
	r.lap.taken(&answer, r.test || seller.Test)
	r.out = appendSale(r.out[:0], &answer)
	answerWith(ctx, fasthttp.StatusCreated, answer.Request, answer.Replayed, r.out)
	s.opt.Meter.lap(routePost, &r.lap, s.clock.Now())
}

func (r *room) posted(seller *market.Supplier, id market.RequestID, received int64) {
	r.lead.open(&r.object)
	r.post = engine.PostRequest{
		Supplier: seller, Lead: r.lead.flat, Faults: r.lead.faults, Body: r.body, Key: r.key, BadKey: r.badKey,
		Test: r.test, BadTest: r.badTest, Request: id, Received: received,
	}
	r.post.Auction, _ = r.object.Lookup("auction_id")
	r.post.Token, _ = r.object.Lookup("bid_token")
	r.post.LeadUUID, _ = r.lead.lead.Lookup("lead_uuid")
}

// appendSale writes the answer to a post. The buyer's own id of the lead is null
// where the buyer told none.
func appendSale(body []byte, a *engine.SaleAnswer) []byte {
	body = market.AppendJSONString(append(body, `{"auction_id":`...), []byte(a.Theirs))
	if a.BuyerLead == "" {
		body = append(body, `,"lead_id":null`...)
	} else {
		body = market.AppendJSONString(append(body, `,"lead_id":`...), []byte(a.BuyerLead))
	}
	body = a.Lead.AppendTo(append(body, `,"id":"`...))
	body = market.AppendJSONString(append(body, `","status":"ACCEPTED","buyer_id":`...), []byte(a.Buyer))
	body = appendPrice(append(body, `,"price":{`...), a.Payout, a.Currency)
	return append(body, "}}"...)
}
