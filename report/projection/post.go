package projection

import (
	"pingpost/engine/event"
	"pingpost/engine/market"
)

// PostRow is a row of the report's table of posts: the delivery of a lead to one buyer, and
// its result.
type PostRow struct {
	PostKey
	Seq           uint64
	At            int64
	Buyer         market.PermanentNumber
	Price, Payout market.Money
	Currency      market.Currency
	Settlement    event.PostSettlement // zero: in progress
	Settled       int64
	Attempts      uint32
	Status        uint32
	Fault         market.OutboundRequestFault
	Elapsed       int64
	IsStored      bool // the database may have an older state of the row
}

type PostKey struct {
	Lead   market.LeadID
	Number int // from 1
}

// loadNewestPostOrNil returns the row of the lead's newest post. It returns nil for a lead without
// a post, or if the database begins after it.
func (b *ChangeBatch) loadNewestPostOrNil(l *LeadRow) (*PostRow, error) {
	if l == nil || l.Posts == 0 {
		return nil, nil //nolint:nilnil // there is none
	}
	key := PostKey{l.ID, l.Posts}
	found, known := b.Posts[key]
	if known {
		return found, nil
	}
	found, err := b.stored.LoadPostOrNil(b.ctx, key)
	if err == nil {
		b.Posts[key] = found
	}
	return found, err
}

// addAndCountPost adds the row of a new post: the lead is to be delivered to the buyer of sale.
// It also updates the lead's row, and counts the post unless the lead is a test.
func (b *ChangeBatch) addAndCountPost(l *LeadRow, sale *event.Sale) {
	l.setSale(sale)
	l.Status, l.Delivery = market.StatusOpen, market.DeliveryPending
	l.Posts++
	p := &PostRow{
		PostKey: PostKey{l.ID, l.Posts}, Seq: b.Seq, At: b.At, Buyer: sale.Buyer,
		Price: sale.Price, Payout: sale.Payout, Currency: sale.Currency, IsStored: l.IsStored,
	}
	b.Posts[p.PostKey] = p
	if !l.Test {
		b.addToSum(l.sumKeyFor(sale.Buyer, 0), CountPosts, 1)
	}
}

// applyFailedPostAttempt applies a failed attempt to deliver a lead that will be repeated.
func (b *ChangeBatch) applyFailedPostAttempt(ev *event.PostAttemptFailed) error {
	l, err := b.loadLeadRowOrNil(ev.Lead)
	if err != nil {
		return err
	}
	p, err := b.loadNewestPostOrNil(l)
	if p == nil || err != nil {
		return err
	}
	p.Status, p.Fault = ev.Status, ev.Fault
	if !ev.KeepsAttempt {
		p.Attempts = ev.Attempt
	}
	if ev.Fault == market.FaultTimeout && !l.Test {
		b.addToSum(l.sumKeyFor(p.Buyer, 0), CountPostTimeouts, 1)
	}
	return nil
}

// applyPostSettled changes the report's rows and sums for the final result of a post, or for a
// later change of that result.
func (b *ChangeBatch) applyPostSettled(ev *event.PostSettled) error {
	l, err := b.loadLeadRowOrNil(ev.Lead)
	if err != nil {
		return err
	}
	if l == nil { // older than the log's history; the settlement counts all the same
		l = &LeadRow{ID: ev.Lead, Campaign: ev.Campaign, Supplier: ev.Supplier, Test: ev.Sale.Test, IsStored: true}
	}
	supplier := ev.Supplier
	if supplier == 0 {
		supplier = l.Supplier
	}
	p, err := b.loadNewestPostOrNil(l)
	if err != nil {
		return err
	}
	if p != nil {
		p.Settlement, p.Settled = ev.Settlement, b.At
		p.Status, p.Fault, p.Elapsed = ev.Status, ev.Fault, ev.Elapsed
		if ev.Attempts != 0 {
			p.Attempts = ev.Attempts
		}
	}
	b.applyPostResultToLeadAndSums(l, ev)
	b.addSaleLedgerEntriesToSums(ev, supplier, l)
	b.addWebhookUnlessNone(ev.Lead, supplier, ev.Webhook)
	return nil
}

// applyPostResultToLeadAndSums applies the result of a post to the lead's row and to the sums.
func (b *ChangeBatch) applyPostResultToLeadAndSums(l *LeadRow, ev *event.PostSettled) {
	buyer := ev.Sale.Buyer
	if !l.Test && ev.Settlement.EndsPost() {
		if ev.Fault == market.FaultTimeout {
			b.addToSum(l.sumKeyFor(buyer, 0), CountPostTimeouts, 1)
		}
		if ev.Status != 0 {
			b.recordLatency(l.sumKeyFor(buyer, 0), PostLatency, ev.Elapsed)
		}
	}
	switch ev.Settlement {
	case event.SettledDelivered:
		l.Status, l.Delivery = market.StatusAccepted, market.DeliveryDone
	case event.SettledConfirmed:
		l.Status, l.Delivery = market.StatusAccepted, market.DeliveryConfirmed
	case event.SettledPending:
		l.Status, l.Delivery = market.StatusAccepted, market.DeliveryPending
	case event.SettledUnknown:
		l.Status, l.Delivery = market.StatusAccepted, market.DeliveryUnknown
	case event.SettledResent:
		l.Delivery = market.DeliveryPending
	case event.SettledReleased, event.SettledRefused:
		if !l.Test {
			b.addToSum(l.sumKeyFor(buyer, causeOfOutcomeOrZero(market.OutcomePostRejected)), CountRejects, 1)
		}
		b.continueAfterRejection(l, ev)
	}
}

// continueAfterRejection applies the next step of a lead that its buyer did not get. The lead
// is unsold, sold to the next buyer without a post, or posted to the next buyer.
func (b *ChangeBatch) continueAfterRejection(l *LeadRow, ev *event.PostSettled) {
	switch {
	case ev.Settlement == event.SettledReleased:
		b.recordAndCountUnsold(l, market.DeliveryReleased, ev.Reason)
	case ev.Next.Buyer == 0:
		b.recordAndCountUnsold(l, market.DeliveryFailed, ev.Reason)
	case ev.Post.URL == "":
		l.setSale(&ev.Next)
	default:
		b.addAndCountPost(l, &ev.Next)
	}
}
