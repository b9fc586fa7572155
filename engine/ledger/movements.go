package ledger

import (
	"strings"

	"pingpost/engine/event"
	"pingpost/engine/market"
)

// EntryKind is the reason for an entry in an account, for example a sale or a return.
type EntryKind uint8

const (
	EntryReservation EntryKind = iota // no money moved; the reservation of an open post began or ended
	EntryOpening                      // a buyer's account begins
	EntryTopUp                        // an operator paid in, or withdrew: then Amount is negative
	EntrySale                         // a buyer pays a lead's price, a supplier earns its payout
	EntryReturn                       // a buyer gets a lead's price back
	EntryReversal                     // a supplier's payout is taken back
	entryKindEnd
)

func (k EntryKind) String() string {
	return [entryKindEnd]string{"held", "opening", "top_up", "sale", "return", "reversal"}[k]
}

// Entry is one movement of money in the account of a buyer or a supplier, or a change of the
// amount reserved for open posts. Amounts are seen from the account: a buyer's payment is negative,
// a supplier's earning positive. Only StatementEntryBuilder sets Seq, At, InAccount and Balance.
type Entry struct {
	Seq      uint64 // log position of the event
	At       int64  // commit time of the event, Unix nanoseconds
	Kind     EntryKind
	Lead     market.LeadID
	Campaign market.PermanentNumber
	Currency market.Currency // zero for movements by an operator: the account's currency
	Amount   market.Money
	Held     market.Money // change of the amount reserved for open posts
	Note     string       // the operator's note

	// InAccount reports whether the entry belongs to a buyer's account. Purchases
	// before the account began belong to none. Balance is the balance after the entry.
	InAccount bool
	Balance   market.Money
}

// Party identifies the buyer or the supplier whose money movements are derived.
type Party struct {
	Kind event.ConfigObjectKind
	Ref  market.PermanentNumber
}

// IsBuyer reports whether the party is a buyer; otherwise it is a supplier.
func (p Party) IsBuyer() bool { return p.Kind == event.ObjectBuyer }

// AppendEntriesOfEvent appends the entries that one event adds to the party's account; most events add
// none.
//
// A sale moves money when it is final: at the decision if the lead is only recorded, and at the
// delivery if the lead is posted. Until then the price of an open post is reserved. Test leads
// move no money.
func (p Party) AppendEntriesOfEvent(dst []Entry, record event.Event) []Entry {
	switch record := record.(type) {
	case *event.BuyerFundsAdjusted:
		if p.matchesParty(event.ObjectBuyer, record.Buyer) {
			dst = append(dst, newFundsEntry(record))
		}
	case *event.LeadDecided:
		dst = p.appendSaleEntry(dst, record.Lead, record.Campaign, record.Supplier, &record.Sale, record.Post.URL != "")
	case *event.PostSettled:
		dst = p.appendSettlementEntries(dst, record)
	case *event.LeadStatusChangesDecided:
		for i := range record.Changes {
			dst = p.appendReturnEntry(dst, record.Buyer, &record.Changes[i])
		}
	}
	return dst
}

func (p Party) matchesParty(kind event.ConfigObjectKind, ref market.PermanentNumber) bool {
	return p.Kind == kind && p.Ref == ref
}

func newFundsEntry(record *event.BuyerFundsAdjusted) Entry {
	e := Entry{Kind: EntryTopUp, Amount: record.Amount, Note: strings.Clone(record.Note)}
	if record.Opening {
		e.Kind = EntryOpening
	}
	return e
}

// appendSaleEntry appends the entry of a sale, if the party is its buyer or supplier. It is the
// payment, or for a posted lead the reservation of the buyer's money.
func (p Party) appendSaleEntry(dst []Entry, lead market.LeadID, campaign, supplier market.PermanentNumber, sale *event.Sale, isOpenPost bool) []Entry {
	if sale.Buyer == 0 || sale.Test {
		return dst
	}
	e := Entry{Kind: EntrySale, Lead: lead, Campaign: campaign, Currency: sale.Currency}
	switch {
	case p.matchesParty(event.ObjectBuyer, sale.Buyer) && isOpenPost:
		e.Kind, e.Held = EntryReservation, sale.Price
	case p.matchesParty(event.ObjectBuyer, sale.Buyer):
		e.Amount = -sale.Price
	case p.matchesParty(event.ObjectSupplier, supplier) && !isOpenPost:
		e.Amount = sale.Payout
	default:
		return dst
	}
	return append(dst, e)
}

// appendSettlementEntries appends the entries of an event that ends a post. It ends the
// reservation of the price, and the buyer pays if it has the lead. If the event contains a sale
// to the next buyer, that sale's entry follows.
func (p Party) appendSettlementEntries(dst []Entry, record *event.PostSettled) []Entry {
	if !record.Settlement.EndsPost() {
		return dst
	}
	delivered := record.Settlement == event.SettledDelivered || record.Settlement == event.SettledConfirmed
	if delivered {
		dst = p.appendSaleEntry(dst, record.Lead, record.Campaign, record.Supplier, &record.Sale, false)
	}
	if p.matchesParty(event.ObjectBuyer, record.Sale.Buyer) && !record.Sale.Test {
		if !delivered {
			dst = append(dst, Entry{Kind: EntryReservation, Lead: record.Lead, Campaign: record.Campaign, Currency: record.Sale.Currency})
		}
		dst[len(dst)-1].Held = -record.Sale.Price
	}
	return p.appendSaleEntry(dst, record.Lead, record.Campaign, record.Supplier, &record.Next, record.Post.URL != "")
}

// appendReturnEntry appends the entry of an accepted return: the buyer gets the price back, and
// the supplier loses the payout if the campaign's rule says so. A return without a month belongs
// to a test lead and moves no money.
func (p Party) appendReturnEntry(dst []Entry, buyer market.PermanentNumber, change *event.DecidedLeadStatusChange) []Entry {
	back := &change.Return
	if change.Result != event.ChangeDone || back.Month == 0 {
		return dst
	}
	e := Entry{Lead: change.Lead, Campaign: back.Campaign, Currency: back.Currency}
	switch {
	case p.matchesParty(event.ObjectBuyer, buyer):
		e.Kind, e.Amount = EntryReturn, back.Credit
	case p.matchesParty(event.ObjectSupplier, change.Supplier) && back.Reverse != 0:
		e.Kind, e.Amount = EntryReversal, -back.Reverse
	default:
		return dst
	}
	return append(dst, e)
}
