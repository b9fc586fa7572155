package server

import (
	"github.com/valyala/fasthttp"

	"pingpost/engine/market"
)

// Explainer looks up in the log what became of a lead or of an auction. It tells
// no contact data. The documents are JSON; the error is engine.ErrNotFound where
// history holds no such thing.
type Explainer interface {
	ExplainLead(id market.LeadID) (document []byte, err error)
	ExplainAuction(id market.AuctionID) (document []byte, err error)
}

// maxExplained is how many are looked up at once: each reads files, and may read
// a second's worth of them.
const maxExplained = 2

var faultExplaining = fault{503, "unavailable", "Others are being looked up in the log. Ask again after the time in Retry-After."}

// explainer answers what became of the lead, auction or ping of an id.
func (a *Admin) explainer() fasthttp.RequestHandler {
	places := make(chan struct{}, maxExplained)
	return func(ctx *fasthttp.RequestCtx) {
		look := a.lookUp(parameter(ctx, "id"))
		if look == nil {
			a.fail(ctx, faultPayload, market.FieldError{
				Field: "id", Code: market.CodeInvalidFormat, Expected: "the id of a lead (lead_…), an auction (auc_…) or a ping (ping_…)",
			})
			return
		}
		select {
		case places <- struct{}{}:
			defer func() { <-places }()
		default:
			a.fail(ctx, faultExplaining)
			return
		}
		document, err := look()
		if err != nil {
			a.failWith(ctx, err)
			return
		}
		ctx.SetContentType(typeJSON)
		ctx.SetBody(document)
	}
}

// lookUp is how what an id names is looked up; nil: it is no id.
func (a *Admin) lookUp(text string) func() ([]byte, error) {
	if id, ok := market.ParseLeadID(text); ok {
		return func() ([]byte, error) { return a.operator.ExplainLead(id) }
	}
	if id, ok := market.ParseAuctionID(text); ok {
		return func() ([]byte, error) { return a.operator.ExplainAuction(id) }
	}
	if id, ok := market.ParsePingID(text); ok {
		return func() ([]byte, error) { return a.operator.ExplainAuction(market.AuctionID(id)) }
	}
	return nil
}
