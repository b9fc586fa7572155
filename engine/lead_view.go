package engine

import (
	"pingpost/engine/event"
	"pingpost/engine/market"
	"pingpost/engine/state"
)

// LeadView is a lead as its supplier or its buyer may see it: it has the payout for the supplier
// and the price for the buyer. It has no contact data.
type LeadView struct {
	Lead         market.LeadID
	Status       market.LeadStatus
	Delivery     market.DeliveryState
	Reason       market.UnsoldReason // if it was not sold
	Return       market.ReturnState
	Campaign     string
	Buyer        string          // empty: it was not sold
	SellerLeadID string          // the seller's own id, for the seller alone; may be empty
	Auction      string          // the viewer's id of the auction; empty: no auction
	Price        market.Money    // the seller's payout, or the buyer's price
	Currency     market.Currency // zero: not sold
	Created      int64           // Unix nanoseconds
	Test         bool
}

// ViewLeadForSupplier returns a lead to the supplier that sent it. Other suppliers get ErrNotFound.
// deadlineNanos limits the wait for a log read, in Unix nanoseconds.
func (e *Engine) ViewLeadForSupplier(id market.LeadID, supplier market.PermanentNumber, deadlineNanos int64) (LeadView, error) {
	lead, ok, err := e.findLead(id)
	if err != nil {
		return LeadView{}, err
	}
	if !ok || lead.Supplier != supplier {
		return LeadView{}, ErrNotFound
	}
	view := e.newLeadView(&lead)
	view.setPriceIfSold(&lead, lead.Payout)
	decided, err := e.log.ReadDecisionIfKept(&lead, deadlineNanos)
	if decided == nil {
		return view, err
	}
	view.SellerLeadID, view.Auction = decided.SellerLeadID(), decided.SellerAuction
	if view.Auction == "" {
		view.Auction = decided.AuctionIDText()
	}
	return view, nil
}

// ViewLeadForBuyer returns a lead to the buyer that bought it or whose post is in progress. A buyer
// to which the delivery failed after the supplier received ACCEPTED gets it too, as unsold. Other
// buyers get ErrNotFound. deadlineNanos limits the wait for a log read, in Unix nanoseconds.
func (e *Engine) ViewLeadForBuyer(id market.LeadID, buyer market.PermanentNumber, deadlineNanos int64) (LeadView, error) {
	lead, ok, err := e.findLead(id)
	if err != nil {
		return LeadView{}, err
	}
	if !ok || lead.Buyer == 0 || lead.Buyer != buyer {
		return LeadView{}, ErrNotFound
	}
	view := e.newLeadView(&lead)
	view.setPriceIfSold(&lead, lead.Price)
	decided, err := e.log.ReadDecisionIfKept(&lead, deadlineNanos)
	if decided != nil {
		view.Auction = decided.AuctionIDText()
	}
	return view, err
}

func (e *Engine) newLeadView(lead *state.Lead) LeadView {
	view := LeadView{
		Lead: lead.ID, Status: lead.Status, Delivery: lead.Delivery, Reason: lead.Reason, Return: lead.ReturnState(),
		Campaign: e.state.NameOf(event.ObjectCampaign, lead.Campaign), Created: lead.Decided, Test: lead.IsTest(),
	}
	if lead.Buyer != 0 && lead.Status != market.StatusUnmatched {
		view.Buyer = e.state.NameOf(event.ObjectBuyer, lead.Buyer)
	}
	return view
}

// setPriceIfSold sets the amount that the viewer may see, and its currency. An open or unsold lead has
// no price yet.
func (v *LeadView) setPriceIfSold(lead *state.Lead, visibleAmount market.Money) {
	if lead.Status != market.StatusUnmatched && lead.Status != market.StatusOpen {
		v.Price, v.Currency = visibleAmount, lead.Currency
	}
}
