package engine

import (
	"bytes"
	"cmp"

	"pingpost/engine/event"
	"pingpost/engine/market"
	"pingpost/engine/state"
)

// month is a month's sales to a buyer in a campaign, of which a part may come
// back.
type month struct {
	campaign, buyer market.Ref
	began           int64 // Unix nanoseconds
}

func monthOf(lead *state.Lead) month {
	return month{lead.Campaign, lead.Buyer, market.StartOfMonth(lead.Decided)}
}

func compareMonths(a, b month) int {
	return cmp.Or(cmp.Compare(a.campaign, b.campaign), cmp.Compare(a.buyer, b.buyer), cmp.Compare(a.began, b.began))
}

func compareLeads(a, b market.LeadID) int { return bytes.Compare(a[:], b[:]) }

// returns is the campaign's rule as it is now; of one that is gone, the usual.
func (p *plan) returns(e *Engine, campaign market.Ref) market.ReturnRule {
	if o := p.campaigns[market.CampaignID(e.state.NameOf(event.NameCampaign, campaign))]; o != nil {
		return o.Campaign.Returns
	}
	return market.DefaultReturnRule()
}

// limits tells whether the rule stands in the way of some of the lead's month.
// All of it may always come back, since a lead does so once.
func limits(rule *market.ReturnRule, lead *state.Lead) bool {
	return rule.MaxShare < market.WholeShare && !lead.IsTest()
}

// limitedMonth is the month that a return counts in, where that is limited.
func (r *reporting) limitedMonth(rep *report) (m month, limited bool) {
	if rep.status != market.StatusReturned || len(rep.objections) > 0 {
		return m, false
	}
	lead, ok := r.engine.state.Lead(rep.lead)
	if !ok {
		return m, false
	}
	m = monthOf(&lead)
	m.buyer = r.req.Buyer.Ref // whoever has the lead: it may become this buyer's yet
	rule := r.plan.returns(r.engine, lead.Campaign)
	return m, limits(&rule, &lead)
}

// shareLeft tells whether one more of the lead's month may come back. Its month
// is taken, so nobody else adds to it. A lead that nobody knows to have arrived
// does so by this report, and counts among those that the buyer got.
func (r *reporting) shareLeft(lead *state.Lead, rule *market.ReturnRule) bool {
	if !limits(rule, lead) {
		return true
	}
	m := monthOf(lead)
	sold, returned := r.engine.state.MonthlySales(m.campaign, m.buyer, m.began)
	if lead.Delivery == market.DeliveryUnknown {
		sold++
	}
	return rule.AllowsAnother(returned+r.coming[m], sold)
}

// countReturn notes a return of this request, for those that come after it there.
// A test lead's counts in no month.
func (r *reporting) countReturn(lead *state.Lead) {
	if lead.IsTest() {
		return
	}
	if r.coming == nil {
		r.coming = make(map[month]int64)
	}
	r.coming[monthOf(lead)]++
}

// givenBack is what a lead's return gives back. Of a test lead that is nothing.
func (e *Engine) givenBack(lead *state.Lead, rule *market.ReturnRule, until int64) (back event.Return, err error) {
	if lead.IsTest() {
		return back, nil
	}
	back = event.Return{Campaign: lead.Campaign, Month: market.StartOfMonth(lead.Decided), Credit: lead.Price, Currency: lead.Currency}
	if rule.ReversePayout {
		back.Reverse = lead.Payout
	}
	if rule.CapBack {
		back.Charges, err = e.chargesOf(lead, until)
	}
	return back, err
}

// chargesOf is what the lead's sale took of caps. Memory does not keep it: it is
// in the fact by which its buyer got it. Where history no longer holds that fact
// the windows have long passed, and there is nothing to give back to.
func (e *Engine) chargesOf(lead *state.Lead, until int64) ([]event.Charge, error) {
	seq := lead.Seq
	if lead.Settled != 0 {
		seq = lead.Settled
	}
	fact, err := e.log.ReadIfKept(seq, until)
	if fact == nil {
		return nil, err
	}
	switch fact := fact.(type) {
	case *event.LeadDecided:
		return fact.Sale.Charges, nil
	case *event.PostSettled:
		if fact.Next.Buyer != 0 {
			return fact.Next.Charges, nil
		}
		return fact.Sale.Charges, nil
	}
	panic("BUG: a lead was sold by a " + fact.Kind().String())
}

// webhookFor returns the event, or WebhookNone if the supplier has no webhook.
func (p *plan) webhookFor(supplier market.Ref, kind market.WebhookType) market.WebhookType {
	if p.webhooks[supplier] == nil {
		return market.WebhookNone
	}
	return kind
}
