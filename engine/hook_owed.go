package engine

import (
	"pingpost/engine/event"
	"pingpost/engine/market"
	"pingpost/engine/state"
)

// owed says which event a fact about a lead owes the lead's supplier. told: the
// supplier was told before that its lead is accepted.
//
// A supplier hears of what has become of its lead, and of nothing that is still
// open:
//
//   - lead.posted, once a buyer has the lead: it was recorded for a buyer without
//     an endpoint, at once or after another one refused it; a buyer's endpoint took
//     it; an operator found that the buyer has it.
//   - lead.unmatched, once it is certain that none will: the decision found nobody,
//     or the last one refused it before the supplier was told anything.
//   - lead.post_failed, where the supplier was told ACCEPTED while the delivery was
//     open, and the buyer turned out not to have it.
//
// An intent, a refusal after which the next buyer is posted to, an answer at the
// ceiling, tries that are used up and those that begin anew owe nothing: each of
// them is followed by a fact that does. All the others are a lead's last word on
// its sale, so a lead is owed at most one of the three. What its buyer reports of
// it later owes what Status.Hook says.
//
// It is asked when the fact is made, and the answer is in the fact: what a
// supplier is owed does not change when its webhook is configured later, or no
// more.
func owed(fact event.Event, told bool) market.WebhookType {
	var sold, posted bool // as the fact leaves the lead
	switch fact := fact.(type) {
	case *event.LeadDecided:
		sold, posted = fact.Sale.Buyer != 0, fact.Post.URL != ""
	case *event.PostSettled:
		switch fact.Settlement {
		case event.SettledDelivered, event.SettledConfirmed:
			sold = true
		case event.SettledRefused, event.SettledReleased:
			sold, posted = fact.Next.Buyer != 0, fact.Post.URL != ""
		default:
			return market.WebhookNone
		}
	}
	switch {
	case posted:
		return market.WebhookNone
	case sold:
		return market.WebhookPosted
	case told:
		return market.WebhookPostFailed
	}
	return market.WebhookUnmatched
}

// owe enters into the decision what it owes, and keeps what will be said of it.
func (in *ingest) owe() {
	if in.plan.hooks[in.req.Supplier.Ref] == nil {
		return
	}
	in.fact.Webhook = owed(&in.fact, false)
	in.engine.hooks.fresh.keep(in.id, in.fact.Webhook, taleOf(&in.fact))
}

// owe enters into a settlement of the courier's lead what it owes.
func (c *courier) owe(fact *event.PostSettled) {
	e := c.engine
	if e.hookOf(fact.Supplier) == nil {
		return
	}
	fact.Webhook = owed(fact, c.told)
	if fact.Webhook == market.WebhookNone {
		return
	}
	if t, ok := e.hooks.fresh.find(c.lead, market.WebhookNone); ok {
		t.settle(fact)
		e.hooks.fresh.keep(c.lead, fact.Webhook, t)
	}
}

// conclude commits what has become of the courier's lead; see Engine.conclude.
func (c *courier) conclude(fact *event.PostSettled, hold *state.Reservation) error {
	c.owe(fact)
	return c.engine.conclude(fact, hold)
}

// hookOf is where a supplier hears of its leads by the catalog in force; nil:
// nowhere.
func (e *Engine) hookOf(supplier market.Ref) *market.Endpoint {
	if p := e.plan.Load(); p != nil {
		return p.hooks[supplier]
	}
	return nil
}
