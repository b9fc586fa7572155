package exchange

import (
	"pingpost/engine/market"
	"pingpost/exchange/explain"
)

func (x *Exchange) newExplainer() (*explain.Explainer, error) {
	if err := x.Ready(); err != nil {
		return nil, err
	}
	engine := x.engine.Load()
	return explain.New(explain.Options{
		Log: x.log, State: x.state, AuctionName: engine.SellerAuctionName, Contact: engine.Contact,
		DataDir: x.settings.DataDir,
	}), nil
}

// ExplainLead returns the JSON form of explain.Explanation for a lead. The error is
// engine.ErrNotFound if the log's history does not have the lead.
func (x *Exchange) ExplainLead(id market.LeadID) ([]byte, error) {
	return x.explainJSON(func(e *explain.Explainer) (*explain.Explanation, error) { return e.Lead(id) })
}

// ExplainAuction is ExplainLead for an auction. If the auction was held for an ingested
// lead, the explanation is that lead's.
func (x *Exchange) ExplainAuction(id market.AuctionID) ([]byte, error) {
	return x.explainJSON(func(e *explain.Explainer) (*explain.Explanation, error) { return e.Auction(id) })
}

// ExplainRequest is ExplainLead by the request id that every answer carries.
func (x *Exchange) ExplainRequest(id market.RequestID) ([]byte, error) {
	return x.explainJSON(func(e *explain.Explainer) (*explain.Explanation, error) { return e.Request(id) })
}

// ExplainSellers is ExplainAuction by the id that a seller gave its auction. An empty
// supplier stands for all suppliers; the error is a *admin.AmbiguousSupplier if more
// than one of them has such an auction.
func (x *Exchange) ExplainSellers(supplier, sellerID string) ([]byte, error) {
	return x.explainJSON(func(e *explain.Explainer) (*explain.Explanation, error) { return e.BySellerID(supplier, sellerID) })
}

func (x *Exchange) explainJSON(lookUp func(*explain.Explainer) (*explain.Explanation, error)) ([]byte, error) {
	e, err := x.newExplainer()
	if err != nil {
		return nil, err
	}
	explanation, err := lookUp(e)
	if err != nil {
		return nil, err
	}
	return explanation.JSON()
}
