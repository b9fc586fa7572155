package report

import (
	"pingpost/engine/event"
	"pingpost/engine/market"
)

// post is a row: an intent to send a lead to a buyer, and what it came to.
type post struct {
	postKey
	seq           uint64
	at            int64
	buyer         market.Ref
	price, payout market.Money
	currency      market.Currency
	settlement    event.Settlement // zero: it is under way
	settled       int64
	attempts      uint32
	status        uint32
	fault         market.Fault
	elapsed       int64
}

type postKey struct {
	lead market.LeadID
	nth  int // from 1
}

// post is the newest intent of a lead, or nil where it is of a time that the file does
// not have.
func (b *batch) post(l *lead) (*post, error) {
	if l == nil || l.posts == 0 {
		return nil, nil //nolint:nilnil // there is none
	}
	key := postKey{l.id, l.posts}
	found, known := b.posts[key]
	if known {
		return found, nil
	}
	found, err := b.kept.post(b.ctx, key)
	if err == nil {
		b.posts[key] = found
	}
	return found, err
}

// intend opens a post.
func (b *batch) intend(l *lead, sale *event.Sale) {
	l.assign(sale)
	l.status, l.delivery = market.StatusOpen, market.DeliveryPending
	l.posts++
	p := &post{
		postKey: postKey{l.id, l.posts}, seq: b.seq, at: b.at, buyer: sale.Buyer,
		price: sale.Price, payout: sale.Payout, currency: sale.Currency,
	}
	b.posts[p.postKey] = p
	if !l.test {
		b.count(l.with(sale.Buyer, 0), countPosts, 1)
	}
}

// tried is a try after which the next one follows.
func (b *batch) tried(fact *event.PostTried) error {
	l, err := b.lead(fact.Lead)
	if err != nil {
		return err
	}
	p, err := b.post(l)
	if p == nil || err != nil {
		return err
	}
	p.status, p.fault = fact.Status, fact.Fault
	if !fact.Free {
		p.attempts = fact.Attempt
	}
	if fact.Fault == market.FaultTimeout && !l.test {
		b.count(l.with(p.buyer, 0), countHung, 1)
	}
	return nil
}

// settled ends a post, or changes how it stands.
func (b *batch) settled(fact *event.PostSettled) error {
	l, err := b.lead(fact.Lead)
	if err != nil {
		return err
	}
	if l == nil { // it came before the log's history: what is settled is counted all the same
		l = &lead{id: fact.Lead, campaign: fact.Campaign, supplier: fact.Supplier, test: fact.Sale.Test}
	}
	supplier := fact.Supplier
	if supplier == 0 {
		supplier = l.supplier
	}
	p, err := b.post(l)
	if err != nil {
		return err
	}
	if p != nil {
		p.settlement, p.settled = fact.Settlement, b.at
		p.status, p.fault, p.elapsed = fact.Status, fact.Fault, fact.Elapsed
		if fact.Attempts != 0 {
			p.attempts = fact.Attempts
		}
	}
	b.outcome(l, fact)
	b.moved(fact, supplier, l)
	b.owe(fact.Lead, supplier, fact.Webhook)
	return nil
}

// outcome is what a settlement makes of the lead.
func (b *batch) outcome(l *lead, fact *event.PostSettled) {
	buyer := fact.Sale.Buyer
	if !l.test && fact.Settlement.Ends() {
		if fact.Fault == market.FaultTimeout {
			b.count(l.with(buyer, 0), countHung, 1)
		}
		if fact.Status != 0 {
			b.clocked(l.with(buyer, 0), pacePost, fact.Elapsed)
		}
	}
	switch fact.Settlement {
	case event.SettledDelivered:
		l.status, l.delivery = market.StatusAccepted, market.DeliveryDone
	case event.SettledConfirmed:
		l.status, l.delivery = market.StatusAccepted, market.DeliveryConfirmed
	case event.SettledPending:
		l.status, l.delivery = market.StatusAccepted, market.DeliveryPending
	case event.SettledUnknown:
		l.status, l.delivery = market.StatusAccepted, market.DeliveryUnknown
	case event.SettledResent:
		l.delivery = market.DeliveryPending
	case event.SettledReleased, event.SettledRefused:
		if !l.test {
			b.count(l.with(buyer, causeOf(market.OutcomePostRejected)), countRejects, 1)
		}
		b.next(l, fact)
	}
}

// next is how a lead goes on that its buyer has not.
func (b *batch) next(l *lead, fact *event.PostSettled) {
	switch {
	case fact.Settlement == event.SettledReleased:
		b.unmatched(l, market.DeliveryReleased, fact.Reason)
	case fact.Next.Buyer == 0:
		b.unmatched(l, market.DeliveryFailed, fact.Reason)
	case fact.Post.URL == "":
		l.assign(&fact.Next)
	default:
		b.intend(l, &fact.Next)
	}
}
