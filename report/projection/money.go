package projection

import (
	"slices"

	"pingpost/engine/event"
	"pingpost/engine/ledger"
	"pingpost/engine/market"
)

// countMovements adds the money that an event moves, by the rules of the ledger, to the sums
// of the lead's supplier and of the sale's buyer.
func (b *Batch) countMovements(fact event.Event, supplier market.Ref, l *Lead) {
	var now, next market.Ref // buyers
	switch fact := fact.(type) {
	case *event.LeadDecided:
		now = fact.Sale.Buyer
	case *event.PostSettled:
		if fact.Supplier = supplier; fact.Settlement.EndsPost() {
			now, next = fact.Sale.Buyer, fact.Next.Buyer
		}
	}
	if now == 0 {
		return
	}
	b.parties = append(b.parties[:0], ledger.Party{Kind: event.ObjectSupplier, Ref: supplier}, ledger.Party{Kind: event.ObjectBuyer, Ref: now})
	if next != 0 && next != now {
		b.parties = append(b.parties, ledger.Party{Kind: event.ObjectBuyer, Ref: next})
	}
	payer := now
	if next != 0 { // the earlier sale failed, and money moves only for the next one
		payer = next
	}
	for _, party := range b.parties {
		b.ledgerEntries = party.AppendEntries(b.ledgerEntries[:0], fact)
		for i := range b.ledgerEntries {
			c := l.sumKeyFor(payer, 0)
			c.Supplier = supplier
			c.Campaign = b.ledgerEntries[i].Campaign
			b.countLedgerEntry(c, party, &b.ledgerEntries[i])
		}
	}
}

// countLedgerEntry adds one entry of the ledger, on the account of party, to the sums with
// key c.
func (b *Batch) countLedgerEntry(c SumKey, party ledger.Party, e *ledger.Entry) {
	c.Currency = e.Currency
	switch {
	case e.Kind == ledger.EntrySale && party.IsBuyer():
		b.addToSum(c, CountSales, 1)
		b.addToSum(c, SumRevenue, -int64(e.Amount))
	case e.Kind == ledger.EntrySale:
		b.addToSum(c, SumPayout, int64(e.Amount))
	case e.Kind == ledger.EntryReturn:
		b.addToSum(c, CountReturns, 1)
		b.addToSum(c, SumCredit, int64(e.Amount))
	case e.Kind == ledger.EntryReversal:
		b.addToSum(c, SumReversal, -int64(e.Amount))
	}
}

// countReturns adds the money of returned leads to the sums: the buyer's credit, and each
// supplier's reversed payout.
func (b *Batch) countReturns(fact *event.StatusChanged) error {
	suppliers := make(map[market.LeadID]market.Ref, len(fact.Changes))
	b.parties = append(b.parties[:0], ledger.Party{Kind: event.ObjectBuyer, Ref: fact.Buyer})
	for i := range fact.Changes {
		change := &fact.Changes[i]
		if change.Result != event.ChangeDone || change.Return.Month == 0 {
			continue
		}
		suppliers[change.Lead] = change.Supplier
		if party := (ledger.Party{Kind: event.ObjectSupplier, Ref: change.Supplier}); !slices.Contains(b.parties, party) {
			b.parties = append(b.parties, party)
		}
	}
	if len(suppliers) == 0 {
		return nil
	}
	for _, party := range b.parties {
		b.ledgerEntries = party.AppendEntries(b.ledgerEntries[:0], fact)
		for i := range b.ledgerEntries {
			e := &b.ledgerEntries[i]
			l, err := b.leadRow(e.Lead)
			if err != nil {
				return err
			}
			c := SumKey{}
			if l != nil {
				c.Source, c.State = l.Source, l.State
			}
			c.Campaign, c.Supplier, c.Buyer = e.Campaign, suppliers[e.Lead], fact.Buyer
			b.countLedgerEntry(c, party, e)
		}
	}
	return nil
}
