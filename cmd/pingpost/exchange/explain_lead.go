package exchange

import (
	"encoding/json"

	"pingpost/engine/event"
	"pingpost/engine/market"
)

// The kinds of what is explained.
const (
	kindIngest       = "ingest"
	kindPost         = "post"
	kindPing         = "ping"
	kindAvailability = "availability"
)

// sellersLead is the name of the field by which a lead that came by a post is
// known: no mapping may have it.
const sellersLead = "lead_uuid"

// course is a lead on its way through its facts: where it stands after those that
// were followed so far. It ends where state's row of the lead does.
type course struct {
	lead     market.LeadID
	told     *Explanation
	state    names
	sale     *event.Sale // that is in force, or was the last; its buyer is zero where there was none
	trail    []event.Step
	status   market.Status
	delivery market.Delivery
	reason   market.Reason

	unanswered bool // there was nobody left to be answered
}

// names finds the names of what facts have numbers of.
type names interface {
	NameOf(kind event.NameKind, ref market.Ref) string
}

// tellLead tells of a lead without the ping whose bid it was sold at.
func (e *explainer) tellLead(found *entry) (told *Explanation, err error) {
	decided := found.lead()
	told = e.describeLead(found)
	c := course{
		lead: decided.Lead, told: told, state: e.state, sale: &decided.Sale, trail: decided.Trail,
		reason: decided.Reason, status: market.StatusUnmatched,
	}
	if decided.Sale.Buyer != 0 {
		c.status = market.StatusAccepted
	}
	if decided.Post.URL != "" {
		c.status, c.delivery = market.StatusOpen, market.DeliveryPending
		c.intend(&decided.Sale, found.at)
	} else {
		c.answerAtOnce(found.at)
	}
	c.owe(decided.Hook, found.at)
	after, err := e.afterwards(found)
	if err != nil {
		return nil, err
	}
	told.Truncated = after.truncated
	for _, next := range after.facts {
		c.follow(next)
		c.answer(next)
	}
	if after.end != nil {
		c.follow(after.end)
	}
	if row, known := e.state.Lead(decided.Lead); known && row.Status.Reported() {
		c.status = row.Status // also where the report is out of reach
	}
	e.stand(told, decided.Lead)
	c.conclude(decided.Reason == market.ReasonNone)
	lineup := e.lineup(decided.Catalog, told.Campaign, found.seq)
	told.Method = lineup.method
	told.Candidates = e.candidates(lineup, c.trail, decided.Auction.Bids, decided.Sale.Ping == [16]byte{})
	c.crown()
	told.nameless(&lineup)
	e.listed(told, &lineup)
	told.Why = whyLead(told)
	return told, nil
}

// describeLead tells what is certain from the beginning.
func (e *explainer) describeLead(found *entry) *Explanation {
	decided := found.lead()
	told := &Explanation{
		Kind: kindIngest, ID: decided.Lead.String(), LeadID: decided.Lead.String(), RequestID: decided.Request.String(),
		Supplier: e.state.NameOf(event.NameSupplier, decided.Supplier),
		Campaign: e.state.NameOf(event.NameCampaign, decided.Campaign),
		Catalog:  decided.Catalog, Test: decided.Sale.Test,
		Received: Instant(drawnAt(decided.Lead)), Decided: Instant(found.at),
		Fields: fieldsOf(decided.Fields), Posts: []Post{},
	}
	if auction := &decided.Auction; !auction.ID.IsZero() {
		told.AuctionID, told.BidsDue = auction.ID.String(), Instant(auction.Deadline)
		told.Received = Instant(auction.Began)
	} else if !decided.Post.Auction.IsZero() {
		told.AuctionID = decided.Post.Auction.String()
	}
	if !decided.DuplicateOf.IsZero() {
		told.DuplicateOf = decided.DuplicateOf.String()
	}
	for i := range decided.Fields {
		if decided.Fields[i].Name == sellersLead {
			told.Kind, told.SellerID = kindPost, string(decided.Fields[i].Text)
			delete(told.Fields, sellersLead)
		}
	}
	return told
}

func fieldsOf(fields []event.Field) map[string]json.RawMessage {
	all := make(map[string]json.RawMessage, len(fields))
	for i := range fields {
		value := market.Value{Kind: fields[i].Kind, Text: fields[i].Text}
		all[fields[i].Name] = value.AppendJSON(nil)
	}
	return all
}

// intend begins a post to the buyer of a sale.
func (c *course) intend(sale *event.Sale, at int64) {
	c.told.Posts = append(c.told.Posts, Post{
		Buyer: c.state.NameOf(event.NameBuyer, sale.Buyer), Intended: Instant(at),
		Price: amountOf(sale.Price, sale.Currency), Payout: amountOf(sale.Payout, sale.Currency),
		Tries: []Try{}, Settlements: []Settlement{},
	})
}

func (c *course) follow(after *entry) {
	switch fact := after.fact.(type) {
	case *event.StatusChanged:
		change := changeOf(fact, c.lead)
		c.report(fact, change)
		c.owe(change.Hook, after.at)
		return
	case *event.HookTried:
		c.hookTried(fact)
		return
	}
	if len(c.told.Posts) == 0 {
		panic("BUG: a lead that was posted to nobody has a fact of its delivery")
	}
	post := &c.told.Posts[len(c.told.Posts)-1]
	switch fact := after.fact.(type) {
	case *event.PostTried:
		post.Tries = append(post.Tries, Try{Attempt: fact.Attempt, Ended: Instant(fact.At), Status: fact.Status, Fault: faultOf(fact.Fault)})
	case *event.PostSettled:
		post.Settlements = append(post.Settlements, Settlement{
			At: Instant(after.at), Came: fact.Settlement.String(), Status: fact.Status, Fault: faultOf(fact.Fault), Failed: fact.Attempts,
			Elapsed: Milliseconds(fact.Elapsed), Code: fact.Code, BuyerLead: fact.BuyerLead, Reason: fact.Reason.String(),
			Next: c.state.NameOf(event.NameBuyer, fact.Next.Buyer),
		})
		if fact.Settlement.Ends() {
			c.told.Settled = Instant(after.at)
		}
		if len(fact.Trail) > 0 {
			c.trail = fact.Trail
		}
		c.settle(fact, after.at)
		c.owe(fact.Hook, after.at)
	}
}

// settle is what state makes of the same fact.
func (c *course) settle(fact *event.PostSettled, at int64) {
	switch fact.Settlement {
	case event.SettledDelivered:
		c.status, c.delivery = market.StatusAccepted, market.DeliveryDone
	case event.SettledConfirmed:
		c.status, c.delivery = market.StatusAccepted, market.DeliveryConfirmed
	case event.SettledPending:
		c.status = market.StatusAccepted
	case event.SettledUnknown:
		c.status, c.delivery = market.StatusAccepted, market.DeliveryUnknown
	case event.SettledResent:
		c.delivery = market.DeliveryPending
	case event.SettledReleased:
		c.status, c.delivery, c.reason = market.StatusUnmatched, market.DeliveryReleased, fact.Reason
	case event.SettledRefused:
		c.refused(fact, at)
	}
}

func (c *course) refused(fact *event.PostSettled, at int64) {
	switch {
	case fact.Next.Buyer == 0:
		c.status, c.delivery, c.reason = market.StatusUnmatched, market.DeliveryFailed, fact.Reason
	case fact.Post.URL == "":
		c.sale, c.status, c.delivery = &fact.Next, market.StatusAccepted, market.DeliveryNone
	default:
		c.sale = &fact.Next
		c.intend(c.sale, at)
	}
}

// conclude tells where the lead stands.
func (c *course) conclude(wasSold bool) {
	c.told.Status, c.told.Reason = c.status.String(), c.reason.String()
	if !wasSold {
		return
	}
	c.told.Delivery = c.delivery.String()
	if c.status != market.StatusUnmatched {
		c.told.Buyer = c.state.NameOf(event.NameBuyer, c.sale.Buyer)
		c.told.Price, c.told.Payout = amountOf(c.sale.Price, c.sale.Currency), amountOf(c.sale.Payout, c.sale.Currency)
		c.told.Margin = amountOf(c.sale.Price-c.sale.Payout, c.sale.Currency)
	}
}

// crown gives the candidate of the last post its end: a trail was written while
// that was open.
func (c *course) crown() {
	outcome := market.OutcomePostPending
	switch c.delivery {
	case market.DeliveryDone, market.DeliveryConfirmed:
		outcome = market.OutcomeWon
	case market.DeliveryFailed, market.DeliveryReleased:
		outcome = market.OutcomePostRejected
	}
	for i := range c.told.Candidates {
		if candidate := &c.told.Candidates[i]; candidate.Outcome == market.OutcomePostPending.String() {
			candidate.Outcome = outcome.String()
		}
	}
}

func amountOf(m market.Money, currency market.Currency) *Amount {
	return &Amount{Millionths(m), currency.String()}
}
