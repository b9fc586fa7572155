package server

import (
	"errors"
	"strings"

	"github.com/valyala/fasthttp"

	"pingpost/api/errcode"
	"pingpost/engine"
	"pingpost/engine/market"
)

// Explainer looks up in the log what became of a lead or of an auction. It tells
// no contact data. The documents are JSON; the error is engine.ErrNotFound where
// history holds no such thing.
type Explainer interface {
	ExplainLead(id market.LeadID) (document []byte, err error)
	ExplainAuction(id market.AuctionID) (document []byte, err error)
	// ExplainRequest takes the id of the call that had it decided.
	ExplainRequest(id market.RequestID) (document []byte, err error)
	// ExplainSellers takes the id that a seller gave its auction. Without a supplier
	// all of them are looked up; the error is a *SeveralSuppliers where more than one
	// has such an auction.
	ExplainSellers(supplier, theirs string) (document []byte, err error)
}

// SeveralSuppliers have an auction of the same id: it is to be said whose is meant.
type SeveralSuppliers struct{ Names []string }

func (e *SeveralSuppliers) Error() string {
	return "several suppliers have an auction of this id: " + strings.Join(e.Names, ", ")
}

// maxExplained is how many are looked up at once: each reads files, and may read
// a second's worth of them.
const maxExplained = 2

// maxSellersID bounds what is looked for as a seller's own id, in bytes.
const maxSellersID = 1024

var faultExplaining = fault{503, errcode.Unavailable, "Others are being looked up in the log. Ask again after the time in Retry-After."}

// explainer answers what became of what an id names. It stands in the path, or, where
// it has characters that a path has not, in the query.
func (a *Admin) explainer() fasthttp.RequestHandler {
	places := make(chan struct{}, maxExplained)
	return func(ctx *fasthttp.RequestCtx) {
		id, query := parameter(ctx, "id"), ctx.QueryArgs()
		if id == "" {
			id = string(query.Peek("id"))
		}
		if id == "" || len(id) > maxSellersID {
			a.fail(ctx, faultPayload, market.FieldError{
				Field: "id", Code: errcode.FieldInvalidFormat,
				Expected: "the id of a lead (lead_…), an auction (auc_…), a ping (ping_…) or a request (req_…), or a seller's own id of its auction",
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
		document, err := a.explain(id, string(query.Peek("supplier")))
		var several *SeveralSuppliers
		switch {
		case errors.As(err, &several):
			a.fail(ctx, faultPayload, market.FieldError{
				Field: "supplier", Code: errcode.FieldMissingRequired, Expected: "whose auction is meant: " + strings.Join(several.Names, ", "),
			})
		case err != nil:
			a.failWith(ctx, err)
		default:
			ctx.SetContentType(typeJSON)
			ctx.SetBody(document)
		}
	}
}

// explain looks up what an id names: with a supplier that one's auction, else what
// the form of the id says. An exchange that sells here gives its auctions ids of our
// own form, so what is not ours may be a seller's.
func (a *Admin) explain(id, supplier string) ([]byte, error) {
	look := a.lookUp(id)
	if supplier != "" || look == nil {
		return a.operator.ExplainSellers(supplier, id)
	}
	document, err := look()
	if errors.Is(err, engine.ErrNotFound) {
		if theirs, other := a.operator.ExplainSellers("", id); !errors.Is(other, engine.ErrNotFound) {
			return theirs, other
		}
	}
	return document, err
}

// lookUp is how what an id of ours names is looked up; nil: it is none.
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
	if id, ok := market.ParseRequestID(text); ok {
		return func() ([]byte, error) { return a.operator.ExplainRequest(id) }
	}
	return nil
}
