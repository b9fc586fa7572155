package server

import (
	"time"

	"github.com/valyala/fasthttp"

	"pingpost/engine"
	"pingpost/engine/event"
	"pingpost/engine/market"
)

// headerHops tells through how many exchanges a ping has come.
const headerHops = "X-Pingpost-Hops"

// mostHops is how many there may be. What the header says that is no number up
// to it counts as one more: nobody who is in a loop is to get out of it by
// sending what cannot be read.
const mostHops = 3

func hopsOf(header *fasthttp.RequestHeader) int {
	lines := header.PeekAll(headerHops)
	switch {
	case len(lines) == 0:
		return 0
	case len(lines) == 1 && len(lines[0]) == 1 && lines[0][0] >= '0' && lines[0][0] <= '0'+mostHops:
		return int(lines[0][0] - '0')
	}
	return mostHops + 1
}

// ping holds an auction for a seller: POST /v1/ping.
func (s *Server) ping(ctx *fasthttp.RequestCtx, id market.RequestID, r *room, read fault) {
	received := s.clock.Now()
	seller, ok := s.sellerOf(ctx, id, event.ScopePing)
	if !ok {
		return
	}
	r.lap.traced.By(string(seller.ID), len(r.body))
	if !s.admit(ctx, id, r, read, &s.pingLimits, seller, received) {
		return
	}
	r.tellTest(ctx, seller)
	r.pinged(seller, id, received)
	r.ping.Spent = r.lap.enter(s.clock.Now())
	answer, err := s.engine.Ping(&r.ping)
	r.lap.leave(s.clock.Now())
	if err != nil {
		failWith(ctx, id, err)
		return
	}
	r.lap.asked(&answer, r.test || seller.Test)
	r.out = appendBid(r.out[:0], &answer)
	answerWith(ctx, fasthttp.StatusOK, answer.Request, answer.Replayed, r.out)
	s.opt.Meter.lap(routePing, &r.lap, s.clock.Now())
}

// availability tells a supplier who would take a lead, and for how much: POST
// /api/v1/ping.
func (s *Server) availability(ctx *fasthttp.RequestCtx, id market.RequestID, r *room, read fault) {
	received := s.clock.Now()
	supplier, bad := s.supplierOf(r.credential, received)
	if bad.status != 0 {
		s.turnAway(ctx, id, bad)
		return
	}
	recognize(ctx)
	r.lap.traced.By(string(supplier.ID), len(r.body))
	if !s.admit(ctx, id, r, read, &s.pingLimits, supplier, received) {
		return
	}
	r.tellTest(ctx, supplier)
	r.pinged(supplier, id, received)
	r.ping.Spent = r.lap.enter(s.clock.Now())
	answer, err := s.engine.Availability(&r.ping)
	r.lap.leave(s.clock.Now())
	if err != nil {
		failWith(ctx, id, err)
		return
	}
	r.lap.asked(&answer, r.test || supplier.Test)
	r.out = appendOffers(r.out[:0], &answer)
	answerWith(ctx, fasthttp.StatusOK, answer.Request, answer.Replayed, r.out)
}

func (r *room) pinged(supplier *market.Supplier, id market.RequestID, received int64) {
	r.ping = engine.PingRequest{
		Supplier: supplier, Members: r.object.Members(), Body: r.body, Key: r.key, BadKey: r.badKey,
		Test: r.test, BadTest: r.badTest, Request: id, Received: received, Hops: r.hops,
	}
}

// sellerOf finds the seller whose token opens a scope. Not ok: it was answered
// why there is none. Buyers have tokens too, but nothing to sell.
func (s *Server) sellerOf(ctx *fasthttp.RequestCtx, id market.RequestID, scope event.Scopes) (seller *market.Supplier, ok bool) {
	return s.supplierBy(ctx, id, scope, faultBuyersToken)
}

// supplierBy finds the supplier whose token opens a scope; a buyer's is a fault.
func (s *Server) supplierBy(ctx *fasthttp.RequestCtx, id market.RequestID, scope event.Scopes, buyers fault) (supplier *market.Supplier, ok bool) {
	who, bad := s.bearerOf(ctx, scope)
	if bad.status == 0 && who.supplier == nil {
		bad = buyers
	}
	if bad.status != 0 {
		s.turnAway(ctx, id, bad)
		return nil, false
	}
	recognize(ctx)
	return who.supplier, true
}

// appendBid writes the answer to a seller's ping.
func appendBid(body []byte, a *engine.PingAnswer) []byte {
	body = market.AppendJSONString(append(body, `{"auction_id":`...), []byte(a.Theirs))
	if !a.Bid {
		body = append(append(body, `,"bid":null,"reject_reason":"`...), a.Reason.String()...)
		return append(append(append(body, `","reject_detail":"`...), detailOf(a.Reason)...), `"}`...)
	}
	body = appendPrice(append(body, `,"bid":{`...), a.Amount, a.Currency)
	body = a.Token.AppendTo(append(body, `,"bid_token":"`...))
	body = appendTime(append(body, `","valid_until":"`...), a.ValidUntil)
	return appendPassed(append(body, `"}`...), a.Passed)
}

// appendPassed ends the answer with what the lead has met. An auction in the log
// that does not tell is answered as it was then, without.
func appendPassed(body []byte, met market.Passed) []byte {
	if met == 0 {
		return append(body, '}')
	}
	return append(met.AppendJSON(append(body, `,"buyer_filters_passed":`...)), '}')
}

// appendOffers writes the answer to a supplier's question who would buy.
func appendOffers(body []byte, a *engine.PingAnswer) []byte {
	body = market.PingID(a.Auction).AppendTo(append(body, `{"data":{"ping_id":"`...))
	body = market.AppendJSONString(append(body, `","campaign_id":`...), []byte(a.Campaign))
	if len(a.Offers) == 0 {
		body = append(body, `,"accepted":false,"expires_at":"`...)
	} else {
		body = append(body, `,"accepted":true,"expires_at":"`...)
	}
	body = appendTime(body, a.ExpiresAt)
	body = append(body, `","buyers":[`...)
	for i := range a.Offers {
		offer := &a.Offers[i]
		if i > 0 {
			body = append(body, ',')
		}
		body = market.AppendJSONString(append(body, `{"buyer_id":`...), []byte(offer.Buyer))
		body = appendPrice(append(body, ','), offer.Amount, offer.Currency)
		body = appendTime(append(body, `,"valid_until":"`...), offer.ValidUntil)
		body = append(body, `"}`...)
	}
	body = append(body, ']')
	if len(a.Offers) == 0 {
		body = append(append(append(body, `,"reason":"`...), a.Reason.String()...), '"')
	}
	return append(body, "}}"...)
}

// appendTime writes Unix nanoseconds to the millisecond, rounded down: what is
// told to be open until then is.
func appendTime(body []byte, at int64) []byte {
	return time.Unix(0, at).UTC().AppendFormat(body, "2006-01-02T15:04:05.000Z")
}
