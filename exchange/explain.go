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
		Log: x.log, State: x.state, AuctionName: engine.HashSellerAuctionName, Contact: engine.DecryptContact,
		DataDir: x.settings.DataDir,
	}), nil
}

// ExplainLead returns the course of a lead as JSON for the admin API: see explain.Explanation.
// The error is engine.ErrNotFound if the log no longer has the lead, or never had it.
func (x *Exchange) ExplainLead(id market.LeadID) ([]byte, error) {
	return x.explainJSON(func(e *explain.Explainer) (*explain.Explanation, error) { return e.ExplainLead(id) })
}

// ExplainAuction returns the course of an auction as JSON. If the auction was held for an
// ingested lead, it returns the explanation of that lead.
func (x *Exchange) ExplainAuction(id market.AuctionID) ([]byte, error) {
	return x.explainJSON(func(e *explain.Explainer) (*explain.Explanation, error) { return e.ExplainAuction(id) })
}

// ExplainRequest returns, as JSON, the lead or auction that a request to the exchange caused.
// id is the request id that every HTTP answer carries.
func (x *Exchange) ExplainRequest(id market.RequestID) ([]byte, error) {
	return x.explainJSON(func(e *explain.Explainer) (*explain.Explanation, error) { return e.ExplainRequest(id) })
}

// ExplainBySellerID returns, as JSON, the course of the auction to which a seller gave the id
// sellerID. An empty supplier stands for all suppliers. If several of them used the id, the
// error is a *admin.AmbiguousSupplierError.
func (x *Exchange) ExplainBySellerID(supplier, sellerID string) ([]byte, error) {
	return x.explainJSON(func(e *explain.Explainer) (*explain.Explanation, error) {
		return e.ExplainBySellerID(supplier, sellerID)
	})
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
