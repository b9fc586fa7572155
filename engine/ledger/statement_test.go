package ledger

import (
	"testing"
	"time"

	"pgregory.net/rapid"

	"pingpost/engine/event"
	"pingpost/engine/market"
	"pingpost/engine/state"
	"pingpost/internal/must"
)

// simulation builds a random log and the state that results from it, with two buyers,
// two suppliers and two campaigns. It tracks the expected balances independently of the
// ledger.
type simulation struct {
	*state.State
	draw func(n int) int
	at   int64
	log  []logEntry
	open []*event.PostSettled // open posts, each as its future settlement
	sold []*event.PostSettled // delivered leads, which a buyer may return

	earned [3]market.Money // by supplier
	opened [3]bool         // by buyer: the account exists
}

// logEntry is an encoded event and the expected balances after it.
type logEntry struct {
	at     int64
	data   []byte
	live   [3]state.AppliedBuyerFunds
	earned [3]market.Money
}

var someCampaigns = [3]market.Currency{1: {'U', 'S', 'D'}, 2: {'E', 'U', 'R'}}

func newSimulation(draw func(n int) int) *simulation {
	b := &simulation{State: state.New(), draw: draw, at: int64(20_000*24) * int64(time.Hour)}
	b.record(&event.ExchangeFounded{Epoch: [16]byte{1}})
	return b
}

func (b *simulation) record(record event.Event) {
	data := event.AppendRecord(nil, record)
	b.Apply(uint64(len(b.log)+1), b.at, record)
	p := logEntry{at: b.at, data: data, earned: b.earned}
	for ref := range p.live {
		p.live[ref] = b.AppliedBuyerFunds(market.PermanentNumber(ref))
	}
	b.log = append(b.log, p)
}

// sale returns a random sale. Each buyer has its own currency; one sale in eight is a
// test lead's.
func (b *simulation) sale() event.Sale {
	n := 1 + b.draw(2)
	price := market.Money(b.draw(30_000_000))
	return event.Sale{Buyer: market.PermanentNumber(n), Price: price, Payout: price * 4 / 5, Currency: someCampaigns[n], Test: b.draw(8) == 0}
}

func (b *simulation) step() {
	switch b.draw(9) {
	case 0:
		b.at += int64(b.draw(30)) * int64(time.Hour)
	case 1:
		b.moveFunds()
	case 2, 3, 4:
		b.lead()
	case 5, 6, 7:
		b.settle()
	case 8:
		b.returnLeads()
	}
}

func (b *simulation) moveFunds() {
	ref := market.PermanentNumber(1 + b.draw(2))
	record := &event.BuyerFundsAdjusted{Buyer: ref, Amount: market.Money(b.draw(500_000_000)), Note: "wire", Opening: b.draw(6) == 0}
	b.opened[ref] = b.opened[ref] || record.Opening
	b.record(record)
}

func (b *simulation) lead() {
	record := &event.LeadDecided{Lead: market.LeadID{byte(len(b.log)), byte(len(b.log) >> 8), 1}, Supplier: market.PermanentNumber(1 + b.draw(2)), Decided: b.at, Keep: b.at + int64(time.Hour)}
	if b.draw(4) == 0 {
		record.Reason = market.ReasonCapsFull
		b.record(record)
		return
	}
	record.Sale = b.sale()
	record.Campaign = record.Sale.Buyer
	end := &event.PostSettled{Lead: record.Lead, Campaign: record.Campaign, Supplier: record.Supplier, Sale: record.Sale, Decided: record.Decided}
	if b.draw(2) == 0 {
		record.Post.URL = "https://buyer.example"
		b.open = append(b.open, end)
	} else {
		b.markSold(end)
	}
	b.record(record)
}

// markSold records that a buyer has the lead.
func (b *simulation) markSold(end *event.PostSettled) {
	if !end.Sale.Test {
		b.earned[end.Supplier] += end.Sale.Payout
	}
	b.sold = append(b.sold, end)
}

func (b *simulation) settle() {
	if len(b.open) == 0 {
		return
	}
	i := b.draw(len(b.open))
	record := *b.open[i]
	record.Settlement = event.PostSettlement(1 + b.draw(7))
	if record.Settlement.EndsPost() {
		b.open = append(b.open[:i:i], b.open[i+1:]...)
	}
	switch record.Settlement {
	case event.SettledDelivered, event.SettledConfirmed:
		b.markSold(&record)
	case event.SettledRefused:
		if b.draw(2) == 0 {
			break
		}
		next := record
		next.Sale = b.sale()
		next.Sale.Test = record.Sale.Test
		next.Campaign = next.Sale.Buyer
		record.Next = next.Sale
		if b.draw(2) == 0 {
			record.Post.URL = "https://buyer.example"
			b.open = append(b.open, &next)
		} else {
			next.Campaign = record.Campaign
			b.markSold(&next)
		}
	}
	b.record(&record)
}

// returnLeads returns random leads of one buyer in one report.
func (b *simulation) returnLeads() {
	record := &event.LeadStatusChangesDecided{Buyer: market.PermanentNumber(1 + b.draw(2)), At: b.at}
	var kept []*event.PostSettled
	for _, s := range b.sold {
		if s.Sale.Buyer != record.Buyer || b.draw(2) == 0 {
			kept = append(kept, s)
			continue
		}
		c := event.DecidedLeadStatusChange{Lead: s.Lead, Supplier: s.Supplier, Result: event.LeadStatusChangeResult(1 + b.draw(7)), To: market.StatusReturned}
		if c.Result == event.ChangeDone && !s.Sale.Test {
			c.Return = event.MoneyAndCapsReversedByReturn{Campaign: s.Campaign, Credit: s.Sale.Price, Currency: s.Sale.Currency, Month: 1}
			if b.draw(2) == 0 {
				c.Return.Reverse = s.Sale.Payout
				b.earned[s.Supplier] -= s.Sale.Payout
			}
		}
		record.Changes = append(record.Changes, c)
	}
	b.sold = kept
	b.record(record)
}

// statement computes a statement and its entries from the encoded log.
func (b *simulation) statement(t *rapid.T, party Party, period Period) (*Statement, []Entry) {
	live := b.AppliedBuyerFunds(0)
	if party.IsBuyer() {
		live = b.AppliedBuyerFunds(party.Ref)
	}
	tally := NewStatementBuilder(party, period, live)
	d := event.Decoder{ForReplay: true}
	each := func(f func(seq uint64, at int64, record event.Event)) {
		for i, p := range b.log {
			record := must.Value(d.Decode(p.data))(t)
			f(uint64(i+1), p.at, record)
		}
	}
	each(tally.AddEvent)
	s := tally.BuildStatement()
	lines := s.NewEntryBuilder()
	var entries []Entry
	each(func(seq uint64, at int64, record event.Event) {
		entries = append(entries, lines.AddEventAndListEntries(seq, at, record)...)
	})
	return s, entries
}

// lastBefore returns the last entry before a time.
func (b *simulation) lastBefore(at int64) (p logEntry) {
	for _, next := range b.log {
		if next.at >= at {
			break
		}
		p = next
	}
	return p
}

// TestEntriesSumToBalance checks after every event that an account's balance and
// reservation equal the sum of its entries since the account began.
func TestEntriesSumToBalance(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		b := newSimulation(func(n int) int { return rapid.IntRange(0, n-1).Draw(t, "n") })
		var sums [3]BalanceAndHeld
		read := 0
		var d event.Decoder
		for range rapid.IntRange(1, 80).Draw(t, "steps") {
			b.step()
			for ; read < len(b.log); read++ {
				record := must.Value(d.Decode(b.log[read].data))(t)
				for ref := range sums {
					for _, e := range (Party{event.ObjectBuyer, market.PermanentNumber(ref)}).AppendEntriesOfEvent(nil, record) {
						if e.Kind == EntryOpening {
							sums[ref].Balance = 0
						}
						sums[ref].Balance += e.Amount
						sums[ref].Held += e.Held
					}
					live := b.log[read].live[ref]
					if sums[ref] != (BalanceAndHeld{live.Balance, live.Held}) {
						t.Fatalf("entry %d: buyer %d has balance %s and holds %s, by its entries %+v", read+1, ref, live.Balance, live.Held, sums[ref])
					}
				}
			}
		}
	})
}

// TestStatementsAddUp checks, for random logs and periods, that a buyer's statement
// opens and closes with the account's balances, that its entries lead from one to the
// other, and that the statements of two adjoining periods equal the statement of both.
func TestStatementsAddUp(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		b := newSimulation(func(n int) int { return rapid.IntRange(0, n-1).Draw(t, "n") })
		begin := b.at
		for range rapid.IntRange(1, 80).Draw(t, "steps") {
			b.step()
		}
		span := int(b.at-begin)/int(time.Hour) + 2
		hour := func(low int) int { return rapid.IntRange(low, max(low, span)).Draw(t, "hour") }
		first := hour(-1)
		cut := hour(first)
		from, middle, to := begin+int64(first)*int64(time.Hour), begin+int64(cut)*int64(time.Hour), begin+int64(hour(cut))*int64(time.Hour)
		for ref := market.PermanentNumber(1); ref < 3; ref++ {
			for _, party := range []Party{{event.ObjectBuyer, ref}, {event.ObjectSupplier, ref}} {
				s, entries := b.statement(t, party, Period{from, to})
				b.check(t, s, entries)
				early, some := b.statement(t, party, Period{from, middle})
				late, others := b.statement(t, party, Period{middle, to})
				if early.Closing != late.Opening || early.Opening != s.Opening || late.Closing != s.Closing || early.Entries+late.Entries != s.Entries {
					t.Fatalf("statements of %+v: %+v and %+v do not add up to %+v", party, early, late, s)
				}
				for i, e := range append(some, others...) {
					if e != entries[i] {
						t.Fatalf("entry %d is %+v, in the whole statement %+v", i, e, entries[i])
					}
				}
			}
		}
	})
}

func (b *simulation) check(t *rapid.T, s *Statement, entries []Entry) {
	before, after := b.lastBefore(s.From), b.lastBefore(s.To)
	var in, all market.Money
	count := 0
	for _, total := range s.Totals {
		if all += total.Amount; total.InAccount {
			in += total.Amount
		}
		count += total.Count
	}
	if count != s.Entries || len(entries) != count {
		t.Fatalf("the statement has %d entries, its totals %d, its list %d", s.Entries, count, len(entries))
	}
	balance := s.Opening.Balance
	for _, e := range entries {
		if e.InAccount {
			balance += e.Amount
			if e.Balance != balance {
				t.Fatalf("entry %+v: want balance %s", e, balance)
			}
		}
	}
	if !s.IsBuyer() {
		if want := after.earned[s.Ref] - before.earned[s.Ref]; all != want || s.Account || in != 0 {
			t.Fatalf("supplier %d earned %s (account %t: %s), want %s", s.Ref, all, s.Account, in, want)
		}
		return
	}
	if s.Account != b.opened[s.Ref] || !s.Account && (in != 0 || s.Opening != BalanceAndHeld{} || s.Closing != BalanceAndHeld{}) {
		t.Fatalf("account opened: %t; statement %+v", b.opened[s.Ref], s)
	}
	if !s.Account {
		return
	}
	if balance != s.Closing.Balance || s.Opening.Balance+in != balance {
		t.Fatalf("opening %s plus movements %s: closing %s, by the entries %s", s.Opening.Balance, in, s.Closing.Balance, balance)
	}
	for _, end := range []struct {
		at   int64
		live state.AppliedBuyerFunds
		got  BalanceAndHeld
	}{{s.From, before.live[s.Ref], s.Opening}, {s.To, after.live[s.Ref], s.Closing}} {
		want := BalanceAndHeld{end.live.Balance, end.live.Held}
		if s.beginsAfter(b, end.at) {
			want.Balance = 0
		}
		if end.got != want {
			t.Fatalf("at %d: the statement has %+v, want %+v", end.at, end.got, want)
		}
	}
}

// beginsAfter reports whether the account began at or after a time. An account may have
// begun more than once; the last beginning counts.
func (s *Statement) beginsAfter(b *simulation, at int64) bool {
	return s.accountBegins > 0 && b.log[s.accountBegins-1].at >= at
}
