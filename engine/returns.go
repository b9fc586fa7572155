package engine

import (
	"bytes"
	"cmp"

	"pingpost/engine/event"
	"pingpost/engine/market"
	"pingpost/engine/state"
)

// month identifies a month's sales to a buyer in a campaign. A rule may limit the share of
// them that the buyer returns.
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

// returns returns the campaign's present return rule, or the default rule for a removed
// campaign.
func (p *plan) returns(e *Engine, campaign market.Ref) market.ReturnRule {
	if o := p.campaigns[market.CampaignID(e.state.NameOf(event.ObjectCampaign, campaign))]; o != nil {
		return o.Campaign.Returns
	}
	return market.DefaultReturnRule()
}

// isLimited reports whether the rule limits the returns of the lead's month. A rule of 100 %
// never limits, because a lead is returned once.
func isLimited(rule *market.ReturnRule, lead *state.Lead) bool {
	return rule.MaxShare < market.WholeShare && !lead.IsTest()
}

// limitedMonth returns the month that a return counts in, and whether that is limited.
func (r *reporting) limitedMonth(rep *report) (m month, limited bool) {
	if rep.status != market.StatusReturned || len(rep.objections) > 0 {
		return m, false
	}
	lead, ok := r.engine.state.Lead(rep.lead)
	if !ok {
		return m, false
	}
	m = monthOf(&lead)
	m.buyer = r.req.Buyer.Ref // even if another buyer has the lead now: this buyer may get it before the lock
	rule := r.plan.returns(r.engine, lead.Campaign)
	return m, isLimited(&rule, &lead)
}

// shareLeft reports whether the buyer may return one more lead of the month. The month is
// locked. A lead with an unconfirmed delivery counts as sold, because this report confirms it.
func (r *reporting) shareLeft(lead *state.Lead, rule *market.ReturnRule) bool {
	if !isLimited(rule, lead) {
		return true
	}
	m := monthOf(lead)
	sold, returned := r.engine.state.MonthlySales(m.campaign, m.buyer, m.began)
	if lead.Delivery == market.DeliveryUnknown {
		sold++
	}
	return rule.AllowsAnotherReturn(returned+r.returns[m], sold)
}

// countReturn counts a return for the later reports of this request. Test leads do not count.
func (r *reporting) countReturn(lead *state.Lead) {
	if lead.IsTest() {
		return
	}
	if r.returns == nil {
		r.returns = make(map[month]int64)
	}
	r.returns[monthOf(lead)]++
}

// givenBack returns everything that a lead's return reverses. For a test lead it is zero.
func (e *Engine) givenBack(lead *state.Lead, rule *market.ReturnRule, until int64) (back event.Return, err error) {
	if lead.IsTest() {
		return back, nil
	}
	back = event.Return{Campaign: lead.Campaign, Month: market.StartOfMonth(lead.Decided), Credit: lead.Price, Currency: lead.Currency}
	if rule.ReversePayout {
		back.Reverse = lead.Payout
	}
	if rule.RestoreCaps {
		back.Charges, err = e.chargesOf(lead, until)
	}
	return back, err
}

// chargesOf returns the cap charges of the lead's sale. The state does not keep them, so they
// come from the sale's event. If the log's history no longer has that event, all windows have
// passed, and the result is empty.
func (e *Engine) chargesOf(lead *state.Lead, until int64) ([]event.Charge, error) {
	seq := lead.Seq
	if lead.Settled != 0 {
		seq = lead.Settled
	}
	record, err := e.log.ReadIfKept(seq, until)
	if record == nil {
		return nil, err
	}
	switch sale := record.(type) {
	case *event.LeadDecided:
		return sale.Sale.Charges, nil
	case *event.PostSettled:
		if sale.Next.Buyer != 0 {
			return sale.Next.Charges, nil
		}
		return sale.Sale.Charges, nil
	}
	panic("BUG: a lead was sold by a " + record.Kind().String())
}

// webhookFor returns the event, or WebhookNone if the supplier has no webhook.
func (p *plan) webhookFor(supplier market.Ref, kind market.WebhookType) market.WebhookType {
	if p.webhooks[supplier] == nil {
		return market.WebhookNone
	}
	return kind
}
