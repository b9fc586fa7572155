package explain

import (
	"encoding/json"

	"pingpost/engine/event"
	"pingpost/engine/market"
	"pingpost/engine/state"
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

// leadTimeline replays a lead's events to build its explanation. It holds the lead's state after
// the events so far. After the last event this state agrees with the lead's row in memory.
type leadTimeline struct {
	lead         market.LeadID
	doc          *Explanation
	state        *state.State
	sale         *event.Sale // the current or last sale; its buyer is zero without a sale
	trail        []event.FilterSetsWithOutcome
	trailAt      int64       // when the trail became durable, Unix nanoseconds
	trailRefused *event.Sale // the sale whose refusal changed the trail; nil: the trail is of the decision
	status       market.LeadStatus
	delivery     market.DeliveryState
	reason       market.UnsoldReason

	row      state.Lead         // the lead in memory
	known    bool               // memory has the lead
	reported market.LeadStatus  // by the buyer
	returned market.ReturnState // by the buyer and the operator
	webhooks []webhookProgress  // of the webhooks in doc

	unanswered bool // a restart ended the call without an answer
}

// explainLeadOmittingItsPing explains a lead from the log entry that decided it. If the lead claimed the bid
// of an earlier ping, the result lacks that ping.
func (e *Explainer) explainLeadOmittingItsPing(decision *logEntry) (doc *Explanation, err error) {
	decided := decision.mustBeLeadDecided()
	doc = e.newLeadExplanationAtDecision(decision)
	c := leadTimeline{
		lead: decided.Lead, doc: doc, state: e.State, sale: &decided.Sale, trail: decided.Trail, trailAt: decision.at,
		reason: decided.Reason, status: market.StatusUnmatched,
	}
	if decided.Sale.Buyer != 0 {
		c.status = market.StatusAccepted
	}
	if decided.Post.URL != "" {
		c.status, c.delivery = market.StatusOpen, market.DeliveryPending
		c.addPost(&decided.Sale, decision.at)
	} else {
		c.setSupplierAnswerAtDecision(decision.at)
	}
	c.addWebhookUnlessNone(decided.Webhook, decision.at)
	if err := e.applyEventsAfterDecision(&c, decision); err != nil {
		return nil, err
	}
	row, known, err := e.State.Lead(decided.Lead)
	if err != nil {
		return nil, err
	}
	if known && row.Status.IsReportedByBuyer() {
		c.status = row.Status // even if the search did not reach the report
	}
	c.setWebhookStates()
	c.copyFinalStateToExplanation(decided.Reason == market.ReasonNone)
	config := e.readCampaignConfig(decided.Catalog, doc.Campaign, decision.seq)
	doc.Method = config.method
	doc.Candidates = e.listFilterSetCandidates(config, c.trail, decided.Auction.Bids, !leadClaimedEarlierBid(decided, &config))
	c.replacePendingOutcome()
	e.addRulesOfLead(&c, decision, &config)
	doc.addNoteIfBuyersUnknown(&config)
	e.redactReasonsUnlistedByCampaign(doc, &config)
	doc.Why = summarizeLead(doc)
	return doc, nil
}

// newLeadExplanationAtDecision returns a lead's explanation as of its decision: without posts, reports
// and webhooks.
func (e *Explainer) newLeadExplanationAtDecision(decision *logEntry) *Explanation {
	decided := decision.mustBeLeadDecided()
	doc := &Explanation{
		Kind: kindIngest, ID: decided.Lead.String(), LeadID: decided.Lead.String(), RequestID: decided.Request.String(),
		Supplier: e.State.NameOf(event.ObjectSupplier, decided.Supplier),
		Campaign: e.State.NameOf(event.ObjectCampaign, decided.Campaign),
		Catalog:  decided.Catalog, Test: decided.Sale.Test,
		Received: NanosAsRFC3339(creationNanosOfID(decided.Lead)), Decided: NanosAsRFC3339(decision.at),
		Fields: fieldsAsJSON(decided.Fields), Posts: []DeliveryToBuyer{},
	}
	if auction := &decided.Auction; !auction.ID.IsZero() {
		doc.AuctionID, doc.BidsDue = auction.ID.String(), NanosAsRFC3339(auction.Deadline)
		doc.Received = NanosAsRFC3339(auction.Began)
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
func fieldsAsJSON(fields []event.LeadField) map[string]json.RawMessage {
	all := make(map[string]json.RawMessage, len(fields))
	for i := range fields {
		value := market.FieldValue{Kind: fields[i].Kind, Text: fields[i].Text}
		all[fields[i].Name] = value.AppendJSON(nil)
	}
	return all
}

// addPost adds a post, without attempts yet, to the buyer of the sale. intendedAtNanos is the time when
// the intention to post became durable.
func (c *leadTimeline) addPost(sale *event.Sale, intendedAtNanos int64) {
	c.doc.Posts = append(c.doc.Posts, DeliveryToBuyer{
		Buyer: c.state.NameOf(event.ObjectBuyer, sale.Buyer), Intended: NanosAsRFC3339(intendedAtNanos),
		Price: newAmount(sale.Price, sale.Currency), Payout: newAmount(sale.Payout, sale.Currency),
		Tries: []FailedPostAttempt{}, Settlements: []DeliveryStateChange{},
	})
}

// applyEvent adds a later event of the lead to the explanation, and changes the lead's state
// accordingly.
func (c *leadTimeline) applyEvent(entry *logEntry) {
	switch ev := entry.event.(type) {
	case *event.LeadStatusChangesDecided:
		change := changeOfLead(ev, c.lead)
		c.addBuyerReportOrOperatorDecision(ev, change)
		c.addWebhookUnlessNone(change.Webhook, entry.at)
		return
	case *event.WebhookAttemptedOrDecided:
		c.addWebhookAttemptOrDecision(ev)
		return
	}
	if len(c.doc.Posts) == 0 {
		panic("BUG: the log has a delivery event for a lead that was posted to no buyer")
	}
	post := &c.doc.Posts[len(c.doc.Posts)-1]
	switch ev := entry.event.(type) {
	case *event.PostAttemptFailed:
		post.Tries = append(post.Tries, newFailedPostAttempt(ev, len(post.Tries)))
	case *event.PostSettled:
		post.Settlements = append(post.Settlements, DeliveryStateChange{
			At: NanosAsRFC3339(entry.at), Outcome: ev.Settlement.String(), Status: ev.Status, Fault: nameOfFault(ev.Fault), Failed: ev.Attempts,
			Elapsed: NanosAsMilliseconds(ev.Elapsed), Code: ev.Code, BuyerLead: ev.BuyerLead, Reason: ev.Reason.String(),
			Next: c.state.NameOf(event.ObjectBuyer, ev.Next.Buyer),
		})
		if ev.Settlement.EndsPost() {
			c.doc.Settled = NanosAsRFC3339(entry.at)
		}
		if len(ev.Trail) > 0 {
			c.trail, c.trailAt, c.trailRefused = ev.Trail, entry.at, &ev.Sale
		}
		c.applySettlement(ev, entry.at)
		c.addWebhookUnlessNone(ev.Webhook, entry.at)
	}
}

// applySettlement changes the lead's status and delivery after a settlement of its post. The
// rules must be those of package state, which applies the same event to memory.
func (c *leadTimeline) applySettlement(ev *event.PostSettled, atNanos int64) {
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
		c.applyRefusal(ev, atNanos)
	}
}

// newFailedPostAttempt returns the explained form of a failed attempt to post. earlierAttempts is
// the number of attempts of the same post before it.
func newFailedPostAttempt(ev *event.PostAttemptFailed, earlierAttempts int) FailedPostAttempt {
	try := FailedPostAttempt{Attempt: uint32(earlierAttempts) + 1, Ended: NanosAsRFC3339(ev.At), Status: ev.Status, Fault: nameOfFault(ev.Fault), Code: ev.Code}
	if ev.Verdict != 0 {
		try.Verdict = ev.Verdict.String()
	}
	return try
}

// applyRefusal handles a buyer's refusal: the lead goes to the next buyer that the event names,
// or becomes unsold if it names no buyer.
func (c *leadTimeline) applyRefusal(ev *event.PostSettled, atNanos int64) {
	switch {
	case ev.Next.Buyer == 0:
		c.status, c.delivery, c.reason = market.StatusUnmatched, market.DeliveryFailed, ev.Reason
	case ev.Post.URL == "":
		c.sale, c.status, c.delivery = &ev.Next, market.StatusAccepted, market.DeliveryNone
	default:
		c.sale = &ev.Next
		c.addPost(c.sale, atNanos)
	}
}

// copyFinalStateToExplanation copies the lead's state after the last event into the explanation:
// status, reason, delivery and sale. hadBuyer is false for a lead that never had a buyer; it has no
// delivery.
func (c *leadTimeline) copyFinalStateToExplanation(hadBuyer bool) {
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

// replacePendingOutcome replaces the candidate outcome "post pending" by won or rejected, once
// the delivery has ended. The log recorded the outcomes before that.
func (c *leadTimeline) replacePendingOutcome() {
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
	return &Amount{SignedMoney(m), currency.String()}
}
