package projection

import (
	"pingpost/engine/event"
	"pingpost/engine/market"
)

// Post is a row of the report's table of posts: the delivery of a lead to one buyer, and its
// result.
type Post struct {
	PostKey
	Seq           uint64
	At            int64
	Buyer         market.Ref
	Price, Payout market.Money
	Currency      market.Currency
	Settlement    event.PostSettlement // zero: in progress
	Settled       int64
	Attempts      uint32
	Status        uint32
	Fault         market.Fault
	Elapsed       int64
}

type PostKey struct {
	Lead   market.LeadID
	Number int // from 1
}

// newestPostOf returns the row of the lead's newest post. It returns nil for a lead without a
// post, or if the database begins after it.
func (b *Batch) newestPostOf(l *Lead) (*Post, error) {
	if l == nil || l.Posts == 0 {
		return nil, nil //nolint:nilnil // there is none
	}
	key := PostKey{l.ID, l.Posts}
	found, known := b.Posts[key]
	if known {
		return found, nil
	}
	found, err := b.stored.Post(b.ctx, key)
	if err == nil {
		b.Posts[key] = found
	}
	return found, err
}

// addPost adds the row of a new post: the lead is to be delivered to the buyer of sale. It
// also counts the post.
func (b *Batch) addPost(l *Lead, sale *event.Sale) {
	l.setSale(sale)
	l.Status, l.Delivery = market.StatusOpen, market.DeliveryPending
	l.Posts++
	p := &Post{
		PostKey: PostKey{l.ID, l.Posts}, Seq: b.Seq, At: b.At, Buyer: sale.Buyer,
		Price: sale.Price, Payout: sale.Payout, Currency: sale.Currency,
	}
	b.Posts[p.PostKey] = p
	if !l.Test {
		b.addToSum(l.sumKeyFor(sale.Buyer, 0), CountPosts, 1)
	}
}

// applyPostAttempt applies a failed attempt to deliver a lead that will be repeated.
func (b *Batch) applyPostAttempt(fact *event.PostAttempted) error {
	l, err := b.leadRow(fact.Lead)
	if err != nil {
		return err
	}
	p, err := b.newestPostOf(l)
	if p == nil || err != nil {
		return err
	}
	p.Status, p.Fault = fact.Status, fact.Fault
	if !fact.KeepsAttempt {
		p.Attempts = fact.Attempt
	}
	if fact.Fault == market.FaultTimeout && !l.Test {
		b.addToSum(l.sumKeyFor(p.Buyer, 0), CountPostTimeouts, 1)
	}
	return nil
}

// applyPostSettled changes the report's rows and sums for the final result of a post, or for a
// later change of that result.
func (b *Batch) applyPostSettled(fact *event.PostSettled) error {
	l, err := b.leadRow(fact.Lead)
	if err != nil {
		return err
	}
	if l == nil { // older than the log's history; the settlement counts all the same
		l = &Lead{ID: fact.Lead, Campaign: fact.Campaign, Supplier: fact.Supplier, Test: fact.Sale.Test}
	}
	supplier := fact.Supplier
	if supplier == 0 {
		supplier = l.Supplier
	}
	p, err := b.newestPostOf(l)
	if err != nil {
		return err
	}
	if p != nil {
		p.Settlement, p.Settled = fact.Settlement, b.At
		p.Status, p.Fault, p.Elapsed = fact.Status, fact.Fault, fact.Elapsed
		if fact.Attempts != 0 {
			p.Attempts = fact.Attempts
		}
	}
	b.applySettlement(l, fact)
	b.countMovements(fact, supplier, l)
	b.addWebhook(fact.Lead, supplier, fact.Webhook)
	return nil
}

// applySettlement applies the result of a post to the lead's row and to the sums.
func (b *Batch) applySettlement(l *Lead, fact *event.PostSettled) {
	buyer := fact.Sale.Buyer
	if !l.Test && fact.Settlement.EndsPost() {
		if fact.Fault == market.FaultTimeout {
			b.addToSum(l.sumKeyFor(buyer, 0), CountPostTimeouts, 1)
		}
		if fact.Status != 0 {
			b.recordLatency(l.sumKeyFor(buyer, 0), PostLatency, fact.Elapsed)
		}
	}
	switch fact.Settlement {
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
			b.addToSum(l.sumKeyFor(buyer, causeOf(market.OutcomePostRejected)), CountRejects, 1)
		}
		b.continueAfterRejection(l, fact)
	}
}

// continueAfterRejection applies the next step of a lead that its buyer did not get. The lead
// is unsold, recorded as sold to the next buyer, or posted to the next buyer.
func (b *Batch) continueAfterRejection(l *Lead, fact *event.PostSettled) {
	switch {
	case fact.Settlement == event.SettledReleased:
		b.countUnmatched(l, market.DeliveryReleased, fact.Reason)
	case fact.Next.Buyer == 0:
		b.countUnmatched(l, market.DeliveryFailed, fact.Reason)
	case fact.Post.URL == "":
		l.setSale(&fact.Next)
	default:
		b.addPost(l, &fact.Next)
	}
}
