package public

import (
	"github.com/valyala/fasthttp"

	"pingpost/engine"
	"pingpost/engine/event"
	"pingpost/engine/market"
	"pingpost/engine/market/escape"
	"pingpost/server/connection"
	"pingpost/server/httperror"
	"pingpost/server/metrics"
	"pingpost/server/request"
	"pingpost/server/wire"
)

// headerHops is the header that counts how many exchanges have already forwarded a ping.
const headerHops = "X-Pingpost-Hops"

// maxHops is the greatest number of exchanges that may forward a ping. A malformed header
// counts as one more, so that a ping in a loop is rejected.
const maxHops = 3

func parseHopCountOrOverLimit(header *fasthttp.RequestHeader) int {
	lines := header.PeekAll(headerHops)
	switch {
	case len(lines) == 0:
		return 0
	case len(lines) == 1 && len(lines[0]) == 1 && lines[0][0] >= '0' && lines[0][0] <= '0'+maxHops:
		return int(lines[0][0] - '0')
	}
	return maxHops + 1
}

// handlePing answers POST /v1/ping: it runs an auction for a seller's lead and answers with the
// best bid, or with the reason why there is no bid.
func (s *Server) handlePing(ctx *fasthttp.RequestCtx, id market.RequestID, r *scratch, readErr httperror.Error) {
	received := s.clock.Now()
	seller, ok := s.authenticateSupplierToken(ctx, id, r.engine, event.ScopePing, errBuyersToken)
	if !ok {
		return
	}
	if !s.applyLimitsAndParseBody(ctx, id, r, readErr, &s.pingLimits, seller, received) {
		return
	}
	r.setAnswerTestHeaderIfTest(ctx, seller)
	r.fillPingRequest(seller, id, received)
	r.ping.Faults = request.QueryParameterNameErrors(ctx)
	r.ping.Timings = r.timings.EnterEngine(s.clock.Now())
	answer, err := r.engine.PingForBestBid(&r.ping)
	r.timings.LeaveEngine(s.clock.Now())
	if err != nil {
		httperror.WriteEngineErrorOrUnavailable(ctx, id, err)
		return
	}
	recordPingResultInTrace(&r.timings, &answer, r.test || seller.Test)
	r.out = appendPingAnswer(r.out[:0], &answer)
	sendAnswer(ctx, fasthttp.StatusOK, answer.Request, answer.Replayed, r.out)
	s.opt.Meter.CountPhases(metrics.RoutePing, &r.timings, s.clock.Now())
}

// handlePingForAllBids answers POST /api/v1/ping: it runs an auction for a supplier's lead
// and answers with all valid bids, their buyers and prices.
func (s *Server) handlePingForAllBids(ctx *fasthttp.RequestCtx, id market.RequestID, r *scratch, readErr httperror.Error) {
	received := s.clock.Now()
	supplier, ok := s.authenticateAPIKey(ctx, id, r.engine, r.credential, received)
	if !ok {
		return
	}
	if !s.applyLimitsAndParseBody(ctx, id, r, readErr, &s.pingLimits, supplier, received) {
		return
	}
	r.setAnswerTestHeaderIfTest(ctx, supplier)
	r.fillPingRequest(supplier, id, received)
	r.ping.Faults = request.QueryParameterNameErrors(ctx)
	r.ping.Timings = r.timings.EnterEngine(s.clock.Now())
	answer, err := r.engine.PingForAllBids(&r.ping)
	r.timings.LeaveEngine(s.clock.Now())
	if err != nil {
		httperror.WriteEngineErrorOrUnavailable(ctx, id, err)
		return
	}
	recordPingResultInTrace(&r.timings, &answer, r.test || supplier.Test)
	r.out = appendAllBidsAnswer(r.out[:0], &answer)
	sendAnswer(ctx, fasthttp.StatusOK, answer.Request, answer.Replayed, r.out)
}

func (r *scratch) fillPingRequest(supplier *market.Supplier, id market.RequestID, receivedNanos int64) {
	r.ping = engine.SupplierPingRequest{
		Supplier: supplier, Members: r.object.Members(), Body: r.body, Key: r.key, BadKey: r.badKey,
		Test: r.test, BadTest: r.badTest, Request: id, Received: receivedNanos, Hops: r.hops,
	}
}

// authenticateSupplierToken returns the supplier to which the request's token belongs; the token
// must have the scope. It rejects a buyer's token with errorForBuyer. If ok is false, it has
// already sent an error.
func (s *Server) authenticateSupplierToken(ctx *fasthttp.RequestCtx, id market.RequestID, e *engine.Engine, scope event.OAuthScopes, errorForBuyer httperror.Error) (supplier *market.Supplier, ok bool) {
	who, bad := s.authenticateBearer(ctx, e, scope)
	if bad.Status == 0 && who.supplier == nil {
		bad = errorForBuyer
	}
	if bad.Status != 0 {
		s.sendAuthenticationError(ctx, id, bad)
		return nil, false
	}
	connection.MarkAuthenticated(ctx)
	return who.supplier, true
}

// appendPingAnswer appends the JSON answer to a seller's ping: the bid, or the reason why there
// is no bid.
func appendPingAnswer(body []byte, a *engine.SupplierPingAnswer) []byte {
	body = escape.AppendJSONString(append(body, `{"auction_id":`...), []byte(a.SellerAuction))
	if !a.Bid {
		body = append(append(body, `,"bid":null,"reject_reason":"`...), a.Reason.String()...)
		return append(append(append(body, `","reject_detail":"`...), pingRejectDetail(a.Reason)...), `"}`...)
	}
	body = wire.AppendPriceMembers(append(body, `,"bid":{`...), a.Amount, a.Currency)
	body = a.Token.AppendAsText(append(body, `,"bid_token":"`...))
	body = wire.AppendUnquotedTime(append(body, `","valid_until":"`...), a.ValidUntil)
	return appendPassedFiltersAndEnd(append(body, `"}`...), a.Passed)
}

// appendPassedFiltersAndEnd appends the list of filters that the lead passed, if there is one, and
// the end of the JSON object. Auctions of earlier versions have no such list.
func appendPassedFiltersAndEnd(body []byte, passed market.ConditionsMetByLead) []byte {
	if passed == 0 {
		return append(body, '}')
	}
	return append(passed.AppendJSON(append(body, `,"buyer_filters_passed":`...)), '}')
}

// appendAllBidsAnswer appends the JSON answer to POST /api/v1/ping: all offers with buyers
// and prices, or the reason why there are no offers.
func appendAllBidsAnswer(body []byte, a *engine.SupplierPingAnswer) []byte {
	body = market.PingID(a.Auction).AppendAsText(append(body, `{"data":{"ping_id":"`...))
	body = escape.AppendJSONString(append(body, `","campaign_id":`...), []byte(a.Campaign))
	if len(a.Offers) == 0 {
		body = append(body, `,"accepted":false,"expires_at":"`...)
	} else {
		body = append(body, `,"accepted":true,"expires_at":"`...)
	}
	body = wire.AppendUnquotedTime(body, a.ExpiresAt)
	body = append(body, `","buyers":[`...)
	for i := range a.Offers {
		offer := &a.Offers[i]
		if i > 0 {
			body = append(body, ',')
		}
		body = escape.AppendJSONString(append(body, `{"buyer_id":`...), []byte(offer.Buyer))
		body = wire.AppendPriceMembers(append(body, ','), offer.Amount, offer.Currency)
		body = wire.AppendUnquotedTime(append(body, `,"valid_until":"`...), offer.ValidUntil)
		body = append(body, `"}`...)
	}
	body = append(body, ']')
	if len(a.Offers) == 0 {
		body = append(append(append(body, `,"reason":"`...), a.Reason.String()...), '"')
	}
	return append(body, "}}"...)
}
