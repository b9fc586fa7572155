package explain

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
const sellerLeadField = "lead_uuid"

// course is a lead on its way through its facts: where it stands after those that
// were followed so far. It ends where state's row of the lead does.
type timeline struct {
	lead     market.LeadID
	doc      *Explanation
	state    namer
	sale     *event.Sale // that is in force, or was the last; its buyer is zero where there was none
	trail    []event.Step
	status   market.Status
	delivery market.Delivery
	reason   market.Reason

	unanswered bool // there was nobody left to be answered
}

// names finds the names of what facts have numbers of.
type namer interface {
	NameOf(kind event.NameKind, ref market.Ref) string
}

// tellLead tells of a lead without the ping whose bid it was sold at.
func (e *Explainer) explainLead(found *entry) (doc *Explanation, err error) {
	decided := found.lead()
	doc = e.newLeadExplanation(found)
	c := timeline{
		lead: decided.Lead, doc: doc, state: e.state, sale: &decided.Sale, trail: decided.Trail,
		reason: decided.Reason, status: market.StatusUnmatched,
	}
	if decided.Sale.Buyer != 0 {
		c.status = market.StatusAccepted
	}
	if decided.Post.URL != "" {
		c.status, c.delivery = market.StatusOpen, market.DeliveryPending
		c.addPost(&decided.Sale, found.at)
	} else {
		c.setImmediateAnswer(found.at)
	}
	c.addWebhook(decided.Webhook, found.at)
	after, err := e.readFollowUp(found)
	if err != nil {
		return nil, err
	}
	doc.Truncated = after.truncated
	for _, next := range after.records {
		c.apply(next)
		c.setAnswer(next)
	}
	if after.end != nil {
		c.apply(after.end)
	}
	if row, known := e.state.Lead(decided.Lead); known && row.Status.IsReported() {
		c.status = row.Status // also where the report is out of reach
	}
	e.setWebhookStates(doc, decided.Lead)
	c.setStatus(decided.Reason == market.ReasonNone)
	config := e.campaignConfig(decided.Catalog, doc.Campaign, found.seq)
	doc.Method = config.method
	doc.Candidates = e.candidates(config, c.trail, decided.Auction.Bids, decided.Sale.Ping == [16]byte{})
	c.setPendingOutcome()
	doc.noteMissingConfig(&config)
	e.withholdUnlistedReasons(doc, &config)
	doc.Why = whyLead(doc)
	return doc, nil
}

// describeLead tells what is certain from the beginning.
func (e *Explainer) newLeadExplanation(found *entry) *Explanation {
	decided := found.lead()
	doc := &Explanation{
		Kind: kindIngest, ID: decided.Lead.String(), LeadID: decided.Lead.String(), RequestID: decided.Request.String(),
		Supplier: e.state.NameOf(event.NameSupplier, decided.Supplier),
		Campaign: e.state.NameOf(event.NameCampaign, decided.Campaign),
		Catalog:  decided.Catalog, Test: decided.Sale.Test,
		Received: Instant(idTime(decided.Lead)), Decided: Instant(found.at),
		Fields: fieldsOf(decided.Fields), Posts: []Post{},
	}
	if auction := &decided.Auction; !auction.ID.IsZero() {
		doc.AuctionID, doc.BidsDue = auction.ID.String(), Instant(auction.Deadline)
		doc.Received = Instant(auction.Began)
	} else if !decided.Post.Auction.IsZero() {
		doc.AuctionID = decided.Post.Auction.String()
	}
	if !decided.DuplicateOf.IsZero() {
		doc.DuplicateOf = decided.DuplicateOf.String()
	}
	for i := range decided.Fields {
		if decided.Fields[i].Name == sellerLeadField {
			doc.Kind, doc.SellerID = kindPost, string(decided.Fields[i].Text)
			delete(doc.Fields, sellerLeadField)
		}
	}
	return doc
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
func (c *timeline) addPost(sale *event.Sale, at int64) {
	c.doc.Posts = append(c.doc.Posts, Post{
		Buyer: c.state.NameOf(event.NameBuyer, sale.Buyer), Intended: Instant(at),
		Price: amountOf(sale.Price, sale.Currency), Payout: amountOf(sale.Payout, sale.Currency),
		Tries: []Try{}, Settlements: []Settlement{},
	})
}

func (c *timeline) apply(after *entry) {
	switch ev := after.event.(type) {
	case *event.StatusChanged:
		change := changeOf(ev, c.lead)
		c.addReport(ev, change)
		c.addWebhook(change.Webhook, after.at)
		return
	case *event.WebhookTried:
		c.addWebhookAttempt(ev)
		return
	}
	if len(c.doc.Posts) == 0 {
		panic("BUG: a lead that was posted to nobody has a fact of its delivery")
	}
	post := &c.doc.Posts[len(c.doc.Posts)-1]
	switch ev := after.event.(type) {
	case *event.PostTried:
		post.Tries = append(post.Tries, tryOf(ev, len(post.Tries)))
	case *event.PostSettled:
		post.Settlements = append(post.Settlements, Settlement{
			At: Instant(after.at), Outcome: ev.Settlement.String(), Status: ev.Status, Fault: faultOf(ev.Fault), Failed: ev.Attempts,
			Elapsed: Milliseconds(ev.Elapsed), Code: ev.Code, BuyerLead: ev.BuyerLead, Reason: ev.Reason.String(),
			Next: c.state.NameOf(event.NameBuyer, ev.Next.Buyer),
		})
		if ev.Settlement.Ends() {
			c.doc.Settled = Instant(after.at)
		}
		if len(ev.Trail) > 0 {
			c.trail = ev.Trail
		}
		c.applySettlement(ev, after.at)
		c.addWebhook(ev.Webhook, after.at)
	}
}

// settle is what state makes of the same fact.
func (c *timeline) applySettlement(ev *event.PostSettled, at int64) {
	switch ev.Settlement {
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
		c.status, c.delivery, c.reason = market.StatusUnmatched, market.DeliveryReleased, ev.Reason
	case event.SettledRefused:
		c.applyRefusal(ev, at)
	}
}

// tryOf describes a try that follows some others.
func tryOf(ev *event.PostTried, before int) Try {
	try := Try{Attempt: uint32(before) + 1, Ended: Instant(ev.At), Status: ev.Status, Fault: faultOf(ev.Fault), Code: ev.Code}
	if ev.Verdict != 0 {
		try.Verdict = ev.Verdict.String()
	}
	return try
}

func (c *timeline) applyRefusal(ev *event.PostSettled, at int64) {
	switch {
	case ev.Next.Buyer == 0:
		c.status, c.delivery, c.reason = market.StatusUnmatched, market.DeliveryFailed, ev.Reason
	case ev.Post.URL == "":
		c.sale, c.status, c.delivery = &ev.Next, market.StatusAccepted, market.DeliveryNone
	default:
		c.sale = &ev.Next
		c.addPost(c.sale, at)
	}
}

// conclude tells where the lead stands.
func (c *timeline) setStatus(wasSold bool) {
	c.doc.Status, c.doc.Reason = c.status.String(), c.reason.String()
	if !wasSold {
		return
	}
	c.doc.Delivery = c.delivery.String()
	if c.status != market.StatusUnmatched {
		c.doc.Buyer = c.state.NameOf(event.NameBuyer, c.sale.Buyer)
		c.doc.Price, c.doc.Payout = amountOf(c.sale.Price, c.sale.Currency), amountOf(c.sale.Payout, c.sale.Currency)
		c.doc.Margin = amountOf(c.sale.Price-c.sale.Payout, c.sale.Currency)
	}
}

// crown gives the candidate of the last post its end: a trail was written while
// that was open.
func (c *timeline) setPendingOutcome() {
	outcome := market.OutcomePostPending
	switch c.delivery {
	case market.DeliveryDone, market.DeliveryConfirmed:
		outcome = market.OutcomeWon
	case market.DeliveryFailed, market.DeliveryReleased:
		outcome = market.OutcomePostRejected
	}
	for i := range c.doc.Candidates {
		if candidate := &c.doc.Candidates[i]; candidate.Outcome == market.OutcomePostPending.String() {
			candidate.Outcome = outcome.String()
		}
	}
}

func amountOf(m market.Money, currency market.Currency) *Amount {
	return &Amount{Millionths(m), currency.String()}
}
