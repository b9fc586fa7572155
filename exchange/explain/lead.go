package explain

import (
	"encoding/json"

	"pingpost/engine/event"
	"pingpost/engine/market"
)

// Kinds of explanations.
const (
	kindIngest       = "ingest"
	kindPost         = "post"
	kindPing         = "ping"
	kindAvailability = "availability"
)

// sellerLeadField is the field with the seller's id of a posted lead. A mapping cannot use
// this name.
const sellerLeadField = "lead_uuid"

// timeline replays a lead's events to build its explanation. It holds the lead's state after
// the events so far. After the last event this state agrees with the lead's row in memory.
type timeline struct {
	lead     market.LeadID
	doc      *Explanation
	state    objectNamer
	sale     *event.Sale // the current or last sale; its buyer is zero without a sale
	trail    []event.OutcomeFilterSets
	status   market.LeadStatus
	delivery market.DeliveryState
	reason   market.Reason

	unanswered bool // a restart ended the call without an answer
}

// objectNamer translates the numbers that events use for suppliers, buyers and campaigns to
// their configured ids.
type objectNamer interface {
	NameOf(kind event.ObjectKind, ref market.Ref) string
}

// explainLead explains a lead from the log entry that decided it. If the lead claimed the bid
// of an earlier ping, the result lacks that ping.
func (e *Explainer) explainLead(found *logEntry) (doc *Explanation, err error) {
	decided := found.leadDecided()
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
		c.startPost(&decided.Sale, found.at)
	} else {
		c.setImmediateAnswer(found.at)
	}
	c.addWebhook(decided.Webhook, found.at)
	after, err := e.readLaterEvents(found)
	if err != nil {
		return nil, err
	}
	doc.Truncated = after.truncated
	for _, next := range after.records {
		c.applyEvent(next)
		c.setAnswerBySettlement(next)
	}
	if after.end != nil {
		c.applyEvent(after.end)
	}
	if row, known := e.state.Lead(decided.Lead); known && row.Status.IsReported() {
		c.status = row.Status // even if the search did not reach the report
	}
	e.setWebhookStates(doc, decided.Lead)
	c.copyFinalState(decided.Reason == market.ReasonNone)
	config := e.readCampaignConfig(decided.Catalog, doc.Campaign, found.seq)
	doc.Method = config.method
	doc.Candidates = e.listCandidates(config, c.trail, decided.Auction.Bids, decided.Sale.Ping == [16]byte{})
	c.setOutcomeOfLastPost()
	doc.noteMissingConfig(&config)
	e.withholdUnlistedReasons(doc, &config)
	doc.Why = summarizeLead(doc)
	return doc, nil
}

// newLeadExplanation returns a lead's explanation as of its decision: without posts, reports
// and webhooks.
func (e *Explainer) newLeadExplanation(found *logEntry) *Explanation {
	decided := found.leadDecided()
	doc := &Explanation{
		Kind: kindIngest, ID: decided.Lead.String(), LeadID: decided.Lead.String(), RequestID: decided.Request.String(),
		Supplier: e.state.NameOf(event.ObjectSupplier, decided.Supplier),
		Campaign: e.state.NameOf(event.ObjectCampaign, decided.Campaign),
		Catalog:  decided.Catalog, Test: decided.Sale.Test,
		Received: Instant(timeOfID(decided.Lead)), Decided: Instant(found.at),
		Fields: fieldsAsJSON(decided.Fields), Posts: []Post{},
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

// fieldsAsJSON returns a lead's fields as JSON values, by field name.
func fieldsAsJSON(fields []event.Field) map[string]json.RawMessage {
	all := make(map[string]json.RawMessage, len(fields))
	for i := range fields {
		value := market.Value{Kind: fields[i].Kind, Text: fields[i].Text}
		all[fields[i].Name] = value.AppendJSON(nil)
	}
	return all
}

// startPost adds a post, without attempts yet, to the buyer of the sale. at is the time when
// the intention to post became durable.
func (c *timeline) startPost(sale *event.Sale, at int64) {
	c.doc.Posts = append(c.doc.Posts, Post{
		Buyer: c.state.NameOf(event.ObjectBuyer, sale.Buyer), Intended: Instant(at),
		Price: newAmount(sale.Price, sale.Currency), Payout: newAmount(sale.Payout, sale.Currency),
		Tries: []Try{}, Settlements: []Settlement{},
	})
}

// applyEvent adds a later event of the lead to the explanation, and changes the lead's state
// accordingly.
func (c *timeline) applyEvent(after *logEntry) {
	switch ev := after.event.(type) {
	case *event.StatusChanged:
		change := changeOfLead(ev, c.lead)
		c.addStatusReport(ev, change)
		c.addWebhook(change.Webhook, after.at)
		return
	case *event.WebhookAttempted:
		c.addWebhookAttempt(ev)
		return
	}
	if len(c.doc.Posts) == 0 {
		panic("BUG: the log has a delivery event for a lead that was posted to no buyer")
	}
	post := &c.doc.Posts[len(c.doc.Posts)-1]
	switch ev := after.event.(type) {
	case *event.PostAttempted:
		post.Tries = append(post.Tries, newTry(ev, len(post.Tries)))
	case *event.PostSettled:
		post.Settlements = append(post.Settlements, Settlement{
			At: Instant(after.at), Outcome: ev.Settlement.String(), Status: ev.Status, Fault: faultName(ev.Fault), Failed: ev.Attempts,
			Elapsed: Milliseconds(ev.Elapsed), Code: ev.Code, BuyerLead: ev.BuyerLead, Reason: ev.Reason.String(),
			Next: c.state.NameOf(event.ObjectBuyer, ev.Next.Buyer),
		})
		if ev.Settlement.EndsPost() {
			c.doc.Settled = Instant(after.at)
		}
		if len(ev.Trail) > 0 {
			c.trail = ev.Trail
		}
		c.applySettlement(ev, after.at)
		c.addWebhook(ev.Webhook, after.at)
	}
}

// applySettlement changes the lead's status and delivery after a settlement of its post. The
// rules must be those of package state, which applies the same event to memory.
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

// newTry returns the explained form of a failed attempt to post. earlier is the number of
// attempts of the same post before it.
func newTry(ev *event.PostAttempted, earlier int) Try {
	try := Try{Attempt: uint32(earlier) + 1, Ended: Instant(ev.At), Status: ev.Status, Fault: faultName(ev.Fault), Code: ev.Code}
	if ev.Verdict != 0 {
		try.Verdict = ev.Verdict.String()
	}
	return try
}

// applyRefusal handles a buyer's refusal: the lead goes to the next buyer that the event names,
// or becomes unsold if it names no buyer.
func (c *timeline) applyRefusal(ev *event.PostSettled, at int64) {
	switch {
	case ev.Next.Buyer == 0:
		c.status, c.delivery, c.reason = market.StatusUnmatched, market.DeliveryFailed, ev.Reason
	case ev.Post.URL == "":
		c.sale, c.status, c.delivery = &ev.Next, market.StatusAccepted, market.DeliveryNone
	default:
		c.sale = &ev.Next
		c.startPost(c.sale, at)
	}
}

// copyFinalState copies the lead's state after the last event into the explanation: status,
// reason, delivery and sale. hadBuyer is false for a lead that never had a buyer; it has no
// delivery.
func (c *timeline) copyFinalState(hadBuyer bool) {
	c.doc.Status, c.doc.Reason = c.status.String(), c.reason.String()
	if !hadBuyer {
		return
	}
	c.doc.Delivery = c.delivery.String()
	if c.status != market.StatusUnmatched {
		c.doc.Buyer = c.state.NameOf(event.ObjectBuyer, c.sale.Buyer)
		c.doc.Price, c.doc.Payout = newAmount(c.sale.Price, c.sale.Currency), newAmount(c.sale.Payout, c.sale.Currency)
		c.doc.Margin = newAmount(c.sale.Price-c.sale.Payout, c.sale.Currency)
	}
}

// setOutcomeOfLastPost replaces the candidate outcome "post pending" by won or rejected, once
// the delivery has ended. The log recorded the outcomes before that.
func (c *timeline) setOutcomeOfLastPost() {
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

func newAmount(m market.Money, currency market.Currency) *Amount {
	return &Amount{Millionths(m), currency.String()}
}
