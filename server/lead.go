package server

import (
	"errors"
	"time"

	"github.com/valyala/fasthttp"

	"pingpost/engine"
	"pingpost/engine/market"
)

// lookTime bounds a look: part of it may have to be read back from the log.
const lookTime = 5 * time.Second

// look shows a lead to the seller or the buyer whose token asks, whatever its
// scopes: GET /v1/leads/{id}.
func (s *Server) look(ctx *fasthttp.RequestCtx, id market.RequestID, r *room, _ fault) {
	now := s.clock.Now()
	who, bad := s.bearerOf(ctx, 0)
	if bad.status != 0 {
		s.turnAway(ctx, id, bad)
		return
	}
	recognize(ctx)
	if who.supplier != nil {
		if look, ok := s.suppliersLook(ctx, id, r, who.supplier, now); ok {
			answerWith(ctx, fasthttp.StatusOK, id, false, appendLook(nil, &look, true))
		}
		return
	}
	if !s.leadLimits.buyers.takeOf(ctx, who.buyer.Ref, time.Unix(0, now)) {
		fail(ctx, id, faultLimited)
		return
	}
	if look, ok := looked(ctx, id, r, func(lead market.LeadID) (engine.Look, error) {
		return s.engine.LookAsBuyer(lead, who.buyer.Ref, now+int64(lookTime))
	}); ok {
		answerWith(ctx, fasthttp.StatusOK, id, false, appendLook(nil, &look, false))
	}
}

// lookAsSupplier shows a lead to the supplier whose API key asks: GET
// /api/v1/leads/{id}.
func (s *Server) lookAsSupplier(ctx *fasthttp.RequestCtx, id market.RequestID, r *room, _ fault) {
	now := s.clock.Now()
	supplier, bad := s.supplierOf(r.credential, now)
	if bad.status != 0 {
		s.turnAway(ctx, id, bad)
		return
	}
	recognize(ctx)
	if look, ok := s.suppliersLook(ctx, id, r, supplier, now); ok {
		answerWith(ctx, fasthttp.StatusOK, id, false, append(appendLook([]byte(`{"data":`), &look, true), '}'))
	}
}

// suppliersLook is a lead as its supplier sees it. Not ok: it was answered why not.
func (s *Server) suppliersLook(ctx *fasthttp.RequestCtx, id market.RequestID, r *room, supplier *market.Supplier, now int64) (engine.Look, bool) {
	if !s.leadLimits.suppliers.take(ctx, supplier, time.Unix(0, now)) {
		fail(ctx, id, faultLimited)
		return engine.Look{}, false
	}
	return looked(ctx, id, r, func(lead market.LeadID) (engine.Look, error) {
		return s.engine.LookAsSupplier(lead, supplier.Ref, now+int64(lookTime))
	})
}

// looked looks at the lead in the path. Of one that is none, that nobody knows and
// that is another's, the same is told.
func looked(ctx *fasthttp.RequestCtx, id market.RequestID, r *room, as func(market.LeadID) (engine.Look, error)) (engine.Look, bool) {
	lead, ok := market.ParseLeadID(string(r.subject))
	if !ok {
		fail(ctx, id, faultNoLead)
		return engine.Look{}, false
	}
	look, err := as(lead)
	switch {
	case errors.Is(err, engine.ErrNotFound):
		fail(ctx, id, faultNoLead)
	case err != nil:
		failWith(ctx, id, err)
	}
	return look, err == nil
}

// appendLook writes a lead as one of the two sides sees it. Only a seller has an id
// of its own for it.
func appendLook(body []byte, l *engine.Look, seller bool) []byte {
	body = l.Lead.AppendTo(append(body, `{"id":"`...))
	body = append(append(body, `","status":"`...), l.Status.String()...)
	body = market.AppendJSONString(append(body, `","campaign_id":`...), []byte(l.Campaign))
	if seller {
		body = appendText(append(body, `,"lead_uuid":`...), l.Own)
	}
	body = appendText(append(body, `,"auction_id":`...), l.Auction)
	body = appendText(append(body, `,"buyer_id":`...), l.Buyer)
	if l.Currency == (market.Currency{}) {
		body = append(body, `,"price":null`...)
	} else {
		body = append(appendPrice(append(body, `,"price":{`...), l.Price, l.Currency), '}')
	}
	body = appendText(append(body, `,"reason":`...), l.Reason.String())
	body = append(append(append(body, `,"delivery":"`...), l.Delivery.String()...), '"')
	if l.Return != market.ReturnNone {
		body = append(append(append(body, `,"return":"`...), l.Return.String()...), '"')
	}
	body = append(appendTime(append(body, `,"created_at":"`...), l.Created), '"')
	if l.Test {
		body = append(body, `,"test":true`...)
	}
	return append(body, '}')
}

// appendText writes a text, or null for none.
func appendText(body []byte, text string) []byte {
	if text == "" {
		return append(body, "null"...)
	}
	return market.AppendJSONString(body, []byte(text))
}
