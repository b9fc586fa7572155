package ledger

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

// Period is the time of a statement, in Unix nanoseconds: From belongs to it, and To does not.
type Period struct{ From, To int64 }

// BalanceAndHeld is an account's balance, and the part of the balance that open posts reserve.
type BalanceAndHeld struct{ Balance, Held market.Money }

// Statement summarizes a party's money movements in a period.
//
// A buyer's statement adds up exactly: Opening plus the Totals in the account equals Closing.
// Only the live balance at log entry Seq is known, so the code computes both backwards from it. A
// statement of an earlier period therefore reads all later log entries too. (Rejected: stored
// daily balances. They would be a second ledger that could differ from the first.)
//
// A buyer's account begins with its opening balance. Before that, the buyer had no limit on
// money. Its earlier purchases appear in the statement but in no balance; so do all purchases of
// a buyer without an account. A supplier has no account here, because the exchange does not
// record payments to suppliers.
type Statement struct {
	Party
	Period
	Seq uint64 // last log entry that the statement covers
	At  int64  // commit time of that entry, Unix nanoseconds

	Account          bool // the buyer has an account at Seq
	Opening, Closing BalanceAndHeld
	Entries          int
	Totals           []StatementTotal // sorted by kind, campaign, currency

	accountBegins uint64 // log entry with which the account begins
}

// StatementTotal is the sum of the entries of a statement that have the same kind, campaign, currency
// and InAccount. InAccount is true only for a buyer's entries since its account began.
type StatementTotal struct {
	Kind      EntryKind
	Campaign  market.PermanentNumber
	Currency  market.Currency
	InAccount bool
	Count     int
	Amount    market.Money
}

// HistoryTooShortError is returned if the log no longer has all events since the beginning of a
// statement's period.
type HistoryTooShortError struct {
	HistoryBegins int64 // commit time of the oldest entry in the log, Unix nanoseconds
}

func (e *HistoryTooShortError) Error() string {
	return fmt.Sprintf("the log's history begins at %s; choose a period that begins later",
		time.Unix(0, e.HistoryBegins).UTC().Format(time.RFC3339Nano))
}

// StatementBuilder computes a Statement. The caller reads the live account, and passes all events
// since the beginning of the period in log order, up to that moment. BuildStatement returns the
// result.
type StatementBuilder struct {
	statement                 Statement
	live                      state.AppliedBuyerFunds
	sinceFrom                 BalanceAndHeld // moved since From
	sinceTo                   BalanceAndHeld // part of sinceFrom that moved since To
	inAccount, outsideAccount totalsByKey    // totals inside and outside the account
	entries                   []Entry
}

type totalsByKey map[kindCampaignAndCurrency]StatementTotal

type kindCampaignAndCurrency struct {
	kind     EntryKind
	campaign market.PermanentNumber
	currency market.Currency
}

// NewStatementBuilder starts the computation of a statement for the party and the period. liveFunds
// is the party's account as read from the state; for a supplier only its Seq and At count.
func NewStatementBuilder(party Party, period Period, liveFunds state.AppliedBuyerFunds) *StatementBuilder {
	t := &StatementBuilder{live: liveFunds, inAccount: totalsByKey{}, outsideAccount: totalsByKey{}}
	t.statement = Statement{Party: party, Period: period, Seq: liveFunds.Seq, At: liveFunds.At, Account: liveFunds.Opened}
	if !liveFunds.Opened {
		t.statement.accountBegins = math.MaxUint64
	}
	return t
}

// Period returns the period of the statement that the builder computes.
func (t *StatementBuilder) Period() Period { return t.statement.Period }

// AddEvent counts the next event of the log, with its position and its commit time. It ignores
// events before the period and after the live account was read. It keeps no reference to the event.
func (t *StatementBuilder) AddEvent(logPosition uint64, committedAtNanos int64, record event.Event) {
	if committedAtNanos < t.statement.From || logPosition > t.live.Seq {
		return
	}
	t.entries = t.statement.AppendEntriesOfEvent(t.entries[:0], record)
	for i := range t.entries {
		e := &t.entries[i]
		if e.Kind == EntryOpening {
			t.startAccountAt(logPosition)
		}
		t.sinceFrom.addEntry(e)
		switch {
		case committedAtNanos >= t.statement.To:
			t.sinceTo.addEntry(e)
		case e.Kind == EntryReservation:
		case t.live.Opened:
			t.inAccount.addEntry(e)
		default:
			t.outsideAccount.addEntry(e)
		}
	}
}

// startAccountAt records that the buyer's account begins with the entry at logPosition. The entries
// counted so far happened before the account, so it moves them to the totals outside the account.
func (t *StatementBuilder) startAccountAt(logPosition uint64) {
	t.statement.accountBegins = logPosition
	t.sinceFrom.Balance, t.sinceTo.Balance = 0, 0
	for key, sum := range t.inAccount {
		before := t.outsideAccount[key]
		before.Count += sum.Count
		before.Amount += sum.Amount
		t.outsideAccount[key] = before
	}
	clear(t.inAccount)
}

func (s *BalanceAndHeld) addEntry(e *Entry) {
	s.Balance += e.Amount
	s.Held += e.Held
}

func (t totalsByKey) addEntry(e *Entry) {
	key := kindCampaignAndCurrency{e.Kind, e.Campaign, e.Currency}
	sum := t[key]
	sum.Count++
	sum.Amount += e.Amount
	t[key] = sum
}

// BuildStatement returns the statement of all events that AddEvent has counted.
func (t *StatementBuilder) BuildStatement() *Statement {
	s := t.statement
	if s.Account {
		s.Opening = BalanceAndHeld{t.live.Balance - t.sinceFrom.Balance, t.live.Held - t.sinceFrom.Held}
		s.Closing = BalanceAndHeld{t.live.Balance - t.sinceTo.Balance, t.live.Held - t.sinceTo.Held}
	}
	for inAccount, sums := range map[bool]totalsByKey{true: t.inAccount, false: t.outsideAccount} {
		for key, sum := range sums {
			sum.Kind, sum.Campaign, sum.Currency, sum.InAccount = key.kind, key.campaign, key.currency, inAccount
			s.Totals = append(s.Totals, sum)
			s.Entries += sum.Count
		}
	}
	slices.SortFunc(s.Totals, func(a, b StatementTotal) int {
		return cmp.Or(
			cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Campaign, b.Campaign), cmp.Compare(a.Currency.String(), b.Currency.String()),
			cmp.Compare(boolAsInt(b.InAccount), boolAsInt(a.InAccount)),
		)
	})
	return &s
}

func boolAsInt(b bool) int {
	if b {
		return 1
	}
	return 0
}

// StatementEntryBuilder lists the entries of a statement, each with the balance after it. The caller
// passes the log's events to AddEventAndListEntries, in log order.
type StatementEntryBuilder struct {
	statement *Statement
	balance   market.Money
	entries   []Entry
}

// NewEntryBuilder returns a StatementEntryBuilder for the statement. It begins with the statement's
// opening balance.
func (s *Statement) NewEntryBuilder() *StatementEntryBuilder {
	return &StatementEntryBuilder{statement: s, balance: s.Opening.Balance}
}

// AddEventAndListEntries returns the statement's entries that one event causes, without reservations; most
// events cause no entry. The slice is valid until the next call.
func (l *StatementEntryBuilder) AddEventAndListEntries(logPosition uint64, committedAtNanos int64, record event.Event) []Entry {
	s := l.statement
	if committedAtNanos < s.From || committedAtNanos >= s.To || logPosition > s.Seq {
		return nil
	}
	all := s.AppendEntriesOfEvent(l.entries[:0], record)
	l.entries = all[:0]
	for _, e := range all {
		if e.Kind == EntryReservation {
			continue
		}
		e.Seq, e.At = logPosition, committedAtNanos
		if e.InAccount = logPosition >= s.accountBegins; e.InAccount {
			l.balance += e.Amount
			e.Balance = l.balance
		}
		l.entries = append(l.entries, e)
	}
	return l.entries
}
