package admin

import (
	"errors"
	"strings"

	"github.com/valyala/fasthttp"

	"pingpost/api/errcode"
	"pingpost/engine"
	"pingpost/engine/market"
	"pingpost/server/admin/payload"
	"pingpost/server/httperror"
)

// LeadAndAuctionExplainer returns the course of a lead or an auction, read from the log, as JSON
// without contact data. The exchange implements it. The error is engine.ErrNotFound if the log has
// no such lead or auction.
type LeadAndAuctionExplainer interface {
	ExplainLead(id market.LeadID) (document []byte, err error)
	ExplainAuction(id market.AuctionID) (document []byte, err error)
	// ExplainRequest takes the request id of the call that decided the lead or auction.
	ExplainRequest(id market.RequestID) (document []byte, err error)
	// ExplainBySellersAuctionID explains the auction to which a seller gave the id sellersID. With an empty
	// supplier it searches the auctions of all suppliers. The error is *AmbiguousAuctionSupplierError if
	// several of them have such an auction.
	ExplainBySellersAuctionID(supplier, sellersID string) (document []byte, err error)
}

// AmbiguousAuctionSupplierError is the error for an auction id that several suppliers have used. Names
// lists them, so that the operator can choose one.
type AmbiguousAuctionSupplierError struct{ Names []string }

func (e *AmbiguousAuctionSupplierError) Error() string {
	return "several suppliers have an auction of this id: " + strings.Join(e.Names, ", ")
}

// maxExplained is the number of explanations that may run at the same time. Each may read up to a
// gigabyte of the log.
const maxExplained = 2

// maxSellersID is the greatest length in bytes of an id that a seller gave its auction.
const maxSellersID = 1024

var errTooManyExplains = httperror.New(503, errcode.Unavailable, "Too many leads or auctions are being looked up in the log. Send this request again after the time in Retry-After.")

// explainLeadOrAuctionHandler returns the handler that explains a lead or an auction. The id is in
// the path, or in the query parameter id if it contains characters that a path cannot.
func (a *Admin) explainLeadOrAuctionHandler() fasthttp.RequestHandler {
	places := make(chan struct{}, maxExplained)
	return a.withAnswerOrErrorSent(func(ctx *fasthttp.RequestCtx) (answer any, err error) {
		id, query := payload.PathParameter(ctx, "id"), ctx.QueryArgs()
		if id == "" {
			id = string(query.Peek("id"))
		}
		if id == "" || len(id) > maxSellersID {
			return nil, payload.NewInvalidFieldError("id", errcode.FieldInvalidFormat,
				"the id of a lead (lead_…), an auction (auc_…), a ping (ping_…) or a request (req_…), or a seller's own id of its auction")
		}
		select {
		case places <- struct{}{}:
			defer func() { <-places }()
		default:
			return nil, errTooManyExplains
		}
		document, err := a.explainLeadOrAuction(id, string(query.Peek("supplier")))
		var several *AmbiguousAuctionSupplierError
		if errors.As(err, &several) {
			err = payload.NewInvalidFieldError("supplier", errcode.FieldMissingRequired, "whose auction is meant: "+strings.Join(several.Names, ", "))
		}
		return payload.EncodedJSON(document), err
	})
}

// explainLeadOrAuction returns the explanation for an id. With a supplier, the id is the supplier's
// own id of an auction. Without one, the form of the id says which kind of id it is. A seller that
// runs pingpost too uses ids of the same form. So if this exchange does not know the id, it is also
// tried as a seller's id.
func (a *Admin) explainLeadOrAuction(id, supplier string) ([]byte, error) {
	look := a.explainFuncForExchangeIDOrNil(id)
	if supplier != "" || look == nil {
		return a.exchange.ExplainBySellersAuctionID(supplier, id)
	}
	document, err := look()
	if errors.Is(err, engine.ErrNotFound) {
		if sellers, other := a.exchange.ExplainBySellersAuctionID("", id); !errors.Is(other, engine.ErrNotFound) {
			return sellers, other
		}
	}
	return document, err
}

// explainFuncForExchangeIDOrNil returns the function that explains an id of this exchange's own form: of a
// lead, an auction, a ping or a request. It returns nil for other texts.
func (a *Admin) explainFuncForExchangeIDOrNil(idText string) func() ([]byte, error) {
	if id, ok := market.ParseLeadID(idText); ok {
		return func() ([]byte, error) { return a.exchange.ExplainLead(id) }
	}
	if id, ok := market.ParseAuctionID(idText); ok {
		return func() ([]byte, error) { return a.exchange.ExplainAuction(id) }
	}
	if id, ok := market.ParsePingID(idText); ok {
		return func() ([]byte, error) { return a.exchange.ExplainAuction(market.AuctionID(id)) }
	}
	if id, ok := market.ParseRequestID(idText); ok {
		return func() ([]byte, error) { return a.exchange.ExplainRequest(id) }
	}
	return nil
}
