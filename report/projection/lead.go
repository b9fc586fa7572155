package projection

import (
	"bytes"

	"pingpost/engine/event"
	"pingpost/engine/market"
)

// Lead is a row of the report's table of leads: the current state of one lead.
type Lead struct {
	ID                        market.LeadID
	Seq                       uint64
	At                        int64
	Campaign, Supplier, Buyer market.Ref
	Source                    int64
	State                     string
	Status                    market.LeadStatus
	Delivery                  market.DeliveryState
	Reason                    market.Reason
	Price, Payout             market.Money
	Currency                  market.Currency
	Auction                   market.AuctionID
	Posts                     int // intents so far
	Test, Erased              bool
}

// key returns the key of the sums that count the lead, without a buyer.
func (l *Lead) key() SumKey {
	return SumKey{Campaign: l.Campaign, Supplier: l.Supplier, Source: l.Source, State: l.State}
}

func (l *Lead) setSale(sale *event.Sale) {
	l.Buyer, l.Price, l.Payout, l.Currency = sale.Buyer, sale.Price, sale.Payout, sale.Currency
	l.Status, l.Delivery, l.Reason = market.StatusAccepted, market.DeliveryNone, market.ReasonNone
}

func (l *Lead) setUnsold(delivery market.DeliveryState, reason market.Reason) {
	l.setSale(&event.Sale{})
	l.Status, l.Delivery, l.Reason = market.StatusUnmatched, delivery, reason
}

// The fields by which a report groups leads.
const (
	fieldState  = "state"
	fieldSource = "source"
)

// sourceAndState returns the number of the lead source and the US state from a lead's or
// ping's fields. An invalid state gives an empty text.
func (b *Batch) sourceAndState(fields []event.Field) (source int64, state string) {
	for i := range fields {
		switch fields[i].Name {
		case fieldState:
			state = market.ParseUSState(bytes.ToUpper(fields[i].Text)).String()
		case fieldSource:
			source = b.Sources.ref(fields[i].Text)
		}
	}
	return source, state
}

// leadRow returns the row of a lead, from the batch or else from the database. It returns nil
// if the database begins after the lead.
func (b *Batch) leadRow(id market.LeadID) (*Lead, error) {
	found, known := b.Leads[id]
	if known {
		return found, nil
	}
	found, err := b.stored.Lead(b.ctx, id)
	if err == nil {
		b.Leads[id] = found
	}
	return found, err
}

func (b *Batch) applyLeadDecided(fact *event.LeadDecided) error {
	l := &Lead{
		ID: fact.Lead, Seq: b.Seq, At: b.At, Campaign: fact.Campaign, Supplier: fact.Supplier,
		Auction: fact.Auction.ID, Test: fact.Sale.Test,
	}
	if l.Auction.IsZero() {
		l.Auction = fact.Post.Auction
	}
	if err := b.setSourceAndState(l, fact); err != nil {
		return err
	}
	b.Leads[l.ID] = l
	if !l.Test {
		b.addToSum(l.key(), CountLeads, 1)
	}
	if !fact.Auction.ID.IsZero() {
		b.Auctions = append(b.Auctions, Auction{
			ID: fact.Auction.ID, Seq: b.Seq, At: b.At, Lead: l.ID, Campaign: l.Campaign, Supplier: l.Supplier,
			Source: l.Source, State: l.State, Reason: fact.Reason, Asked: len(fact.Auction.Bids), Test: l.Test,
		})
		b.addBids(fact.Auction.ID, l.key(), fact.Auction.Bids, l.Test)
	}
	switch {
	case fact.Sale.Buyer == 0:
		b.countUnmatched(l, market.DeliveryNone, fact.Reason)
	case fact.Post.URL == "":
		l.setSale(&fact.Sale)
	default:
		b.addPost(l, &fact.Sale)
	}
	b.countMovements(fact, fact.Supplier, l)
	b.addWebhook(l.ID, fact.Supplier, fact.Webhook)
	return nil
}

// setSourceAndState sets the lead's source and state from its fields. Where these lack one of
// them, it takes the value of the lead's ping.
func (b *Batch) setSourceAndState(l *Lead, fact *event.LeadDecided) error {
	l.Source, l.State = b.sourceAndState(fact.Fields)
	if fact.Post.Auction.IsZero() || l.Source != NoSource && l.State != "" {
		return nil
	}
	source, state, err := b.originOfAuction(fact.Post.Auction)
	if l.Source == NoSource {
		l.Source = source
	}
	if l.State == "" {
		l.State = state
	}
	return err
}

// countUnmatched records that the lead ended without a buyer, and counts it. delivery is the
// final state of its delivery: none, failed or released.
func (b *Batch) countUnmatched(l *Lead, delivery market.DeliveryState, reason market.Reason) {
	l.setUnsold(delivery, reason)
	if !l.Test {
		c := l.key()
		c.Reason = Cause(reason)
		b.addToSum(c, CountUnmatched, 1)
	}
}

// applyStatusChanged applies a buyer's status report, or an operator's decision about a
// return, to the leads and the sums.
func (b *Batch) applyStatusChanged(fact *event.StatusChanged) error {
	for i := range fact.Changes {
		change := &fact.Changes[i]
		if change.Result != event.ChangeDone || change.Lead.IsZero() {
			continue
		}
		l, err := b.leadRow(change.Lead)
		if err != nil {
			return err
		}
		if l != nil {
			l.Status = change.To
		}
		b.addWebhook(change.Lead, change.Supplier, change.Webhook)
	}
	return b.countReturns(fact)
}

// applyLeadsErased removes source and state, which came from the erased leads themselves,
// from their rows. The sums stay.
func (b *Batch) applyLeadsErased(fact *event.LeadsErased) error {
	for _, id := range fact.Leads {
		l, err := b.leadRow(id)
		if err != nil {
			return err
		}
		if l != nil {
			l.Source, l.State, l.Erased = NoSource, "", true
		}
	}
	return nil
}

// sumKeyFor returns the key of the sums that count the lead for one buyer, with the reason
// why that buyer did not get it (0: none).
func (l *Lead) sumKeyFor(buyer market.Ref, why Cause) SumKey {
	c := l.key()
	c.Buyer, c.Reason = buyer, why
	return c
}
