package report

import (
	"bytes"

	"pingpost/engine/event"
	"pingpost/engine/market"
)

// lead is a row: where a lead stands.
type lead struct {
	id                        market.LeadID
	seq                       uint64
	at                        int64
	campaign, supplier, buyer market.Ref
	source                    int64
	state                     string
	status                    market.Status
	delivery                  market.Delivery
	reason                    market.Reason
	price, payout             market.Money
	currency                  market.Currency
	auction                   market.AuctionID
	posts                     int // intents so far
	test, erased              bool
}

// cell is where what becomes of the lead is counted, without a buyer.
func (l *lead) cell() cell {
	return cell{campaign: l.campaign, supplier: l.supplier, source: l.source, state: l.state}
}

func (l *lead) assign(sale *event.Sale) {
	l.buyer, l.price, l.payout, l.currency = sale.Buyer, sale.Price, sale.Payout, sale.Currency
	l.status, l.delivery, l.reason = market.StatusAccepted, market.DeliveryNone, market.ReasonNone
}

func (l *lead) fail(delivery market.Delivery, reason market.Reason) {
	l.assign(&event.Sale{})
	l.status, l.delivery, l.reason = market.StatusUnmatched, delivery, reason
}

// The fields that a report is asked by, under their names.
const (
	fieldState  = "state"
	fieldSource = "source"
)

// place is the state that a lead names, where it is one.
func (b *batch) place(fields []event.Field) (source int64, state string) {
	for i := range fields {
		switch fields[i].Name {
		case fieldState:
			state = market.ParseState(bytes.ToUpper(fields[i].Text)).String()
		case fieldSource:
			source = b.sources.of(fields[i].Text)
		}
	}
	return source, state
}

// lead is a lead's row, or nil where it is of a time that the file does not have.
func (b *batch) lead(id market.LeadID) (*lead, error) {
	found, known := b.leads[id]
	if known {
		return found, nil
	}
	found, err := b.kept.lead(b.ctx, id)
	if err == nil {
		b.leads[id] = found
	}
	return found, err
}

func (b *batch) decided(fact *event.LeadDecided) error {
	l := &lead{
		id: fact.Lead, seq: b.seq, at: b.at, campaign: fact.Campaign, supplier: fact.Supplier,
		auction: fact.Auction.ID, test: fact.Sale.Test,
	}
	if l.auction.IsZero() {
		l.auction = fact.Post.Auction
	}
	if err := b.comesFrom(l, fact); err != nil {
		return err
	}
	b.leads[l.id] = l
	if !l.test {
		b.count(l.cell(), countLeads, 1)
	}
	if !fact.Auction.ID.IsZero() {
		b.auctions = append(b.auctions, auction{
			id: fact.Auction.ID, seq: b.seq, at: b.at, lead: l.id, campaign: l.campaign, supplier: l.supplier,
			source: l.source, state: l.state, reason: fact.Reason, asked: len(fact.Auction.Bids), test: l.test,
		})
		b.offers(fact.Auction.ID, l.cell(), fact.Auction.Bids, l.test)
	}
	switch {
	case fact.Sale.Buyer == 0:
		b.unmatched(l, market.DeliveryNone, fact.Reason)
	case fact.Post.URL == "":
		l.assign(&fact.Sale)
	default:
		b.intend(l, &fact.Sale)
	}
	b.moved(fact, fact.Supplier, l)
	b.owe(l.id, fact.Supplier, fact.Webhook)
	return nil
}

// comesFrom fills in the lead's source and state; where it does not say them, its ping
// has.
func (b *batch) comesFrom(l *lead, fact *event.LeadDecided) error {
	l.source, l.state = b.place(fact.Fields)
	if fact.Post.Auction.IsZero() || l.source != noSource && l.state != "" {
		return nil
	}
	source, state, err := b.origin(fact.Post.Auction)
	if l.source == noSource {
		l.source = source
	}
	if l.state == "" {
		l.state = state
	}
	return err
}

// unmatched ends a lead that nobody buys.
func (b *batch) unmatched(l *lead, delivery market.Delivery, reason market.Reason) {
	l.fail(delivery, reason)
	if !l.test {
		c := l.cell()
		c.reason = cause(reason)
		b.count(c, countUnmatched, 1)
	}
}

// changed is what a buyer reports, or an operator decides of a return.
func (b *batch) changed(fact *event.StatusChanged) error {
	for i := range fact.Changes {
		change := &fact.Changes[i]
		if change.Result != event.ChangeDone || change.Lead.IsZero() {
			continue
		}
		l, err := b.lead(change.Lead)
		if err != nil {
			return err
		}
		if l != nil {
			l.status = change.To
		}
		b.owe(change.Lead, change.Supplier, change.Webhook)
	}
	return b.cameBack(fact)
}

// erased takes from the rows what the lead has said; the sums stand.
func (b *batch) erased(fact *event.LeadsErased) error {
	for _, id := range fact.Leads {
		l, err := b.lead(id)
		if err != nil {
			return err
		}
		if l != nil {
			l.source, l.state, l.erased = noSource, "", true
		}
	}
	return nil
}

// with is where what becomes of the lead at a buyer is counted.
func (l *lead) with(buyer market.Ref, why cause) cell {
	c := l.cell()
	c.buyer, c.reason = buyer, why
	return c
}
