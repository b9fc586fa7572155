package engine

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"time"

	"pingpost/engine/event"
	"pingpost/engine/market"
	"pingpost/engine/state"
)

// Period is the time from From on and before To, in Unix nanoseconds.
type Period struct{ From, To int64 }

// Standing is what an account has, and what of it open posts hold.
type Standing struct{ Balance, Held market.Money }

// Statement is what became of a party's money in a period.
//
// What it says of a buyer's account adds up to the millionth: Opening and the
// Totals in the account are Closing. It is counted back from the one balance that
// is known, the live one at the entry that it reads to: whoever asks for any
// earlier time reads all that came since. (Rejected: balances kept by day. They
// would be a second ledger, and the two could differ.)
//
// A buyer's account begins with its opening balance. What it bought before, while
// its money was not limited, is told of, and is in no balance; so it is with all
// that a buyer buys who never got one. A supplier has no account here: what it was
// paid is not known.
type Statement struct {
	Party
	Period
	Seq uint64 // the entry of the log that it is read to
	At  int64  // that one's time

	Account          bool // there is one, at Seq
	Opening, Closing Standing
	Entries          int
	Totals           []Total // by kind, then campaign, then currency

	begins uint64 // entry by which the account begins
}

// Total is the sum of a statement's entries of one kind, campaign and currency.
type Total struct {
	Kind      EntryKind
	Campaign  market.Ref
	Currency  market.Currency
	InAccount bool
	Count     int
	Amount    market.Money
}

// PastHistory means that the log no longer holds all that happened since a
// statement's beginning.
type PastHistory struct {
	Begins int64 // the time of the oldest entry that it holds, Unix nanoseconds
}

func (e *PastHistory) Error() string {
	return fmt.Sprintf("the log's history begins at %s, and what came before is no longer known",
		time.Unix(0, e.Begins).UTC().Format(time.RFC3339Nano))
}

// A Tally adds up the facts since a period's beginning, in the order of the log,
// up to the entry at which the live account was looked at.
type Tally struct {
	statement Statement
	live      state.Account
	since     Standing // moved since From
	after     Standing // of that, since To
	in, out   totals   // of the account, and not
	entries   []Entry
}

// totals are sums by what they have in common.
type totals map[totalKey]Total

type totalKey struct {
	kind     EntryKind
	campaign market.Ref
	currency market.Currency
}

// NewTally begins one for the party, whose account was looked at live: of a
// supplier only Seq and At count.
func NewTally(party Party, period Period, live state.Account) *Tally {
	t := &Tally{live: live, in: totals{}, out: totals{}}
	t.statement = Statement{Party: party, Period: period, Seq: live.Seq, At: live.At, Account: live.Opened}
	if !live.Opened {
		t.statement.begins = math.MaxUint64
	}
	return t
}

// Period is what is added up.
func (t *Tally) Period() Period { return t.statement.Period }

// Add takes the next fact. It keeps nothing of it.
func (t *Tally) Add(seq uint64, at int64, fact event.Event) {
	if at < t.statement.From || seq > t.live.Seq {
		return
	}
	t.entries = t.statement.Movements(t.entries[:0], fact)
	for i := range t.entries {
		e := &t.entries[i]
		if e.Kind == EntryOpening {
			t.begin(seq)
		}
		t.since.add(e)
		switch {
		case at >= t.statement.To:
			t.after.add(e)
		case e.Kind == EntryHeld:
		case t.live.Opened:
			t.in.add(e)
		default:
			t.out.add(e)
		}
	}
}

// begin has the account begin here: what was counted so far is not in it.
func (t *Tally) begin(seq uint64) {
	t.statement.begins = seq
	t.since.Balance, t.after.Balance = 0, 0
	for key, sum := range t.in {
		before := t.out[key]
		before.Count += sum.Count
		before.Amount += sum.Amount
		t.out[key] = before
	}
	clear(t.in)
}

func (s *Standing) add(e *Entry) {
	s.Balance += e.Amount
	s.Held += e.Held
}

func (t totals) add(e *Entry) {
	key := totalKey{e.Kind, e.Campaign, e.Currency}
	sum := t[key]
	sum.Count++
	sum.Amount += e.Amount
	t[key] = sum
}

// Statement is what the facts came to.
func (t *Tally) Statement() *Statement {
	s := t.statement
	if s.Account {
		s.Opening = Standing{t.live.Balance - t.since.Balance, t.live.Held - t.since.Held}
		s.Closing = Standing{t.live.Balance - t.after.Balance, t.live.Held - t.after.Held}
	}
	for inAccount, sums := range map[bool]totals{true: t.in, false: t.out} {
		for key, sum := range sums {
			sum.Kind, sum.Campaign, sum.Currency, sum.InAccount = key.kind, key.campaign, key.currency, inAccount
			s.Totals = append(s.Totals, sum)
			s.Entries += sum.Count
		}
	}
	slices.SortFunc(s.Totals, func(a, b Total) int {
		return cmp.Or(
			cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Campaign, b.Campaign), cmp.Compare(a.Currency.String(), b.Currency.String()),
			cmp.Compare(flag(b.InAccount), flag(a.InAccount)),
		)
	})
	return &s
}

func flag(b bool) int {
	if b {
		return 1
	}
	return 0
}

// Lines are a statement's entries, one fact's after the other's.
type Lines struct {
	statement *Statement
	balance   market.Money
	entries   []Entry
}

// Lines begins to list the entries.
func (s *Statement) Lines() *Lines {
	return &Lines{statement: s, balance: s.Opening.Balance}
}

// Of are the entries of the next fact, none for most. They are good until the
// next call.
func (l *Lines) Of(seq uint64, at int64, fact event.Event) []Entry {
	s := l.statement
	if at < s.From || at >= s.To || seq > s.Seq {
		return nil
	}
	all := s.Movements(l.entries[:0], fact)
	l.entries = all[:0]
	for _, e := range all {
		if e.Kind == EntryHeld {
			continue
		}
		e.Seq, e.At = seq, at
		if e.InAccount = seq >= s.begins; e.InAccount {
			l.balance += e.Amount
			e.Balance = l.balance
		}
		l.entries = append(l.entries, e)
	}
	return l.entries
}
