package public

import (
	"errors"
	"time"

	"github.com/valyala/fasthttp"

	"pingpost/engine"
	"pingpost/engine/market"
	"pingpost/engine/market/escape"
	"pingpost/server/connection"
	"pingpost/server/httperror"
	"pingpost/server/request"
	"pingpost/server/wire"
)

// lookTimeout limits the time to read a lead, because a part of it may have to come from the
// log.
const lookTimeout = 5 * time.Second

// answerLeadLookupWithBearerAuth answers GET /v1/leads/{id} with a lead, for the supplier that sent it or the
// buyer that bought it. It accepts a bearer token with any scopes.
func (s *Server) answerLeadLookupWithBearerAuth(ctx *fasthttp.RequestCtx, id market.RequestID, r *scratch, _ httperror.Error) {
	now := s.clock.Now()
	who, bad := s.authenticateBearer(ctx, r.engine, 0)
	if bad.Status != 0 {
		s.sendAuthenticationError(ctx, id, bad)
		return
	}
	connection.MarkAuthenticated(ctx)
	if who.supplier != nil {
		if look, ok := s.limitAndReadSupplierLead(ctx, id, r, who.supplier, now); ok {
			sendAnswer(ctx, fasthttp.StatusOK, id, false, appendLeadJSON(nil, &look, true))
		}
		return
	}
	if wait := s.lookupAndReportLimits.buyers.takeTokenForOwner(ctx, who.buyer.Ref, time.Unix(0, now)); wait > 0 {
		httperror.Write(ctx, id, httperror.RateLimited.WithRetryAfter(wait))
		return
	}
	if look, ok := readPathLead(ctx, id, r, func(lead market.LeadID) (engine.LeadView, error) {
		return r.engine.ViewLeadForBuyer(lead, who.buyer.Ref, now+int64(lookTimeout))
	}); ok {
		sendAnswer(ctx, fasthttp.StatusOK, id, false, appendLeadJSON(nil, &look, false))
	}
}

// answerLeadLookupWithAPIKeyAuth answers GET /api/v1/leads/{id} with a lead, for the supplier that sent it and
// authenticates with an API key.
func (s *Server) answerLeadLookupWithAPIKeyAuth(ctx *fasthttp.RequestCtx, id market.RequestID, r *scratch, _ httperror.Error) {
	now := s.clock.Now()
	supplier, ok := s.authenticateAPIKey(ctx, id, r.engine, r.credential, now)
	if !ok {
		return
	}
	if look, ok := s.limitAndReadSupplierLead(ctx, id, r, supplier, now); ok {
		sendAnswer(ctx, fasthttp.StatusOK, id, false, append(appendLeadJSON([]byte(`{"data":`), &look, true), '}'))
	}
}

// limitAndReadSupplierLead applies the supplier's rate limit (429). Then it returns the lead that the
// path names, as its supplier may see it. If it returns false, it has already sent an error.
func (s *Server) limitAndReadSupplierLead(ctx *fasthttp.RequestCtx, id market.RequestID, r *scratch, supplier *market.Supplier, now int64) (view engine.LeadView, ok bool) {
	if wait := s.lookupAndReportLimits.suppliers.takeTokenForOwner(ctx, supplier.Ref, time.Unix(0, now)); wait > 0 {
		httperror.Write(ctx, id, httperror.RateLimited.WithRetryAfter(wait))
		return engine.LeadView{}, false
	}
	return readPathLead(ctx, id, r, func(lead market.LeadID) (engine.LeadView, error) {
		return r.engine.ViewLeadForSupplier(lead, supplier.Ref, now+int64(lookTimeout))
	})
}

// readPathLead returns the lead that the path names, which readLead reads. It answers
// 404 for a malformed id, an unknown lead and another owner's lead alike. If it returns false,
// it has already sent an error.
func readPathLead(ctx *fasthttp.RequestCtx, id market.RequestID, r *scratch, readLead func(market.LeadID) (engine.LeadView, error)) (view engine.LeadView, ok bool) {
	if faults := request.QueryParameterNameErrors(ctx); len(faults) > 0 {
		httperror.Write(ctx, id, httperror.InvalidPayload, faults...)
		return engine.LeadView{}, false
	}
	lead, ok := market.ParseLeadID(string(r.pathParam))
	if !ok {
		httperror.Write(ctx, id, httperror.UnknownLead)
		return engine.LeadView{}, false
	}
	look, err := readLead(lead)
	switch {
	case errors.Is(err, engine.ErrNotFound):
		httperror.Write(ctx, id, httperror.UnknownLead)
	case err != nil:
		httperror.WriteEngineErrorOrUnavailable(ctx, id, err)
	}
	return look, err == nil
}

// appendLeadJSON appends a lead as JSON. With forSupplier set it is for the supplier, and contains the
// supplier's own id of the lead.
func appendLeadJSON(body []byte, l *engine.LeadView, forSupplier bool) []byte {
	body = l.Lead.AppendAsText(append(body, `{"id":"`...))
	body = append(append(body, `","status":"`...), l.Status.String()...)
	body = escape.AppendJSONString(append(body, `","campaign_id":`...), []byte(l.Campaign))
	if forSupplier {
		body = wire.AppendTextOrNull(append(body, `,"lead_uuid":`...), l.SellerLeadID)
	}
	body = wire.AppendTextOrNull(append(body, `,"auction_id":`...), l.Auction)
	body = wire.AppendTextOrNull(append(body, `,"buyer_id":`...), l.Buyer)
	if l.Currency == (market.Currency{}) {
		body = append(body, `,"price":null`...)
	} else {
		body = append(wire.AppendPriceMembers(append(body, `,"price":{`...), l.Price, l.Currency), '}')
	}
	body = wire.AppendTextOrNull(append(body, `,"reason":`...), l.Reason.String())
	body = append(append(append(body, `,"delivery":"`...), l.Delivery.String()...), '"')
	if l.Return != market.ReturnNone {
		body = append(append(append(body, `,"return":"`...), l.Return.String()...), '"')
	}
	body = append(wire.AppendUnquotedTime(append(body, `,"created_at":"`...), l.Created), '"')
	if l.Test {
		body = append(body, `,"test":true`...)
	}
	return append(body, '}')
}
