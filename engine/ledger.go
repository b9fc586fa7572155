package engine

import (
	"strings"

	"pingpost/engine/event"
	"pingpost/engine/market"
)

// EntryKind is why money moved.
type EntryKind uint8

const (
	EntryHeld     EntryKind = iota // it did not: an open post's hold began or ended
	EntryOpening                   // a buyer's account begins
	EntryTopUp                     // an operator paid in
	EntrySale                      // a buyer pays a lead's price, a supplier earns its payout
	EntryReturn                    // a buyer has a lead's price back
	EntryReversal                  // a supplier's payout is taken back
	entryKinds
)

func (k EntryKind) String() string {
	return [entryKinds]string{"held", "opening", "top_up", "sale", "return", "reversal"}[k]
}

// Entry is one movement of money, in an account's own eyes: what a buyer pays is
// less than nothing, what a supplier earns is more.
type Entry struct {
	Seq      uint64 // of the fact
	At       int64  // when that was durable, Unix nanoseconds
	Kind     EntryKind
	Lead     market.LeadID
	Campaign market.Ref
	Currency market.Currency // none where an operator moved it: the account's
	Amount   market.Money
	Held     market.Money // by how much more open posts hold
	Note     string       // an operator's

	// Of a buyer, where the entry is in its account: what the account has after
	// it. What a buyer bought before its account began is in none.
	InAccount bool
	Balance   market.Money
}

// Party is whose money it is: a supplier's or a buyer's.
type Party struct {
	Kind event.NameKind
	Ref  market.Ref
}

// Buys tells whether it is a buyer's.
func (p Party) Buys() bool { return p.Kind == event.NameBuyer }

// Movements appends what one fact does to the party's money. It is the ledger:
// there is no other record of money than the facts, and nothing else moves it.
//
// A sale moves money in the instant in which it is settled, which is when it is
// decided where the lead is recorded alone, and else when the buyer has it. Until
// then an open post's price is only held. Test leads move none.
func (p Party) Movements(dst []Entry, fact event.Event) []Entry {
	switch fact := fact.(type) {
	case *event.FundsMoved:
		if p.is(event.NameBuyer, fact.Buyer) {
			dst = append(dst, funds(fact))
		}
	case *event.LeadDecided:
		dst = p.sold(dst, fact.Lead, fact.Campaign, fact.Supplier, &fact.Sale, fact.Post.URL != "")
	case *event.PostSettled:
		dst = p.settled(dst, fact)
	case *event.StatusChanged:
		for i := range fact.Changes {
			dst = p.returned(dst, fact.Buyer, &fact.Changes[i])
		}
	}
	return dst
}

func (p Party) is(kind event.NameKind, ref market.Ref) bool {
	return p.Kind == kind && p.Ref == ref
}

func funds(fact *event.FundsMoved) Entry {
	e := Entry{Kind: EntryTopUp, Amount: fact.Amount, Note: strings.Clone(fact.Note)}
	if fact.Opening {
		e.Kind = EntryOpening
	}
	return e
}

// sold is what a sale takes at once: all of it, or a hold where it is posted.
func (p Party) sold(dst []Entry, lead market.LeadID, campaign, supplier market.Ref, sale *event.Sale, posted bool) []Entry {
	if sale.Buyer == 0 || sale.Test {
		return dst
	}
	e := Entry{Kind: EntrySale, Lead: lead, Campaign: campaign, Currency: sale.Currency}
	switch {
	case p.is(event.NameBuyer, sale.Buyer) && posted:
		e.Kind, e.Held = EntryHeld, sale.Price
	case p.is(event.NameBuyer, sale.Buyer):
		e.Amount = -sale.Price
	case p.is(event.NameSupplier, supplier) && !posted:
		e.Amount = sale.Payout
	default:
		return dst
	}
	return append(dst, e)
}

// settled ends a hold, and takes what was held where the buyer has the lead.
func (p Party) settled(dst []Entry, fact *event.PostSettled) []Entry {
	if !fact.Settlement.Ends() {
		return dst
	}
	has := fact.Settlement == event.SettledDelivered || fact.Settlement == event.SettledConfirmed
	if has {
		dst = p.sold(dst, fact.Lead, fact.Campaign, fact.Supplier, &fact.Sale, false)
	}
	if p.is(event.NameBuyer, fact.Sale.Buyer) && !fact.Sale.Test {
		if !has {
			dst = append(dst, Entry{Kind: EntryHeld, Lead: fact.Lead, Campaign: fact.Campaign, Currency: fact.Sale.Currency})
		}
		dst[len(dst)-1].Held = -fact.Sale.Price
	}
	return p.sold(dst, fact.Lead, fact.Campaign, fact.Supplier, &fact.Next, fact.Post.URL != "")
}

// returned is what a return gives back, which may be nothing. One without a month
// is a test lead's.
func (p Party) returned(dst []Entry, buyer market.Ref, c *event.Change) []Entry {
	back := &c.Return
	if c.Result != event.ChangeDone || back.Month == 0 {
		return dst
	}
	e := Entry{Lead: c.Lead, Campaign: back.Campaign, Currency: back.Currency}
	switch {
	case p.is(event.NameBuyer, buyer):
		e.Kind, e.Amount = EntryReturn, back.Credit
	case p.is(event.NameSupplier, c.Supplier) && back.Reverse != 0:
		e.Kind, e.Amount = EntryReversal, -back.Reverse
	default:
		return dst
	}
	return append(dst, e)
}
