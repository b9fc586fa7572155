package engine

import (
	"pingpost/engine/event"
	"pingpost/engine/market"
	"pingpost/engine/state"
)

// Look is a lead as one of the two whom it concerns may see it: where it stands
// and what it is worth to the one who looks. Nothing of it tells who the person
// is.
type Look struct {
	Lead     market.LeadID
	Status   market.Status
	Delivery market.Delivery
	Reason   market.Reason // where it was not sold
	Return   market.ReturnState
	Campaign string
	Buyer    string          // empty: nobody has it
	Own      string          // the seller's own id of it, shown to the seller; empty: there is none
	Auction  string          // the name of its auction with the one who looks; empty: there was none
	Price    market.Money    // what the seller is paid, or the buyer pays
	Currency market.Currency // the zero one: it is not sold
	Created  int64           // Unix nanoseconds
	Test     bool
}

// LookAsSupplier shows a lead to the supplier that sent it; ErrNotFound to anyone
// else. Until is when the answer is due, in Unix nanoseconds.
func (e *Engine) LookAsSupplier(id market.LeadID, supplier market.Ref, until int64) (Look, error) {
	lead, ok := e.state.Lead(id)
	if !ok || lead.Supplier != supplier {
		return Look{}, ErrNotFound
	}
	look := e.look(&lead)
	look.price(&lead, lead.Payout)
	decided, err := e.log.ReadDecision(&lead, until)
	if decided == nil {
		return look, err
	}
	look.Own, look.Auction = decided.SellerLeadID(), decided.SellerAuction
	if look.Auction == "" {
		look.Auction = decided.AuctionID()
	}
	return look, nil
}

// LookAsBuyer shows a lead to the buyer that bought it, or is being sent it;
// ErrNotFound to anyone else.
func (e *Engine) LookAsBuyer(id market.LeadID, buyer market.Ref, until int64) (Look, error) {
	lead, ok := e.state.Lead(id)
	if !ok || lead.Buyer == 0 || lead.Buyer != buyer {
		return Look{}, ErrNotFound
	}
	look := e.look(&lead)
	look.price(&lead, lead.Price)
	decided, err := e.log.ReadDecision(&lead, until)
	if decided != nil {
		look.Auction = decided.AuctionID()
	}
	return look, err
}

func (e *Engine) look(lead *state.Lead) Look {
	look := Look{
		Lead: lead.ID, Status: lead.Status, Delivery: lead.Delivery, Reason: lead.Reason, Return: lead.Return(),
		Campaign: e.state.NameOf(event.NameCampaign, lead.Campaign), Created: lead.Decided, Test: lead.IsTest(),
	}
	if lead.Buyer != 0 && lead.Status != market.StatusUnmatched {
		look.Buyer = e.state.NameOf(event.NameBuyer, lead.Buyer)
	}
	return look
}

// price shows an amount where the lead is sold.
func (l *Look) price(lead *state.Lead, amount market.Money) {
	if lead.Status != market.StatusUnmatched && lead.Status != market.StatusOpen {
		l.Price, l.Currency = amount, lead.Currency
	}
}
