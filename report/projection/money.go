package projection

import (
	"slices"

	"pingpost/engine/event"
	"pingpost/engine/ledger"
	"pingpost/engine/market"
)

// addSaleLedgerEntriesToSums adds the money that an event moves, by the rules of the ledger, to the sums
// of the lead's supplier and of the sale's buyer.
func (b *ChangeBatch) addSaleLedgerEntriesToSums(ev event.Event, supplier market.PermanentNumber, l *LeadRow) {
	var now, next market.PermanentNumber // buyers
	switch fact := ev.(type) {
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
		b.ledgerEntries = party.AppendEntriesOfEvent(b.ledgerEntries[:0], ev)
		for i := range b.ledgerEntries {
			c := l.sumKeyFor(payer, 0)
			c.Supplier = supplier
			c.Campaign = b.ledgerEntries[i].Campaign
			b.addLedgerEntryToSums(c, party, &b.ledgerEntries[i])
		}
	}
}

// addLedgerEntryToSums adds one entry of the ledger, on the account of party, to the sums with
// this key.
func (b *ChangeBatch) addLedgerEntryToSums(key SumDimensionValues, party ledger.Party, e *ledger.Entry) {
	key.Currency = e.Currency
	switch {
	case e.Kind == ledger.EntrySale && party.IsBuyer():
		b.addToSum(key, CountSales, 1)
		b.addToSum(key, SumRevenue, -int64(e.Amount))
	case e.Kind == ledger.EntrySale:
		b.addToSum(key, SumPayout, int64(e.Amount))
	case e.Kind == ledger.EntryReturn:
		b.addToSum(key, CountReturns, 1)
		b.addToSum(key, SumCredit, int64(e.Amount))
	case e.Kind == ledger.EntryReversal:
		b.addToSum(key, SumReversal, -int64(e.Amount))
	}
}

// countReturnedMoney adds the money of returned leads to the sums: the buyer's credit, and
// each supplier's reversed payout.
func (b *ChangeBatch) countReturnedMoney(ev *event.LeadStatusChangesDecided) error {
	suppliers := make(map[market.LeadID]market.PermanentNumber, len(ev.Changes))
	b.parties = append(b.parties[:0], ledger.Party{Kind: event.ObjectBuyer, Ref: ev.Buyer})
	for i := range ev.Changes {
		change := &ev.Changes[i]
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
		b.ledgerEntries = party.AppendEntriesOfEvent(b.ledgerEntries[:0], ev)
		for i := range b.ledgerEntries {
			e := &b.ledgerEntries[i]
			l, err := b.loadLeadRowOrNil(e.Lead)
			if err != nil {
				return err
			}
			c := SumDimensionValues{}
			if l != nil {
				c.Source, c.State = l.Source, l.State
			}
			c.Campaign, c.Supplier, c.Buyer = e.Campaign, suppliers[e.Lead], ev.Buyer
			b.addLedgerEntryToSums(c, party, e)
		}
	}
	return nil
}
