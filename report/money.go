package report

import (
	"slices"

	"pingpost/engine/event"
	"pingpost/engine/ledger"
	"pingpost/engine/market"
)

// moved adds what a lead's fact does to money, as the ledger has it: for each party of
// the fact, in the cell of the supplier and the buyer that it is between.
func (b *batch) moved(fact event.Event, supplier market.Ref, l *lead) {
	var now, next market.Ref // buyers
	switch fact := fact.(type) {
	case *event.LeadDecided:
		now = fact.Sale.Buyer
	case *event.PostSettled:
		if fact.Supplier = supplier; fact.Settlement.Ends() {
			now, next = fact.Sale.Buyer, fact.Next.Buyer
		}
	}
	if now == 0 {
		return
	}
	b.parties = append(b.parties[:0], ledger.Party{Kind: event.NameSupplier, Ref: supplier}, ledger.Party{Kind: event.NameBuyer, Ref: now})
	if next != 0 && next != now {
		b.parties = append(b.parties, ledger.Party{Kind: event.NameBuyer, Ref: next})
	}
	payer := now
	if next != 0 { // a sale after this one came to nothing, and only then
		payer = next
	}
	for _, party := range b.parties {
		b.entries = party.Movements(b.entries[:0], fact)
		for i := range b.entries {
			c := l.with(payer, 0)
			c.supplier = supplier
			c.campaign = b.entries[i].Campaign
			b.enter(c, party, &b.entries[i])
		}
	}
}

// enter adds one entry of the ledger.
func (b *batch) enter(c cell, party ledger.Party, e *ledger.Entry) {
	c.currency = e.Currency
	switch {
	case e.Kind == ledger.EntrySale && party.IsBuyer():
		b.count(c, countSales, 1)
		b.count(c, sumRevenue, -int64(e.Amount))
	case e.Kind == ledger.EntrySale:
		b.count(c, sumPayout, int64(e.Amount))
	case e.Kind == ledger.EntryReturn:
		b.count(c, countReturns, 1)
		b.count(c, sumCredit, int64(e.Amount))
	case e.Kind == ledger.EntryReversal:
		b.count(c, sumReversal, -int64(e.Amount))
	}
}

// cameBack adds what a report's returns give back: to the buyer, and of each supplier.
func (b *batch) cameBack(fact *event.StatusChanged) error {
	suppliers := make(map[market.LeadID]market.Ref, len(fact.Changes))
	b.parties = append(b.parties[:0], ledger.Party{Kind: event.NameBuyer, Ref: fact.Buyer})
	for i := range fact.Changes {
		change := &fact.Changes[i]
		if change.Result != event.ChangeDone || change.Return.Month == 0 {
			continue
		}
		suppliers[change.Lead] = change.Supplier
		if party := (ledger.Party{Kind: event.NameSupplier, Ref: change.Supplier}); !slices.Contains(b.parties, party) {
			b.parties = append(b.parties, party)
		}
	}
	if len(suppliers) == 0 {
		return nil
	}
	for _, party := range b.parties {
		b.entries = party.Movements(b.entries[:0], fact)
		for i := range b.entries {
			e := &b.entries[i]
			l, err := b.lead(e.Lead)
			if err != nil {
				return err
			}
			c := cell{}
			if l != nil {
				c.source, c.state = l.source, l.state
			}
			c.campaign, c.supplier, c.buyer = e.Campaign, suppliers[e.Lead], fact.Buyer
			b.enter(c, party, e)
		}
	}
	return nil
}
