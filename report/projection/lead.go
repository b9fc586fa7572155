package projection

import (
	"bytes"

	"pingpost/engine/event"
	"pingpost/engine/market"
)

// LeadRow is a row of the report's table of leads: the current state of one lead.
type LeadRow struct {
	ID                        market.LeadID
	Seq                       uint64
	At                        int64
	Campaign, Supplier, Buyer market.PermanentNumber
	Source                    int64
	State                     string
	Status                    market.LeadStatus
	Delivery                  market.DeliveryState
	Reason                    market.UnsoldReason
	Price, Payout             market.Money
	Currency                  market.Currency
	Auction                   market.AuctionID
	Posts                     int // intents so far
	Test, Erased              bool
	IsStored                  bool // the database has an older state of the row, or may have posts of the lead
}

// key returns the key of the sums that count the lead, without a buyer.
func (l *LeadRow) key() SumDimensionValues {
	return SumDimensionValues{Campaign: l.Campaign, Supplier: l.Supplier, Source: l.Source, State: l.State}
}

func (l *LeadRow) setSale(sale *event.Sale) {
	l.Buyer, l.Price, l.Payout, l.Currency = sale.Buyer, sale.Price, sale.Payout, sale.Currency
	l.Status, l.Delivery, l.Reason = market.StatusAccepted, market.DeliveryNone, market.ReasonNone
}

func (l *LeadRow) setUnsold(delivery market.DeliveryState, reason market.UnsoldReason) {
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
func (b *ChangeBatch) sourceAndState(fields []event.LeadField) (sourceNumber int64, usState string) {
	for i := range fields {
		switch fields[i].Name {
		case fieldState:
			usState = market.ParseUSStateCode(bytes.ToUpper(fields[i].Text)).String()
		case fieldSource:
			sourceNumber = b.Sources.findOrAssignNumber(fields[i].Text)
		}
	}
	return sourceNumber, usState
}

// loadLeadRowOrNil returns the row of a lead, from the batch or else from the database. It returns
// nil if the database begins after the lead.
func (b *ChangeBatch) loadLeadRowOrNil(id market.LeadID) (*LeadRow, error) {
	found, known := b.Leads[id]
	if known {
		return found, nil
	}
	found, err := b.stored.LoadLeadOrNil(b.ctx, id)
	if err == nil {
		b.Leads[id] = found
	}
	return found, err
}

func (b *ChangeBatch) applyLeadDecided(ev *event.LeadDecided) error {
	l := &LeadRow{
		ID: ev.Lead, Seq: b.Seq, At: b.At, Campaign: ev.Campaign, Supplier: ev.Supplier,
		Auction: ev.Auction.ID, Test: ev.Sale.Test,
	}
	if l.Auction.IsZero() {
		l.Auction = ev.Post.Auction
	}
	if err := b.setSourceAndUSStateOfLead(l, ev); err != nil {
		return err
	}
	b.Leads[l.ID] = l
	b.addPersons(ev)
	if !l.Test {
		b.addToSum(l.key(), CountLeads, 1)
	}
	if !ev.Auction.ID.IsZero() {
		b.Auctions = append(b.Auctions, AuctionRow{
			ID: ev.Auction.ID, Seq: b.Seq, At: b.At, Lead: l.ID, Campaign: l.Campaign, Supplier: l.Supplier,
			Source: l.Source, State: l.State, Reason: ev.Reason, Asked: len(ev.Auction.Bids), Test: l.Test,
		})
		b.addAndCountBids(ev.Auction.ID, l.key(), ev.Auction.Bids, l.Test)
	}
	switch {
	case ev.Sale.Buyer == 0:
		b.recordAndCountUnsold(l, market.DeliveryNone, ev.Reason)
	case ev.Post.URL == "":
		l.setSale(&ev.Sale)
	default:
		b.addAndCountPost(l, &ev.Sale)
	}
	b.addSaleLedgerEntriesToSums(ev, ev.Supplier, l)
	b.addWebhookUnlessNone(l.ID, ev.Supplier, ev.Webhook)
	return nil
}

// setSourceAndUSStateOfLead sets the lead's source and US state from its fields. Where these lack
// one of them, it takes the value of the lead's ping.
func (b *ChangeBatch) setSourceAndUSStateOfLead(l *LeadRow, ev *event.LeadDecided) error {
	l.Source, l.State = b.sourceAndState(ev.Fields)
	if ev.Post.Auction.IsZero() || l.Source != NoSource && l.State != "" {
		return nil
	}
	source, state, err := b.sourceAndStateOfAuction(ev.Post.Auction)
	if l.Source == NoSource {
		l.Source = source
	}
	if l.State == "" {
		l.State = state
	}
	return err
}

// recordAndCountUnsold records that the lead ended without a buyer, and counts it unless it is
// a test. delivery is the final state of its delivery: none, failed or released.
func (b *ChangeBatch) recordAndCountUnsold(l *LeadRow, delivery market.DeliveryState, reason market.UnsoldReason) {
	l.setUnsold(delivery, reason)
	if !l.Test {
		c := l.key()
		c.Reason = NonSaleCause(reason)
		b.addToSum(c, CountUnmatched, 1)
	}
}

// applyStatusChanged applies a buyer's status report, or an operator's decision about a
// return, to the leads and the sums.
func (b *ChangeBatch) applyStatusChanged(ev *event.LeadStatusChangesDecided) error {
	for i := range ev.Changes {
		change := &ev.Changes[i]
		if change.Result != event.ChangeDone || change.Lead.IsZero() {
			continue
		}
		l, err := b.loadLeadRowOrNil(change.Lead)
		if err != nil {
			return err
		}
		if l != nil {
			l.Status = change.To
		}
		b.addWebhookUnlessNone(change.Lead, change.Supplier, change.Webhook)
	}
	return b.countReturnedMoney(ev)
}

// clearErasedLeads removes source and state, which came from the erased leads themselves,
// from their rows. The sums stay.
func (b *ChangeBatch) clearErasedLeads(ev *event.PersonalDataOfLeadsErased) error {
	b.ErasedPersons = append(b.ErasedPersons, ev.Leads...)
	for _, id := range ev.Leads {
		l, err := b.loadLeadRowOrNil(id)
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
// cause that buyer did not get it (0: none).
func (l *LeadRow) sumKeyFor(buyer market.PermanentNumber, cause NonSaleCause) SumDimensionValues {
	c := l.key()
	c.Buyer, c.Reason = buyer, cause
	return c
}
