package engine

import (
	"testing"
	"time"

	"pgregory.net/rapid"

	"pingpost/engine/event"
	"pingpost/engine/market"
	"pingpost/engine/state"
)

// books are a log and the memory it makes, with two buyers, two suppliers and two
// campaigns. What each has at the end of every fact is noted beside, by hand.
type books struct {
	*state.State
	draw func(n int) int
	at   int64
	log  []posting
	open []*event.PostSettled // posts, each as what will become of it
	sold []*event.PostSettled // by its Supplier, Campaign, Sale: what may be returned

	earned [3]market.Money // by supplier
	begun  [3]bool         // by buyer: it has an account
}

// posting is an entry of the log, and where everyone stands after it.
type posting struct {
	at     int64
	data   []byte
	live   [3]state.Account
	earned [3]market.Money
}

var someCampaigns = [3]market.Currency{1: {'U', 'S', 'D'}, 2: {'E', 'U', 'R'}}

func newBooks(draw func(n int) int) *books {
	b := &books{State: state.New(), draw: draw, at: int64(20_000*24) * int64(time.Hour)}
	b.fact(&event.Founded{Epoch: [16]byte{1}})
	return b
}

func (b *books) fact(fact event.Event) {
	data := event.Append(nil, fact)
	b.Apply(uint64(len(b.log)+1), b.at, fact)
	p := posting{at: b.at, data: data, earned: b.earned}
	for ref := range p.live {
		p.live[ref] = b.Account(market.Ref(ref))
	}
	b.log = append(b.log, p)
}

// sale is one to a buyer, each of whom buys in a currency of its own; one in eight
// is of a test lead.
func (b *books) sale() event.Sale {
	n := 1 + b.draw(2)
	price := market.Money(b.draw(30_000_000))
	return event.Sale{Buyer: market.Ref(n), Price: price, Payout: price * 4 / 5, Currency: someCampaigns[n], Test: b.draw(8) == 0}
}

func (b *books) step() {
	switch b.draw(9) {
	case 0:
		b.at += int64(b.draw(30)) * int64(time.Hour)
	case 1:
		b.paid()
	case 2, 3, 4:
		b.lead()
	case 5, 6, 7:
		b.settle()
	case 8:
		b.comeBack()
	}
}

func (b *books) paid() {
	ref := market.Ref(1 + b.draw(2))
	fact := &event.FundsMoved{Buyer: ref, Amount: market.Money(b.draw(500_000_000)), Note: "wire", Opening: b.draw(6) == 0}
	b.begun[ref] = b.begun[ref] || fact.Opening
	b.fact(fact)
}

func (b *books) lead() {
	fact := &event.LeadDecided{Lead: market.LeadID{byte(len(b.log)), byte(len(b.log) >> 8), 1}, Supplier: market.Ref(1 + b.draw(2)), Decided: b.at, Keep: b.at + int64(time.Hour)}
	if b.draw(4) == 0 {
		fact.Reason = market.ReasonCapsFull
		b.fact(fact)
		return
	}
	fact.Sale = b.sale()
	fact.Campaign = fact.Sale.Buyer
	end := &event.PostSettled{Lead: fact.Lead, Campaign: fact.Campaign, Supplier: fact.Supplier, Sale: fact.Sale, Decided: fact.Decided}
	if b.draw(2) == 0 {
		fact.Post.URL = "https://buyer.example"
		b.open = append(b.open, end)
	} else {
		b.has(end)
	}
	b.fact(fact)
}

// has notes that a buyer has a lead.
func (b *books) has(end *event.PostSettled) {
	if !end.Sale.Test {
		b.earned[end.Supplier] += end.Sale.Payout
	}
	b.sold = append(b.sold, end)
}

func (b *books) settle() {
	if len(b.open) == 0 {
		return
	}
	i := b.draw(len(b.open))
	fact := *b.open[i]
	fact.Settlement = event.Settlement(1 + b.draw(7))
	if fact.Settlement.Ends() {
		b.open = append(b.open[:i:i], b.open[i+1:]...)
	}
	switch fact.Settlement {
	case event.SettledDelivered, event.SettledConfirmed:
		b.has(&fact)
	case event.SettledRefused:
		if b.draw(2) == 0 {
			break
		}
		next := fact
		next.Sale = b.sale()
		next.Sale.Test = fact.Sale.Test
		next.Campaign = next.Sale.Buyer
		fact.Next = next.Sale
		if b.draw(2) == 0 {
			fact.Post.URL = "https://buyer.example"
			b.open = append(b.open, &next)
		} else {
			next.Campaign = fact.Campaign
			b.has(&next)
		}
	}
	b.fact(&fact)
}

// comeBack returns leads of one buyer, in one report.
func (b *books) comeBack() {
	fact := &event.StatusChanged{Buyer: market.Ref(1 + b.draw(2)), At: b.at}
	var kept []*event.PostSettled
	for _, s := range b.sold {
		if s.Sale.Buyer != fact.Buyer || b.draw(2) == 0 {
			kept = append(kept, s)
			continue
		}
		c := event.Change{Lead: s.Lead, Supplier: s.Supplier, Result: event.ChangeResult(1 + b.draw(7)), To: market.StatusReturned}
		if c.Result == event.ChangeDone && !s.Sale.Test {
			c.Return = event.Return{Campaign: s.Campaign, Credit: s.Sale.Price, Currency: s.Sale.Currency, Month: 1}
			if b.draw(2) == 0 {
				c.Return.Reverse = s.Sale.Payout
				b.earned[s.Supplier] -= s.Sale.Payout
			}
		}
		fact.Changes = append(fact.Changes, c)
	}
	b.sold = kept
	b.fact(fact)
}

// statement adds up the log as a reader of it does, and lists its entries.
func (b *books) statement(t *rapid.T, party Party, period Period) (*Statement, []Entry) {
	live := b.Account(0)
	if party.Buys() {
		live = b.Account(party.Ref)
	}
	tally := NewTally(party, period, live)
	d := event.Decoder{Brief: true}
	each := func(f func(seq uint64, at int64, fact event.Event)) {
		for i, p := range b.log {
			fact, err := d.Decode(p.data)
			if err != nil {
				t.Fatal(err)
			}
			f(uint64(i+1), p.at, fact)
		}
	}
	each(tally.Add)
	s := tally.Statement()
	lines := s.Lines()
	var entries []Entry
	each(func(seq uint64, at int64, fact event.Event) {
		entries = append(entries, lines.Of(seq, at, fact)...)
	})
	return s, entries
}

// stood is the last entry before a time.
func (b *books) stood(at int64) (p posting) {
	for _, next := range b.log {
		if next.at >= at {
			break
		}
		p = next
	}
	return p
}

// TestTheEntriesAreTheBalance: at every instant what an account has, and holds, is
// the sum of what the facts have moved since it began.
func TestTheEntriesAreTheBalance(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		b := newBooks(func(n int) int { return rapid.IntRange(0, n-1).Draw(t, "n") })
		var sums [3]Standing
		read := 0
		var d event.Decoder
		for range rapid.IntRange(1, 80).Draw(t, "steps") {
			b.step()
			for ; read < len(b.log); read++ {
				fact, err := d.Decode(b.log[read].data)
				if err != nil {
					t.Fatal(err)
				}
				for ref := range sums {
					for _, e := range (Party{event.NameBuyer, market.Ref(ref)}).Movements(nil, fact) {
						if e.Kind == EntryOpening {
							sums[ref].Balance = 0
						}
						sums[ref].Balance += e.Amount
						sums[ref].Held += e.Held
					}
					live := b.log[read].live[ref]
					if sums[ref] != (Standing{live.Balance, live.Held}) {
						t.Fatalf("entry %d: buyer %d has %s and holds %s, by its entries %+v", read+1, ref, live.Balance, live.Held, sums[ref])
					}
				}
			}
		}
	})
}

// TestStatementsAddUp: of any log and any period, a buyer's statement begins and
// ends with what its account had, its entries lead from one to the other, and two
// statements of a period cut in two are the one of the whole.
func TestStatementsAddUp(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		b := newBooks(func(n int) int { return rapid.IntRange(0, n-1).Draw(t, "n") })
		begin := b.at
		for range rapid.IntRange(1, 80).Draw(t, "steps") {
			b.step()
		}
		span := int(b.at-begin)/int(time.Hour) + 2
		hour := func(low int) int { return rapid.IntRange(low, max(low, span)).Draw(t, "hour") }
		first := hour(-1)
		cut := hour(first)
		from, middle, to := begin+int64(first)*int64(time.Hour), begin+int64(cut)*int64(time.Hour), begin+int64(hour(cut))*int64(time.Hour)
		for ref := market.Ref(1); ref < 3; ref++ {
			for _, party := range []Party{{event.NameBuyer, ref}, {event.NameSupplier, ref}} {
				s, entries := b.statement(t, party, Period{from, to})
				b.check(t, s, entries)
				early, some := b.statement(t, party, Period{from, middle})
				late, others := b.statement(t, party, Period{middle, to})
				if early.Closing != late.Opening || early.Opening != s.Opening || late.Closing != s.Closing || early.Entries+late.Entries != s.Entries {
					t.Fatalf("of %+v: %+v and %+v are not %+v", party, early, late, s)
				}
				for i, e := range append(some, others...) {
					if e != entries[i] {
						t.Fatalf("entry %d is %+v, in the whole %+v", i, e, entries[i])
					}
				}
			}
		}
	})
}

func (b *books) check(t *rapid.T, s *Statement, entries []Entry) {
	before, after := b.stood(s.From), b.stood(s.To)
	var in, all market.Money
	count := 0
	for _, total := range s.Totals {
		if all += total.Amount; total.InAccount {
			in += total.Amount
		}
		count += total.Count
	}
	if count != s.Entries || len(entries) != count {
		t.Fatalf("%d entries are counted, %d by the sums, %d are listed", s.Entries, count, len(entries))
	}
	balance := s.Opening.Balance
	for _, e := range entries {
		if e.InAccount {
			balance += e.Amount
			if e.Balance != balance {
				t.Fatalf("%+v, and the account has %s", e, balance)
			}
		}
	}
	if !s.Buys() {
		if want := after.earned[s.Ref] - before.earned[s.Ref]; all != want || s.Account || in != 0 {
			t.Fatalf("supplier %d earned %s (account %t: %s), want %s", s.Ref, all, s.Account, in, want)
		}
		return
	}
	if s.Account != b.begun[s.Ref] || !s.Account && (in != 0 || s.Opening != Standing{} || s.Closing != Standing{}) {
		t.Fatalf("an account: %t; %+v", b.begun[s.Ref], s)
	}
	if !s.Account {
		return
	}
	if balance != s.Closing.Balance || s.Opening.Balance+in != balance {
		t.Fatalf("it begins with %s, moves %s, and ends with %s, by its entries %s", s.Opening.Balance, in, s.Closing.Balance, balance)
	}
	for _, end := range []struct {
		at   int64
		live state.Account
		told Standing
	}{{s.From, before.live[s.Ref], s.Opening}, {s.To, after.live[s.Ref], s.Closing}} {
		want := Standing{end.live.Balance, end.live.Held}
		if s.beginsAfter(b, end.at) {
			want.Balance = 0
		}
		if end.told != want {
			t.Fatalf("at %d it says %+v, and it was %+v", end.at, end.told, want)
		}
	}
}

// beginsAfter tells whether the account, which may have been begun more than once,
// was not yet what it is now.
func (s *Statement) beginsAfter(b *books, at int64) bool {
	return s.begins > 0 && b.log[s.begins-1].at >= at
}
